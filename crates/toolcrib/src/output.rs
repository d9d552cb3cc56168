//! Prints: data to standard output, everything else to standard error.
//!
//! Color is only used on a terminal and is never the only sign. A reader that has gone away is no error.

use std::fmt::Display;
use std::io::Write as _;
use std::process::ExitCode;

use anstyle::{AnsiColor, Style};
use serde_json::Value;
use toolcrib_server::client::ClientError;

/// Less important text.
pub(crate) const FAINT: Style = Style::new().dimmed();
/// Headings.
pub(crate) const STRONG: Style = Style::new().bold();
/// What is well.
pub(crate) const GOOD: Style = AnsiColor::Green.on_default();
/// What needs a look.
pub(crate) const WARN: Style = AnsiColor::Yellow.on_default();
/// What is wrong.
pub(crate) const BAD: Style = AnsiColor::Red.on_default().bold();

/// Text in a style, for terminals.
pub(crate) fn styled(style: Style, text: impl Display) -> String {
    format!("{style}{text}{style:#}")
}

/// A line of data.
pub(crate) fn line(text: impl Display) {
    let _ = writeln!(anstream::stdout(), "{text}");
}

/// Data without a line end, shown at once.
pub(crate) fn text(text: &str) {
    let mut out = anstream::stdout();
    let _ = write!(out, "{text}");
    let _ = out.flush();
}

/// JSON data on several lines.
pub(crate) fn json(value: &Value) {
    line(serde_json::to_string_pretty(value).unwrap_or_else(|_| value.to_string()));
}

/// A line that is no data.
pub(crate) fn note(text: impl Display) {
    let _ = writeln!(anstream::stderr(), "{text}");
}

/// Tells why the program failed, and what to do.
pub(crate) fn failure(error: &anyhow::Error) -> ExitCode {
    note(format!("{}: {error:#}", styled(BAD, "error")));
    let hint = match error.downcast_ref::<ClientError>() {
        Some(ClientError::Refused { hint, .. }) => hint.clone(),
        Some(ClientError::Transport(_)) => {
            Some("Check that the server runs and that its address is right.".to_owned())
        }
        _ => None,
    };
    if let Some(hint) = hint {
        note(format!("{}: {hint}", styled(STRONG, "hint")));
    }
    ExitCode::from(1)
}
