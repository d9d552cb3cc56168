//! Awaits what the machine decides: the model, the tools, the journal; and passes events on as they come.

use std::collections::HashSet;
use std::sync::Arc;

use futures_util::StreamExt as _;
use jiff::Timestamp;
use tokio::sync::mpsc::Sender;
use tokio_util::sync::CancellationToken;

use super::event::{Answer, Incomplete, RunError, RunErrorKind, RunEvent};
use super::limits::Limits;
use super::machine::{Machine, Step};
use crate::clock::Clock;
use crate::confidence::Confidence;
use crate::executor::Executor;
use crate::journal::{Journal, JournalError, RunEnd, RunStart, RunState, Trace};
use crate::message::{AssistantMessage, AssistantPart, Message, ToolCall, Usage};
use crate::model::{FinishReason, Model, ModelError, ModelErrorKind, ModelEvent, ModelRequest};
use crate::offering::Offering;
use crate::policy::CircumstancesReader;
use crate::tool::Source;

mod calls;

/// The longest answer of one round that is kept, in bytes; a model that goes on is cut off there.
const LARGEST_ANSWER: usize = 8 * 1024 * 1024;

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
    /// The limits.
    pub limits: Limits,
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
    /// The time.
    pub clock: Arc<dyn Clock>,
}

/// Runs to the end. The last event is `Finished` or `Failed`.
///
/// The run ends early when `cancellation` is cancelled or nobody takes the events any more; what it did until then
/// is in the journal either way.
pub async fn drive(run: Run, services: Services, events: Sender<RunEvent>, cancellation: CancellationToken) {
    let mut driver = Driver::new(run, services, events, cancellation);
    let outcome = match driver.begin().await {
        Ok(()) => driver.rounds().await,
        Err(error) => Err(error.into()),
    };
    driver.end(outcome).await;
}

struct Driver {
    run: Run,
    services: Services,
    events: Sender<RunEvent>,
    cancellation: CancellationToken,
    machine: Machine,
    traces: Vec<Trace>,
    sources: Vec<Source>,
    required_confidence: Confidence,
    reasoning: String,
    client_calls: Vec<ToolCall>,
    text_shown: bool,
    untrusted_seen: bool,
    /// The answer that the model is giving right now.
    open: RoundAnswer,
    /// Cancelled when the server may wait no longer.
    abandoned: CancellationToken,
}

/// Why the rounds ended without an answer.
enum Stop {
    Model(ModelError),
    Cancelled,
    Time,
    Confidence,
    Storage(String),
}

