//! Runs that wait for people: how they are answered, carried on, given up and expired.

use std::sync::{Arc, Weak};
use std::time::Duration;

use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;
use toolcrib_runtime::caller::Caller;
use toolcrib_runtime::journal::{Journal, RunState};
use toolcrib_runtime::model::Model;
use toolcrib_runtime::offering::approval::{ApprovalAnswer, ApprovalRequest};
use toolcrib_runtime::offering::{ModelStanding, OfferRequest, Offering, Selection, offer};
use toolcrib_runtime::run::{ResumedRun, SavedRun, resume};
use toolcrib_storage::record::{Answered, ApprovalRecord, ApprovalState, Owner, WaitingRun};
use toolcrib_storage::store::{ApprovalStore, RunStore};
use tracing::Instrument as _;

use crate::active::Going;
use crate::app::{App, LiveCircumstances, caller};
use crate::error::{ALREADY_ANSWERED, ApiError, INVALID_REQUEST, STORAGE_FAILED};
use crate::run::EVENTS_WAITING;

/// How often it is looked whether something has expired or was left behind by a restart.
const SWEEP: Duration = Duration::from_secs(15);

/// How long stopping a run may take before its end is not waited for any more.
const STOP_WAIT: Duration = Duration::from_secs(5);

/// A run that waits as it is shown.
pub(crate) struct Shown {
    /// The text that was said so far.
    pub(crate) text: String,
    /// What is asked; empty when everything is answered and the run is about to go on.
    pub(crate) asked: Vec<ApprovalRequest>,
}

/// What became of an answer.
pub(crate) struct Taken {
    /// The approval as it is now.
    pub(crate) approval: ApprovalRecord,
    /// The run goes on.
    pub(crate) goes_on: bool,
}

impl App {
    /// Takes the answer to an approval; when it was the last of its run, the run goes on in the background.
    ///
    /// # Errors
    /// No such approval, one that was answered already, or edited arguments that do not fit the tool.
    pub(crate) async fn answer_approval(
        self: &Arc<Self>,
        owner: &Owner,
        id: &str,
        answer: ApprovalAnswer,
    ) -> Result<Taken, ApiError> {
        let unknown = || ApiError::not_found("approval", id);
        let asked = self.store.approval(owner, id).await?.ok_or_else(unknown)?;
        if let ApprovalAnswer::Edit { arguments } = &answer {
            let catalog = self.registry.catalog();
            let tool = catalog.by_id(&asked.request.tool_id).ok_or_else(|| {
                ApiError::new(
                    INVALID_REQUEST,
                    format!("the tool {} is gone; deny the call", asked.request.tool_id),
                )
            })?;
            tool.check_arguments(arguments)
                .map_err(|problem| ApiError::new(INVALID_REQUEST, problem).with_param("arguments"))?;
        }
        match self.store.answer_approval(owner, id, &answer, self.clock.now()).await? {
            Answered::Missing => Err(unknown()),
            Answered::Already(first) => Err(already(&first)),
            Answered::Taken { run_id, complete } => {
                if complete {
                    let before = self.active.set_aside(&run_id);
                    self.carry_on_in_background(run_id, before);
                }
                let approval = self.store.approval(owner, id).await?.ok_or_else(unknown)?;
                Ok(Taken { approval, goes_on: complete })
            }
        }
    }

    fn carry_on_in_background(self: &Arc<Self>, run_id: String, before: Option<Arc<Going>>) {
        let app = Arc::clone(self);
        let task = async move {
            if let Some(before) = before {
                // It may have said that it waits and not have come to rest yet.
                before.ended().await;
            }
            if let Err(error) = app.carry_on(&run_id).await {
                tracing::warn!(run = run_id, error = error.message, "a run could not be carried on yet");
            }
        };
        self.runs.spawn(task.in_current_span());
    }

