//! What comes of an answer, and how it looks while it comes.

use serde_json::{Value, json};
use toolcrib_server::client::ClientError;

use crate::output::{self, BAD, FAINT, GOOD, STRONG, WARN, clean, styled, text_of};

#[cfg(test)]
mod tests;

/// Lines of a result that are shown.
const RESULT_LINES: usize = 6;
/// Characters of a line of a result that are shown.
const RESULT_COLUMNS: usize = 100;

/// What has come of the answer.
#[derive(Default)]
pub(super) struct Answer {
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
}

impl Answer {
    pub(super) fn new(quiet: bool) -> Self {
        Self { quiet, ..Self::default() }
    }

    /// Takes a piece of the stream and shows what is in it.
    ///
    /// # Errors
    /// The stream says that the answer failed.
    pub(super) fn take(&mut self, chunk: &Value) -> Result<(), ClientError> {
        if let Some(error) = chunk.get("error") {
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
            let shown = self.shown(text);
            if !self.quiet {
                output::text(&shown);
            }
        }
        self.take_event(&chunk["toolcrib"]);
        Ok(())
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

    fn take_event(&mut self, event: &Value) {
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
            Some("finished") => self.last = event.clone(),
            _ => {}
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
