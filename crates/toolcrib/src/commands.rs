//! The commands, one file each.

use std::fmt::Write as _;
use std::process::ExitCode;

use crate::arguments::{Arguments, Command};
use crate::place::Place;

pub(crate) mod approvals;
pub(crate) mod ask;
pub(crate) mod assistants;
pub(crate) mod call;
pub(crate) mod check;
pub(crate) mod doctor;
pub(crate) mod keys;
pub(crate) mod new_tool;
pub(crate) mod runs;
pub(crate) mod schema;
pub(crate) mod serve;
pub(crate) mod tools;

/// Runs the command that was typed.
pub(crate) async fn run(arguments: Arguments) -> anyhow::Result<ExitCode> {
    let json = arguments.common.json;
    let place = Place::new(arguments.common);
    match arguments.command.unwrap_or_else(|| Command::Serve(serve::Serve::default())) {
        Command::Serve(command) => command.run(&place, json).await,
        Command::Ask(command) => command.run(&place, json).await,
        Command::Assistants(command) => command.run(&place, json).await,
        Command::Tools(command) => command.run(&place, json).await,
        Command::Explain(command) => command.run_alone(&place, json).await,
        Command::Approvals(command) => command.run(&place, json).await,
        Command::Runs(command) => command.run(&place, json).await,
        Command::Call(command) => command.run(&place, json).await,
        Command::Check(command) => command.run(&place, json),
        Command::NewTool(command) => command.run(json),
        Command::Keys(command) => command.run(&place, json).await,
        Command::Doctor(command) => command.run(&place, json).await,
        Command::Schema(command) => command.run(),
    }
}

/// Percent-encodes for a path segment or a query value (RFC 3986, unreserved characters stay).
pub(crate) fn encoded(text: &str) -> String {
    text.bytes().fold(String::new(), |mut out, byte| {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            out.push(char::from(byte));
        } else {
            let _ = write!(out, "%{byte:02X}");
        }
        out
    })
}
