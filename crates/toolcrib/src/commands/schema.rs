//! `toolcrib schema`: reference documents that are made from the code.

use std::process::ExitCode;

use anyhow::Context as _;
use clap::{Args, ValueEnum};
use toolcrib_server::{check, error, reference};

use crate::output;

/// Print reference documents.
#[derive(Debug, Args)]
pub(crate) struct Schema {
    /// Which one
    document: Document,
    /// The tool's id, for `tool-page`
    #[arg(required_if_eq("document", "tool-page"))]
    tool: Option<String>,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Document {
    /// The error codes of the API, as Markdown
    Errors,
    /// The page of a built-in tool, as Markdown
    ToolPage,
    /// The format of definition files, as JSON Schema for editors
    Definition,
}

impl Schema {
    pub(crate) fn run(self) -> anyhow::Result<ExitCode> {
        match self.document {
            Document::Errors => output::text(&error::documentation()),
            Document::ToolPage => output::text(&tool_page(&self.tool.unwrap_or_default())?),
            Document::Definition => output::text(&check::definition_schema()),
        }
        Ok(ExitCode::SUCCESS)
    }
}

fn tool_page(id: &str) -> anyhow::Result<String> {
    let mut pages = reference::tool_pages()?;
    let known = pages.keys().cloned().collect::<Vec<_>>().join(", ");
    pages.remove(id).with_context(|| format!("there is no built-in tool {id:?}; there are {known}"))
}
