//! What every request handler can reach.

use std::sync::Arc;
use std::time::Duration;

use arc_swap::ArcSwap;
use async_trait::async_trait;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use toolcrib_runtime::caller::{Caller, Component, Credits, Grants};
use toolcrib_runtime::clock::Clock;
use toolcrib_runtime::executor::Executor;
use toolcrib_runtime::journal::Journal;
use toolcrib_runtime::policy::{
    Circumstances, CircumstancesError, CircumstancesReader, OutboundRestriction, Policy,
};
use toolcrib_runtime::registry::Registry;
use toolcrib_runtime::run::{Limits, Services};
use toolcrib_runtime::tool::definition::Problem;
use toolcrib_storage::record::Owner;
use toolcrib_storage::sqlite::SqliteStore;

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
    /// Every run that is going on.
    pub(crate) runs: TaskTracker,
    /// Cancelled when the server may wait no longer.
    pub(crate) stopping: CancellationToken,
}

/// The circumstances of a run: the policy is read anew before every call, the caller stays as it was when the run
/// began.
struct LiveCircumstances {
    app: Arc<App>,
    caller: Arc<Caller>,
}

impl App {
    /// What a run of this caller needs.
    pub(crate) fn services(self: &Arc<Self>, caller: Arc<Caller>) -> Services {
        let journal: Arc<dyn Journal> = Arc::clone(&self.store) as _;
        Services {
            executor: Executor::new(Arc::clone(&journal), Arc::clone(&self.clock)),
            journal,
            circumstances: Arc::new(LiveCircumstances { app: Arc::clone(self), caller }),
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
        Ok(Circumstances {
            caller: Arc::clone(&self.caller),
            policy: self.app.policy.load_full(),
            outbound: OutboundRestriction::Unrestricted,
            untrusted_seen: false,
        })
    }
}
