//! What an embedder brings along: the time, and somewhere to write down what happens.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use jiff::Timestamp;
use toolcrib_runtime::clock::Clock;
use toolcrib_runtime::journal::{
    Journal, JournalError, RoundEnd, RunEnd, RunPause, RunStart, Trace, TraceStatus,
};

/// The time of the machine.
pub(crate) struct SystemClock {
    began: Instant,
}

impl SystemClock {
    #[expect(clippy::disallowed_methods, reason = "a program is where the time comes from")]
    pub(crate) fn new() -> Self {
        Self { began: Instant::now() }
    }
}

#[async_trait]
impl Clock for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "a program is where the time comes from")]
    fn now(&self) -> Timestamp {
        Timestamp::now()
    }

    fn elapsed(&self) -> Duration {
        self.began.elapsed()
    }

    async fn sleep(&self, duration: Duration) {
        tokio::time::sleep(duration).await;
    }
}

/// A journal of one run that keeps the traces and forgets the rest.
#[derive(Default)]
pub(crate) struct Traces {
    /// In the order of the calls, each as it is now.
    pub(crate) traces: Mutex<Vec<Trace>>,
}

impl Traces {
    fn put(&self, trace: &Trace) {
        let mut traces = self.traces.lock().unwrap_or_else(PoisonError::into_inner);
        match traces.iter_mut().find(|known| known.order == trace.order) {
            Some(known) => *known = trace.clone(),
            None => traces.push(trace.clone()),
        }
    }
}

#[async_trait]
impl Journal for Traces {
    async fn begin_run(&self, _: RunStart) -> Result<(), JournalError> {
        Ok(())
    }

    async fn admit_call(&self, _run_id: &str, trace: &Trace) -> Result<(), JournalError> {
        self.put(trace);
        Ok(())
    }

    async fn record_trace(&self, _run_id: &str, trace: &Trace) -> Result<(), JournalError> {
        self.put(trace);
        Ok(())
    }

    async fn record_round(&self, _: RoundEnd) -> Result<(), JournalError> {
        Ok(())
    }

    async fn pause_run(&self, _: RunPause) -> Result<(), JournalError> {
        // What cannot be kept must not wait.
        Err(JournalError { what: "a pause", cause: "this journal keeps no waiting runs".to_owned() })
    }

    async fn resume_run(&self, _run_id: &str) -> Result<(), JournalError> {
        Err(JournalError { what: "the resumption of a run", cause: "no run waits".to_owned() })
    }

    async fn close_open_calls(&self, _run_id: &str, _at: Timestamp) -> Result<(), JournalError> {
        let mut traces = self.traces.lock().unwrap_or_else(PoisonError::into_inner);
        for trace in traces.iter_mut().filter(|trace| trace.status == TraceStatus::Pending) {
            trace.status = TraceStatus::Cancelled;
        }
        Ok(())
    }

    async fn end_run(&self, _: RunEnd) -> Result<(), JournalError> {
        Ok(())
    }
}
