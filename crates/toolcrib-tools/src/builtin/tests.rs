use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use jiff::Timestamp;
use tokio_util::sync::CancellationToken;
use toolcrib_egress::{Egress, EgressSettings};
use toolcrib_runtime::caller::Components;
use toolcrib_runtime::clock::Clock;
use toolcrib_runtime::confidence::Confidence;
use toolcrib_runtime::links::Links;
use toolcrib_runtime::policy::OutboundRestriction;
use toolcrib_runtime::registry::Catalog;
use toolcrib_runtime::testing::caller;
use toolcrib_runtime::tool::definition::{Definition, lint};
use toolcrib_runtime::tool::{Progress, Settings, ToolContext, ToolError};

use super::builtin;

/// A clock whose date is the beginning of 2026 and whose durations are real.
pub(super) struct TestClock(tokio::time::Instant);

impl TestClock {
    pub(super) fn new() -> Self {
        Self(tokio::time::Instant::now())
    }
}

#[async_trait]
impl Clock for TestClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_second(1_767_225_600).unwrap()
    }

    fn elapsed(&self) -> Duration {
        self.0.elapsed()
    }

    async fn sleep(&self, duration: Duration) {
        tokio::time::sleep(duration).await;
    }
}

/// A context whose clock stands at the beginning of 2026.
pub(super) fn context() -> ToolContext {
    ToolContext {
        caller: Arc::new(caller()),
        run_id: "run".to_owned(),
        conversation_id: None,
        call_id: "call".to_owned(),
        settings: Arc::new(Settings::default()),
        confidence: Confidence::Medium,
        provider_trusted: false,
        cancellation: CancellationToken::new(),
        progress: Progress::ignored(),
        clock: Arc::new(TestClock::new()),
        time_left: Duration::from_secs(10),
        result_characters_left: 100_000,
        links: Arc::new(Links::Any),
        outbound: OutboundRestriction::Unrestricted,
    }
}

/// What the model reads of a call that failed.
pub(super) fn failure<T: std::fmt::Debug>(result: Result<T, ToolError>) -> String {
    match result {
        Err(ToolError::Failed { for_model, .. }) => for_model,
        other => panic!("not a failure: {other:?}"),
    }
}

#[test]
fn every_definition_is_valid_has_its_implementation_and_no_warnings() {
    let egress = Egress::new(EgressSettings::default()).unwrap();
    let all = builtin(&egress);
    let (catalog, problems) = Catalog::build(&all.definitions, &all.implementations, &Components::default());
    assert_eq!(problems, []);
    assert_eq!(catalog.tools().len(), all.definitions.len());
    assert_eq!(all.implementations.len(), all.definitions.len());
    for file in &all.definitions {
        let text = file.text.as_deref().unwrap();
        let definition = Definition::read(text, &file.file, &Components::default()).unwrap();
        assert_eq!(lint(&definition, &file.file), [], "{}", file.file);
    }
}

#[test]
fn the_examples_of_the_documentation_are_not_shipped() {
    let egress = Egress::new(EgressSettings::default()).unwrap();
    let all = builtin(&egress);
    let (catalog, _) = Catalog::build(&all.definitions, &all.implementations, &Components::default());
    for id in ["get_current_weather", "acme_weather"] {
        assert!(catalog.by_id(id).is_none() && catalog.by_function_name(id).is_none(), "{id}");
    }
}

#[test]
fn what_people_see_is_there_in_english_and_german() {
    let egress = Egress::new(EgressSettings::default()).unwrap();
    let all = builtin(&egress);
    let (catalog, _) = Catalog::build(&all.definitions, &all.implementations, &Components::default());
    for tool in catalog.tools() {
        let (english, german) = (tool.display("en-US"), tool.display("de-AT"));
        for display in [&english, &german] {
            assert!(!display.name.is_empty() && display.description.ends_with('.'), "{display:?}");
            assert_ne!(display.name, tool.id());
        }
        assert_eq!(english.icon, german.icon);
        assert_ne!(english.description, german.description, "{}", tool.id());
        assert_eq!(tool.display("tlh"), english);
        for field in &tool.definition.settings_schema.fields {
            let (english, german) =
                (tool.setting_texts(&field.name, "en"), tool.setting_texts(&field.name, "de"));
            for texts in [&english, &german] {
                assert!(texts.label != field.name && texts.help.ends_with('.'), "{texts:?}");
            }
            assert!(english.label != german.label && english.help != german.help, "{}", field.name);
        }
    }
}
