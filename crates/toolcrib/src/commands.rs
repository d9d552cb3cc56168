//! The commands, one file each.

use std::process::ExitCode;

use crate::arguments::{Arguments, Command};
use crate::place::Place;

pub(crate) mod ask;
pub(crate) mod call;
pub(crate) mod check;
pub(crate) mod doctor;
pub(crate) mod keys;
pub(crate) mod new_tool;
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
        Command::Tools(command) => command.run(&place, json).await,
        Command::Call(command) => command.run(&place, json).await,
        Command::Check(command) => command.run(json),
        Command::NewTool(command) => command.run(json),
        Command::Keys(command) => command.run(&place, json).await,
        Command::Doctor(command) => command.run(&place, json).await,
        Command::Schema(command) => command.run(),
    }
}
