//! Signals that ask the program to end: Ctrl-C, and on Unix SIGTERM.
//!
//! They are listened to from the moment that [`Interrupts::listen`] returns; one that arrives meanwhile is not lost.

use std::process::ExitCode;

use crate::output;
use crate::place::Place;
use anyhow::Context as _;
use toolcrib_server::client::Connection;

/// The exit code of an interrupted program, as shells know it: 128 and the number of SIGINT.
pub(crate) const INTERRUPTED: u8 = 130;

/// The signals, one after the other.
pub(crate) struct Interrupts {
    #[cfg(unix)]
    interrupt: tokio::signal::unix::Signal,
    #[cfg(unix)]
    terminate: tokio::signal::unix::Signal,
}

impl Interrupts {
    /// Begins to listen; needs a running runtime. From now on a signal does not end the program by itself.
    #[cfg(unix)]
    pub(crate) fn listen() -> anyhow::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        let listen = |kind| signal(kind).context("listening to signals");
        Ok(Self { interrupt: listen(SignalKind::interrupt())?, terminate: listen(SignalKind::terminate())? })
    }

    #[cfg(not(unix))]
    pub(crate) fn listen() -> anyhow::Result<Self> {
        Ok(Self {})
    }

    /// Waits for the next signal.
    #[cfg(unix)]
    pub(crate) async fn next(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
    }

    #[cfg(not(unix))]
    pub(crate) async fn next(&mut self) {
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}

/// Connects, does the work and closes the connection. The first signal drops the work, so that what it began is
/// stopped and written down as cancelled; the second does not wait for that.
pub(crate) async fn with_connection(
    place: &Place,
    work: impl AsyncFnOnce(&Connection) -> anyhow::Result<ExitCode>,
) -> anyhow::Result<ExitCode> {
    let mut interrupts = Interrupts::listen()?;
    let connection = tokio::select! {
        connection = place.connect() => connection?,
        () = interrupts.next() => return Ok(cancelled()),
    };
    let outcome = tokio::select! {
        outcome = work(&connection) => outcome,
        () = interrupts.next() => Ok(cancelled()),
    };
    tokio::select! {
        () = connection.close() => outcome,
        () = interrupts.next() => Ok(ExitCode::from(INTERRUPTED)),
    }
}

fn cancelled() -> ExitCode {
    output::end_line();
    output::note("Cancelled.");
    ExitCode::from(INTERRUPTED)
}
