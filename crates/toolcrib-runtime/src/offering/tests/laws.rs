//! What holds for every caller, policy, request and model.

use proptest::prelude::*;

use super::*;
use crate::labels::Labels;
use crate::policy::OutboundRestriction;

/// The tools of these laws; they differ in what gates look at.
const IDS: [&str; 4] = ["cheap", "costly", "keeping", "fetching"];

/// A tool that fetches what the model chose.
struct Fetching;

#[async_trait::async_trait]
impl Tool for Fetching {
    fn implementation_key(&self) -> &'static str {
        "fetching"
    }
    fn display(&self, _locale: &str) -> crate::tool::Display {
        crate::tool::Display::new("🌐", "Fetching", "Fetches.")
    }
    fn outgoing(&self) -> Outgoing {
        Outgoing::ModelChosenUrl
    }
    async fn call(
        &self,
        _: Value,
        _: &crate::tool::ToolContext,
    ) -> Result<crate::tool::ToolOutput, crate::tool::ToolError> {
        Ok(crate::tool::ToolOutput::text("page"))
    }
}

fn catalog() -> Arc<Catalog> {
    let files = IDS.map(|id| {
        let mut definition = definition(id);
        match id {
            "costly" => definition["cost"] = json!({"perCall": 1_000}),
            "keeping" => {
                definition["contextual"] = json!(true);
                definition["visibleIn"] = json!({"deniedComponents": ["cli"]});
            }
            "fetching" => definition["minimumConfidence"] = json!("LOW"),
            _ => {}
        }
        DefinitionFile::added(format!("{id}.json"), definition.to_string())
    });
    let tools: Vec<Arc<dyn Tool>> = vec![
        Arc::new(RecordingTool::returning("cheap", "x")),
        Arc::new(RecordingTool::returning("costly", "x")),
        Arc::new(RecordingTool::returning("keeping", "x")),
        Arc::new(Fetching),
    ];
    let (catalog, problems) = Catalog::build(&files, &tools, &Components::default());
    assert_eq!(problems, []);
    Arc::new(catalog)
}

/// Few of the ids, so that most tools pass most gates.
fn some_ids() -> impl Strategy<Value = Vec<String>> {
    prop_oneof![
        3 => Just(Vec::new()),
        1 => prop::sample::subsequence(IDS.to_vec(), 1..=2)
            .prop_map(|ids| ids.into_iter().map(str::to_owned).collect()),
    ]
}

fn any_confidence() -> impl Strategy<Value = Confidence> {
    prop::sample::select(Confidence::ALL.to_vec())
}

fn any_outbound() -> impl Strategy<Value = OutboundRestriction> {
    prop::sample::select(OutboundRestriction::NAMES.map(|(_, restriction)| restriction).to_vec())
}

fn any_caller() -> impl Strategy<Value = Caller> {
    let component = prop::sample::select(vec!["chat", "api", "cli", "email_assistant"]);
    let grants = prop_oneof![
        3 => Just(Grants::Everything),
        1 => prop::sample::subsequence(IDS.to_vec(), 0..=4)
            .prop_map(|ids| Grants::Only(ids.into_iter().map(str::to_owned).collect())),
    ];
    let credits = prop_oneof![
        Just(Credits::Unlimited),
        (-500_i64..2_000, 0_i64..2_000).prop_map(|(free, held)| Credits::Balance { free, held }),
    ];
    (component, grants, some_ids(), credits).prop_map(|(component, grants, off, credits)| Caller {
        component: Components::default().parse(component).expect("known"),
        grants,
        switched_off: off.into_iter().collect(),
        credits,
        ..caller()
    })
}

