//! The system's clock, as the runtime wants it.

use std::time::Duration;

use async_trait::async_trait;
use jiff::Timestamp;
use tokio::time::Instant;
use toolcrib_runtime::clock::Clock;

/// The time of the machine.
pub(crate) struct SystemClock {
    started: Instant,
}

impl SystemClock {
    pub(crate) fn new() -> Self {
        Self { started: Instant::now() }
    }
}

#[async_trait]
impl Clock for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "this is the clock that everything else is given")]
    fn now(&self) -> Timestamp {
        Timestamp::now()
    }

    fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }

    async fn sleep(&self, duration: Duration) {
        tokio::time::sleep(duration).await;
    }
}
