//! An embedder's own loop: ask a model, admit each of its calls, execute what is admitted, feed the results back.
//!
//! The harbor office has three tools. Reading the tide table runs at once, once the model has spelled the harbor as
//! the schema wants it; writing into the log needs somebody's consent, which this program gives; clearing the log is
//! disabled by the organization, so that the model never gets to it. Run it with
//! `cargo run -p toolcrib-runtime --example own_loop`.

use std::collections::{BTreeSet, HashSet};
use std::error::Error;
use std::fmt::Write as _;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use futures_util::{StreamExt as _, stream};
use serde_json::{Map, Value, json};
use toolcrib_runtime::caller::{Caller, Component, Components, Credits, Grants};
use toolcrib_runtime::clock::Clock;
use toolcrib_runtime::confidence::Confidence;
use toolcrib_runtime::executor::{CallScope, Executor, Outcome};
use toolcrib_runtime::journal::{Journal, JournalError, TraceStatus};
use toolcrib_runtime::ledger::FreeOfCharge;
use toolcrib_runtime::links::Links;
use toolcrib_runtime::message::{AssistantMessage, AssistantPart, Message, ToolCall, ToolResult};
use toolcrib_runtime::model::{
    FinishReason, Model, ModelCapabilities, ModelError, ModelEvent, ModelIdentity, ModelRequest, ModelStream,
};
use toolcrib_runtime::offering::{Admission, ModelStanding, OfferRequest, Offering, offer};
use toolcrib_runtime::policy::{Circumstances, Policy};
use toolcrib_runtime::registry::{Catalog, DefinitionFile};
use toolcrib_runtime::tool::{Display, Tool, ToolContext, ToolError, ToolOutput};

#[path = "shared/memory.rs"]
mod memory;

use memory::{SystemClock, Traces};

const QUESTION: &str = "When is high water in Osterhafen? Write it into the log, then clear the old log.";

/// Rounds after which the loop gives up: every loop with a model needs an end.
const MOST_ROUNDS: u32 = 8;

// --- The tools -------------------------------------------------------------------------------------------------------

/// What all three tools work on.
#[derive(Default)]
struct Office {
    log: Mutex<Vec<String>>,
}

struct ReadTides;

struct WriteLog(Arc<Office>);

struct ClearLog(Arc<Office>);

const TIDES: &str = r#"{
    "schemaVersion": 1,
    "id": "read_tides",
    "implementationKey": "read_tides",
    "systemPromptInstructions": "Never state a time of high water that read_tides did not return.",
    "function": {
        "name": "read_tides",
        "descriptionForLLM": "Returns today's time of high water in a harbor.",
        "strict": false,
        "parameters": {
            "type": "object",
            "properties": {
                "harbor": { "type": "string", "enum": ["Osterhaven", "Westerhaven"], "description": "The harbor." }
            },
            "required": ["harbor"],
            "additionalProperties": false
        }
    },
    "annotations": { "readOnly": true, "idempotent": true }
}"#;

/// The definition of a tool with one line of text as its argument, or none.
fn definition(id: &str, description: &str, line: bool, approval: &str) -> String {
    let properties = if line {
        json!({ "line": { "type": "string", "description": "What to write." } })
    } else {
        json!({})
    };
    json!({
        "schemaVersion": 1,
        "id": id,
        "implementationKey": id,
        "function": {
            "name": id,
            "descriptionForLLM": description,
            "strict": false,
            "parameters": {
                "type": "object",
                "properties": properties,
                "required": if line { vec!["line"] } else { vec![] },
                "additionalProperties": false
            }
        },
        "approval": approval
    })
    .to_string()
}

#[async_trait]
impl Tool for ReadTides {
    fn implementation_key(&self) -> &'static str {
        "read_tides"
    }

    fn display(&self, _locale: &str) -> Display {
        Display::new("🌊", "Tide table", "Looks up today's high water.")
    }

    async fn call(&self, arguments: Value, _context: &ToolContext) -> Result<ToolOutput, ToolError> {
        // The arguments fit the schema, so that the harbor is one of two.
        let time = if arguments["harbor"] == "Osterhaven" { "14:20" } else { "15:05" };
        Ok(ToolOutput::json(json!({ "harbor": arguments["harbor"], "high_water": time })))
    }
}

