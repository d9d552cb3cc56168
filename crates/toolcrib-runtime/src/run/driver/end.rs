//! How a run ends: what is written down, and what its watchers are told.

use std::collections::HashSet;

use jiff::Timestamp;

use super::{Driver, Rest};
use crate::confidence::Confidence;
use crate::journal::{JournalError, RunEnd, RunState, Trace};
use crate::labels::fingerprint;
use crate::message::Message;
use crate::model::{FinishReason, ModelError};
use crate::run::event::{Answer, Incomplete, RunError, RunErrorKind, RunEvent};
use crate::tool::Source;

/// Why a run ended without an answer.
pub(super) enum Stop {
    Model(ModelError),
    Cancelled,
    Time,
    Confidence,
    Storage(String),
}

impl Driver {
    /// Brings the run to its end, or leaves it waiting.
    pub(super) async fn close(mut self, outcome: Result<Rest, Stop>) {
        let outcome = match outcome {
            Ok(Rest::Paused(pause)) => {
                tracing::info!(
                    run = self.run_id,
                    waiting = pause.approvals.len(),
                    "the run waits for people"
                );
                return self.last(RunEvent::Paused(pause)).await;
            }
            Ok(Rest::Answered(finish)) => Ok(finish),
            Err(stop) => Err(stop),
        };
        let ended_at = self.services.clock.now();
        // What was shown of an answer that broke off stays in the transcript.
        let open = std::mem::take(&mut self.open);
        self.machine.broke_off(open.message, open.usage);
        if outcome.is_err() || matches!(self.machine.incomplete(), Some(Incomplete::Time { .. })) {
            self.close_open_calls().await;
            self.machine.close_round(&self.round);
        }
        let (state, reason) = match &outcome {
            Ok(_) => match self.machine.incomplete() {
                Some(incomplete) => (RunState::Incomplete, Some(incomplete.to_string())),
                None => (RunState::Completed, None),
            },
            Err(Stop::Cancelled) => (RunState::Cancelled, Some(Stop::Cancelled.message(&self))),
            Err(stop) => (RunState::Failed, Some(stop.message(&self))),
        };
        deduplicate(&mut self.sources);
        let end = self.run_end(state, reason, ended_at);
        let journaled = self.services.journal.end_run(end).await;
        let event = match (outcome, journaled) {
            (Ok(finish), Ok(())) => RunEvent::Finished(Box::new(self.answer(finish))),
            (Err(stop), Ok(())) => RunEvent::Failed(Box::new(stop.into_error(&self))),
            (outcome, Err(error)) => {
                if let Err(first) = outcome {
                    tracing::error!(run = self.run_id, error = first.cause(), "the run had failed before");
                }
                RunEvent::Failed(Box::new(Stop::Storage(error.to_string()).into_error(&self)))
            }
        };
        self.last(event).await;
    }

    /// Tells why nothing was done, and leaves the run as it is.
    pub(super) async fn refuse(self, stop: Stop) {
        let error = stop.into_error(&self);
        self.last(RunEvent::Failed(Box::new(error))).await;
    }

    /// A client that reads no more must not keep the run: the last event waits as long as there is hope.
    async fn last(&self, event: RunEvent) {
        tokio::select! {
            biased;
            () = self.emit(event) => {}
            () = self.abandoned.cancelled() => {}
        }
    }

    /// After a stop in the middle of a call: its trace and its hold must not stay open.
    async fn close_open_calls(&self) {
        let executor = &self.services.executor;
        if let Err(error) = executor.close_open_calls(&self.run_id).await {
            tracing::error!(run = self.run_id, error = %error, "open calls could not be closed");
        }
    }

    /// Remembers by what a protected result is recognized.
    pub(super) fn protect(&mut self, trace: &Trace) {
        if trace.required_confidence > Confidence::None
            && let Some(text) = &trace.result_text
        {
            self.protected.extend(fingerprint::of_text(text));
        }
    }

    fn run_end(&mut self, state: RunState, reason: Option<String>, ended_at: Timestamp) -> RunEnd {
        RunEnd {
            run_id: self.run_id.clone(),
            state,
            reason,
            messages: self.machine.take_added(),
            sources: self.sources.clone(),
            usage: self.machine.usage(),
            rounds: self.machine.rounds(),
            labels: self.labels,
            protected: self.recognized_by(),
            ended_at,
        }
    }

