//! A journal and a ledger in memory.

use std::sync::Mutex;

use async_trait::async_trait;
use jiff::Timestamp;

use super::lock;
use crate::journal::{Journal, JournalError, RoundEnd, RunEnd, RunPause, RunStart, Trace, TraceStatus};
use crate::ledger::{Hold, Ledger, LedgerError};
use crate::message::Message;

/// A journal that keeps everything in memory.
#[derive(Default)]
pub struct MemoryJournal {
    state: Mutex<MemoryJournalState>,
}

#[derive(Default)]
struct MemoryJournalState {
    begun: Vec<RunStart>,
    traces: Vec<Trace>,
    rounds: Vec<RoundEnd>,
    pauses: Vec<RunPause>,
    waiting: bool,
    ended: Vec<RunEnd>,
    broken: bool,
}

/// A ledger in memory with a balance that runs out.
pub struct MemoryLedger {
    state: Mutex<MemoryLedgerState>,
}

#[derive(Default)]
struct MemoryLedgerState {
    free: i64,
    held: Vec<(String, u32, i64)>,
}

impl MemoryJournal {
    /// A journal that can no longer be written.
    pub fn break_down(&self) {
        lock(&self.state).broken = true;
    }

    /// The runs that began.
    pub fn begun(&self) -> Vec<RunStart> {
        lock(&self.state).begun.clone()
    }

    /// The traces, each in its last state, in the order of their admission.
    pub fn traces(&self) -> Vec<Trace> {
        lock(&self.state).traces.clone()
    }

    /// The runs that ended.
    pub fn ended(&self) -> Vec<RunEnd> {
        lock(&self.state).ended.clone()
    }

    /// The rounds that ended.
    pub fn rounds(&self) -> Vec<RoundEnd> {
        lock(&self.state).rounds.clone()
    }

    /// The pauses, in order.
    pub fn pauses(&self) -> Vec<RunPause> {
        lock(&self.state).pauses.clone()
    }

    /// The messages that the conversation holds by now: what rounds and ends have added.
    pub fn transcript(&self) -> Vec<Message> {
        let state = lock(&self.state);
        let rounds = state.rounds.iter().flat_map(|round| round.messages.clone());
        rounds.chain(state.ended.iter().flat_map(|end| end.messages.clone())).collect()
    }

    fn write(
        &self,
        what: &'static str,
        write: impl FnOnce(&mut MemoryJournalState),
    ) -> Result<(), JournalError> {
        let mut state = lock(&self.state);
        if state.broken {
            return Err(JournalError { what, cause: "the journal is broken on purpose".to_owned() });
        }
        write(&mut state);
        Ok(())
    }

    fn put(&self, what: &'static str, trace: &Trace) -> Result<(), JournalError> {
        self.write(what, |state| match state.traces.iter_mut().find(|known| known.order == trace.order) {
            Some(known) => *known = trace.clone(),
            None => state.traces.push(trace.clone()),
        })
    }
}

#[async_trait]
impl Journal for MemoryJournal {
    async fn begin_run(&self, run: RunStart) -> Result<(), JournalError> {
        self.write("a run", |state| state.begun.push(run))
    }

    async fn admit_call(&self, _run_id: &str, trace: &Trace) -> Result<(), JournalError> {
        self.put("an admission", trace)
    }

    async fn record_trace(&self, _run_id: &str, trace: &Trace) -> Result<(), JournalError> {
        self.put("a trace", trace)
    }

    async fn record_round(&self, round: RoundEnd) -> Result<(), JournalError> {
        self.write("a round", |state| state.rounds.push(round))
    }

    async fn pause_run(&self, pause: RunPause) -> Result<(), JournalError> {
        for (trace, _) in &pause.waiting {
            self.put("a call that waits", trace)?;
        }
        self.write("a pause", |state| {
            state.waiting = true;
            state.pauses.push(pause);
        })
    }

    async fn resume_run(&self, _run_id: &str) -> Result<(), JournalError> {
        let waited = std::mem::take(&mut lock(&self.state).waiting);
        let cause = || JournalError { what: "the resumption of a run", cause: "it does not wait".to_owned() };
        if waited { Ok(()) } else { Err(cause()) }
    }

    async fn close_open_calls(&self, _run_id: &str, _at: Timestamp) -> Result<(), JournalError> {
        self.write("open calls", |state| {
            for trace in state.traces.iter_mut().filter(|trace| trace.status == TraceStatus::Pending) {
                trace.status = TraceStatus::Cancelled;
            }
        })
    }

    async fn end_run(&self, end: RunEnd) -> Result<(), JournalError> {
        self.write("the end of a run", |state| state.ended.push(end))
    }
}

impl MemoryLedger {
    /// A ledger with this many millionths of a credit.
    pub fn with(free: i64) -> Self {
        Self { state: Mutex::new(MemoryLedgerState { free, held: Vec::new() }) }
    }

    /// What is left, and what is held, in millionths of a credit.
    pub fn balance(&self) -> (i64, i64) {
        let state = lock(&self.state);
        (state.free, state.held.iter().map(|(_, _, amount)| amount).sum())
    }
}

#[async_trait]
impl Ledger for MemoryLedger {
    async fn hold(&self, hold: &Hold<'_>) -> Result<(), LedgerError> {
        let mut state = lock(&self.state);
        if state.free < hold.maximum {
            let held: i64 = state.held.iter().map(|(_, _, amount)| amount).sum();
            let later = state.free + held >= hold.maximum;
            return Err(if later { LedgerError::HeldByRunningWork } else { LedgerError::OutOfCredits });
        }
        state.free -= hold.maximum;
        state.held.push((hold.run_id.to_owned(), hold.order, hold.maximum));
        Ok(())
    }

    async fn settle(&self, run_id: &str, order: u32, cost: i64) -> Result<(), LedgerError> {
        let mut state = lock(&self.state);
        let found = state.held.iter().position(|(run, call, _)| run == run_id && *call == order);
        let Some(position) = found else {
            return Err(LedgerError::Unwritable("nothing is held for this call".to_owned()));
        };
        let (_, _, amount) = state.held.remove(position);
        state.free += amount - cost;
        Ok(())
    }

    async fn release(&self, run_id: &str) -> Result<(), LedgerError> {
        let mut state = lock(&self.state);
        let (ours, others): (Vec<_>, Vec<_>) =
            std::mem::take(&mut state.held).into_iter().partition(|(run, _, _)| run == run_id);
        state.held = others;
        state.free += ours.iter().map(|(_, _, amount)| amount).sum::<i64>();
        Ok(())
    }
}
