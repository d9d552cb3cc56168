//! What the runtime costs beside the model and the tools: offering, admission, validation, and the loop's machine.

#![expect(clippy::expect_used, reason = "a measurement that cannot be set up has no figure")]

use std::hint::black_box;
use std::sync::Arc;

use criterion::{BatchSize, Criterion, criterion_group, criterion_main};
use serde_json::{Map, Value, json};
use toolcrib_runtime::confidence::Confidence;
use toolcrib_runtime::message::{AssistantMessage, AssistantPart, Message, ToolCall, ToolResult, Usage};
use toolcrib_runtime::model::{FinishReason, ModelCapabilities, ModelIdentity, ModelRequest, ToolSpec};
use toolcrib_runtime::offering::{Admission, ModelStanding, OfferRequest, Offering, offer};
use toolcrib_runtime::policy::{Circumstances, Policy};
use toolcrib_runtime::registry::{Catalog, DefinitionFile};
use toolcrib_runtime::run::{Limits, Machine, Plan, Step};
use toolcrib_runtime::testing::{CompiledArguments, RecordingTool, caller, definition};
use toolcrib_runtime::tool::Tool;

criterion_group!(benches, offering, admission, validation, machine);
criterion_main!(benches);

fn id(index: usize) -> String {
    format!("tool_{index:05}")
}

fn catalog(tools: usize, change: fn(usize, &mut Value)) -> Arc<Catalog> {
    let files: Vec<_> = (0..tools)
        .map(|index| {
            let mut definition = definition(&id(index));
            change(index, &mut definition);
            DefinitionFile::added(format!("{index}.json"), definition.to_string())
        })
        .collect();
    let implementations: Vec<Arc<dyn Tool>> =
        (0..tools).map(|index| Arc::new(RecordingTool::returning(&id(index), "fine")) as _).collect();
    let (catalog, problems) =
        Catalog::build(&files, &implementations, &toolcrib_runtime::caller::Components::default());
    assert!(problems.is_empty(), "{problems:?}");
    Arc::new(catalog)
}

fn as_it_is(_: usize, _: &mut Value) {}

/// Every second tool is not meant for the caller's component.
fn half_elsewhere(index: usize, definition: &mut Value) {
    if index.is_multiple_of(2) {
        definition["visibleIn"] = json!({"deniedComponents": ["api"]});
    }
}

fn standing() -> ModelStanding {
    ModelStanding {
        identity: ModelIdentity {
            provider_id: "provider".to_owned(),
            model: "model".to_owned(),
            confidence: Confidence::High,
            trusted: false,
        },
        capabilities: ModelCapabilities { functions: true, images: false },
    }
}

/// A policy that forbids every second tool by a rule of its own.
fn half_forbidden(tools: usize) -> Policy {
    Policy { disabled: (0..tools).step_by(2).map(id).collect(), ..Policy::default() }
}

fn offered(catalog: &Arc<Catalog>, policy: &Arc<Policy>) -> Offering {
    offer(catalog, &Arc::new(caller()), OfferRequest::default(), policy, standing())
}

fn offering(criterion: &mut Criterion) {
    for tools in [1_000, 10_000] {
        let (whole, half) = (catalog(tools, as_it_is), catalog(tools, half_elsewhere));
        let cases = [
            ("all offered", &whole, Policy::default(), tools),
            ("half withheld", &half, Policy::default(), tools / 2),
            ("half forbidden one by one", &whole, half_forbidden(tools), tools / 2),
        ];
        for (name, catalog, policy, expected) in cases {
            let policy = Arc::new(policy);
            assert_eq!(offered(catalog, &policy).specs().len(), expected);
            criterion.bench_function(&format!("offering/{tools} tools, {name}"), |bencher| {
                bencher.iter(|| offered(black_box(catalog), &policy));
            });
        }
    }
}

fn admission(criterion: &mut Criterion) {
    let offering = offered(&catalog(1_000, as_it_is), &Arc::default());
    let now = Circumstances::new(Arc::new(caller()), Arc::new(half_forbidden(1_000)));
    assert!(matches!(offering.admit(call(0, &id(501)), &now), Admission::Admitted(_)));
    let call = call(0, &id(501));
    criterion.bench_function("admission/one call", |bencher| {
        bencher.iter_batched(|| call.clone(), |call| offering.admit(call, &now), BatchSize::SmallInput);
    });
}

fn validation(criterion: &mut Criterion) {
    let schema = json!({
        "type": "object",
        "properties": {
            "query": { "type": "string", "minLength": 1, "maxLength": 400 },
            "language": { "type": ["string", "null"] },
            "results": { "type": "integer", "minimum": 1, "maximum": 20 },
            "time_range": { "type": "string", "enum": ["day", "week", "month", "year"] },
            "domains": { "type": "array", "items": { "type": "string" } }
        },
        "required": ["query"],
        "additionalProperties": false
    });
    let schema = CompiledArguments::compile(&schema).expect("a schema");
    let fits =
        r#"{"query":"tool cribs","language":"en","results":5,"time_range":"week","domains":["example.org"]}"#;
    assert!(schema.read(fits).is_ok());
    criterion.bench_function("validation/5 properties", |bencher| {
        bencher.iter(|| schema.read(black_box(fits)));
    });
}

fn machine(criterion: &mut Criterion) {
    let tools: Arc<[Arc<ToolSpec>]> = (0..20).map(spec).collect();
    let messages: Vec<_> =
        (0..10).map(|index| Message::user(format!("Message {index} of the user."))).collect();
    let begin = || {
        let request =
            ModelRequest { messages: messages.clone(), tools: Arc::clone(&tools), ..ModelRequest::default() };
        Machine::new(request, Some("Only when asked.".to_owned()), Limits::default())
    };
    criterion.bench_function("machine/one round", |bencher| {
        bencher.iter_batched_ref(
            || (begin(), answer()),
            |(machine, answer)| {
                let request = machine.request();
                let answer = std::mem::take(answer);
                let step = machine.answered(answer, FinishReason::ToolCalls, Usage::default(), |_| false);
                let mut results = Vec::new();
                if let Step::Calls { ours, .. } = step {
                    for call in &ours {
                        if let Plan::Execute { .. } = machine.plan(call) {
                            let text = "A result of some words.".to_owned();
                            machine.count(call, &text, true, 0);
                            results.push(ToolResult { call_id: call.id.clone(), text, is_error: false });
                        }
                    }
                }
                machine.end_round(results);
                request
            },
            BatchSize::SmallInput,
        );
    });
}

fn spec(index: usize) -> Arc<ToolSpec> {
    Arc::new(ToolSpec {
        name: id(index),
        description: Some("A tool for measurements.".to_owned()),
        parameters: json!({"type": "object", "properties": {}}),
        strict: Some(true),
    })
}

fn answer() -> AssistantMessage {
    let parts = [3, 7].map(|index| AssistantPart::Call(call(index, &id(index))));
    AssistantMessage { parts: parts.into(), ..AssistantMessage::default() }
}

fn call(index: usize, name: &str) -> ToolCall {
    let arguments = Value::from(Map::from_iter([("q".to_owned(), Value::from("tool cribs"))])).to_string();
    ToolCall { id: format!("call_{index}"), name: name.to_owned(), arguments, opaque: Map::new() }
}
