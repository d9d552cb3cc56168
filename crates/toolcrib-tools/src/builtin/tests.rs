use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use jiff::Timestamp;
use tokio_util::sync::CancellationToken;
use toolcrib_egress::{Egress, EgressSettings};
use toolcrib_runtime::clock::Clock;
use toolcrib_runtime::confidence::Confidence;
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
    let (catalog, problems) = Catalog::build(&all.definitions, &all.implementations);
    assert_eq!(problems, []);
    assert_eq!(catalog.tools().len(), all.definitions.len());
    assert_eq!(all.implementations.len(), all.definitions.len());
    for file in &all.definitions {
        let definition = Definition::read(file.text.as_deref().unwrap(), &file.file).unwrap();
        assert_eq!(lint(&definition, &file.file), [], "{}", file.file);
    }
}

#[test]
fn the_examples_of_the_documentation_are_not_shipped() {
    let egress = Egress::new(EgressSettings::default()).unwrap();
    let all = builtin(&egress);
    let (catalog, _) = Catalog::build(&all.definitions, &all.implementations);
    for id in ["get_current_weather", "acme_weather"] {
        assert!(catalog.by_id(id).is_none() && catalog.by_function_name(id).is_none(), "{id}");
    }
}

#[test]
fn what_people_see_is_the_same_in_definition_and_implementation() {
    let egress = Egress::new(EgressSettings::default()).unwrap();
    let all = builtin(&egress);
    let (catalog, _) = Catalog::build(&all.definitions, &all.implementations);
    for tool in catalog.tools() {
        let english = &tool.definition.display["en"];
        assert_eq!(english.name.as_deref(), Some(tool.display.name.as_str()), "{}", tool.id());
        assert_eq!(english.description.as_deref(), Some(tool.display.description.as_str()), "{}", tool.id());
        assert_eq!(english.icon.as_deref(), Some(tool.display.icon.as_str()), "{}", tool.id());
        let german = &tool.definition.display["de"];
        assert!(german.name.is_some() && german.description.is_some(), "{}", tool.id());
        for field in &tool.definition.settings_schema.fields {
            assert!(field.title.is_some() && field.description.is_some(), "{}", field.name);
            assert!(german.field_labels.contains_key(&field.name), "{}", field.name);
        }
    }
}
