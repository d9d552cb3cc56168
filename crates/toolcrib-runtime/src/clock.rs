//! Time, passed in: the crate never looks at a clock of its own.

use std::time::Duration;

use async_trait::async_trait;
use jiff::Timestamp;

/// A source of time. The program passes the system's; tests pass one that they move.
#[async_trait]
pub trait Clock: Send + Sync {
    /// The current moment, for records that people read.
    fn now(&self) -> Timestamp;

    /// Time since a fixed point in the past that never runs backwards, for durations.
    fn elapsed(&self) -> Duration;

    /// Returns after `duration`.
    async fn sleep(&self, duration: Duration);
}
