//! The Toolcrib program.
//!
//! Data goes to standard output, everything else to standard error. Exit codes: 0 done, 1 failed or found faults,
//! 2 wrong usage, 130 interrupted.

use std::process::ExitCode;

use clap::Parser;

mod arguments;
mod commands;
mod logging;
mod output;
mod place;

use arguments::{Arguments, Command};

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let serving = matches!(arguments.command, None | Some(Command::Serve(_)));
    logging::start(arguments.common.verbose, serving);
    let runtime = match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return output::failure(&anyhow::anyhow!("starting the program: {error}")),
    };
    match runtime.block_on(commands::run(arguments)) {
        Ok(code) => code,
        Err(error) => output::failure(&error),
    }
}