#[async_trait]
impl Tool for WriteLog {
    fn implementation_key(&self) -> &'static str {
        "write_log"
    }

    fn display(&self, _locale: &str) -> Display {
        Display::new("📓", "Harbor log", "Writes a line into the log.")
    }

    async fn call(&self, arguments: Value, _context: &ToolContext) -> Result<ToolOutput, ToolError> {
        let line = arguments["line"].as_str().unwrap_or_default().to_owned();
        let mut log = self.0.log.lock().unwrap_or_else(PoisonError::into_inner);
        log.push(line);
        Ok(ToolOutput::text(format!("Written as line {}.", log.len())))
    }
}

#[async_trait]
impl Tool for ClearLog {
    fn implementation_key(&self) -> &'static str {
        "clear_log"
    }

    fn display(&self, _locale: &str) -> Display {
        Display::new("🧹", "Clear log", "Empties the log.")
    }

    async fn call(&self, _arguments: Value, _context: &ToolContext) -> Result<ToolOutput, ToolError> {
        self.0.log.lock().unwrap_or_else(PoisonError::into_inner).clear();
        Ok(ToolOutput::text("The log is empty."))
    }
}

// --- A model of rules ------------------------------------------------------------------------------------------------

/// A model without a network: it goes by words of the question and by the results that it has read.
struct Rules {
    identity: ModelIdentity,
}

impl Rules {
    fn new() -> Self {
        Self {
            identity: ModelIdentity {
                provider_id: "example".to_owned(),
                model: "rules".to_owned(),
                confidence: Confidence::High,
                trusted: false,
            },
        }
    }

    /// The next call, or the answer.
    fn next(messages: &[Message]) -> ModelEvent {
        let question = messages.iter().find(|message| matches!(message, Message::User(_)));
        let question = question.map(Message::text).unwrap_or_default();
        let results: Vec<&ToolResult> = messages
            .iter()
            .filter_map(|message| match message {
                Message::ToolResult(result) => Some(result),
                _ => None,
            })
            .collect();
        let tide = results.iter().find_map(|result| {
            let found: Value = serde_json::from_str(&result.text).ok()?;
            Some(format!(
                "High water in {} is at {}.",
                found["harbor"].as_str()?,
                found["high_water"].as_str()?
            ))
        });
        let last = results.last().map(|result| result.text.as_str()).unwrap_or_default();
        let harbor = question.split_once(" in ").and_then(|(_, rest)| rest.split(['?', '.', ' ']).next());
        let suggested = last.split_once("did you mean \"").and_then(|(_, rest)| rest.split('"').next());
        let (name, arguments) = match (results.len(), tide) {
            (0, _) => ("read_tides", json!({ "harbor": harbor })),
            // An error that names what was meant is worth a second try, with that.
            (1, None) => ("read_tides", json!({ "harbor": suggested })),
            (2, Some(tide)) if question.contains("Write") => ("write_log", json!({ "line": tide })),
            (3, Some(_)) if question.contains("clear") => ("clear_log", json!({})),
            (_, tide) => {
                let mut answer = tide.unwrap_or_else(|| "The tide table gave no time.".to_owned());
                let failed = results.iter().skip(2).filter(|result| result.is_error).count();
                let done = results.len().saturating_sub(2) - failed;
                let _ =
                    write!(answer, " Of what you asked me to do then, {done} is done and {failed} is not.");
                return ModelEvent::Text(answer);
            }
        };
        ModelEvent::Call(ToolCall {
            id: format!("call_{}", results.len() + 1),
            name: name.to_owned(),
            arguments: arguments.to_string(),
            opaque: Map::new(),
        })
    }
}

#[async_trait]
impl Model for Rules {
    fn identity(&self) -> &ModelIdentity {
        &self.identity
    }

