//! `toolcrib runs`: what ran, with the records of its calls.

use std::fmt::Write as _;
use std::process::ExitCode;

use clap::{Args, Subcommand, ValueEnum};
use http::Method;
use serde_json::Value;
use toolcrib_server::client::Connection;

use super::encoded;
use crate::interrupt::with_connection;
use crate::output::{self, FAINT, STRONG, column, styled, text_of};
use crate::place::Place;

/// List runs, show one, export the traces of its calls, or stop it.
#[derive(Debug, Args)]
pub(crate) struct Runs {
    #[command(subcommand)]
    command: Option<Which>,
}

#[derive(Debug, Subcommand)]
enum Which {
    /// List the latest runs (the default)
    List {
        /// Only runs that stand so: running, waiting, completed, incomplete, failed, cancelled, interrupted
        #[arg(long, value_name = "STATE")]
        state: Option<String>,
        /// Only runs of this conversation
        #[arg(long, value_name = "ID")]
        conversation: Option<String>,
        /// The most to list
        #[arg(long, value_name = "NUMBER", default_value_t = 20)]
        limit: u32,
    },
    /// Show one run
    Show {
        /// The run's id
        id: String,
    },
    /// Print the traces of a run's calls, or of all calls of a conversation
    Traces(Traces),
    /// Stop a run that goes on or waits
    Cancel {
        /// The run's id
        id: String,
    },
}

#[derive(Debug, Args)]
struct Traces {
    /// The run's id
    #[arg(required_unless_present = "conversation")]
    id: Option<String>,
    /// All runs of this conversation instead
    #[arg(long, value_name = "ID", conflicts_with = "id")]
    conversation: Option<String>,
    /// How they are printed
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: Format,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// A few lines for each call
    Text,
    /// One JSON object
    Json,
    /// JSON Lines: one call a line
    Jsonl,
}

impl Runs {
    pub(crate) async fn run(self, place: &Place, json: bool) -> anyhow::Result<ExitCode> {
        let default = Which::List { state: None, conversation: None, limit: 20 };
        with_connection(place, async |connection| match self.command.unwrap_or(default) {
            Which::List { state, conversation, limit } => {
                let mut path = format!("/api/v1/runs?limit={limit}");
                for (name, value) in [("state", state), ("conversation", conversation)] {
                    if let Some(value) = value {
                        let _ = write!(path, "&{name}={}", encoded(&value));
                    }
                }
                list(connection, &path, json).await
            }
            Which::Show { id } => {
                let path = format!("/api/v1/runs/{}", encoded(&id));
                output::json(&connection.json(Method::GET, &path, None).await?);
                Ok(ExitCode::SUCCESS)
            }
            Which::Traces(traces) => traces.run(connection, json).await,
            Which::Cancel { id } => cancel(connection, &id, json).await,
        })
        .await
    }
}

async fn list(connection: &Connection, path: &str, json: bool) -> anyhow::Result<ExitCode> {
    let answer = connection.json(Method::GET, path, None).await?;
    if json {
        output::json(&answer);
        return Ok(ExitCode::SUCCESS);
    }
    let runs = answer["runs"].as_array().map(Vec::as_slice).unwrap_or_default();
    if runs.is_empty() {
        output::note("There are no such runs.");
    }
    for run in runs {
        let id = styled(STRONG, text_of(&run["id"]));
        let state = column(anstyle::Style::new(), &text_of(&run["state"]), 11);
        let rest = [&run["started_at"], &run["component"], &run["model"]].map(text_of).join("  ");
        output::line(format!("{id}  {state}  {}", styled(FAINT, rest)));
    }
    Ok(ExitCode::SUCCESS)
}

async fn cancel(connection: &Connection, id: &str, json: bool) -> anyhow::Result<ExitCode> {
    let path = format!("/api/v1/runs/{}/cancel", encoded(id));
    let answer = connection.json(Method::POST, &path, None).await?;
    if json {
        output::json(&answer);
    } else if answer["stopped"] == true {
        output::note("The run is stopped.");
    } else {
        output::note("The run had ended already.");
    }
    Ok(ExitCode::SUCCESS)
}

impl Traces {
    async fn run(self, connection: &Connection, json: bool) -> anyhow::Result<ExitCode> {
        let (kind, id) = match (&self.conversation, &self.id) {
            (Some(conversation), _) => ("conversations", conversation.as_str()),
            (None, Some(id)) => ("runs", id.as_str()),
            (None, None) => ("runs", ""),
        };
        let path = format!("/api/v1/{kind}/{}/traces", encoded(id));
        let answer = connection.json(Method::GET, &path, None).await?;
        let traces = answer["traces"].as_array().map(Vec::as_slice).unwrap_or_default();
        match self.format {
            Format::Jsonl => traces.iter().for_each(|trace| output::line(output::compact(trace))),
            Format::Json => output::json(&answer),
            Format::Text if json => output::json(&answer),
            Format::Text => traces.iter().for_each(show),
        }
        Ok(ExitCode::SUCCESS)
    }
}

fn show(trace: &Value) {
    let (icon, name, status) = (text_of(&trace["icon"]), text_of(&trace["name"]), text_of(&trace["status"]));
    let order = trace["order"].as_u64().unwrap_or_default();
    let milliseconds = trace["duration_ms"].as_u64().unwrap_or_default();
    let arguments = styled(FAINT, output::compact(&trace["arguments"]));
    output::line(format!("{order}. {icon} {} {arguments}", styled(STRONG, name)));
    let message = match text_of(&trace["message"]) {
        none if none.is_empty() => String::new(),
        message => format!(": {message}"),
    };
    let characters = trace["result_characters"].as_u64().unwrap_or_default();
    output::line(format!("   {status} in {milliseconds} ms, {characters} characters{message}"));
}
