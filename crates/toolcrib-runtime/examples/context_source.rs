//! Work that is done before the model runs: a source looks up what the question is about and puts it into the system
//! prompt.
//!
//! The source works under the gates of a tool: when the user has switched that tool off, the model is asked without
//! it. Both runs are driven by [`drive`]. Run it with `cargo run -p toolcrib-runtime --example context_source`.

use std::collections::BTreeSet;
use std::error::Error;
use std::fmt::Write as _;
use std::sync::Arc;

use async_trait::async_trait;
use futures_util::{StreamExt as _, stream};
use serde_json::Value;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;
use toolcrib_runtime::caller::{Caller, Component, Components, Credits, Grants};
use toolcrib_runtime::clock::Clock;
use toolcrib_runtime::confidence::Confidence;
use toolcrib_runtime::context::{ContextRequest, ContextSource, Gathered};
use toolcrib_runtime::executor::Executor;
use toolcrib_runtime::journal::Journal;
use toolcrib_runtime::labels::Labels;
use toolcrib_runtime::ledger::FreeOfCharge;
use toolcrib_runtime::message::Message;
use toolcrib_runtime::model::{
    FinishReason, Model, ModelCapabilities, ModelError, ModelEvent, ModelIdentity, ModelRequest, ModelStream,
};
use toolcrib_runtime::offering::{ModelStanding, OfferRequest, offer};
use toolcrib_runtime::policy::{Circumstances, Policy};
use toolcrib_runtime::registry::{Catalog, DefinitionFile};
use toolcrib_runtime::run::{Answer, Asking, Limits, Run, RunEvent, Services, drive};
use toolcrib_runtime::tool::{Display, Origin, Source, Tool, ToolContext, ToolError, ToolOutput};

#[path = "shared/memory.rs"]
mod memory;

use memory::{SystemClock, Traces};

const QUESTION: &str = "Can I visit the lighthouse on Sunday?";

/// Places, when they are open, and where that is written.
const TABLE: [(&str, &str, &str); 3] = [
    (
        "lighthouse",
        "The lighthouse is open on Saturday and Sunday, 10 to 16.",
        "https://harbor.example/lighthouse",
    ),
    ("museum", "The museum is open from Tuesday to Friday, 9 to 17.", "https://harbor.example/museum"),
    ("ferry", "The ferry leaves every full hour, on every day.", "https://harbor.example/ferry"),
];

/// The table as a tool that a model may call, and as a source that is asked before it runs.
struct OpeningHours;

const DEFINITION: &str = r#"{
    "schemaVersion": 1,
    "id": "opening_hours",
    "implementationKey": "opening_hours",
    "function": {
        "name": "opening_hours",
        "descriptionForLLM": "Returns when a place of the harbor is open.",
        "strict": false,
        "parameters": {
            "type": "object",
            "properties": { "place": { "type": "string", "description": "For example: museum." } },
            "required": ["place"],
            "additionalProperties": false
        }
    }
}"#;

impl OpeningHours {
    /// The lines of the table that a text asks for.
    fn found_in(text: &str) -> Gathered {
        let text = text.to_lowercase();
        let rows = TABLE.iter().filter(|(place, _, _)| text.contains(place));
        let (lines, sources) = rows
            .map(|(place, line, url)| {
                let source = Source {
                    title: format!("Opening hours: {place}"),
                    url: (*url).to_owned(),
                    origin: Origin::Knowledge,
                    tool_call_id: None,
                };
                (*line, source)
            })
            .unzip::<_, _, Vec<_>, Vec<_>>();
        Gathered { text: lines.join("\n"), sources, labels: Labels::default() }
    }
}

#[async_trait]
impl Tool for OpeningHours {
    fn implementation_key(&self) -> &'static str {
        "opening_hours"
    }

    fn display(&self, _locale: &str) -> Display {
        Display::new("🕙", "Opening hours", "Knows when the places of the harbor are open.")
    }

    async fn call(&self, arguments: Value, _context: &ToolContext) -> Result<ToolOutput, ToolError> {
        let found = Self::found_in(arguments["place"].as_str().unwrap_or_default());
        if found.text.is_empty() {
            let places = TABLE.map(|(place, _, _)| place).join(", ");
            return Err(ToolError::failed(format!("the place is not in the table; it has {places}")));
        }
        let mut output = ToolOutput::text(found.text);
        output.sources = found.sources;
        Ok(output)
    }
}

#[async_trait]
impl ContextSource for OpeningHours {
    fn heading(&self) -> &'static str {
        "Opening hours that may help"
    }

    fn tool_id(&self) -> &'static str {
        "opening_hours"
    }

    async fn gather(&self, request: &ContextRequest<'_>) -> Result<Option<Gathered>, ToolError> {
        let question = request.messages.last().map(Message::text).unwrap_or_default();
        let found = Self::found_in(&question);
        Ok((!found.text.is_empty()).then_some(found))
    }
}