    fn capabilities(&self) -> ModelCapabilities {
        ModelCapabilities { functions: true, images: false }
    }

    async fn ask(&self, request: ModelRequest) -> Result<ModelStream, ModelError> {
        let event = Self::next(&request.messages);
        let finish = match event {
            ModelEvent::Call(_) => FinishReason::ToolCalls,
            _ => FinishReason::Stop,
        };
        Ok(stream::iter([Ok(event), Ok(ModelEvent::Finished(finish))]).boxed())
    }
}

// --- The loop --------------------------------------------------------------------------------------------------------

/// Everything that one conversation needs.
struct Harbor {
    model: Rules,
    offering: Offering,
    executor: Executor,
    now: Circumstances,
    /// What happened, for the reader.
    told: String,
}

impl Harbor {
    fn open(office: &Arc<Office>, journal: Arc<dyn Journal>) -> Result<Self, Box<dyn Error>> {
        let files = [
            DefinitionFile::added("read_tides.json", TIDES),
            DefinitionFile::added(
                "write_log.json",
                definition("write_log", "Writes one line into the harbor log.", true, "always"),
            ),
            DefinitionFile::added(
                "clear_log.json",
                definition("clear_log", "Empties the harbor log.", false, "never"),
            ),
        ];
        let tools: [Arc<dyn Tool>; 3] = [
            Arc::new(ReadTides),
            Arc::new(WriteLog(Arc::clone(office))),
            Arc::new(ClearLog(Arc::clone(office))),
        ];
        let (catalog, problems) = Catalog::build(&files, &tools, &Components::default());
        if let Some(problem) = problems.first() {
            return Err(problem.to_string().into());
        }

        let caller = Arc::new(Caller {
            workspace_id: "harbor".to_owned(),
            user_id: "keeper".to_owned(),
            component: Component::api(),
            grants: Grants::Everything,
            switched_off: BTreeSet::new(),
            credits: Credits::Unlimited,
            locale: "en".to_owned(),
        });
        let policy = Policy { disabled: HashSet::from(["clear_log".to_owned()]), ..Policy::default() };
        let policy = Arc::new(policy);
        let model = Rules::new();
        let standing =
            ModelStanding { identity: model.identity().clone(), capabilities: model.capabilities() };
        let offering = offer(&Arc::new(catalog), &caller, OfferRequest::default(), &policy, standing);

        let clock: Arc<dyn Clock> = Arc::new(SystemClock::new());
        let executor = Executor::new(journal, Arc::new(FreeOfCharge), clock);
        let now = Circumstances::new(caller, policy);
        Ok(Self { model, offering, executor, now, told: String::new() })
    }

    /// Says what is offered, and of the rest why not.
    fn explain(&mut self) {
        for explanation in self.offering.explain() {
            let verdict =
                explanation.headline().map_or("offered".to_owned(), |reason| format!("withheld: {reason}"));
            let _ = writeln!(self.told, "  {:<12}{verdict}", explanation.tool.id());
        }
    }

    /// One question to one answer; the whole conversation comes back.
    async fn answer(&mut self, question: &str) -> Result<Vec<Message>, Box<dyn Error>> {
        let mut messages = Vec::new();
        let user = Message::user(question);
        messages.extend(self.offering.instructions(Some(&user)).map(Message::System));
        messages.push(user);
        let mut calls_made = 0;
        for round in 1..=MOST_ROUNDS {
            let answer = self.ask(&messages).await?;
            let calls: Vec<ToolCall> = answer.calls().cloned().collect();
            messages.push(Message::Assistant(answer));
            if calls.is_empty() {
                return Ok(messages);
            }
            for call in calls {
                calls_made += 1;
                let mut scope = CallScope::single("run_1", self.model.identity());
                scope.order = calls_made;
                scope.round = round;
                scope.links = Arc::new(Links::of(&messages));
                let id = call.id.clone();
                let outcome = self.carry_out(call, &scope).await?;
                // What a result demands holds from now on.
                self.now.labels = self.now.labels.raised_by(outcome.trace.labels());
                let is_error = outcome.trace.status != TraceStatus::Success;
                messages.push(Message::ToolResult(ToolResult {
                    call_id: id,
                    text: outcome.for_model,
                    is_error,
                }));
            }
        }
        Err(format!("no answer after {MOST_ROUNDS} rounds").into())
    }

