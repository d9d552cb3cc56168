//! The Toolcrib program.
//!
//! Data goes to standard output, everything else to standard error. Exit codes: 0 done, 1 failed or found faults,
//! 2 wrong usage, 3 waits for an approval, 130 interrupted.

use std::process::ExitCode;

use anyhow::Context as _;
use clap::Parser;

mod arguments;
mod commands;
mod follow;
mod interrupt;
mod logging;
mod output;
mod place;
mod question;

use arguments::{Arguments, Command};

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let serving = matches!(arguments.command, None | Some(Command::Serve(_)));
    logging::start(arguments.common.verbose, serving);
    match run(arguments) {
        Ok(code) => code,
        Err(error) => output::failure(&error),
    }
}

fn run(arguments: Arguments) -> anyhow::Result<ExitCode> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    let runtime = runtime.context("starting the program")?;
    let code = runtime.block_on(commands::run(arguments));
    // Whoever interrupts twice does not wait for what cannot be interrupted.
    runtime.shutdown_background();
    let code = code?;
    output::written().context("writing to standard output")?;
    Ok(code)
}