/// One answer of the model, as far as it has come.
struct RoundAnswer {
    message: AssistantMessage,
    has_text: bool,
    finish: FinishReason,
    usage: Usage,
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
        // The run's own token: stopping its calls must not look like being abandoned.
        let own = cancellation.child_token();
        let machine = Machine::new(std::mem::take(&mut run.request), instructions, run.limits);
        Self {
            run,
            services,
            events,
            cancellation: own,
            machine,
            traces: Vec::new(),
            sources: Vec::new(),
            required_confidence: Confidence::None,
            reasoning: String::new(),
            client_calls: Vec::new(),
            text_shown: false,
            untrusted_seen: false,
            open: RoundAnswer::default(),
            abandoned: cancellation,
        }
    }

    async fn begin(&mut self) -> Result<(), JournalError> {
        let circumstances = self.services.circumstances.read().await;
        let caller = circumstances
            .map_err(|error| JournalError { what: "the beginning of a run", cause: error.to_string() })?
            .caller;
        let identity = self.run.model.identity();
        let start = RunStart {
            run_id: self.run.run_id.clone(),
            conversation_id: self.run.conversation_id.clone(),
            workspace_id: caller.workspace_id.clone(),
            user_id: caller.user_id.clone(),
            component: caller.component.id().to_owned(),
            provider_id: identity.provider_id.clone(),
            model: identity.model.clone(),
            messages: std::mem::take(&mut self.run.new_messages),
            started_at: self.services.clock.now(),
        };
        self.services.journal.begin_run(start).await?;
        self.emit(RunEvent::Started { run_id: self.run.run_id.clone() }).await;
        Ok(())
    }

    /// Asks and executes until there is an answer, within the run's time.
    async fn rounds(&mut self) -> Result<FinishReason, Stop> {
        let clock = Arc::clone(&self.services.clock);
        let cancellation = self.cancellation.clone();
        let events = self.events.clone();
        let time = self.run.limits.run_time;
        let stopped = tokio::select! {
            biased;
            () = cancellation.cancelled() => Stop::Cancelled,
            () = events.closed() => Stop::Cancelled,
            ended = self.rounds_without_limit() => return ended,
            () = clock.sleep(time) => Stop::Time,
        };
        self.cancellation.cancel();
        if matches!(stopped, Stop::Time) {
            self.machine.out_of_time();
        }
        match stopped {
            // What has been said stands, marked as incomplete.
            Stop::Time if self.text_shown => Ok(FinishReason::Length),
            stop => Err(stop),
        }
    }

    async fn rounds_without_limit(&mut self) -> Result<FinishReason, Stop> {
        loop {
            let needs = self.required_confidence;
            let identity = self.run.model.identity();
            if needs > identity.confidence && !identity.trusted {
                return Err(Stop::Confidence);
            }
            let request = self.machine.request();
            let answer = match self.ask(request).await {
                Err(Stop::Model(error))
                    if error.kind == ModelErrorKind::ToolsUnsupported && !self.text_shown =>
                {
                    // The finding is remembered by the provider; this run goes on without tools.
                    if !self.machine.withdraw_tools() {
                        return Err(Stop::Model(error));
                    }
                    continue;
                }
                answer => answer?,
            };
            self.reasoning = answer.message.reasoning();
            let offering = &self.run.offering;
            let is_clients = |name: &str| offering.is_client_tool(name);
            match self.machine.answered(answer.message, answer.finish, answer.usage, is_clients) {
                Step::Done { finish } => return Ok(finish),
                Step::Empty => {
                    let provider = &self.run.model.identity().full_name();
                    let called = if self.machine.incomplete().is_some() {
                        "no text"
                    } else {
                        "neither text nor tool calls"
                    };
                    let message = format!("{provider} returned {called}");
                    return Err(Stop::Model(ModelError::new(ModelErrorKind::EmptyAnswer, message)));
                }
                Step::Calls { ours, clients } => {
                    self.calls(ours).await?;
                    self.machine.end_round();
                    if !clients.is_empty() {
                        self.client_calls = clients;
                        return Ok(FinishReason::ToolCalls);
                    }
                }
            }
        }
    }

    /// One request to the model, its events passed on as they come.
    async fn ask(&mut self, request: ModelRequest) -> Result<RoundAnswer, Stop> {
        let mut stream = self.run.model.ask(request).await.map_err(Stop::Model)?;
        self.open = RoundAnswer::default();
        let mut client_positions: Vec<usize> = Vec::new();
        let mut bytes = 0;
        while let Some(event) = stream.next().await {
            let event = event.map_err(Stop::Model)?;
            bytes += size(&event);
            if bytes > LARGEST_ANSWER {
                tracing::warn!(run = self.run.run_id, bytes, "the model's answer is cut: it has no end");
                self.open.message.parts.retain(|part| !matches!(part, AssistantPart::Call(_)));
                self.open.finish = FinishReason::Length;
                break;
            }
            match event {
                ModelEvent::Text(delta) if delta.is_empty() => {}
                ModelEvent::Text(delta) => {
                    if !self.open.has_text && self.text_shown {
                        self.emit(RunEvent::Text("\n\n".to_owned())).await;
                    }
                    self.text_shown = true;
                    self.open.has_text = true;
                    self.open.message.push_text(&delta);
                    self.emit(RunEvent::Text(delta)).await;
                }
                ModelEvent::Reasoning(delta) => {
                    self.open.message.push_reasoning(&delta);
                    self.emit(RunEvent::Reasoning(delta)).await;
                }
                ModelEvent::CallProgress { position, id, name, arguments_delta } => {
                    // A call in the final round is dropped: the client must not begin with it.
                    if self.run.offering.is_client_tool(&name) && self.machine.incomplete().is_none() {
                        let known = client_positions.iter().position(|known| *known == position);
                        let position = known.unwrap_or_else(|| {
                            client_positions.push(position);
                            client_positions.len() - 1
                        });
                        self.emit(RunEvent::ClientCallProgress { position, id, name, arguments_delta }).await;
                    }
                }
                ModelEvent::Call(call) => self.open.message.parts.push(AssistantPart::Call(call)),
                ModelEvent::Opaque(fields) => self.open.message.opaque.extend(fields),
                ModelEvent::Usage(usage) => self.open.usage = usage,
                ModelEvent::Finished(reason) => self.open.finish = reason,
            }
        }
        Ok(std::mem::take(&mut self.open))
    }

    /// After a stop in the middle of a call: its trace must not stay open.
    async fn close_open_calls(&mut self) {
        let journal = &self.services.journal;
        if let Err(error) = journal.close_open_calls(&self.run.run_id, self.services.clock.now()).await {
            tracing::error!(run = self.run.run_id, error = %error, "open calls could not be closed");
        }
    }

    async fn end(mut self, outcome: Result<FinishReason, Stop>) {
        let ended_at = self.services.clock.now();
        // What was shown of an answer that broke off stays in the transcript.
        let open = std::mem::take(&mut self.open);
        self.machine.broke_off(open.message, open.usage);
        if outcome.is_err() || matches!(self.machine.incomplete(), Some(Incomplete::Time { .. })) {
            self.close_open_calls().await;
            self.machine.close_round();
        }
        let (state, reason) = match &outcome {
            Ok(_) => match self.machine.incomplete() {
                Some(incomplete) => (RunState::Incomplete, Some(incomplete.to_string())),
                None => (RunState::Completed, None),
            },
            Err(Stop::Cancelled) => {
                (RunState::Cancelled, Some(Stop::Cancelled.message(&self.run, self.required_confidence)))
            }
            Err(stop) => (RunState::Failed, Some(stop.message(&self.run, self.required_confidence))),
        };
        deduplicate(&mut self.sources);
        let end = self.run_end(state, reason, ended_at);
        let journaled = self.services.journal.end_run(end).await;
        let event = match (outcome, journaled) {
            (Ok(finish), Ok(())) => RunEvent::Finished(Box::new(self.answer(finish))),
            (Err(stop), Ok(())) => {
                RunEvent::Failed(Box::new(stop.into_error(&self.run, self.required_confidence)))
            }
            (outcome, Err(error)) => {
                if let Err(first) = outcome {
                    tracing::error!(
                        run = self.run.run_id,
                        error = first.cause(),
                        "the run had failed before"
                    );
                }
                let stop = Stop::Storage(error.to_string());
                RunEvent::Failed(Box::new(stop.into_error(&self.run, self.required_confidence)))
            }
        };
        // A client that reads no more must not keep the run: the last event waits as long as there is hope.
        tokio::select! {
            biased;
            () = self.emit(event) => {}
            () = self.abandoned.cancelled() => {}
        }
    }

    fn run_end(&self, state: RunState, reason: Option<String>, ended_at: Timestamp) -> RunEnd {
        RunEnd {
            run_id: self.run.run_id.clone(),
            state,
            reason,
            messages: self.machine.added().to_vec(),
            sources: self.sources.clone(),
            usage: self.machine.usage(),
            rounds: self.machine.rounds(),
            required_confidence: self.required_confidence,
            ended_at,
        }
    }

    fn answer(&mut self, finish: FinishReason) -> Answer {
        let incomplete: Option<Incomplete> = self.machine.incomplete().cloned();
        Answer {
            text: self.machine.visible_text().to_owned(),
            reasoning: std::mem::take(&mut self.reasoning),
            client_calls: std::mem::take(&mut self.client_calls),
            finish,
            incomplete,
            sources: std::mem::take(&mut self.sources),
            traces: std::mem::take(&mut self.traces),
            usage: self.machine.usage(),
            rounds: self.machine.rounds(),
            messages: self.machine.added().to_vec(),
            required_confidence: self.required_confidence,
        }
    }

    /// Passes an event on. When nobody takes events any more, `rounds` notices and stops.
    async fn emit(&self, event: RunEvent) {
        let _ = self.events.send(event).await;
    }
}

