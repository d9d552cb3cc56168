//! Asks the person at the terminal about a call that waits.

use std::io::{BufRead as _, IsTerminal as _};

use serde_json::{Value, json};

use crate::follow::allow_once;
use crate::output::{self, FAINT, STRONG, WARN, styled, text_of};

/// Whether somebody can be asked here.
pub(crate) fn can_ask() -> bool {
    std::io::stdin().is_terminal() && std::io::stderr().is_terminal()
}

/// Shows a call that waits: the tool, the arguments exactly as they will be sent, and why it is asked.
pub(crate) fn show(request: &Value) {
    output::end_line();
    let name = styled(STRONG, text_of(&request["name"]));
    output::note(format!("{} {} {name}", styled(WARN, "Waiting for approval:"), text_of(&request["icon"])));
    details(request).iter().for_each(output::note);
}

/// The arguments of a call exactly as they will be sent, and why it is asked.
pub(crate) fn details(request: &Value) -> Vec<String> {
    let arguments = serde_json::to_string_pretty(&request["arguments"]).unwrap_or_default();
    let mut lines: Vec<_> = arguments.lines().map(|line| format!("   {}", output::clean(line))).collect();
    lines.push(styled(FAINT, format!("   {}", text_of(&request["reason"]))));
    lines
}

/// The person's answer; `None` when the terminal is closed.
pub(crate) fn ask() -> Option<Value> {
    let choices = "[y] allow once  [a] allow for this conversation  [n] deny  [e] edit the arguments";
    loop {
        output::note(format!("{choices}: "));
        match line()?.trim().to_lowercase().as_str() {
            "y" | "yes" => return Some(allow_once()),
            "a" | "all" | "always" => return Some(json!({"answer": "allow_conversation"})),
            "n" | "no" => {
                output::note("What should the model know about it? (empty: nothing)");
                let note = line()?.trim().to_owned();
                let note = (!note.is_empty()).then_some(note);
                return Some(json!({"answer": "deny", "note": note}));
            }
            "e" | "edit" => {
                output::note("The arguments as JSON on one line:");
                match serde_json::from_str::<Value>(line()?.trim()) {
                    Ok(arguments @ Value::Object(_)) => {
                        return Some(json!({"answer": "edit", "arguments": arguments}));
                    }
                    Ok(_) => output::note("That is no JSON object."),
                    Err(error) => output::note(format!("That is no JSON: {error}.")),
                }
            }
            _ => {}
        }
    }
}

/// Whether the person agrees to a call that was just shown.
pub(crate) fn agreed() -> bool {
    output::note("Run it? [y/n]");
    line().is_some_and(|text| matches!(text.trim().to_lowercase().as_str(), "y" | "yes"))
}

fn line() -> Option<String> {
    let mut text = String::new();
    match std::io::stdin().lock().read_line(&mut text) {
        Ok(0) | Err(_) => None,
        Ok(_) => Some(text),
    }
}
