//! What a provider lists, asked in the background and answered from memory.
//!
//! No more than one question is under way at a provider, and nobody waits for it longer than [`FIRST_WAIT`]: whoever
//! comes later gets what is known, and a list that is out of date is asked for again meanwhile.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{Mutex, watch};
use tokio::time::Instant;
use toolcrib_providers::client::Provider;
use toolcrib_runtime::model::{ModelError, ModelErrorKind};

/// How long a list is believed.
const LIST_AGE: Duration = Duration::from_mins(1);
/// How long a failure is believed.
pub(super) const FAILURE_AGE: Duration = Duration::from_secs(5);
/// How long the first question waits.
pub(super) const FIRST_WAIT: Duration = Duration::from_secs(3);
/// How long a question waits for a provider that failed the last time: it may be back.
const RETRY_WAIT: Duration = Duration::from_millis(300);

/// Names of models.
pub(super) type Names = Arc<[String]>;

/// The list of one provider.
pub(super) struct Listing {
    provider: Arc<Provider>,
    latest: watch::Sender<Option<Listed>>,
    /// Held while the provider is being asked.
    asking: Arc<Mutex<()>>,
}

#[derive(Clone)]
struct Listed {
    at: Instant,
    names: Result<Names, ModelError>,
    /// What it listed when it last could.
    last: Option<Names>,
}

impl Listing {
    pub(super) fn new(provider: Arc<Provider>) -> Self {
        Self { provider, latest: watch::Sender::new(None), asking: Arc::default() }
    }

    /// What the provider lists, or why it does not.
    pub(super) async fn names(self: &Arc<Self>) -> Result<Names, ModelError> {
        let Some(listed) = self.listed() else { return self.younger_than(FAILURE_AGE, FIRST_WAIT).await };
        let failed = listed.names.is_err();
        if listed.at.elapsed() < if failed { FAILURE_AGE } else { LIST_AGE } {
            return listed.names;
        }
        let asked = self.ask();
        if failed && asked {
            return self.younger_than(FAILURE_AGE, RETRY_WAIT).await;
        }
        listed.names
    }

    /// The same when it is known already, without waiting; the list of a provider that fails now is still known.
    pub(super) fn known(&self) -> Option<Names> {
        self.listed()?.last
    }

    /// What the provider lists, asked anew when the answer is older than `age`; waits at most `wait` for it.
    pub(super) async fn younger_than(
        self: &Arc<Self>,
        age: Duration,
        wait: Duration,
    ) -> Result<Names, ModelError> {
        let mut answers = self.latest.subscribe();
        let believed = |listed: &Option<Listed>| listed.as_ref().is_some_and(|it| it.at.elapsed() < age);
        if !believed(&answers.borrow()) {
            self.ask();
        }
        if let Ok(Ok(listed)) = tokio::time::timeout(wait, answers.wait_for(believed)).await
            && let Some(listed) = listed.as_ref()
        {
            return listed.names.clone();
        }
        let id = &self.provider.settings().id;
        let message = format!("the provider {id} has not told its models within {:.1} s", wait.as_secs_f64());
        let late = ModelError::new(ModelErrorKind::Timeout, message);
        // Those who come next do not wait the same time again.
        let unknown = Listed { at: Instant::now(), names: Err(late), last: None };
        self.latest.send_if_modified(|latest| {
            let first = latest.is_none();
            latest.get_or_insert_with(|| unknown.clone());
            first
        });
        self.listed().unwrap_or(unknown).names
    }

    fn listed(&self) -> Option<Listed> {
        self.latest.borrow().clone()
    }

    /// Asks in a task of its own; `false` when a question is under way already.
    fn ask(self: &Arc<Self>) -> bool {
        let Ok(asking) = Arc::clone(&self.asking).try_lock_owned() else { return false };
        let this = Arc::clone(self);
        tokio::spawn(async move {
            let names = this.provider.list_models().await.map(Names::from);
            if let Err(error) = &names {
                let provider = &this.provider.settings().id;
                tracing::warn!(provider, error = %error, detail = error.detail, "models could not be listed");
            }
            let last = names.clone().ok().or_else(|| this.known());
            this.latest.send_replace(Some(Listed { at: Instant::now(), names, last }));
            drop(asking);
        });
        true
    }
}
