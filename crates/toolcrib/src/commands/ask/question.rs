//! The question: what was typed, and what is piped in.
//!
//! A question that was typed is asked even when standard input stays open and silent, as services leave it.

use std::io::{IsTerminal as _, Read as _};
use std::sync::mpsc;
use std::time::Duration;

use anyhow::{Context as _, bail};

use crate::output;

#[cfg(test)]
mod tests;

/// How long standard input gets to begin when there is a question already.
const BEGIN_TIME: Duration = Duration::from_secs(3);
/// The most that is read from standard input, in bytes: as much as a request may hold by default.
const LARGEST_INPUT: u64 = 32 * 1024 * 1024;

/// When standard input is read.
#[derive(Debug, PartialEq, Eq)]
enum Input {
    Never,
    /// When it begins in time.
    IfAny,
    /// To its end, however long that takes.
    Whole,
}

/// The question from the words that were typed, with what is piped in.
pub(super) fn read(words: &[String]) -> anyhow::Result<String> {
    let (typed, input) = plan(words, std::io::stdin().is_terminal());
    let piped = match input {
        Input::Never => String::new(),
        Input::IfAny => {
            let piped = read_input(BEGIN_TIME)?;
            if piped.is_none() {
                output::note(
                    "Nothing comes on standard input; asking without it. End with - to wait for it.",
                );
            }
            piped.unwrap_or_default()
        }
        Input::Whole => read_input(Duration::MAX)?.unwrap_or_default(),
    };
    let question = joined(&typed, &piped);
    if question.is_empty() {
        bail!("no question: write one behind `ask`, or pipe one in");
    }
    Ok(question)
}

fn plan(words: &[String], terminal: bool) -> (String, Input) {
    let (words, forced) = match words {
        [words @ .., last] if last == "-" => (words, true),
        words => (words, false),
    };
    let typed = words.join(" ");
    let input = match (forced, terminal, typed.trim().is_empty()) {
        (true, _, _) | (_, false, true) => Input::Whole,
        (_, true, _) => Input::Never,
        (_, false, false) => Input::IfAny,
    };
    (typed, input)
}

fn joined(typed: &str, piped: &str) -> String {
    let (typed, piped) = (typed.trim(), piped.trim_end());
    match (typed.is_empty(), piped.trim_start().is_empty()) {
        (_, true) => typed.to_owned(),
        (true, false) => piped.to_owned(),
        (false, false) => format!("{typed}\n\n{piped}"),
    }
}

/// Standard input to its end; `None` when it neither begins nor ends in time.
fn read_input(begin: Duration) -> anyhow::Result<Option<String>> {
    let (send, receive) = mpsc::channel();
    // A thread of its own, for a read cannot be called off; it ends with the program.
    std::thread::spawn(move || {
        let mut input = std::io::stdin().lock().take(LARGEST_INPUT + 1);
        let mut bytes = vec![0; 1];
        let whole = match input.read(&mut bytes) {
            Ok(read) => {
                bytes.truncate(read);
                let _ = send.send(None);
                if read == 0 { Ok(0) } else { input.read_to_end(&mut bytes) }
            }
            Err(error) => Err(error),
        };
        let _ = send.send(Some(whole.map(|_| bytes)));
    });
    let reading = "reading the question from standard input";
    let mut message = match receive.recv_timeout(begin) {
        Ok(message) => message,
        Err(mpsc::RecvTimeoutError::Timeout) => return Ok(None),
        Err(mpsc::RecvTimeoutError::Disconnected) => bail!("{reading} ended unexpectedly"),
    };
    while message.is_none() {
        message = receive.recv().context(reading)?;
    }
    let bytes = message.unwrap_or_else(|| Ok(Vec::new())).context(reading)?;
    if bytes.len() as u64 > LARGEST_INPUT {
        bail!("{reading}: it has more than {} MiB", LARGEST_INPUT >> 20);
    }
    let text = String::from_utf8(bytes).with_context(|| format!("{reading}: it is not UTF-8 text"))?;
    Ok(Some(text))
}
