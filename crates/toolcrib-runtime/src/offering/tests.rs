use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::*;
use crate::caller::{Components, Credits, Grants};
use crate::confidence::Confidence;
use crate::message::ToolCall;
use crate::policy::{Circumstances, SettingsState};
use crate::registry::DefinitionFile;
use crate::testing::{RecordingTool, caller, definition};
use crate::tool::definition::Definition;
use crate::tool::{Outgoing, SettingProblem, Tool};

mod laws;

/// Everything that the gates look at, all of it passing.
struct World {
    definition: Value,
    implemented: bool,
    enabled: bool,
    outgoing: Outgoing,
    caller: Caller,
    request: OfferRequest,
    policy: Policy,
    model: ModelStanding,
}

impl World {
    fn passing() -> Self {
        Self {
            definition: definition("weather"),
            implemented: true,
            enabled: true,
            outgoing: Outgoing::Nothing,
            caller: caller(),
            request: OfferRequest::default(),
            policy: Policy::default(),
            model: ModelStanding {
                identity: ModelIdentity {
                    provider_id: "p".to_owned(),
                    model: "m".to_owned(),
                    confidence: Confidence::Medium,
                    trusted: false,
                },
                capabilities: ModelCapabilities { functions: true, images: false },
            },
        }
    }

    fn offering(&self) -> Offering {
        let file = DefinitionFile::added("weather.json", self.definition.to_string());
        let tool = RecordingTool::returning("weather", "sunny").sending(self.outgoing);
        let tool: Arc<dyn Tool> = Arc::new(if self.enabled { tool } else { tool.disabled() });
        let tools = if self.implemented { vec![tool] } else { Vec::new() };
        let catalog = Arc::new(Catalog::build(&[file], &tools, &Components::default()).0);
        assert_eq!(
            catalog.tools().len(),
            1,
            "{:?}",
            Definition::read(&self.definition.to_string(), "weather.json", &Components::default())
        );
        offer(
            &catalog,
            &Arc::new(self.caller.clone()),
            self.request.clone(),
            &Arc::new(self.policy.clone()),
            self.model.clone(),
        )
    }

    fn codes(&self) -> Vec<&'static str> {
        let offering = self.offering();
        let explanation = offering.explain().next().expect("one tool");
        explanation.verdicts.iter().filter_map(|verdict| verdict.reason.as_ref().map(Reason::code)).collect()
    }
}

type Change = fn(&mut World);

/// Each gate, failing alone, in the order of the gates.
fn failures() -> Vec<(&'static str, Change)> {
    vec![
        ("tools_off", |world| {
            world.policy.tools_off.insert("api".to_owned());
        }),
        ("no_implementation", |world| world.implemented = false),
        ("component", |world| world.definition["visibleIn"] = json!({"deniedComponents": ["api"]})),
        ("disabled_by_organization", |world| {
            world.policy.disabled.insert("weather".to_owned());
        }),
        ("not_configured", |world| {
            let problems = Arc::from([SettingProblem::field("baseUrl", "required, but not set")]);
            world.policy.settings.insert("weather".to_owned(), SettingsState::NotConfigured(problems));
        }),
        ("temporary_chat", |world| {
            world.definition["contextual"] = json!(true);
            world.request.temporary = true;
        }),
        ("plan", |world| world.caller.grants = Grants::Only(BTreeSet::from(["other".to_owned()]))),
        ("preference", |world| {
            world.caller.switched_off.insert("weather".to_owned());
        }),
        ("not_selected", |world| world.request.selection = Selection::Nothing),
        ("model", |world| world.model.capabilities.functions = false),
        ("confidence", |world| world.definition["minimumConfidence"] = json!("HIGH")),
        ("outbound", |world| {
            world.outgoing = Outgoing::ModelChosenUrl;
            world.request.outbound = OutboundRestriction::ConfiguredServices;
        }),
        ("out_of_credits", |world| {
            world.definition["cost"] = json!({"perCall": 2_000_000});
            world.caller.credits = Credits::Balance { free: 1_500_000, held: 0 };
        }),
        ("name_taken_by_client", |world| {
            world.request.client_tools.insert("weather".to_owned());
        }),
    ]
}

