//! Stand-ins for tests: a scripted model, a recording tool, a clock that is moved by hand, a journal in memory.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use futures_util::{StreamExt, stream};
use jiff::Timestamp;
use serde_json::{Map, Value, json};

use crate::caller::{Caller, Component, Components, Credits, Grants};
use crate::clock::Clock;
use crate::confidence::Confidence;
use crate::message::ToolCall;
use crate::model::{
    FinishReason, Model, ModelCapabilities, ModelError, ModelEvent, ModelIdentity, ModelRequest, ModelStream,
};
use crate::policy::Circumstances;
use crate::registry::{Catalog, DefinitionFile, RegisteredTool};
use crate::tool::{Display, Outgoing, Tool, ToolContext, ToolError, ToolOutput};

mod arguments;
mod journal;

pub use arguments::CompiledArguments;
pub use journal::{MemoryJournal, MemoryLedger};

/// One answer of a script: the events of a stream, or a refusal.
pub type ScriptedAnswer = Result<Vec<Result<ModelEvent, ModelError>>, ModelError>;

/// A model that answers from a script, one entry per request, and keeps the requests.
pub struct ScriptedModel {
    identity: ModelIdentity,
    capabilities: ModelCapabilities,
    script: Mutex<VecDeque<ScriptedAnswer>>,
    requests: Mutex<Vec<ModelRequest>>,
}

/// A tool that does what it is told and keeps the arguments of its calls.
pub struct RecordingTool {
    key: String,
    behavior: Box<dyn Fn(&Value) -> Behavior + Send + Sync>,
    calls: Mutex<Vec<Value>>,
    enabled: bool,
    outgoing: Outgoing,
}

/// What a [`RecordingTool`] does when it is called.
pub enum Behavior {
    /// Ends like this.
    End(Result<ToolOutput, ToolError>),
    /// Panics.
    Panic,
    /// Never ends.
    Hang,
}

/// A clock that stands still; sleeping on it never ends unless the time is zero.
pub struct FixedClock(pub Timestamp);

impl ScriptedModel {
    /// A model that gives these answers, one per request.
    pub fn new(answers: impl IntoIterator<Item = Vec<ModelEvent>>) -> Self {
        Self::with_failures(answers.into_iter().map(|events| Ok(events.into_iter().map(Ok).collect())))
    }

    /// A model whose requests or streams may fail.
    pub fn with_failures(answers: impl IntoIterator<Item = ScriptedAnswer>) -> Self {
        Self {
            identity: ModelIdentity {
                provider_id: "scripted".to_owned(),
                model: "model".to_owned(),
                confidence: Confidence::High,
                trusted: false,
            },
            capabilities: ModelCapabilities { functions: true, images: false },
            script: Mutex::new(answers.into_iter().collect()),
            requests: Mutex::default(),
        }
    }

    /// The same model with another confidence.
    #[must_use]
    pub fn with_confidence(mut self, confidence: Confidence) -> Self {
        self.identity.confidence = confidence;
        self
    }

    /// The requests so far.
    pub fn requests(&self) -> Vec<ModelRequest> {
        lock(&self.requests).clone()
    }
}

/// The events of an answer of plain text.
pub fn says(text: &str) -> Vec<ModelEvent> {
    vec![ModelEvent::Text(text.to_owned()), ModelEvent::Finished(FinishReason::Stop)]
}

/// The events of an answer that makes calls, each given as id, name and arguments.
pub fn calls(calls: &[(&str, &str, &str)]) -> Vec<ModelEvent> {
    let events = calls.iter().map(|(id, name, arguments)| {
        ModelEvent::Call(ToolCall {
            id: (*id).to_owned(),
            name: (*name).to_owned(),
            arguments: (*arguments).to_owned(),
            opaque: Map::new(),
        })
    });
    events.chain([ModelEvent::Finished(FinishReason::ToolCalls)]).collect()
}

#[async_trait]
impl Model for ScriptedModel {
    fn identity(&self) -> &ModelIdentity {
        &self.identity
    }

    fn capabilities(&self) -> ModelCapabilities {
        self.capabilities
    }

    async fn ask(&self, request: ModelRequest) -> Result<ModelStream, ModelError> {
        lock(&self.requests).push(request);
        let next = lock(&self.script).pop_front();
        match next {
            Some(answer) => Ok(stream::iter(answer?).boxed()),
            // A model at the end of its script thinks for ever.
            None => Ok(stream::pending().boxed()),
        }
    }
}