    /// By what the protected text of this run is recognized: all that it said once something protected was read, but
    /// for what the user had said before.
    fn recognized_by(&self) -> std::collections::BTreeSet<fingerprint::Fingerprint> {
        if self.labels.required_confidence == Confidence::None {
            return std::collections::BTreeSet::new();
        }
        let said: Vec<String> = self
            .machine
            .added()
            .iter()
            .filter(|message| matches!(message, Message::Assistant(_)))
            .map(Message::text)
            .collect();
        let asked: Vec<String> = self
            .machine
            .given()
            .iter()
            .filter(|message| matches!(message, Message::User(_) | Message::System(_)))
            .map(Message::text)
            .collect();
        let known = || asked.iter().map(String::as_str);
        let mut all = fingerprint::new_in(said.iter().map(String::as_str), known());
        all.extend(fingerprint::without_known(&self.protected, known()));
        let asked = self.machine.given().iter().rfind(|message| matches!(message, Message::User(_)));
        let asked = asked.map(Message::text).unwrap_or_default();
        if !self.machine.visible_text().is_empty() {
            all.insert(fingerprint::of_exchange(&asked, self.machine.visible_text()));
        }
        all
    }

    fn answer(&mut self, finish: FinishReason) -> Answer {
        let incomplete: Option<Incomplete> = self.machine.incomplete().cloned();
        Answer {
            text: self.machine.visible_text().to_owned(),
            reasoning: std::mem::take(&mut self.reasoning),
            client_calls: std::mem::take(&mut self.round.clients),
            finish,
            incomplete,
            sources: std::mem::take(&mut self.sources),
            usage: self.machine.usage(),
            rounds: self.machine.rounds(),
            messages: self.machine.added().to_vec(),
            labels: self.labels,
        }
    }
}

impl From<JournalError> for Stop {
    fn from(error: JournalError) -> Self {
        Self::Storage(error.to_string())
    }
}

impl Stop {
    /// What went wrong, for the log.
    pub(super) fn cause(&self) -> String {
        match self {
            Self::Model(error) => {
                format!("{error} ({})", error.detail.as_deref().unwrap_or("no more is known"))
            }
            Self::Storage(cause) => cause.clone(),
            Self::Cancelled => "cancelled".to_owned(),
            Self::Time => "out of time".to_owned(),
            Self::Confidence => "confidence too low".to_owned(),
        }
    }

    fn message(&self, driver: &Driver) -> String {
        match self {
            Self::Model(error) => error.message.clone(),
            Self::Cancelled => "the run was cancelled".to_owned(),
            Self::Time => format!("no answer within the limit of {} s", driver.limits.run_time.as_secs()),
            Self::Confidence => {
                let identity = driver.model.identity();
                let needs = driver.labels.required_confidence;
                format!(
                    "a tool result may not be sent to {}: its confidence is {}, and the result needs {needs}; \
                     continue with a provider of that confidence",
                    identity.full_name(),
                    identity.confidence
                )
            }
            Self::Storage(_) => {
                "the run could not be written down or read; nothing more was executed".to_owned()
            }
        }
    }

    fn into_error(self, driver: &Driver) -> RunError {
        let message = self.message(driver);
        let identity = driver.model.identity();
        let kind = match self {
            Self::Model(error) => {
                tracing::warn!(run = driver.run_id, error = %error, detail = error.detail, "the model failed");
                RunErrorKind::Model(Box::new(error))
            }
            Self::Cancelled => RunErrorKind::Cancelled,
            Self::Time => RunErrorKind::Time,
            Self::Confidence => RunErrorKind::ConfidenceTooLow {
                needs: driver.labels.required_confidence,
                has: identity.confidence,
            },
            Self::Storage(cause) => {
                tracing::error!(run = driver.run_id, error = cause, "the run could not be written down");
                RunErrorKind::Storage
            }
        };
        RunError { kind, message }
    }
}

/// Keeps the first source of every URL; letter case of the host and a fragment make no difference.
pub(super) fn deduplicate(sources: &mut Vec<Source>) {
    let mut seen = HashSet::new();
    sources.retain(|source| {
        let url = source.url.split('#').next().unwrap_or_default();
        let split =
            url.find("://").and_then(|scheme| url[scheme + 3..].find('/').map(|slash| scheme + 3 + slash));
        let (origin, path) = url.split_at(split.unwrap_or(url.len()));
        let path = if path.is_empty() { "/" } else { path };
        seen.insert(format!("{}{path}", origin.to_lowercase()))
    });
}
