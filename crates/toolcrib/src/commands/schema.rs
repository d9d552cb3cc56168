//! `toolcrib schema`: reference documents that are made from the code.

use std::process::ExitCode;

use clap::{Args, ValueEnum};
use toolcrib_server::{check, error};

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
    /// The format of definition files, as JSON Schema for editors
    Definition,
}

impl Schema {
    pub(crate) fn run(self) -> ExitCode {
        match self.document {
            Document::Errors => output::text(&error::documentation()),
            Document::Definition => output::text(&check::definition_schema()),
        }
        ExitCode::SUCCESS
    }
}
