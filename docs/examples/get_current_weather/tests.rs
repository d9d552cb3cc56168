use std::sync::Arc;

use serde_json::{Value, json};
use toolcrib_runtime::caller::Components;
use toolcrib_runtime::confidence::Confidence;
use toolcrib_runtime::executor::{CallScope, Executor};
use toolcrib_runtime::journal::{Trace, TraceStatus};
use toolcrib_runtime::ledger::FreeOfCharge;
use toolcrib_runtime::message::ToolCall;
use toolcrib_runtime::model::{ModelCapabilities, ModelIdentity};
use toolcrib_runtime::offering::{Admission, ModelStanding, OfferRequest, Reason, offer};
use toolcrib_runtime::policy::{Circumstances, Policy, SettingsState};
use toolcrib_runtime::registry::{Catalog, DefinitionFile};
use toolcrib_runtime::testing::{MemoryJournal, caller, clock};
use toolcrib_runtime::tool::Tool as _;
use toolcrib_runtime::tool::typed::TypedTool as _;

use super::*;

/// The definition as a person writes it.
fn definition() -> Value {
    json!({
        "schemaVersion": 1,
        "id": "get_current_weather",
        "implementationKey": "get_current_weather",
        "settingsSchema": {
            "type": "object",
            "properties": { "demoLabel": { "type": "string" } },
            "required": ["demoLabel"]
        },
        "systemPromptInstructions": "Use this tool only when the user asks for current weather conditions.",
        "function": {
            "name": "get_current_weather",
            "descriptionForLLM": "Get the current weather in a given location.",
            "strict": true,
            "parameters": {
                "type": "object",
                "properties": {
                    "city": {
                        "type": "string",
                        "description": "The city to find the weather for, e.g. 'San Francisco'."
                    },
                    "state": {
                        "type": "string",
                        "description": "The two-letter abbreviation for the state, e.g. 'CA'."
                    },
                    "unit": {
                        "type": "string",
                        "description": "The unit to fetch the temperature in.",
                        "enum": ["celsius", "fahrenheit"]
                    }
                },
                "required": ["city", "state", "unit"],
                "additionalProperties": false
            }
        },
        "annotations": { "readOnly": true },
        "concurrency": "parallel"
    })
}

/// A catalog with the tool alone.
fn catalog() -> Arc<Catalog> {
    let file = DefinitionFile::added("definition.json", definition().to_string());
    let (catalog, problems) =
        Catalog::build(&[file], &[Arc::new(GetCurrentWeather.into_tool())], &Components::default());
    assert_eq!(problems, []);
    Arc::new(catalog)
}

/// The settings `{"demoLabel": label}`, checked like an administrator's.
fn policy(catalog: &Catalog, label: Option<&str>) -> Policy {
    let tool = catalog.by_id("get_current_weather").unwrap();
    let values = label.map(|label| ("demoLabel".to_owned(), Value::from(label))).into_iter().collect();
    let state = match tool.definition.settings_schema.resolve(&values) {
        Ok(settings) => SettingsState::Ready(Arc::new(settings)),
        Err(problems) => SettingsState::NotConfigured(problems.into()),
    };
    Policy { settings: [(tool.id().to_owned(), state)].into(), ..Policy::default() }
}

fn model() -> ModelStanding {
    let identity = ModelIdentity {
        provider_id: "provider".to_owned(),
        model: "model".to_owned(),
        confidence: Confidence::Medium,
        trusted: false,
    };
    ModelStanding { identity, capabilities: ModelCapabilities { functions: true, images: false } }
}

/// One call as a run makes it: offered, admitted, executed.
async fn call(arguments: Value) -> Trace {
    let (catalog, caller) = (catalog(), Arc::new(caller()));
    let policy = Arc::new(policy(&catalog, Some("Demo")));
    let offering = offer(&catalog, &caller, OfferRequest::default(), &policy, model());
    let call = ToolCall {
        id: "call_1".to_owned(),
        name: "get_current_weather".to_owned(),
        arguments: arguments.to_string(),
        opaque: serde_json::Map::new(),
    };
    let now = Circumstances::new(caller, policy);
    let admitted = match offering.admit(call, &now) {
        Admission::Admitted(admitted) => admitted,
        other => panic!("not admitted: {other:?}"),
    };
    let scope = CallScope::single("run_1", &offering.model().identity);
    let executor = Executor::new(Arc::new(MemoryJournal::default()), Arc::new(FreeOfCharge), clock());
    executor.execute(admitted, &scope).await.unwrap().trace
}

#[tokio::test]
async fn a_call_answers_in_the_unit_that_was_asked_for() {
    for (unit, degrees) in [("celsius", "29"), ("fahrenheit", "85")] {
        let trace = call(json!({"city": "dallas", "state": "tx", "unit": unit})).await;
        assert_eq!(trace.status, TraceStatus::Success, "{trace:?}");
        let expected = format!(
            "The weather in Dallas, TX is {degrees} degrees {unit}. (Demo: a demonstration, nobody measured this)"
        );
        assert_eq!(trace.result_text, Some(expected));
        assert_eq!((trace.display_name.as_str(), trace.icon.as_str()), ("Current weather", "☁️"));
    }
}

#[tokio::test]
async fn what_does_not_work_is_said() {
    let unknown = call(json!({"city": "Paris", "state": "TX", "unit": "celsius"})).await;
    assert_eq!(unknown.status, TraceStatus::Error);
    assert!(
        unknown.result_text.is_some_and(|text| text.contains("does not know Paris, TX; it knows Boston, MA"))
    );
    let wrong = call(json!({"city": "Dallas", "state": "TX", "unit": "kelvin"})).await;
    assert_eq!((wrong.status, wrong.executed), (TraceStatus::Error, false));
    assert!(wrong.result_text.is_some_and(|text| text.contains("unit")));
}

#[test]
fn without_its_setting_the_tool_is_withheld() {
    let catalog = catalog();
    let offering = offer(
        &catalog,
        &Arc::new(caller()),
        OfferRequest::default(),
        &Arc::new(policy(&catalog, None)),
        model(),
    );
    let explanation = offering.explain().next().unwrap();
    assert!(!explanation.offered);
    assert_eq!(explanation.headline().map(Reason::code), Some("not_configured"));
}

#[test]
fn settings_are_checked_beyond_their_types() {
    let tool = GetCurrentWeather.into_tool();
    let problems = |label: &str| match &policy(&catalog(), Some(label)).settings["get_current_weather"] {
        SettingsState::Ready(settings) => tool.validate_settings(settings),
        SettingsState::NotConfigured(problems) => problems.to_vec(),
    };
    assert_eq!(problems("Demo"), []);
    assert_eq!(problems("  ")[0].field.as_deref(), Some("demoLabel"));
}

#[test]
fn people_read_it_in_their_language() {
    let catalog = catalog();
    let tool = catalog.by_id("get_current_weather").unwrap();
    assert_eq!(tool.display("de-CH").name, "Aktuelles Wetter");
    assert_eq!(tool.setting_texts("demoLabel", "de").label, "Beschriftung");
    assert_eq!(tool.setting_texts("demoLabel", "fr").label, "Demo label");
}

#[test]
fn the_definition_follows_from_the_types() {
    let derived: Value =
        serde_json::from_str(GetCurrentWeather.into_tool().definition().text.as_deref().unwrap()).unwrap();
    assert_eq!(derived, definition());
}