    async fn ask(&self, messages: &[Message]) -> Result<AssistantMessage, ModelError> {
        let request = ModelRequest {
            messages: messages.to_vec(),
            tools: Arc::clone(self.offering.specs()),
            ..ModelRequest::default()
        };
        let mut events = self.model.ask(request).await?;
        let mut answer = AssistantMessage::default();
        while let Some(event) = events.next().await {
            match event? {
                ModelEvent::Text(text) => answer.push_text(&text),
                ModelEvent::Call(call) => answer.parts.push(AssistantPart::Call(call)),
                _ => {}
            }
        }
        Ok(answer)
    }

    /// Admits one call and executes it; refuses it; or asks the person first, who is this program.
    async fn carry_out(&mut self, call: ToolCall, scope: &CallScope) -> Result<Outcome, JournalError> {
        let tool = self.offering.known_by_name(&call.name).cloned();
        let refusal = match self.offering.admit(call.clone(), &self.now) {
            Admission::Admitted(admitted) => return self.executor.execute(admitted, scope).await,
            Admission::Refused(refusal) => refusal,
            Admission::Held(held) => {
                let _ = writeln!(self.told, "  {} waits: {}. Allowed: yes", held.call.name, held.why);
                // By now something may have changed: admission is asked anew.
                match self.offering.admit_agreed(held.call, &self.now) {
                    Ok(admitted) => return self.executor.execute(admitted, scope).await,
                    Err(refusal) => refusal,
                }
            }
        };
        self.executor.refuse(tool.as_deref(), &call, refusal, scope).await
    }
}

/// Plays the whole example and tells it.
async fn play() -> Result<String, Box<dyn Error>> {
    let office = Arc::new(Office::default());
    let traces = Arc::new(Traces::default());
    let mut harbor = Harbor::open(&office, Arc::clone(&traces) as Arc<dyn Journal>)?;
    harbor.told.push_str("Tools\n");
    harbor.explain();
    harbor.told.push_str("\nConsent\n");
    let messages = harbor.answer(QUESTION).await?;

    let mut told = harbor.told;
    told.push_str("\nConversation\n");
    for message in &messages {
        tell(&mut told, message);
    }
    told.push_str("\nTraces\n");
    for trace in traces.traces.lock().unwrap_or_else(PoisonError::into_inner).iter() {
        let ran = if trace.executed { "ran" } else { "did not run" };
        let _ = writeln!(
            told,
            "  {}. {} {}: {}, {ran}",
            trace.order,
            trace.icon,
            trace.display_name,
            trace.status.name()
        );
    }
    let log = office.log.lock().unwrap_or_else(PoisonError::into_inner);
    let _ = writeln!(told, "\nLog\n  {}", log.join("\n  "));
    Ok(told)
}

/// One message, indented, its speaker in front.
fn tell(told: &mut String, message: &Message) {
    let mut say = |who: &str, text: &str| {
        let _ = writeln!(told, "  {who:<8}{}", text.replace('\n', "\n          "));
    };
    match message {
        Message::System(text) => say("system", text),
        Message::User(_) => say("user", &message.text()),
        Message::ToolResult(result) => say("result", &result.text),
        Message::Assistant(answer) => {
            for call in answer.calls() {
                say("model", &format!("{} {}", call.name, call.arguments));
            }
            if !answer.text().is_empty() {
                say("model", &answer.text());
            }
        }
    }
}

#[tokio::main(flavor = "current_thread")]
#[expect(clippy::print_stdout, reason = "the example shows what happened")]
async fn main() -> Result<(), Box<dyn Error>> {
    print!("{}", play().await?);
    Ok(())
}

#[tokio::test]
async fn the_example_tells_what_happened() {
    insta::assert_snapshot!("own_loop", play().await.expect("it ends with an answer"));
}
