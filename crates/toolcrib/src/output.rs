//! Prints: data to standard output, everything else to standard error.
//!
//! Color is only used on a terminal and is never the only sign. What comes from outside (pages, models, servers,
//! files) passes through [`clean`], [`text_of`] or [`styled`] before it is printed, so that it cannot steer the
//! terminal. A reader that has gone away is no error.

use std::borrow::Cow;
use std::fmt::{Display, Write as _};
use std::io::{self, ErrorKind, Write as _};
use std::process::ExitCode;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use anstyle::{AnsiColor, Style};
use serde_json::Value;
use toolcrib_server::client::ClientError;

#[cfg(test)]
mod tests;

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

/// The first failure to write data, if any.
static FAILURE: OnceLock<ErrorKind> = OnceLock::new();
/// Data ended within a line.
static LINE_OPEN: AtomicBool = AtomicBool::new(false);

/// Text without control characters (C0, DEL and C1) except line ends and tabs.
pub(crate) fn clean(text: &str) -> Cow<'_, str> {
    let steers = |c: char| c.is_control() && c != '\n' && c != '\t';
    if text.contains(steers) { Cow::Owned(text.replace(steers, "")) } else { Cow::Borrowed(text) }
}

/// A text in JSON, clean; empty when it is none.
pub(crate) fn text_of(value: &Value) -> Cow<'_, str> {
    clean(value.as_str().unwrap_or_default())
}

/// Text in a style, for terminals. The text is cleaned, so that no styled text can be styled again.
pub(crate) fn styled(style: Style, text: impl Display) -> String {
    format!("{style}{}{style:#}", clean(&text.to_string()))
}

/// The same, filled with spaces to a number of characters.
pub(crate) fn column(style: Style, text: &str, width: usize) -> String {
    let text = clean(text);
    let fill = width.saturating_sub(text.chars().count());
    format!("{}{:fill$}", styled(style, &text), "")
}

/// "1 file", "2 files".
pub(crate) fn counted(count: usize, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

/// A line of data.
pub(crate) fn line(text: impl Display) {
    write(&format!("{text}\n"));
}

/// Data without a line end, shown at once.
pub(crate) fn text(text: &str) {
    write(text);
}

/// Ends a line of data that was begun.
pub(crate) fn end_line() {
    if LINE_OPEN.load(Ordering::Relaxed) {
        write("\n");
    }
}

/// JSON data on several lines. What JSON leaves as it is but terminals obey (DEL and C1) is escaped as well.
pub(crate) fn json(value: &Value) {
    let pretty = serde_json::to_string_pretty(value).unwrap_or_else(|_| value.to_string());
    line(escaped(&pretty));
}

/// JSON on one line, as little as [`json`] able to steer a terminal.
pub(crate) fn compact(value: &Value) -> String {
    escaped(&value.to_string())
}

/// A line that is no data.
pub(crate) fn note(text: impl Display) {
    let _ = writeln!(anstream::stderr(), "{text}");
}

/// False when nobody reads the data any more.
pub(crate) fn has_reader() -> bool {
    FAILURE.get().is_none()
}

/// Whether all data could be written. A reader that left early had enough; that is no failure.
pub(crate) fn written() -> io::Result<()> {
    match FAILURE.get() {
        Some(kind) if *kind != ErrorKind::BrokenPipe => Err((*kind).into()),
        _ => Ok(()),
    }
}

/// Tells why the program failed, and what to do.
pub(crate) fn failure(error: &anyhow::Error) -> ExitCode {
    end_line();
    note(format!("{}: {}", styled(BAD, "error"), clean(&format!("{error:#}"))));
    let hint = match error.downcast_ref::<ClientError>() {
        Some(ClientError::Refused { hint, .. }) => hint.clone(),
        Some(ClientError::Transport(_)) => {
            Some("Check that the server runs and that its address is right.".to_owned())
        }
        _ => None,
    };
    if let Some(hint) = hint {
        note(format!("{}: {}", styled(STRONG, "hint"), clean(&hint)));
    }
    ExitCode::from(1)
}

fn write(text: &str) {
    if text.is_empty() || !has_reader() {
        return;
    }
    let mut out = anstream::stdout();
    if let Err(error) = out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        let _ = FAILURE.set(error.kind());
    }
    LINE_OPEN.store(!text.ends_with('\n'), Ordering::Relaxed);
}

/// In JSON such characters stand within strings only, where an escape means the same (RFC 8259, section 7).
fn escaped(json: &str) -> String {
    json.chars().fold(String::with_capacity(json.len()), |mut out, c| {
        if ('\u{7f}'..='\u{9f}').contains(&c) {
            let _ = write!(out, "\\u{:04x}", u32::from(c));
        } else {
            out.push(c);
        }
        out
    })
}
