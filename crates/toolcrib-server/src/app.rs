//! What every request handler can reach.

use std::sync::Arc;
use std::time::Duration;

use arc_swap::ArcSwap;
use async_trait::async_trait;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use toolcrib_runtime::caller::{Caller, Component, Components, Credits, Grants};
use toolcrib_runtime::clock::Clock;
use toolcrib_runtime::executor::Executor;
use toolcrib_runtime::journal::Journal;
use toolcrib_runtime::labels::Labels;
use toolcrib_runtime::ledger::FreeOfCharge;
use toolcrib_runtime::policy::{
    Circumstances, CircumstancesError, CircumstancesReader, OutboundRestriction, Policy,
};
use toolcrib_runtime::registry::Registry;
use toolcrib_runtime::run::{Limits, Services};
use toolcrib_runtime::tool::definition::Problem;
use toolcrib_storage::record::Owner;
use toolcrib_storage::sqlite::SqliteStore;
use toolcrib_storage::store::{ApprovalStore, LabelStore, StoreError};

use crate::active::Active;
use crate::assistants::Assistants;
use crate::auth::LocalAccess;
use crate::config::ServerSection;
use crate::conversation::Turns;
use crate::models::Models;
use crate::places::Places;
use crate::policy::UnknownTool;

/// The assembled installation.
pub(crate) struct App {
    pub(crate) store: Arc<SqliteStore>,
    pub(crate) registry: Registry,
    pub(crate) assistants: Arc<Assistants>,
    /// Where runs can happen.
    pub(crate) components: Components,
    /// What is wrong with definitions now.
    pub(crate) definition_problems: ArcSwap<Vec<Problem>>,
    /// Tools that the configuration names and that do not exist.
    pub(crate) unknown_tools: ArcSwap<Vec<UnknownTool>>,
    pub(crate) policy: ArcSwap<Policy>,
    pub(crate) models: Models,
    pub(crate) limits: Limits,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) local: LocalAccess,
    pub(crate) server: ServerSection,
    pub(crate) turns: Turns,
    pub(crate) places: Places,
    /// Runs that can be watched and stopped.
    pub(crate) active: Active,
    /// Models may make several calls in one round.
    pub(crate) parallel_tool_calls: bool,
    /// How far every conversation restricts outgoing data at least.
    pub(crate) outbound: OutboundRestriction,
    /// Every run that is going on.
    pub(crate) runs: TaskTracker,
    /// Cancelled when the server may wait no longer.
    pub(crate) stopping: CancellationToken,
}

/// The circumstances of a run: policy, labels and agreements are read anew before every call, the caller stays as it
/// was when the run began.
pub(crate) struct LiveCircumstances {
    pub(crate) app: Arc<App>,
    pub(crate) caller: Arc<Caller>,
    pub(crate) conversation_id: Option<String>,
    /// What the request itself demands.
    pub(crate) floor: Labels,
}

impl App {
    /// What a run of this caller needs.
    pub(crate) fn services(&self, circumstances: LiveCircumstances) -> Services {
        let journal: Arc<dyn Journal> = Arc::clone(&self.store) as _;
        let ledger = Arc::new(FreeOfCharge);
        Services {
            executor: Executor::new(Arc::clone(&journal), ledger, Arc::clone(&self.clock)),
            journal,
            circumstances: Arc::new(circumstances),
            approver: None,
            clock: Arc::clone(&self.clock),
        }
    }

    /// Waits for running answers, then stops what is left. What was stopped is recorded as cancelled.
    pub(crate) async fn finish_runs(&self, grace: Duration) {
        self.runs.close();
        if tokio::time::timeout(grace, self.runs.wait()).await.is_err() {
            tracing::info!(runs = self.runs.len(), "stopping answers that are still running");
            self.stopping.cancel();
            self.runs.wait().await;
        }
        self.stopping.cancel();
    }
}

/// The caller of a request. Until plans are sold, everyone may use everything.
pub(crate) fn caller(owner: &Owner, component: Component, locale: &str) -> Caller {
    Caller {
        workspace_id: owner.workspace_id.clone(),
        user_id: owner.user_id.clone(),
        component,
        grants: Grants::Everything,
        switched_off: std::collections::BTreeSet::new(),
        credits: Credits::Unlimited,
        locale: locale.to_owned(),
    }
}

#[async_trait]
impl CircumstancesReader for LiveCircumstances {
    async fn read(&self) -> Result<Circumstances, CircumstancesError> {
        let mut now = Circumstances::new(Arc::clone(&self.caller), self.app.policy.load_full());
        now.labels = self.floor;
        if let Some(id) = &self.conversation_id {
            let unreadable = |error: StoreError| CircumstancesError(error.to_string());
            now.labels = now.labels.raised_by(self.app.store.labels(id).await.map_err(unreadable)?);
            let approved = self.app.store.approved_tools(id).await.map_err(unreadable)?;
            now.approved_tools = Arc::new(approved.into_iter().collect());
        }
        Ok(now)
    }
}
