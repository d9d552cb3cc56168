//! Awaits what the machine decides: the model, the tools, the journal; and passes events on as they come.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc::Sender;
use tokio_util::sync::CancellationToken;

use super::event::{Pause, RunEvent};
use super::limits::Limits;
use super::machine::{Machine, Step};
use super::round::OpenRound;
use super::saved::SavedRun;
use crate::clock::Clock;
use crate::context::ContextSource;
use crate::executor::Executor;
use crate::journal::{Journal, JournalError, RoundEnd, RunStart};
use crate::labels::Labels;
use crate::labels::fingerprint::Fingerprint;
use crate::message::Message;
use crate::model::{FinishReason, Model, ModelError, ModelErrorKind, ModelRequest};
use crate::offering::Offering;
use crate::offering::approval::{ApprovalAnswer, ApprovalRequest, Approver};
use crate::policy::{Circumstances, CircumstancesReader};
use crate::tool::Source;

mod ask;
mod calls;
mod end;
mod gather;
mod waiting;

use ask::RoundAnswer;
use end::Stop;

/// One run, ready to begin.
pub struct Run {
    /// The run's id.
    pub run_id: String,
    /// The stored conversation that it belongs to, when there is one.
    pub conversation_id: Option<String>,
    /// The model to ask.
    pub model: Arc<dyn Model>,
    /// The tools, decided.
    pub offering: Offering,
    /// The conversation so far, and how to answer. Its `tools` are the client's own.
    pub request: ModelRequest,
    /// Those of the messages that are new and belong to the stored conversation.
    pub new_messages: Vec<Message>,
    /// What the conversation demands already.
    pub labels: Labels,
    /// What is asked before the model.
    pub context: Vec<Arc<dyn ContextSource>>,
    /// Whether calls can wait for a person.
    pub asking: Asking,
    /// The limits.
    pub limits: Limits,
}

/// A run that waited and goes on.
pub struct ResumedRun {
    /// What was saved.
    pub saved: SavedRun,
    /// The model to ask.
    pub model: Arc<dyn Model>,
    /// The tools, decided anew; none that was not offered before.
    pub offering: Offering,
    /// What people answered, by the id of the approval. A call without an answer counts as refused.
    pub answers: Vec<(String, ApprovalAnswer)>,
    /// The limits.
    pub limits: Limits,
}

/// Whether calls can wait for a person.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Asking {
    /// The run is saved and waits.
    #[default]
    Possible,
    /// Nobody could answer: such calls are refused.
    Impossible,
}

/// What a run needs beside itself.
#[derive(Clone)]
pub struct Services {
    /// Runs the calls.
    pub executor: Executor,
    /// Writes down the run.
    pub journal: Arc<dyn Journal>,
    /// Read before every call.
    pub circumstances: Arc<dyn CircumstancesReader>,
    /// A second opinion on every call.
    pub approver: Option<Arc<dyn Approver>>,
    /// The time.
    pub clock: Arc<dyn Clock>,
}

/// Runs to the end. The last event is `Finished`, `Failed` or `Paused`.
///
/// The run ends early when `cancellation` is cancelled or nobody takes the events any more; what it did until then
/// is in the journal either way.
pub async fn drive(run: Run, services: Services, events: Sender<RunEvent>, cancellation: CancellationToken) {
    let mut driver = Driver::new(run, services, events, cancellation);
    let outcome = match driver.begin().await {
        Ok(()) => driver.within_limits(Work::Begin).await,
        Err(error) => Err(error.into()),
    };
    driver.close(outcome).await;
}

/// Carries on with a run that waited; as [`drive`] otherwise.
pub async fn resume(
    resumed: ResumedRun,
    services: Services,
    events: Sender<RunEvent>,
    cancellation: CancellationToken,
) {
    let answers = resumed.answers.clone();
    let mut driver = Driver::restore(resumed, services, events, cancellation);
    if let Err(error) = driver.services.journal.resume_run(&driver.run_id).await {
        // Somebody else carries on with it, or it has ended: it must not be ended twice.
        tracing::warn!(run = driver.run_id, error = %error, "a waiting run could not be carried on");
        driver.refuse(Stop::from(error)).await;
        return;
    }
    driver.emit(RunEvent::Started { run_id: driver.run_id.clone() }).await;
    let outcome = driver.within_limits(Work::Resume(answers)).await;
    driver.close(outcome).await;
}

