//! `toolcrib call`: one tool call without a model.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context as _;
use clap::Args;
use http::Method;
use serde_json::{Value, json};
use toolcrib_server::client::ClientError;

use super::encoded;
use crate::interrupt::with_connection;
use crate::output::{self, BAD, GOOD, WARN, styled, text_of};
use crate::place::Place;
use crate::question;

/// Run one tool without a model, through the same gates.
#[derive(Debug, Args)]
#[command(
    after_help = "Exit code 0: the tool succeeded. 1: it failed or was blocked. 130: interrupted; the call is \
stopped."
)]
pub(crate) struct Call {
    /// The tool's id
    id: String,
    /// The arguments as a JSON object, for example `'{"expression": "6 * 7"}'`
    #[arg(default_value = "{}")]
    arguments: String,
    /// Settings for this call from a JSON file, instead of the configured ones
    #[arg(long, value_name = "FILE")]
    settings: Option<PathBuf>,
    /// Print the whole trace instead of the result
    #[arg(long)]
    trace: bool,
    /// Run the call even if it asks for approval
    #[arg(short, long)]
    yes: bool,
}

impl Call {
    pub(crate) async fn run(self, place: &Place, json: bool) -> anyhow::Result<ExitCode> {
        let mut body = json!({"arguments": self.arguments});
        if self.yes {
            body["approved"] = Value::Bool(true);
        }
        if let Some(path) = &self.settings {
            let text =
                std::fs::read_to_string(path).with_context(|| format!("reading {}", path.display()))?;
            body["settings"] =
                serde_json::from_str(&text).with_context(|| format!("reading {}", path.display()))?;
        }
        let path = format!("/api/v1/tools/{}/call", encoded(&self.id));
        with_connection(place, async |connection| {
            let trace = match connection.json(Method::POST, &path, Some(&body)).await {
                // Whoever calls a tool by hand sees its arguments: agreeing is all that is left.
                Err(ClientError::Refused { code, message, .. })
                    if code == "requires_approval" && !self.yes && question::can_ask() =>
                {
                    output::note(output::clean(&message));
                    if !question::agreed() {
                        return Ok(ExitCode::FAILURE);
                    }
                    body["approved"] = Value::Bool(true);
                    connection.json(Method::POST, &path, Some(&body)).await?
                }
                Err(ClientError::Refused { status, code, message, .. })
                    if code == "requires_approval" && !self.yes =>
                {
                    let hint = Some("Look at the arguments, and repeat the command with --yes.".to_owned());
                    return Err(ClientError::Refused { status, code, message, hint }.into());
                }
                answered => answered?,
            };
            if json || self.trace {
                output::json(&trace);
            } else {
                show(&trace);
            }
            let succeeded = trace["status"] == "SUCCESS";
            Ok(if succeeded { ExitCode::SUCCESS } else { ExitCode::FAILURE })
        })
        .await
    }
}

fn show(trace: &Value) {
    let status = text_of(&trace["status"]);
    let style = match &*status {
        "SUCCESS" => GOOD,
        "BLOCKED" => WARN,
        _ => BAD,
    };
    let milliseconds = trace["duration_ms"].as_u64().unwrap_or_default();
    output::note(format!("{} in {milliseconds} ms", styled(style, status)));
    for repair in trace["repairs"].as_array().into_iter().flatten() {
        output::note(format!("repaired {}", text_of(repair)));
    }
    match trace.get("result_json").filter(|json| !json.is_null()) {
        Some(json) => output::json(json),
        None => output::line(text_of(&trace["result"])),
    }
}