#[test]
fn with_nothing_against_it_a_tool_is_offered() {
    let world = World::passing();
    assert_eq!(world.codes(), Vec::<&str>::new());
    let offering = world.offering();
    assert_eq!(offering.specs().iter().map(|spec| spec.name.as_str()).collect::<Vec<_>>(), ["weather"]);
    assert_eq!(offering.explain().next().map(|explanation| explanation.verdicts.len()), Some(14));
}

/// The reasons that share a gate with one of [`failures`].
fn other_failures() -> Vec<(&'static str, &'static str, Change)> {
    vec![
        ("enabled", "not_enabled", |world| world.enabled = false),
        ("credits", "held_by_running_work", |world| {
            world.definition["cost"] = json!({"perCall": 2_000_000});
            world.caller.credits = Credits::Balance { free: 0, held: 3_000_000 };
        }),
        ("tools", "tools_off", |world| {
            world.policy.tools_off.insert("*".to_owned());
        }),
        ("selection", "not_selected", |world| world.request.selection = Selection::Only(HashSet::new())),
    ]
}

#[test]
fn each_gate_alone_withholds_the_tool_with_its_code() {
    let failures = failures();
    assert_eq!(failures.len(), GATES.len(), "one for each gate");
    let first = failures.iter().zip(&GATES).map(|((code, change), gate)| (gate.name, *code, *change));
    for (gate, code, change) in first.chain(other_failures()) {
        let mut world = World::passing();
        change(&mut world);
        assert_eq!(world.codes(), [code]);
        let offering = world.offering();
        assert_eq!(offering.offered().count(), 0, "{code}");
        assert!(offering.specs().is_empty() && offering.offered_by_name("weather").is_none(), "{code}");
        let explanation = offering.explain().next().expect("one tool");
        let withholding = explanation.verdicts.iter().find(|verdict| verdict.reason.is_some());
        assert_eq!(withholding.map(|verdict| verdict.gate), Some(gate));
    }
}

#[test]
fn each_gate_alone_passes_while_all_others_withhold() {
    let failures = failures();
    let all: Vec<_> = failures.iter().map(|(code, _)| *code).collect();
    for (passing, _) in &failures {
        let mut world = World::passing();
        for (code, change) in &failures {
            if code != passing {
                change(&mut world);
            }
        }
        // Nobody knows what a tool without implementation would send out.
        let unknown = if *passing == "no_implementation" { "" } else { "outbound" };
        let expected: Vec<_> =
            all.iter().copied().filter(|code| code != passing && *code != unknown).collect();
        assert_eq!(world.codes(), expected, "{passing}");
    }
}

#[test]
fn all_reasons_are_kept_in_the_order_of_the_gates() {
    let mut world = World::passing();
    let mut left = failures();
    left.retain(|(code, _)| *code != "no_implementation");
    for (_, change) in &left {
        change(&mut world);
    }
    let codes: Vec<_> = left.iter().map(|(code, _)| *code).collect();
    assert_eq!(world.codes(), codes);
    // Whatever is mended, the headline is the first that is left.
    for start in 0..left.len() {
        let mut world = World::passing();
        for (_, change) in &left[start..] {
            change(&mut world);
        }
        let offering = world.offering();
        let explanation = offering.explain().next().expect("one tool");
        assert_eq!(explanation.headline().map(Reason::code), Some(left[start].0));
    }
}

#[test]
fn every_reason_says_what_is_there_and_what_would_be_needed() {
    let first = failures().into_iter().map(|(_, change)| change);
    let mut told = Vec::new();
    for change in first.chain(other_failures().into_iter().map(|(_, _, change)| change)) {
        let mut world = World::passing();
        change(&mut world);
        let offering = world.offering();
        let explanation = offering.explain().next().expect("one tool");
        let reason = explanation.headline().expect("withheld");
        told.push(format!(
            "{} ({}): {} | {}",
            reason.code(),
            reason.who().name(),
            reason.has(),
            reason.needs()
        ));
    }
    insta::assert_snapshot!(told.join("\n"));
}

