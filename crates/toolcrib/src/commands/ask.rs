//! `toolcrib ask`: one question, with the answer, the calls and the sources as they come.

use std::process::ExitCode;

use clap::Args;
use futures_util::StreamExt as _;
use http::Method;
use serde_json::{Map, Value, json};
use toolcrib_server::client::{ClientError, Connection};

pub(crate) mod answer;
mod question;

use super::assistants::assistant_id;
use crate::follow::{self, allow_once, follow};
use crate::interrupt::with_connection;
use crate::output::{self, text_of};
use crate::place::Place;
use crate::question as approval;
use answer::Answer;

/// The exit code of a question whose run waits for an approval.
const WAITING: u8 = 3;

/// Ask a question.
#[derive(Debug, Args)]
#[command(
    after_help = "What is piped in is added behind the question: toolcrib ask \"Summarize this\" < report.txt\n\
When nothing comes for 3 seconds, the question is asked without it, for a pipe may stay open that nobody writes to. \
A - at the end waits for as long as it takes: slow-command | toolcrib ask \"Summarize this\" -\n\n\
With an assistant, the question is the text that it works on: toolcrib ask --assistant translation \
--input target_language=German \"Good morning\"\n\n\
Exit code 0: answered. 1: failed. 3: waits for an approval that nobody here could give. 130: interrupted; the run is stopped and written down as cancelled."
)]
pub(crate) struct Ask {
    /// The question; standard input when there is none, or in addition when something is piped in
    prompt: Vec<String>,
    /// The model, as `provider/model`
    #[arg(short, long, value_name = "MODEL", default_value = "default")]
    model: String,
    /// Tools that may be used: ids separated by commas, or `none`
    #[arg(long, value_name = "IDS", default_value = "default")]
    tools: String,
    /// Let this assistant answer; `toolcrib assistants` lists them, and `_assistant` may be left out
    #[arg(short, long, value_name = "ID")]
    assistant: Option<String>,
    /// The value of an input of the assistant, as often as needed; `toolcrib assistants show ID` tells which there are
    #[arg(short, long, value_name = "INPUT=VALUE", requires = "assistant", value_parser = input)]
    input: Vec<(String, String)>,
    /// Allow every call that asks for approval, this once each
    #[arg(short, long)]
    yes: bool,
}

/// Where the run happens, and what an assistant is given.
struct Component {
    id: String,
    inputs: Option<Map<String, Value>>,
}

impl Ask {
    pub(crate) async fn run(self, place: &Place, json: bool) -> anyhow::Result<ExitCode> {
        let inputs = inputs(&self.input)?;
        let prompt = question::read(&self.prompt)?;
        with_connection(place, async |connection| {
            let component = match &self.assistant {
                Some(name) => Component { id: assistant_id(connection, name).await?, inputs: Some(inputs) },
                None => Component { id: place.component().to_owned(), inputs: None },
            };
            self.answer(connection, &component, &prompt, json).await
        })
        .await
    }

    async fn answer(
        &self,
        connection: &Connection,
        component: &Component,
        prompt: &str,
        quiet: bool,
    ) -> anyhow::Result<ExitCode> {
        let mut body = json!({
            "model": self.model,
            "stream": true,
            "stream_options": {"include_usage": true},
            "messages": [{"role": "user", "content": prompt}],
            "toolcrib": {"component": component.id, "events": true, "tools": self.tools},
        });
        if let Some(inputs) = &component.inputs {
            body["toolcrib"]["inputs"] = json!(inputs);
        }
        let reply = connection.send(Method::POST, "/v1/chat/completions", &[], Some(&body)).await?;
        let mut events = reply.events();
        let mut answer = Answer::new(quiet);
        while let Some(event) = events.next().await {
            answer.take(&event?)?;
            if !output::has_reader() {
                // Leaving the stream stops the run.
                return Ok(ExitCode::SUCCESS);
            }
        }
        while let Some((run_id, waiting)) = answer.take_waiting() {
            if !self.answer_approvals(connection, &waiting, quiet).await? {
                answer.end_waiting(&waiting);
                return Ok(ExitCode::from(WAITING));
            }
            follow(connection, &run_id, |event| answer.take_event(event)).await?;
        }
        if !answer.is_finished() {
            return Err(ClientError::Transport("the answer broke off before its end".to_owned()).into());
        }
        Ok(answer.end())
    }

    /// Answers the calls that wait; false when nobody is here to say.
    async fn answer_approvals(
        &self,
        connection: &Connection,
        waiting: &[Value],
        quiet: bool,
    ) -> anyhow::Result<bool> {
        for request in waiting {
            let id = text_of(&request["id"]);
            if !quiet || !self.yes {
                approval::show(request);
            }
            loop {
                let given = if self.yes {
                    Some(allow_once())
                } else if approval::can_ask() {
                    approval::ask()
                } else {
                    None
                };
                let Some(given) = given else {
                    output::note(format!("The run waits. Answer with: toolcrib approvals answer {id} allow"));
                    return Ok(false);
                };
                match follow::answer(connection, &id, &given).await {
                    // Edited arguments that do not fit: once more.
                    Err(ClientError::Refused { status: 400, message, .. }) if !self.yes => {
                        output::note(output::clean(&message));
                    }
                    answered => {
                        answered?;
                        break;
                    }
                }
            }
        }
        Ok(true)
    }
}

fn input(text: &str) -> Result<(String, String), String> {
    let (id, value) = text.split_once('=').ok_or("write INPUT=VALUE, for example target_language=German")?;
    Ok((id.trim().to_owned(), value.to_owned()))
}

fn inputs(given: &[(String, String)]) -> anyhow::Result<Map<String, Value>> {
    let mut inputs = Map::new();
    for (id, value) in given {
        if inputs.insert(id.clone(), Value::from(value.as_str())).is_some() {
            anyhow::bail!("the input {id:?} has two values; give it once");
        }
    }
    Ok(inputs)
}