fn any_policy() -> impl Strategy<Value = Policy> {
    let off = prop::option::weighted(0.1, prop::sample::select(vec!["*", "api", "chat"]));
    let minimum = prop::collection::vec((prop::sample::select(IDS.to_vec()), any_confidence()), 0..2);
    let defaults = prop::option::weighted(0.3, some_ids());
    (off, some_ids(), minimum, defaults, some_ids()).prop_map(|(off, disabled, minimum, defaults, broken)| {
        let problems: Arc<[SettingProblem]> = Arc::from([SettingProblem::field("baseUrl", "required")]);
        Policy {
            tools_off: off.into_iter().map(str::to_owned).collect(),
            disabled: disabled.into_iter().collect(),
            minimum_confidence: minimum.into_iter().map(|(id, level)| (id.to_owned(), level)).collect(),
            default_tools: defaults
                .map(|ids| ("api".to_owned(), ids.into_iter().collect()))
                .into_iter()
                .collect(),
            settings: broken
                .into_iter()
                .map(|id| (id, SettingsState::NotConfigured(Arc::clone(&problems))))
                .collect(),
            ..Policy::default()
        }
    })
}

fn any_request() -> impl Strategy<Value = OfferRequest> {
    let selection = prop_oneof![
        3 => Just(Selection::Default),
        1 => Just(Selection::Nothing),
        2 => prop::sample::subsequence(IDS.to_vec(), 0..=4)
            .prop_map(|ids| Selection::Only(ids.into_iter().map(str::to_owned).collect())),
    ];
    (selection, any::<bool>(), some_ids(), any_outbound()).prop_map(
        |(selection, temporary, client, outbound)| OfferRequest {
            selection,
            temporary,
            client_tools: client.into_iter().collect(),
            outbound,
        },
    )
}

fn any_model() -> impl Strategy<Value = ModelStanding> {
    (any_confidence(), any::<bool>(), prop::bool::weighted(0.9)).prop_map(
        |(confidence, trusted, functions)| ModelStanding {
            identity: ModelIdentity {
                provider_id: "p".to_owned(),
                model: "m".to_owned(),
                confidence,
                trusted,
            },
            capabilities: ModelCapabilities { functions, images: false },
        },
    )
}

proptest! {
    #[test]
    fn a_call_is_let_through_exactly_when_its_tool_was_offered_and_would_be_offered_now(
        (before, before_policy) in (any_caller(), any_policy()),
        (after, after_policy) in (any_caller(), any_policy()),
        unchanged in any::<bool>(),
        request in any_request(),
        model in any_model(),
        outbound in any_outbound(),
    ) {
        let catalog = catalog();
        let offering = offer(&catalog, &before, request.clone(), &before_policy, model.clone());
        let (after, after_policy) = if unchanged { (before, before_policy) } else { (after, after_policy) };
        let labels = Labels { outbound, ..Labels::default() };
        let now = Circumstances {
            labels,
            ..Circumstances::new(Arc::new(after.clone()), Arc::new(after_policy.clone()))
        };
        // The conversation's restriction only tightens what the request says.
        let request = OfferRequest { outbound: request.outbound.max(outbound), ..request };
        let fresh = offer(&catalog, &after, request, &after_policy, model);
        for id in IDS {
            let was = offering.offered_by_name(id).is_some();
            let would_be = fresh.offered_by_name(id).is_some();
            let proposed = offering.propose(call(id), &now);
            prop_assert_eq!(proposed.is_ok(), was && would_be, "{} {} {} {:?}", id, was, would_be, proposed);
            if let Err(refusal) = proposed {
                let headline = fresh.explain().find(|explanation| explanation.tool.id() == id);
                let headline = headline.and_then(|explanation| explanation.headline().map(Reason::code));
                prop_assert_eq!(refusal.code, if was { headline } else { None }, "{}", id);
                prop_assert!(!refusal.for_model.is_empty());
            }
        }
    }

    #[test]
    fn what_is_offered_is_what_no_gate_withholds(
        caller in any_caller(),
        policy in any_policy(),
        request in any_request(),
        model in any_model(),
    ) {
        let offering = offer(&catalog(), &caller, request, &policy, model);
        for explanation in offering.explain() {
            let passes = explanation.verdicts.iter().all(|verdict| verdict.reason.is_none());
            prop_assert_eq!(explanation.offered, passes);
            prop_assert_eq!(offering.offered_by_name(explanation.tool.id()).is_some(), passes);
        }
        prop_assert_eq!(offering.specs().len(), offering.offered().count());
    }
}
