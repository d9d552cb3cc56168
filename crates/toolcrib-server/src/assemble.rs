//! Puts the installation together: the only place that constructs concrete implementations.

use std::path::PathBuf;
use std::sync::Arc;

use arc_swap::ArcSwap;
use axum::Router;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use toolcrib_egress::{Egress, EgressSettings, EgressSetupError};
use toolcrib_providers::client::ProviderSetupError;
use toolcrib_runtime::clock::Clock;
use toolcrib_runtime::registry::Registry;
use toolcrib_storage::record::Owner;
use toolcrib_storage::sqlite::{OpenError, OpenOptions, SqliteStore};
use toolcrib_storage::store::{KeyStore, Store, StoreError};

use crate::active::Active;
use crate::api;
use crate::app::App;
use crate::assistants::Assistants;
use crate::auth::LocalAccess;
use crate::config::{Config, ConfigError};
use crate::conversation::Turns;
use crate::environment::Environment;
use crate::error::ApiError;
use crate::ids::{RandomnessError, random_id};
use crate::models::Models;
use crate::places::Places;
use crate::sources::Sources;
use crate::system_clock::SystemClock;

/// An installation that is ready to serve.
pub struct Installation {
    pub(crate) app: Arc<App>,
    router: Router,
}

/// The installation could not be put together.
#[derive(Debug, thiserror::Error)]
pub enum AssembleError {
    /// The configuration names a component that does not exist.
    #[error(transparent)]
    Configuration(#[from] ConfigError),
    /// The database could not be opened.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// The database could not be read or written.
    #[error("preparing the database: {0}")]
    Store(#[from] StoreError),
    /// The outbound client could not be set up.
    #[error("setting up outbound connections: {0}")]
    Egress(#[from] EgressSetupError),
    /// A provider could not be set up.
    #[error("setting up a model provider: {0}")]
    Provider(#[from] ProviderSetupError),
    /// No randomness for ids and keys.
    #[error(transparent)]
    Randomness(#[from] RandomnessFailure),
    /// The first key could not be made.
    #[error("making the first key: {0}")]
    FirstKey(String),
}

impl AssembleError {
    /// Whether another process has the data folder open.
    pub fn is_in_use(&self) -> bool {
        matches!(self, Self::Open(OpenError::InUse { .. }))
    }
}

/// The operating system gave no randomness.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct RandomnessFailure(String);

impl From<RandomnessError> for AssembleError {
    fn from(error: RandomnessError) -> Self {
        Self::Randomness(RandomnessFailure(error.to_string()))
    }
}

impl Installation {
    /// Opens the data folder, finds providers, reads definitions.
    ///
    /// # Errors
    /// What could not be opened or set up, with what to do about it.
    pub async fn assemble(
        config: Config,
        data: PathBuf,
        environment: &Environment,
    ) -> Result<Self, AssembleError> {
        let assistants = Assistants::load(&data);
        let components = assistants.components();
        config.policy.check_components(&components)?;
        let clock: Arc<dyn Clock> = Arc::new(SystemClock::new());
        let options = OpenOptions::new(random_id("inst_")?, clock.now());
        let store = Arc::new(SqliteStore::open(&data, options).await?);
        let recovered = store.recovered();
        if recovered.runs > 0 {
            tracing::warn!(
                runs = recovered.runs,
                calls = recovered.calls,
                "runs that a crash interrupted were closed"
            );
        }
        let egress = Egress::new(EgressSettings::default())?;
        let built_in = toolcrib_tools::builtin::builtin(&egress);
        let sources = Arc::new(Sources::new(built_in, config.clone(), &data, assistants));
        let registry = Registry::default();
        let gathered = sources.gather(registry.catalog()).await;
        for problem in &gathered.problems {
            tracing::error!(problem = %problem, "a definition cannot be used");
        }
        for problem in sources.assistants().problems() {
            tracing::error!(problem = %problem, "an assistant's file has a fault");
        }
        for unknown in &gathered.unknown_tools {
            tracing::warn!("the configuration key {unknown}");
        }
        registry.publish(gathered.catalog);
        let models = Models::find(&config, environment).await?;
        let places = Places::new(config.server.max_runs_per_user);
        let app = Arc::new(App {
            store,
            registry,
            assistants: sources.assistants(),
            components,
            definition_problems: ArcSwap::from_pointee(gathered.problems),
            unknown_tools: ArcSwap::from_pointee(gathered.unknown_tools),
            policy: ArcSwap::from_pointee(gathered.policy),
            models,
            limits: config.limits.limits(),
            clock,
            local: LocalAccess::new(config.server.listen.ip().is_loopback())?,
            server: config.server,
            turns: Turns::default(),
            places,
            active: Active::default(),
            outbound: config.policy.outbound(),
            parallel_tool_calls: config.policy.parallel_tool_calls,
            runs: TaskTracker::new(),
            stopping: CancellationToken::new(),
        });
        tokio::spawn(crate::waiting::look_after(Arc::downgrade(&app)));
        tokio::spawn(sources.follow(Arc::downgrade(&app)));
        let router = api::router(Arc::clone(&app));
        Ok(Self { app, router })
    }

    /// The service that answers requests.
    pub fn router(&self) -> Router {
        self.router.clone()
    }

    /// The token that programs of the same user may use while this process runs.
    pub fn local_token(&self) -> &str {
        self.app.local.token()
    }

    /// True when there is nothing but the demo model.
    pub fn only_demo(&self) -> bool {
        self.app.models.only_demo()
    }

    /// The providers that were found: id and where. Nobody is asked.
    #[expect(clippy::unused_async, reason = "callers await it, as they would a lookup in the store")]
    pub async fn providers(&self) -> Vec<(String, String)> {
        self.app.models.origins()
    }

    /// Makes the first key of a new installation; `None` when one was ever made, even if it is revoked by now.
    ///
    /// # Errors
    /// The key could not be stored.
    pub async fn first_key(&self) -> Result<Option<String>, AssembleError> {
        let owner = Owner::first();
        if !self.app.store.keys(&owner.workspace_id).await?.is_empty() {
            return Ok(None);
        }
        let made = self.app.create_key(&owner, "First key").await;
        let (_, secret) = made.map_err(|error: ApiError| AssembleError::FirstKey(error.message))?;
        Ok(Some(secret))
    }

    /// Waits for running answers as long as configured, then closes the store.
    pub async fn shut_down(&self) {
        self.app.finish_runs(self.app.server.grace()).await;
        self.app.store.close().await;
    }
}
