//! `toolcrib assistants`: what there is, and what each asks for.

use std::process::ExitCode;

use clap::{Args, Subcommand};
use http::Method;
use serde_json::Value;
use toolcrib_server::client::Connection;

use super::encoded;
use crate::interrupt::with_connection;
use crate::output::{self, BAD, FAINT, STRONG, column, styled, text_of};
use crate::place::Place;

/// List assistants, or show what one asks for.
#[derive(Debug, Args)]
#[command(after_help = "An assistant is asked with: toolcrib ask --assistant ID --input INPUT=VALUE TEXT\n\
Files in the folder `assistants` of the data folder add assistants or replace those that are built in.")]
pub(crate) struct Assistants {
    #[command(subcommand)]
    command: Option<Which>,
}

#[derive(Debug, Subcommand)]
enum Which {
    /// List the assistants (the default)
    List,
    /// Show one assistant with its inputs
    Show {
        /// The assistant's id; `_assistant` at its end may be left out
        id: String,
    },
}

impl Assistants {
    pub(crate) async fn run(self, place: &Place, json: bool) -> anyhow::Result<ExitCode> {
        with_connection(place, async |connection| match self.command.unwrap_or(Which::List) {
            Which::List => list(connection, json).await,
            Which::Show { id } => {
                let assistant = find(connection, &id).await?;
                if json {
                    output::json(&assistant);
                } else {
                    show(&assistant);
                }
                Ok(ExitCode::SUCCESS)
            }
        })
        .await
    }
}

/// The whole id of the assistant that is meant by a name.
pub(super) async fn assistant_id(connection: &Connection, name: &str) -> anyhow::Result<String> {
    let assistant = find(connection, name).await?;
    let id = assistant["id"].as_str();
    id.map(str::to_owned).ok_or_else(|| anyhow::anyhow!("the server sent an assistant without an id"))
}

async fn find(connection: &Connection, name: &str) -> anyhow::Result<Value> {
    let path = format!("/api/v1/assistants/{}", encoded(name));
    Ok(connection.json(Method::GET, &path, None).await?)
}

async fn list(connection: &Connection, json: bool) -> anyhow::Result<ExitCode> {
    let answer = connection.json(Method::GET, "/api/v1/assistants", None).await?;
    if json {
        output::json(&answer);
        return Ok(ExitCode::SUCCESS);
    }
    let assistants = answer["assistants"].as_array().map(Vec::as_slice).unwrap_or_default();
    let longest = longest_id(assistants);
    for assistant in assistants {
        let id = column(STRONG, &text_of(&assistant["id"]), longest);
        output::line(format!("{} {id}  {}", text_of(&assistant["icon"]), text_of(&assistant["description"])));
    }
    for problem in answer["problems"].as_array().into_iter().flatten() {
        output::note(format!("{}: {}", styled(BAD, "problem"), text_of(problem)));
    }
    Ok(ExitCode::SUCCESS)
}

fn show(assistant: &Value) {
    let text = |field: &str| text_of(&assistant[field]);
    output::line(format!("{} {}  {}", text("icon"), styled(STRONG, text("name")), styled(FAINT, text("id"))));
    output::line(text("description"));
    let inputs = assistant["inputs"].as_array().map(Vec::as_slice).unwrap_or_default();
    let (own, settable): (Vec<_>, Vec<_>) =
        inputs.iter().partition(|input| input["id"] == assistant["user_text"]);
    for input in own {
        output::line(format!("\nThe text: {}", text_of(&input["label"])));
        show_more(input);
    }
    output::line("\nInputs:");
    let longest = longest_id(inputs);
    for input in settable {
        let id = column(STRONG, &text_of(&input["id"]), longest);
        output::line(format!("  {id}  {}{}", text_of(&input["label"]), styled(FAINT, rule(input))));
        show_more(input);
    }
}

/// Help and options, below an input.
fn show_more(input: &Value) {
    if let Some(help) = input["help"].as_str() {
        output::line(format!("      {}", styled(FAINT, help)));
    }
    for option in input["options"].as_array().into_iter().flatten() {
        output::line(format!("      {}: {}", text_of(&option["id"]), text_of(&option["label"])));
    }
}

/// What kind of value an input takes, in brackets.
fn rule(input: &Value) -> String {
    let mut parts = vec![text_of(&input["kind"]).into_owned()];
    if input["required"] == true {
        parts.push("required".to_owned());
    }
    match &input["default"] {
        Value::Null => {}
        Value::String(text) => parts.push(format!("default: {text}")),
        other => parts.push(format!("default: {other}")),
    }
    let bounds = [("minimum", "at least"), ("maximum", "at most")];
    for (field, words) in bounds {
        if let Some(bound) = input[field].as_f64() {
            parts.push(format!("{words} {bound}"));
        }
    }
    format!(" ({})", parts.join(", "))
}

fn longest_id(items: &[Value]) -> usize {
    items.iter().map(|item| text_of(&item["id"]).chars().count()).max().unwrap_or_default()
}
