//! Credits: what a call may cost is held before it runs, and what it did cost is settled afterwards.
//!
//! Amounts are integers, in millionths of a credit. A hold is durable before its call runs, and every hold ends: by a
//! settlement, or with its run.

use async_trait::async_trait;

use crate::caller::Caller;

/// Keeps the credits of a workspace. Storage implements it; an embedder who charges nothing takes [`FreeOfCharge`].
#[async_trait]
pub trait Ledger: Send + Sync {
    /// Reserves what a call may cost. Durable when this returns.
    async fn hold(&self, hold: &Hold<'_>) -> Result<(), LedgerError>;

    /// Charges what a call really cost and gives back the rest of what was held for it.
    async fn settle(&self, run_id: &str, order: u32, cost: i64) -> Result<(), LedgerError>;

    /// Gives back what is still held for calls of a run that has stopped.
    async fn release(&self, run_id: &str) -> Result<(), LedgerError>;
}

/// What is to be reserved, and for whom.
#[derive(Debug, Clone, Copy)]
pub struct Hold<'h> {
    /// Who pays.
    pub caller: &'h Caller,
    /// The run.
    pub run_id: &'h str,
    /// The position of the call in its run, from 1.
    pub order: u32,
    /// The tool.
    pub tool_id: &'h str,
    /// The most that the call can cost.
    pub maximum: i64,
}

/// The ledger could not do what was asked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LedgerError {
    /// The workspace does not have the amount.
    #[error("not enough credits")]
    OutOfCredits,
    /// The workspace has the amount, but running work holds it.
    #[error("the credits are held by running work")]
    HeldByRunningWork,
    /// The ledger cannot be written.
    #[error("writing the ledger: {0}")]
    Unwritable(String),
}

/// The ledger of an installation in which nothing costs anything.
#[derive(Debug, Clone, Copy, Default)]
pub struct FreeOfCharge;

#[async_trait]
impl Ledger for FreeOfCharge {
    async fn hold(&self, _hold: &Hold<'_>) -> Result<(), LedgerError> {
        Ok(())
    }

    async fn settle(&self, _run_id: &str, _order: u32, _cost: i64) -> Result<(), LedgerError> {
        Ok(())
    }

    async fn release(&self, _run_id: &str) -> Result<(), LedgerError> {
        Ok(())
    }
}
