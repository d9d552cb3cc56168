//! What comes of an answer, and how it looks while it comes.

use std::process::ExitCode;

use serde_json::{Value, json};
use toolcrib_server::client::ClientError;

use crate::output::{self, BAD, FAINT, GOOD, STRONG, WARN, clean, styled, text_of};
use crate::question;

#[cfg(test)]
mod tests;

/// Lines of a result that are shown.
const RESULT_LINES: usize = 6;
/// Characters of a line of a result that are shown.
const RESULT_COLUMNS: usize = 100;

/// What has come of the answer.
#[derive(Default)]
pub(crate) struct Answer {
    /// Nothing is shown before the end.
    quiet: bool,
    text: String,
    calls: Vec<Value>,
    last: Value,
    run_id: Value,
    usage: Value,
    model: Value,
    /// A call was shown and no text since.
    after_call: bool,
    /// The calls that wait, when the run does.
    waiting: Option<Vec<Value>>,
}

impl Answer {
    pub(crate) fn new(quiet: bool) -> Self {
        Self { quiet, ..Self::default() }
    }

    /// Takes a piece of the stream and shows what is in it.
    ///
    /// # Errors
    /// The stream says that the answer failed.
    pub(super) fn take(&mut self, chunk: &Value) -> Result<(), ClientError> {
        if chunk.get("error").is_some() {
            return Err(failed(chunk));
        }
        if let Some(model) = chunk.get("model") {
            self.model = model.clone();
        }
        if let Some(usage) = chunk.get("usage").filter(|usage| !usage.is_null()) {
            self.usage = usage.clone();
        }
        if let Some(text) = chunk["choices"][0]["delta"]["content"].as_str() {
            self.take_text(text);
        }
        self.take_event(&chunk["toolcrib"])
    }

    /// The run and its calls that wait, when it does; taken once.
    pub(super) fn take_waiting(&mut self) -> Option<(String, Vec<Value>)> {
        let waiting = self.waiting.take()?;
        Some((text_of(&self.run_id).into_owned(), waiting))
    }

    /// Shows the end, and says with which code the program ends.
    pub(crate) fn end(&mut self) -> ExitCode {
        if let Some(waiting) = self.waiting.take() {
            waiting.iter().for_each(question::show);
            output::note("The run waits again; `toolcrib approvals` lists what for.");
            self.end_waiting(&waiting);
            return ExitCode::from(super::WAITING);
        }
        self.finish();
        ExitCode::SUCCESS
    }

    /// Prints what there is of an answer that waits, where data is wanted.
    pub(super) fn end_waiting(&self, waiting: &[Value]) {
        if self.quiet {
            let mut data = self.to_json();
            data["requires_approval"] = json!(waiting);
            output::json(&data);
        }
    }

    fn take_text(&mut self, text: &str) {
        self.text.push_str(text);
        let shown = self.shown(text);
        if !self.quiet {
            output::text(&shown);
        }
    }

    /// True when the stream has told how the answer ended.
    pub(super) fn is_finished(&self) -> bool {
        !self.last.is_null()
    }

    /// Shows what stands at the end of the answer.
    pub(super) fn finish(&self) {
        if self.quiet {
            return output::json(&self.to_json());
        }
        output::end_line();
        if let Some(reason) = self.last["incomplete"]["message"].as_str() {
            output::note(format!("{}: {}", styled(WARN, "incomplete"), clean(reason)));
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

    /// The piece of text as it is printed. Calls stand on lines of their own: the blank line that parts rounds is
    /// not needed behind them, however many pieces it comes in.
    fn shown(&mut self, text: &str) -> String {
        let text = if self.after_call { text.trim_start_matches('\n') } else { text };
        if !text.is_empty() {
            self.after_call = false;
        }
        clean(text).into_owned()
    }

    /// Takes an event of the run and shows what is in it.
    ///
    /// # Errors
    /// The event says that the run failed.
    pub(crate) fn take_event(&mut self, event: &Value) -> Result<(), ClientError> {
        match event["type"].as_str() {
            Some("run_started") => self.run_id = event["run_id"].clone(),
            Some("call_started") => {
                self.after_call = true;
                if !self.quiet {
                    show_start(event);
                }
            }
            Some("call_progress") if !self.quiet => {
                output::note(styled(FAINT, format!("   … {}", text_of(&event["text"]))));
            }
            Some("call_ended") => {
                self.after_call = true;
                if !self.quiet {
                    show_result(event);
                }
                self.calls.push(event.clone());
            }
            Some("text") => self.take_text(event["text"].as_str().unwrap_or_default()),
            Some("paused") => {
                self.waiting = Some(event["requires_approval"].as_array().cloned().unwrap_or_default());
            }
            Some("finished") => self.last = event.clone(),
            Some("failed") => return Err(failed(event)),
            _ => {}
        }
        Ok(())
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

/// What an error within a stream says.
fn failed(event: &Value) -> ClientError {
    let error = &event["error"];
    let text = |field: &str| error[field].as_str().map(str::to_owned);
    let reason = event["reason"].as_str().map(str::to_owned);
    ClientError::Refused {
        status: 200,
        code: text("code").unwrap_or_default(),
        message: text("message").or(reason).unwrap_or_else(|| "the answer broke off".to_owned()),
        hint: text("hint"),
    }
}

fn show_start(event: &Value) {
    output::end_line();
    let (icon, name) = (text_of(&event["icon"]), text_of(&event["name"]));
    let arguments = styled(FAINT, output::compact(&event["arguments"]));
    output::note(format!("{icon} {} {arguments}", styled(STRONG, name)));
}

/// The end of a call in a few lines.
fn show_result(event: &Value) {
    output::end_line();
    let status = text_of(&event["status"]);
    let (mark, style) = match &*status {
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
    for line in result_lines(event) {
        output::note(styled(FAINT, format!("   │ {line}")));
    }
}

/// The beginning of a result, with what is left out.
fn result_lines(event: &Value) -> Vec<String> {
    let result = match event.get("result_json").filter(|json| !json.is_null()) {
        Some(json) => serde_json::to_string_pretty(json).unwrap_or_default(),
        None => text_of(&event["result"]).into_owned(),
    };
    let count = result.lines().count();
    let mut lines: Vec<String> = result.lines().take(RESULT_LINES).map(cut).collect();
    if count > RESULT_LINES {
        lines.push(format!("… {}", output::counted(count - RESULT_LINES, "more line")));
    }
    lines
}

fn cut(line: &str) -> String {
    match line.char_indices().nth(RESULT_COLUMNS) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line.to_owned(),
    }
}