impl Default for RoundAnswer {
    fn default() -> Self {
        Self {
            message: AssistantMessage::default(),
            has_text: false,
            finish: FinishReason::Stop,
            usage: Usage::default(),
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
    fn cause(&self) -> String {
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

    fn message(&self, run: &Run, needs: Confidence) -> String {
        match self {
            Self::Model(error) => error.message.clone(),
            Self::Cancelled => "the run was cancelled".to_owned(),
            Self::Time => format!("no answer within the limit of {} s", run.limits.run_time.as_secs()),
            Self::Confidence => {
                let identity = run.model.identity();
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

    fn into_error(self, run: &Run, needs: Confidence) -> RunError {
        let message = self.message(run, needs);
        let kind = match self {
            Self::Model(error) => {
                tracing::warn!(run = run.run_id, error = %error, detail = error.detail, "the model failed");
                RunErrorKind::Model(Box::new(error))
            }
            Self::Cancelled => RunErrorKind::Cancelled,
            Self::Time => RunErrorKind::Time,
            Self::Confidence => {
                RunErrorKind::ConfidenceTooLow { needs, has: run.model.identity().confidence }
            }
            Self::Storage(cause) => {
                tracing::error!(run = run.run_id, error = cause, "the run could not be written down");
                RunErrorKind::Storage
            }
        };
        RunError { kind, message }
    }
}

/// What an event adds to the answer that is kept, in bytes.
fn size(event: &ModelEvent) -> usize {
    match event {
        ModelEvent::Text(text) | ModelEvent::Reasoning(text) => text.len(),
        ModelEvent::CallProgress { arguments_delta, .. } => arguments_delta.len(),
        ModelEvent::Call(call) => call.name.len() + call.id.len(),
        ModelEvent::Opaque(_) | ModelEvent::Usage(_) | ModelEvent::Finished(_) => 0,
    }
}

/// Keeps the first source of every URL; letter case of the host and a fragment make no difference.
fn deduplicate(sources: &mut Vec<Source>) {
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