    /// Carries on with a run whose questions are all answered, to its end or its next pause.
    async fn carry_on(self: &Arc<Self>, run_id: &str) -> Result<(), ApiError> {
        let Some(waiting) = self.store.waiting_run(run_id).await? else { return Ok(()) };
        if waiting.asked().next().is_some() {
            return Ok(());
        }
        let cancellation = self.stopping.child_token();
        let Some(going) = self.active.go_on(run_id, &waiting.run.owner, cancellation.clone()) else {
            return Ok(());
        };
        let outcome = self.carry_on_as(&going, waiting, cancellation).await;
        going.end();
        match outcome {
            Ok(true) => self.forget(run_id.to_owned(), going),
            // Nothing was done, and the events are empty.
            Ok(false) | Err(_) => self.active.end(run_id, &going),
        }
        outcome.map(|_| ())
    }

    /// True when the run went on.
    async fn carry_on_as(
        self: &Arc<Self>,
        going: &Arc<Going>,
        waiting: WaitingRun,
        cancellation: CancellationToken,
    ) -> Result<bool, ApiError> {
        let (sender, receiver) = mpsc::channel(EVENTS_WAITING);
        // The feed takes the events over; nobody has to watch.
        drop(going.events(receiver));
        let owner = waiting.run.owner.clone();
        let run_id = waiting.run.id.clone();
        let _place = self.places.take(&owner)?;
        let _turn = match &waiting.run.conversation_id {
            Some(id) => Some(self.turns.take(id).await?),
            None => None,
        };
        // The conversation may have gone on without the run meanwhile.
        let Some(waiting) = self.store.waiting_run(&run_id).await? else { return Ok(false) };
        let Some(saved) = self.read_saved(&waiting).await? else { return Ok(false) };
        let name = format!("{}/{}", waiting.run.provider_id, waiting.run.model);
        let model = match self.models.resolve(&name).await {
            Ok(model) => model,
            Err(error) => {
                self.give_up(&saved, RunState::Failed, &error.message).await?;
                return Ok(false);
            }
        };
        let component = self.components.parse(&waiting.run.component);
        let component = component.unwrap_or_else(|_| toolcrib_runtime::caller::Component::api());
        let caller = Arc::new(caller(&owner, component, &waiting.run.locale));
        let offering = self.offering_of_saved(&saved, &caller, &*model);
        let answers = waiting.approvals.iter().filter_map(|approval| match &approval.state {
            ApprovalState::Answered { answer, .. } => Some((approval.request.id.clone(), answer.clone())),
            ApprovalState::Waiting | ApprovalState::Closed => None,
        });
        let circumstances = LiveCircumstances {
            app: Arc::clone(self),
            caller,
            conversation_id: saved.conversation_id.clone(),
            floor: saved.labels(),
        };
        let services = self.services(circumstances);
        let answers = answers.collect();
        let resumed = ResumedRun { saved, model, offering, answers, limits: self.limits };
        tracing::info!(run = run_id, "a run goes on");
        resume(resumed, services, sender, cancellation).await;
        Ok(true)
    }

    /// The tools of a run that goes on: of those that it had, the ones that the gates still let through.
    fn offering_of_saved(&self, saved: &SavedRun, caller: &Arc<Caller>, model: &dyn Model) -> Offering {
        let request = OfferRequest {
            selection: Selection::Only(saved.offered.iter().cloned().collect()),
            temporary: saved.temporary,
            client_tools: saved.client_tools.iter().map(|tool| tool.name.clone()).collect(),
            outbound: saved.labels().outbound,
        };
        let standing =
            ModelStanding { identity: model.identity().clone(), capabilities: model.capabilities() };
        offer(&self.registry.catalog(), caller, request, &self.policy.load(), standing)
    }

    /// The saved state; a run whose state cannot be read is brought to its end.
    async fn read_saved(&self, waiting: &WaitingRun) -> Result<Option<SavedRun>, ApiError> {
        let error = match SavedRun::read(&waiting.state) {
            Ok(saved) => return Ok(Some(saved)),
            Err(error) => error,
        };
        tracing::error!(run = waiting.run.id, error = %error, "a waiting run cannot be carried on");
        let end = toolcrib_runtime::journal::RunEnd {
            run_id: waiting.run.id.clone(),
            state: RunState::Interrupted,
            reason: Some(
                "what was saved of the run cannot be read by this version of the program".to_owned(),
            ),
            messages: Vec::new(),
            sources: waiting.run.sources.clone(),
            usage: waiting.run.usage,
            rounds: waiting.run.rounds,
            labels: waiting.run.labels,
            protected: std::collections::BTreeSet::new(),
            ended_at: self.clock.now(),
        };
        self.store.end_run(end).await.map_err(|error| unwritten(&error))?;
        Ok(None)
    }

