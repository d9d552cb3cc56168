//! The log: on standard error, for people on a terminal, as JSON otherwise.

use std::io::IsTerminal as _;

use anstream::{AutoStream, ColorChoice};
use tracing_subscriber::EnvFilter;

/// Starts logging. `RUST_LOG` wins over the number of `-v`.
pub(crate) fn start(verbose: u8, serving: bool) {
    let level = match (verbose, serving) {
        (0, false) => "error",
        (0, true) => "warn,toolcrib_server=info",
        (1, _) => "info",
        _ => "debug",
    };
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new(level));
    let log = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr);
    if serving && !std::io::stderr().is_terminal() {
        log.json().init();
    } else {
        let colors = AutoStream::choice(&std::io::stderr()) != ColorChoice::Never;
        log.with_target(verbose > 1).with_ansi(colors).init();
    }
}