struct Driver {
    run_id: String,
    conversation_id: Option<String>,
    model: Arc<dyn Model>,
    offering: Offering,
    context: Vec<Arc<dyn ContextSource>>,
    asking: Asking,
    limits: Limits,
    new_messages: Vec<Message>,
    services: Services,
    events: Sender<RunEvent>,
    cancellation: CancellationToken,
    machine: Machine,
    /// The calls of the round that is being worked on.
    round: OpenRound,
    /// What the calls that wait are asked.
    waiting: Vec<ApprovalRequest>,
    sources: Vec<Source>,
    labels: Labels,
    protected: BTreeSet<Fingerprint>,
    reasoning: String,
    text_shown: bool,
    /// The answer that the model is giving right now.
    open: RoundAnswer,
    /// When the run has to end, by the clock's elapsed time.
    ends: Duration,
    /// Cancelled when the server may wait no longer.
    abandoned: CancellationToken,
}

/// What a driver has to do.
enum Work {
    Begin,
    Resume(Vec<(String, ApprovalAnswer)>),
}

/// How the work came to rest.
enum Rest {
    Answered(FinishReason),
    Paused(Box<Pause>),
}

impl Driver {
    fn new(
        mut run: Run,
        services: Services,
        events: Sender<RunEvent>,
        cancellation: CancellationToken,
    ) -> Self {
        let answering =
            run.request.messages.iter().rfind(|message| matches!(message, Message::User(_))).cloned();
        let instructions = run.offering.instructions(answering.as_ref());
        let ours = run.offering.specs().iter().cloned();
        run.request.tools = run.request.tools.iter().cloned().chain(ours).collect();
        let machine = Machine::new(run.request, instructions, run.limits);
        Self {
            run_id: run.run_id,
            conversation_id: run.conversation_id,
            model: run.model,
            offering: run.offering,
            context: run.context,
            asking: run.asking,
            limits: run.limits,
            new_messages: run.new_messages,
            ends: services.clock.elapsed() + run.limits.run_time,
            services,
            events,
            // The run's own token: stopping its calls must not look like being abandoned.
            cancellation: cancellation.child_token(),
            machine,
            round: OpenRound::default(),
            waiting: Vec::new(),
            sources: Vec::new(),
            labels: run.labels,
            protected: BTreeSet::new(),
            reasoning: String::new(),
            text_shown: false,
            open: RoundAnswer::default(),
            abandoned: cancellation,
        }
    }

    async fn begin(&mut self) -> Result<(), JournalError> {
        let circumstances = self.services.circumstances.read().await;
        let caller = circumstances
            .map_err(|error| JournalError { what: "the beginning of a run", cause: error.to_string() })?
            .caller;
        let identity = self.model.identity();
        let start = RunStart {
            run_id: self.run_id.clone(),
            conversation_id: self.conversation_id.clone(),
            workspace_id: caller.workspace_id.clone(),
            user_id: caller.user_id.clone(),
            component: caller.component.id().to_owned(),
            locale: caller.locale.clone(),
            provider_id: identity.provider_id.clone(),
            model: identity.model.clone(),
            messages: std::mem::take(&mut self.new_messages),
            started_at: self.services.clock.now(),
        };
        self.services.journal.begin_run(start).await?;
        self.emit(RunEvent::Started { run_id: self.run_id.clone() }).await;
        Ok(())
    }

