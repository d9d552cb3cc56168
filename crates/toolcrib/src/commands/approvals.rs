//! `toolcrib approvals`: calls that wait for a person, and their answers.

use std::process::ExitCode;

use clap::{Args, Subcommand, ValueEnum};
use http::Method;
use serde_json::{Value, json};
use toolcrib_server::client::Connection;

use super::ask::answer::Answer;
use super::encoded;
use crate::follow::{self, follow};
use crate::interrupt::with_connection;
use crate::output::{self, FAINT, STRONG, column, styled, text_of};
use crate::place::Place;
use crate::question;

/// List calls that wait for a person, or answer one.
#[derive(Debug, Args)]
#[command(
    after_help = "A run that waits is kept: it goes on when its last call is answered, also after a restart. \
A call that nobody answers counts as denied after 24 hours."
)]
pub(crate) struct Approvals {
    #[command(subcommand)]
    command: Option<Which>,
}

#[derive(Debug, Subcommand)]
enum Which {
    /// List the calls that wait (the default)
    List {
        /// Those that have their answer as well
        #[arg(long)]
        all: bool,
    },
    /// Show one with its arguments
    Show {
        /// The approval's id
        id: String,
    },
    /// Answer one; when it was the last of its run, watch the run go on
    Answer(AnswerOne),
}

#[derive(Debug, Args)]
struct AnswerOne {
    /// The approval's id
    id: String,
    /// What is allowed
    answer: Choice,
    /// With `deny`: what the model should know about it
    #[arg(long, value_name = "TEXT")]
    note: Option<String>,
    /// With `edit`: the arguments that the call should have, as a JSON object
    #[arg(long, value_name = "JSON")]
    arguments: Option<String>,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Choice {
    /// This call
    Allow,
    /// This call, and every later one of the tool in this conversation
    AllowConversation,
    /// Not this call
    Deny,
    /// This call with other arguments
    Edit,
}

impl Approvals {
    pub(crate) async fn run(self, place: &Place, json: bool) -> anyhow::Result<ExitCode> {
        with_connection(place, async |connection| match self.command.unwrap_or(Which::List { all: false }) {
            Which::List { all } => list(connection, all, json).await,
            Which::Show { id } => show(connection, &id, json).await,
            Which::Answer(answer) => answer.run(connection, json).await,
        })
        .await
    }
}

async fn list(connection: &Connection, all: bool, json: bool) -> anyhow::Result<ExitCode> {
    let path = format!("/api/v1/approvals?waiting={}", !all);
    let answer = connection.json(Method::GET, &path, None).await?;
    if json {
        output::json(&answer);
        return Ok(ExitCode::SUCCESS);
    }
    let approvals = answer["approvals"].as_array().map(Vec::as_slice).unwrap_or_default();
    if approvals.is_empty() {
        output::note("No call waits for approval.");
    }
    for approval in approvals {
        output::line(format!(
            "{}  {}  {} {} {}",
            styled(STRONG, text_of(&approval["id"])),
            column(anstyle::Style::new(), &state(approval), 18),
            text_of(&approval["icon"]),
            text_of(&approval["name"]),
            styled(FAINT, output::compact(&approval["arguments"])),
        ));
    }
    Ok(ExitCode::SUCCESS)
}

/// The answer, or that there is none.
fn state(approval: &Value) -> std::borrow::Cow<'_, str> {
    match text_of(&approval["answer"]) {
        none if none.is_empty() => text_of(&approval["state"]),
        given => given,
    }
}

async fn show(connection: &Connection, id: &str, json: bool) -> anyhow::Result<ExitCode> {
    let approval = connection.json(Method::GET, &format!("/api/v1/approvals/{}", encoded(id)), None).await?;
    if json {
        output::json(&approval);
    } else {
        let name = styled(STRONG, text_of(&approval["name"]));
        output::line(format!("{} {name}  {}", text_of(&approval["icon"]), styled(FAINT, state(&approval))));
        question::details(&approval).iter().for_each(output::line);
        if approval["state"] == "waiting" {
            let expires = text_of(&approval["expires_at"]);
            output::line(styled(FAINT, format!("   counts as denied from {expires} on")));
        }
    }
    Ok(ExitCode::SUCCESS)
}

impl AnswerOne {
    async fn run(self, connection: &Connection, json: bool) -> anyhow::Result<ExitCode> {
        let body = self.body()?;
        let taken = follow::answer(connection, &self.id, &body).await?;
        if taken["run_goes_on"] != true {
            if json {
                output::json(&taken);
            } else {
                output::note("Answered. The run waits for more answers: `toolcrib approvals` lists them.");
            }
            return Ok(ExitCode::SUCCESS);
        }
        let run_id = text_of(&taken["run_id"]).into_owned();
        let mut answer = Answer::new(json);
        follow(connection, &run_id, |event| answer.take_event(event)).await?;
        Ok(answer.end())
    }

    fn body(&self) -> anyhow::Result<Value> {
        let arguments: Option<Value> = match &self.arguments {
            Some(text) => Some(serde_json::from_str(text).map_err(|error| {
                anyhow::anyhow!(
                    "--arguments is no JSON: {error}; write an object such as '{{\"to\": \"me\"}}'"
                )
            })?),
            None => None,
        };
        Ok(match self.answer {
            Choice::Allow => json!({"answer": "allow_once", "note": self.note, "arguments": arguments}),
            Choice::AllowConversation => {
                json!({"answer": "allow_conversation", "note": self.note, "arguments": arguments})
            }
            Choice::Deny => json!({"answer": "deny", "note": self.note, "arguments": arguments}),
            Choice::Edit => json!({"answer": "edit", "note": self.note, "arguments": arguments}),
        })
    }
}
