//! `toolcrib ask`: one question, with the answer, the calls and the sources as they come.

use std::io::{IsTerminal as _, Read as _};
use std::process::ExitCode;

use anyhow::{Context as _, bail};
use clap::Args;
use futures_util::StreamExt as _;
use http::Method;
use serde_json::{Value, json};
use toolcrib_server::client::{ClientError, Connection};

use crate::output::{self, BAD, FAINT, GOOD, STRONG, WARN, styled};
use crate::place::Place;

/// Lines of a result that are shown.
const RESULT_LINES: usize = 6;
/// Characters of a line of a result that are shown.
const RESULT_COLUMNS: usize = 100;

/// Ask a question.
#[derive(Debug, Args)]
pub(crate) struct Ask {
    /// The question; standard input is read when there is none, or added when something is piped in
    prompt: Vec<String>,
    /// The model, as `provider/model`
    #[arg(short, long, value_name = "MODEL", default_value = "default")]
    model: String,
    /// Tools that may be used: ids separated by commas, or `none`
    #[arg(long, value_name = "IDS", default_value = "default")]
    tools: String,
}

/// What has come of the answer.
#[derive(Default)]
struct Answer {
    text: String,
    calls: Vec<Value>,
    last: Value,
    run_id: Value,
    usage: Value,
    model: Value,
    line_open: bool,
}

impl Ask {
    pub(crate) async fn run(self, place: &Place, json: bool) -> anyhow::Result<ExitCode> {
        let prompt = self.question()?;
        let connection = place.connect().await?;
        let outcome = tokio::select! {
            outcome = self.answer(&connection, &prompt, json) => outcome,
            _ = tokio::signal::ctrl_c() => {
                // Leaving the stream stops the run; a second signal does not wait for it to be written down.
                output::note("\nCancelled.");
                tokio::select! {
                    () = connection.close() => {}
                    _ = tokio::signal::ctrl_c() => {}
                }
                return Ok(ExitCode::from(130));
            }
        };
        connection.close().await;
        outcome
    }

    fn question(&self) -> anyhow::Result<String> {
        let mut question = self.prompt.join(" ");
        if !std::io::stdin().is_terminal() && (question.is_empty() || question == "-") {
            question.clear();
            std::io::stdin()
                .read_to_string(&mut question)
                .context("reading the question from standard input")?;
        }
        if question.trim().is_empty() {
            bail!("no question: write one behind `ask`, or pipe one in");
        }
        Ok(question)
    }

    async fn answer(&self, connection: &Connection, prompt: &str, quiet: bool) -> anyhow::Result<ExitCode> {
        let body = json!({
            "model": self.model,
            "stream": true,
            "stream_options": {"include_usage": true},
            "messages": [{"role": "user", "content": prompt}],
            "toolcrib": {"component": "cli", "events": true, "tools": self.tools},
        });
        let reply = connection.send(Method::POST, "/v1/chat/completions", &[], Some(&body)).await?;
        let mut events = reply.events();
        let mut answer = Answer::default();
        while let Some(event) = events.next().await {
            answer.take(&event?, quiet)?;
        }
        if quiet {
            output::json(&answer.to_json());
        } else {
            answer.finish();
        }
        Ok(ExitCode::SUCCESS)
    }
}

impl Answer {
    fn take(&mut self, chunk: &Value, quiet: bool) -> Result<(), ClientError> {
        if let Some(error) = chunk.get("error") {
            if self.line_open {
                output::text("\n");
            }
            let text = |field: &str| error[field].as_str().map(str::to_owned);
            return Err(ClientError::Refused {
                status: 200,
                code: text("code").unwrap_or_default(),
                message: text("message").unwrap_or_else(|| "the answer broke off".to_owned()),
                hint: text("hint"),
            });
        }
        if let Some(model) = chunk.get("model") {
            self.model = model.clone();
        }
        if let Some(usage) = chunk.get("usage").filter(|usage| !usage.is_null()) {
            self.usage = usage.clone();
        }
        if let Some(text) = chunk["choices"][0]["delta"]["content"].as_str() {
            self.text.push_str(text);
            // Calls were shown on lines of their own: the blank line between rounds is already there.
            let text = if self.line_open { text } else { text.trim_start_matches('\n') };
            if !quiet && !text.is_empty() {
                output::text(text);
                self.line_open = !text.ends_with('\n');
            }
        }
        self.take_event(&chunk["toolcrib"], quiet);
        Ok(())
    }

    fn take_event(&mut self, event: &Value, quiet: bool) {
        match event["type"].as_str() {
            Some("run_started") => self.run_id = event["run_id"].clone(),
            Some("call_started") if !quiet => {
                if self.line_open {
                    output::text("\n");
                    self.line_open = false;
                }
                let (icon, name) = (text_of(&event["icon"]), text_of(&event["name"]));
                output::note(format!(
                    "{icon} {} {}",
                    styled(STRONG, name),
                    styled(FAINT, &event["arguments"])
                ));
            }
            Some("call_progress") if !quiet => {
                output::note(styled(FAINT, format!("   … {}", text_of(&event["text"]))));
            }
            Some("call_ended") => {
                if !quiet {
                    show_result(event);
                }
                self.calls.push(event.clone());
            }
            Some("finished") => self.last = event.clone(),
            _ => {}
        }
    }

    fn finish(&self) {
        if self.line_open {
            output::text("\n");
        }
        if let Some(reason) = self.last["incomplete"]["message"].as_str() {
            output::note(format!("{}: {reason}", styled(WARN, "incomplete")));
        }
        let sources = self.last["sources"].as_array().map(Vec::as_slice).unwrap_or_default();
        if !sources.is_empty() {
            output::line(format!("\n{}", styled(STRONG, "Sources used by tools")));
            for (index, source) in sources.iter().enumerate() {
                let (title, url) = (text_of(&source["title"]), text_of(&source["url"]));
                output::line(format!("{}. {title}  {}", index + 1, styled(FAINT, url)));
            }
        }
    }

    fn to_json(&self) -> Value {
        json!({
            "model": self.model,
            "run_id": self.run_id,
            "text": self.text,
            "calls": self.calls,
            "sources": self.last["sources"],
            "incomplete": self.last["incomplete"],
            "usage": self.usage,
        })
    }
}

/// The end of a call in a few lines.
fn show_result(event: &Value) {
    let status = text_of(&event["status"]);
    let (mark, style) = match status {
        "SUCCESS" => ("✓", GOOD),
        "BLOCKED" => ("■", WARN),
        _ => ("✗", BAD),
    };
    let milliseconds = event["duration_ms"].as_u64().unwrap_or_default();
    output::note(format!(
        "   {} {}",
        styled(style, format!("{mark} {status}")),
        styled(FAINT, format!("{milliseconds} ms"))
    ));
    let pretty = event.get("result_json").filter(|json| !json.is_null());
    let result = match pretty {
        Some(json) => serde_json::to_string_pretty(json).unwrap_or_default(),
        None => text_of(&event["result"]).to_owned(),
    };
    let lines: Vec<&str> = result.lines().collect();
    for line in lines.iter().take(RESULT_LINES) {
        let shown = match line.char_indices().nth(RESULT_COLUMNS) {
            Some((end, _)) => format!("{}…", &line[..end]),
            None => (*line).to_owned(),
        };
        output::note(styled(FAINT, format!("   │ {shown}")));
    }
    if lines.len() > RESULT_LINES {
        output::note(styled(FAINT, format!("   │ … {} more lines", lines.len() - RESULT_LINES)));
    }
}

fn text_of(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}