impl RecordingTool {
    /// A tool that always returns this text.
    pub fn returning(key: &str, text: &str) -> Self {
        let text = text.to_owned();
        Self::behaving(key, move |_| Behavior::End(Ok(ToolOutput::text(text.clone()))))
    }

    /// A tool that does what `behavior` says of its arguments.
    pub fn behaving(key: &str, behavior: impl Fn(&Value) -> Behavior + Send + Sync + 'static) -> Self {
        Self {
            key: key.to_owned(),
            behavior: Box::new(behavior),
            calls: Mutex::default(),
            enabled: true,
            outgoing: Outgoing::Nothing,
        }
    }

    /// The same tool where it cannot run.
    #[must_use]
    pub fn disabled(mut self) -> Self {
        self.enabled = false;
        self
    }

    /// The same tool as one that sends this out.
    #[must_use]
    pub fn sending(mut self, outgoing: Outgoing) -> Self {
        self.outgoing = outgoing;
        self
    }

    /// The arguments of the calls so far.
    pub fn calls(&self) -> Vec<Value> {
        lock(&self.calls).clone()
    }
}

#[async_trait]
impl Tool for RecordingTool {
    fn implementation_key(&self) -> &str {
        &self.key
    }

    fn display(&self, _locale: &str) -> Display {
        Display::new("🧪", self.key.clone(), format!("Test tool {}.", self.key))
    }

    fn is_enabled(&self) -> bool {
        self.enabled
    }

    fn outgoing(&self) -> Outgoing {
        self.outgoing
    }

    #[expect(clippy::panic, reason = "a tool that panics is what some tests are about")]
    async fn call(&self, arguments: Value, _context: &ToolContext) -> Result<ToolOutput, ToolError> {
        let behavior = (self.behavior)(&arguments);
        lock(&self.calls).push(arguments);
        match behavior {
            Behavior::End(result) => result,
            Behavior::Panic => panic!("a tool panics on purpose"),
            Behavior::Hang => std::future::pending().await,
        }
    }
}

#[async_trait]
impl Clock for FixedClock {
    fn now(&self) -> Timestamp {
        self.0
    }

    fn elapsed(&self) -> Duration {
        Duration::ZERO
    }

    async fn sleep(&self, duration: Duration) {
        if !duration.is_zero() {
            std::future::pending::<()>().await;
        }
    }
}

/// The text of a valid definition whose id, key and function name are `id`, with one optional argument `q`.
pub fn definition_text(id: &str) -> String {
    definition(id).to_string()
}

/// The same as [`definition_text`], as a value to change.
pub fn definition(id: &str) -> Value {
    json!({
        "schemaVersion": 1,
        "id": id,
        "implementationKey": id,
        "function": {
            "name": id,
            "descriptionForLLM": "A tool for tests. Use it when a test says so.",
            "strict": false,
            "parameters": {
                "type": "object",
                "properties": { "q": { "type": "string", "description": "Any text." } },
                "additionalProperties": false
            }
        }
    })
}

/// A caller who may use everything, in the component `api`.
pub fn caller() -> Caller {
    Caller {
        workspace_id: "ws".to_owned(),
        user_id: "user".to_owned(),
        component: Component::api(),
        grants: Grants::Everything,
        switched_off: std::collections::BTreeSet::new(),
        credits: Credits::Unlimited,
        locale: "en".to_owned(),
    }
}

/// Circumstances of that caller without labels, under a policy that allows everything.
pub fn circumstances() -> Circumstances {
    Circumstances::new(Arc::new(caller()), Arc::default())
}

/// A tool of this definition and this implementation, as a catalog holds it.
///
/// # Panics
/// The definition is not valid.
#[expect(clippy::panic, reason = "a test with a wrong definition must fail")]
pub fn registered(definition: &Value, implementation: impl Tool + 'static) -> Arc<RegisteredTool> {
    let file = DefinitionFile::added("test.json", definition.to_string());
    let (catalog, problems) = Catalog::build(&[file], &[Arc::new(implementation)], &Components::default());
    match catalog.tools().first() {
        Some(tool) if problems.is_empty() => Arc::clone(tool),
        _ => panic!("the definition is not valid: {problems:?}"),
    }
}

/// A clock that stands at the beginning of 2026.
pub fn clock() -> Arc<dyn Clock> {
    let moment = Timestamp::from_second(1_767_225_600).unwrap_or(Timestamp::UNIX_EPOCH);
    Arc::new(FixedClock(moment))
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