    /// Asks and executes until there is an answer or somebody has to be asked, within the run's time.
    async fn within_limits(&mut self, work: Work) -> Result<Rest, Stop> {
        let clock = Arc::clone(&self.services.clock);
        let cancellation = self.cancellation.clone();
        let events = self.events.clone();
        let time = self.limits.run_time;
        let stopped = tokio::select! {
            biased;
            () = cancellation.cancelled() => Stop::Cancelled,
            () = events.closed() => Stop::Cancelled,
            ended = self.without_limits(work) => return ended,
            () = clock.sleep(time) => Stop::Time,
        };
        self.cancellation.cancel();
        if matches!(stopped, Stop::Time) {
            self.machine.out_of_time();
        }
        match stopped {
            // What has been said stands, marked as incomplete.
            Stop::Time if self.text_shown => Ok(Rest::Answered(FinishReason::Length)),
            stop => Err(stop),
        }
    }

    async fn without_limits(&mut self, work: Work) -> Result<Rest, Stop> {
        match work {
            Work::Begin => self.gather().await?,
            Work::Resume(answers) => {
                self.answered_by_people(answers).await?;
                if let Some(rest) = self.end_round().await? {
                    return Ok(rest);
                }
            }
        }
        loop {
            if let Some(rest) = self.round().await? {
                return Ok(rest);
            }
        }
    }

    /// One request to the model and the calls that it returned.
    async fn round(&mut self) -> Result<Option<Rest>, Stop> {
        let identity = self.model.identity();
        if !self.labels.may_be_seen_by(identity.confidence, identity.trusted) {
            return Err(Stop::Confidence);
        }
        let request = self.machine.request();
        let answer = match self.ask(request).await {
            Err(Stop::Model(error)) if error.kind == ModelErrorKind::ToolsUnsupported && !self.text_shown => {
                // The finding is remembered by the provider; this run goes on without tools.
                if !self.machine.withdraw_tools() {
                    return Err(Stop::Model(error));
                }
                return Ok(None);
            }
            answer => answer?,
        };
        self.reasoning = answer.message.reasoning();
        let offering = &self.offering;
        let is_clients = |name: &str| offering.is_client_tool(name);
        match self.machine.answered(answer.message, answer.finish, answer.usage, is_clients) {
            Step::Done { finish } => Ok(Some(Rest::Answered(finish))),
            Step::Empty => Err(self.said_nothing()),
            Step::Calls { ours, clients } => {
                self.round = OpenRound { calls: Vec::new(), clients };
                self.calls(ours).await?;
                self.end_round().await
            }
        }
    }

    /// Ends the round when every call has a result, else lets the run wait.
    async fn end_round(&mut self) -> Result<Option<Rest>, Stop> {
        if !self.waiting.is_empty() {
            return Ok(Some(Rest::Paused(Box::new(self.pause().await?))));
        }
        let round = std::mem::take(&mut self.round);
        self.machine.end_round(round.results());
        if !round.clients.is_empty() {
            self.round.clients = round.clients;
            return Ok(Some(Rest::Answered(FinishReason::ToolCalls)));
        }
        let end = RoundEnd {
            run_id: self.run_id.clone(),
            messages: self.machine.take_added(),
            labels: self.labels,
            usage: self.machine.usage(),
            rounds: self.machine.rounds(),
            at: self.services.clock.now(),
        };
        self.services.journal.record_round(end).await?;
        Ok(None)
    }

    fn said_nothing(&self) -> Stop {
        let provider = &self.model.identity().full_name();
        let called =
            if self.machine.incomplete().is_some() { "no text" } else { "neither text nor tool calls" };
        let message = format!("{provider} returned {called}");
        Stop::Model(ModelError::new(ModelErrorKind::EmptyAnswer, message))
    }

    /// What holds now, with what this run has seen.
    async fn circumstances(&self) -> Result<Circumstances, Stop> {
        let read = self.services.circumstances.read().await;
        let mut now = read.map_err(|error| Stop::Storage(error.to_string()))?;
        now.labels = now.labels.raised_by(self.labels);
        Ok(now)
    }

    /// Passes an event on. When nobody takes events any more, `within_limits` notices and stops.
    async fn emit(&self, event: RunEvent) {
        let _ = self.events.send(event).await;
    }
}
