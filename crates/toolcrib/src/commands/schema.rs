//! `toolcrib schema`: reference documents that are made from the code.

use std::process::ExitCode;

use clap::{Args, ValueEnum};
use toolcrib_server::error;

use crate::output;

/// Print reference documents.
#[derive(Debug, Args)]
pub(crate) struct Schema {
    /// Which one
    document: Document,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Document {
    /// The error codes of the API, as Markdown
    Errors,
}

impl Schema {
    pub(crate) fn run(self) -> ExitCode {
        match self.document {
            Document::Errors => output::text(&error::documentation()),
        }
        ExitCode::SUCCESS
    }
}