    async fn give_up(&self, saved: &SavedRun, state: RunState, reason: &str) -> Result<(), ApiError> {
        let now = self.clock.now();
        self.store.close_open_calls(&saved.run_id, now).await.map_err(|error| unwritten(&error))?;
        self.store.end_run(saved.abandon(state, reason, now)).await.map_err(|error| unwritten(&error))
    }

    /// What a waiting run has said and asks; `None` when it does not wait (any more).
    pub(crate) async fn shown_waiting(&self, run_id: &str) -> Result<Option<Shown>, ApiError> {
        let Some(waiting) = self.store.waiting_run(run_id).await? else { return Ok(None) };
        let saved = SavedRun::read(&waiting.state).ok();
        let text = saved.map(|saved| saved.visible_text().to_owned()).unwrap_or_default();
        let asked = waiting.asked().map(|approval| approval.request.clone()).collect();
        Ok(Some(Shown { text, asked }))
    }

    /// Gives up the runs that wait in a conversation, because it goes on without them. The caller has the turn.
    pub(crate) async fn abandon_waiting(&self, conversation_id: &str) -> Result<(), ApiError> {
        for waiting in self.store.waiting_runs_of(conversation_id).await? {
            if let Some(saved) = self.read_saved(&waiting).await? {
                self.give_up(&saved, RunState::Cancelled, "the conversation went on without it").await?;
            }
        }
        Ok(())
    }

    /// Stops a run, whether it goes on or waits. False when it has ended already.
    ///
    /// # Errors
    /// No such run.
    pub(crate) async fn cancel_run(&self, owner: &Owner, run_id: &str) -> Result<bool, ApiError> {
        let run = self.store.run(owner, run_id).await?;
        run.ok_or_else(|| ApiError::not_found("run", run_id))?;
        let going = self.active.of(owner, run_id).filter(|going| going.goes_on());
        if let Some(going) = &going {
            going.stop();
            // Normally a moment; a run that came to wait in it is given up below.
            let _ = tokio::time::timeout(STOP_WAIT, going.ended()).await;
        }
        let stopped = going.is_some();
        let Some(waiting) = self.store.waiting_run(run_id).await? else { return Ok(stopped) };
        if let Some(saved) = self.read_saved(&waiting).await? {
            self.give_up(&saved, RunState::Cancelled, "the run was cancelled").await?;
        }
        Ok(true)
    }

    async fn sweep(self: &Arc<Self>) -> Result<(), ApiError> {
        self.store.expire_approvals(self.clock.now()).await?;
        for run_id in self.store.complete_runs().await? {
            if !self.runs.is_closed() {
                self.carry_on_in_background(run_id, None);
            }
        }
        Ok(())
    }
}

/// Carries on with what a restart left behind, and with what nobody answered in time, until the server stops.
pub(crate) async fn look_after(app: Weak<App>) {
    loop {
        let Some(stopping) = app.upgrade().map(|app| app.stopping.clone()) else { return };
        if let Some(app) = app.upgrade()
            && let Err(error) = app.sweep().await
            && !stopping.is_cancelled()
        {
            tracing::error!(error = error.message, "waiting runs could not be looked after");
        }
        tokio::select! {
            () = tokio::time::sleep(SWEEP) => {}
            () = stopping.cancelled() => return,
        }
    }
}

fn already(first: &ApprovalRecord) -> ApiError {
    let answer = match &first.state {
        ApprovalState::Answered { answer, .. } => answer.name(),
        ApprovalState::Waiting | ApprovalState::Closed => "closed",
    };
    let message = format!("the approval {} has its answer already: {answer}", first.request.id);
    ApiError::new(ALREADY_ANSWERED, message)
}

fn unwritten(error: &toolcrib_runtime::journal::JournalError) -> ApiError {
    tracing::error!(error = %error, "the journal could not be written");
    ApiError::new(STORAGE_FAILED, "the end of the run could not be written down")
}