#[test]
fn held_by_running_work_is_not_out_of_credits() {
    let mut world = World::passing();
    world.definition["cost"] = json!({"perCall": 2_000_000});
    world.caller.credits = Credits::Balance { free: 0, held: 3_000_000 };
    assert_eq!(world.codes(), ["held_by_running_work"]);
    world.caller.credits = Credits::Balance { free: 2_000_000, held: 0 };
    assert_eq!(world.codes(), Vec::<&str>::new());
    world.caller.credits = Credits::Balance { free: -1, held: 0 };
    world.definition["cost"] = json!({"perCall": 0});
    assert_eq!(world.codes(), Vec::<&str>::new(), "a free tool needs no credits");
}

#[test]
fn a_managed_minimum_wins_and_none_always_passes() {
    let mut world = World::passing();
    world.model.identity.confidence = Confidence::Untrusted;
    assert_eq!(world.codes(), Vec::<&str>::new());
    world.definition["minimumConfidence"] = json!("VERY_LOW");
    assert_eq!(world.codes(), ["confidence"]);
    world.model.identity.trusted = true;
    assert_eq!(world.codes(), ["confidence"], "a trusted instance does not pass a tool's own minimum");
    world.policy.minimum_confidence.insert("weather".to_owned(), Confidence::None);
    assert_eq!(world.codes(), Vec::<&str>::new());
}

#[test]
fn selection_comes_from_the_request_or_else_from_the_component() {
    let mut world = World::passing();
    world.policy.default_tools = HashMap::from([("api".to_owned(), HashSet::new())]);
    assert_eq!(world.codes(), ["not_selected"]);
    world.request.selection = Selection::Only(HashSet::from(["weather".to_owned()]));
    assert_eq!(world.codes(), Vec::<&str>::new());
}

#[test]
fn policy_texts_stand_under_one_heading_in_the_order_of_ids() {
    let mut world = World::passing();
    assert_eq!(world.offering().instructions(None), None);
    world.definition["systemPromptInstructions"] = json!("Only for current weather.");
    let text = world.offering().instructions(None).expect("instructions");
    assert_eq!(text, "# Tool policies\n\n## weather\nOnly for current weather.");
}

fn call(name: &str) -> ToolCall {
    ToolCall { id: "c1".to_owned(), name: name.to_owned(), arguments: "{}".to_owned(), opaque: Map::new() }
}

fn circumstances(world: &World) -> Circumstances {
    Circumstances::new(Arc::new(world.caller.clone()), Arc::new(world.policy.clone()))
}

#[test]
fn admission_judges_by_what_holds_now() {
    let mut world = World::passing();
    let offering = world.offering();
    assert!(offering.propose(call("weather"), &circumstances(&world)).is_ok());
    world.caller.component = Components::default().parse("chat").expect("known");
    world.policy.disabled.insert("weather".to_owned());
    let refusal = offering.propose(call("weather"), &circumstances(&world)).expect_err("disabled since");
    assert_eq!(refusal.code, Some("disabled_by_organization"));
    assert!(refusal.for_model.contains("the organization has disabled the tool"));
}

#[test]
fn a_name_that_was_not_offered_is_refused_with_the_names_that_were() {
    let mut world = World::passing();
    let refusal = world.offering().propose(call("wether"), &circumstances(&world)).expect_err("unknown");
    let text = "There is no tool named \"wether\". Available tools: weather. Did you mean \"weather\"? \
                Use one of them, or tell the user what cannot be done here.";
    assert_eq!(refusal.for_model, text);
    world.request.selection = Selection::Nothing;
    let refusal = world.offering().propose(call("weather"), &circumstances(&world)).expect_err("withheld");
    assert!(refusal.for_model.contains("no tools are available"), "{}", refusal.for_model);
}