/// A model without a network: it repeats what the system prompt says about a word of the question.
struct Reader {
    identity: ModelIdentity,
}

#[async_trait]
impl Model for Reader {
    fn identity(&self) -> &ModelIdentity {
        &self.identity
    }

    fn capabilities(&self) -> ModelCapabilities {
        ModelCapabilities { functions: false, images: false }
    }

    async fn ask(&self, request: ModelRequest) -> Result<ModelStream, ModelError> {
        let system = request.messages.iter().filter(|message| matches!(message, Message::System(_)));
        let known = system.map(Message::text).collect::<Vec<_>>().join("\n");
        let question = request.messages.last().map(Message::text).unwrap_or_default();
        let mut words = question.split(|character: char| !character.is_alphanumeric());
        let line = words.find_map(|word| known.lines().find(|line| word.len() > 5 && line.contains(word)));
        let answer = line.unwrap_or("Nothing that I was given says anything about that.");
        let events = [ModelEvent::Text(answer.to_owned()), ModelEvent::Finished(FinishReason::Stop)];
        Ok(stream::iter(events.map(Ok)).boxed())
    }
}

/// One run, for a user who has switched these capabilities off.
async fn ask(switched_off: &[&str]) -> Result<Answer, Box<dyn Error>> {
    let file = DefinitionFile::added("opening_hours.json", DEFINITION);
    let (catalog, problems) = Catalog::build(&[file], &[Arc::new(OpeningHours)], &Components::default());
    if let Some(problem) = problems.first() {
        return Err(problem.to_string().into());
    }
    let caller = Arc::new(Caller {
        workspace_id: "harbor".to_owned(),
        user_id: "visitor".to_owned(),
        component: Component::api(),
        grants: Grants::Everything,
        switched_off: switched_off.iter().map(|name| (*name).to_owned()).collect::<BTreeSet<_>>(),
        credits: Credits::Unlimited,
        locale: "en".to_owned(),
    });
    let policy = Arc::new(Policy::default());
    let model = Arc::new(Reader {
        identity: ModelIdentity {
            provider_id: "example".to_owned(),
            model: "reader".to_owned(),
            confidence: Confidence::High,
            trusted: false,
        },
    });
    let standing = ModelStanding { identity: model.identity().clone(), capabilities: model.capabilities() };
    let offering = offer(&Arc::new(catalog), &caller, OfferRequest::default(), &policy, standing);

    let journal: Arc<dyn Journal> = Arc::new(Traces::default());
    let clock: Arc<dyn Clock> = Arc::new(SystemClock::new());
    let services = Services {
        executor: Executor::new(Arc::clone(&journal), Arc::new(FreeOfCharge), Arc::clone(&clock)),
        journal,
        circumstances: Arc::new(Circumstances::new(caller, policy)),
        approver: None,
        clock,
    };
    let run = Run {
        run_id: "run_1".to_owned(),
        conversation_id: None,
        model,
        offering,
        request: ModelRequest { messages: vec![Message::user(QUESTION)], ..ModelRequest::default() },
        new_messages: vec![Message::user(QUESTION)],
        labels: Labels::default(),
        context: vec![Arc::new(OpeningHours)],
        asking: Asking::Impossible,
        limits: Limits::default(),
    };
    let (sender, mut events) = mpsc::channel(16);
    let driving = tokio::spawn(drive(run, services, sender, CancellationToken::new()));
    let mut answer = None;
    while let Some(event) = events.recv().await {
        match event {
            RunEvent::Finished(finished) => answer = Some(*finished),
            RunEvent::Failed(error) => return Err(error.message.into()),
            _ => {}
        }
    }
    driving.await?;
    answer.ok_or_else(|| "the run ended without an answer".into())
}

/// Plays the whole example and tells it.
async fn play() -> Result<String, Box<dyn Error>> {
    let mut told = format!("Question\n  {QUESTION}\n");
    for (title, switched_off) in
        [("With the source", &[][..]), ("With the source switched off", &["opening_hours"][..])]
    {
        let answer = ask(switched_off).await?;
        let _ = writeln!(told, "\n{title}\n  {}", answer.text);
        for source in &answer.sources {
            let _ = writeln!(told, "  source: {} <{}>", source.title, source.url);
        }
        if answer.sources.is_empty() {
            told.push_str("  no sources\n");
        }
    }
    Ok(told)
}

#[tokio::main(flavor = "current_thread")]
#[expect(clippy::print_stdout, reason = "the example shows what happened")]
async fn main() -> Result<(), Box<dyn Error>> {
    print!("{}", play().await?);
    Ok(())
}

#[tokio::test]
async fn the_example_tells_what_happened() {
    insta::assert_snapshot!("context_source", play().await.expect("both runs end with an answer"));
}
