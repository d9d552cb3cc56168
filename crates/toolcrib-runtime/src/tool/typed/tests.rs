use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::*;
use crate::caller::Component;
use crate::confidence::Confidence;
use crate::registry::{Catalog, RegisteredTool};
use crate::testing::{caller, clock};
use crate::tool::definition::{Annotations, Approval, Concurrency, Cost, Definition, Rate, Visibility, lint};
use crate::tool::{Progress, SettingValue};

struct Translate;

#[derive(Deserialize, JsonSchema)]
struct Arguments {
    /// The text, for example "Good morning".
    text: Word,
    /// The target language, for example "de".
    #[serde(default = "german")]
    into: String,
}

/// Text that holds something: a demand that the schema does not know.
#[derive(Deserialize, JsonSchema)]
#[serde(try_from = "String")]
#[schemars(with = "String")]
struct Word(String);

impl TryFrom<String> for Word {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        if text.is_empty() { Err(format!("{text:?} says nothing")) } else { Ok(Self(text)) }
    }
}

fn german() -> String {
    "de".to_owned()
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct ServiceSettings {
    /// Where the service answers.
    service: Word,
    #[schemars(title = "Key")]
    api_key: Option<Secret>,
}

#[derive(Serialize)]
struct Answer {
    translated: String,
    key: bool,
}

impl TypedTool for Translate {
    type Arguments = Arguments;
    type Settings = ServiceSettings;
    type Output = Json<Answer>;

    const KEY: &'static str = "translate";
    const DESCRIPTION: &'static str = "Translates a text. Use it when the user asks for another language.";
    const POLICY: Option<&'static str> = Some("Say that a machine translated.");

    fn display(&self, _locale: &str) -> Display {
        Display::new("🌍", "Translate", "Translates a text.")
    }

    fn rules(&self) -> Rules {
        Rules {
            visible_in: Some(Visibility {
                chat: true,
                assistants: false,
                allowed: vec![Component::api()],
                denied: Vec::new(),
            }),
            capability: Some("language".to_owned()),
            contextual: true,
            annotations: Annotations { idempotent: true, open_world: true, ..Annotations::default() },
            concurrency: Concurrency::Parallel,
            timeout: Some(Duration::from_secs(7)),
            max_result_characters: Some(500),
            cost: Cost {
                per_call: 3,
                rates: vec![Rate { key: "text".to_owned(), unit: "character".to_owned(), price: 2 }],
                maximum: 900,
            },
            approval: Approval::AfterUntrusted,
            returns_untrusted_content: true,
            minimum_confidence: Some(Confidence::Medium),
            outgoing: Outgoing::ConfiguredService,
            sensitive_arguments: vec!["text"],
            strict: true,
        }
    }

    fn validate_settings(&self, settings: &ServiceSettings) -> Vec<SettingProblem> {
        let bad = settings.api_key.as_ref().is_some_and(|key| !key.expose().starts_with("sk-"));
        bad.then(|| SettingProblem::field("apiKey", "a key begins with sk-")).into_iter().collect()
    }

    async fn call(
        &self,
        arguments: Arguments,
        settings: ServiceSettings,
        _context: &ToolContext,
    ) -> Result<Json<Answer>, ToolError> {
        let translated = format!("{} in {} by {}", arguments.text.0, arguments.into, settings.service.0);
        Ok(Json(Answer { translated, key: settings.api_key.is_some() }))
    }
}

fn registered() -> Arc<RegisteredTool> {
    let tool = Translate.into_tool();
    let (catalog, problems) =
        Catalog::build(&[tool.definition()], &[Arc::new(tool)], &crate::caller::Components::default());
    assert_eq!(problems, []);
    Arc::clone(catalog.by_id("translate").unwrap())
}

fn settings(values: Value) -> Settings {
    let Value::Object(values) = values else { panic!("settings are an object") };
    registered().definition.settings_schema.resolve(&values).unwrap()
}

fn context(settings: Settings) -> ToolContext {
    ToolContext {
        caller: Arc::new(caller()),
        run_id: "run".to_owned(),
        conversation_id: None,
        call_id: "call".to_owned(),
        settings: Arc::new(settings),
        confidence: Confidence::Medium,
        provider_trusted: false,
        cancellation: CancellationToken::new(),
        progress: Progress::ignored(),
        clock: clock(),
        time_left: Duration::from_secs(10),
        result_characters_left: 1_000,
        links: Arc::new(crate::links::Links::Any),
        outbound: crate::policy::OutboundRestriction::Unrestricted,
    }
}

async fn call(arguments: Value, settings: Settings) -> Result<String, ToolError> {
    let output = Translate.into_tool().call(arguments, &context(settings)).await?;
    Ok(output.content.to_model_text())
}

fn failure(result: Result<String, ToolError>) -> (String, String) {
    match result {
        Err(ToolError::Failed { for_model, for_operator, .. }) => (for_model, for_operator),
        other => panic!("not a failure: {other:?}"),
    }
}

#[test]
fn the_derived_definition_says_everything_that_the_tool_says() {
    let tool = registered();
    let definition = &tool.definition;
    let rules = Translate.rules();
    assert_eq!(definition.id, "translate");
    assert_eq!(definition.implementation_key, "translate");
    assert_eq!(definition.function.name, "translate");
    assert_eq!(definition.function.description, Translate::DESCRIPTION);
    assert_eq!(definition.system_prompt_instructions.as_deref(), Translate::POLICY);
    assert_eq!(Some(&definition.visible_in), rules.visible_in.as_ref());
    assert_eq!(Some(&definition.capability), rules.capability.as_ref());
    assert!(definition.contextual && definition.returns_untrusted_content && definition.function.strict);
    assert_eq!(definition.annotations, rules.annotations);
    assert_eq!(definition.concurrency, rules.concurrency);
    assert_eq!(definition.timeout, rules.timeout);
    assert_eq!(definition.max_result_characters, rules.max_result_characters);
    assert_eq!(definition.cost, rules.cost);
    assert_eq!(definition.approval, rules.approval);
    assert_eq!(definition.minimum_confidence, rules.minimum_confidence);
    assert_eq!(definition.sensitive_arguments, rules.sensitive_arguments);
    let secret: Vec<(&str, bool, bool)> = definition
        .settings_schema
        .fields
        .iter()
        .map(|field| (field.name.as_str(), field.secret, field.required))
        .collect();
    assert_eq!(secret, [("service", false, true), ("apiKey", true, false)]);
    assert_eq!(tool.setting_texts("service", "en").help, "Where the service answers.");
    let file = Translate.into_tool().definition();
    assert_eq!(lint(definition, &file.file), []);
    insta::assert_snapshot!("translate_definition", file.text.as_deref().unwrap());
}

#[test]
fn what_is_wrong_with_a_derived_definition_is_reported_like_any_other() {
    struct Bad;

    #[derive(Deserialize, JsonSchema)]
    struct Nested {
        #[expect(dead_code, reason = "only the schema is read")]
        list: Vec<String>,
    }

    impl TypedTool for Bad {
        type Arguments = String;
        type Settings = Nested;
        type Output = &'static str;

        const KEY: &'static str = "Bad Key";
        const DESCRIPTION: &'static str = "";

        fn display(&self, _locale: &str) -> Display {
            Display::new("", "", "")
        }

        async fn call(&self, _: String, _: Nested, _: &ToolContext) -> Result<&'static str, ToolError> {
            Ok("never")
        }
    }

    let file = Bad.into_tool().definition();
    let problems =
        Definition::read(file.text.as_deref().unwrap(), &file.file, &crate::caller::Components::default())
            .unwrap_err();
    let pointers: Vec<&str> = problems.iter().map(|problem| problem.pointer.as_str()).collect();
    for pointer in
        ["/id", "/function/name", "/function/parameters/type", "/settingsSchema/properties/list/type"]
    {
        assert!(pointers.contains(&pointer), "{pointer}: {problems:#?}");
    }
    assert!(problems[0].file.starts_with("Bad Key"));
}

#[tokio::test]
async fn a_call_gets_its_types() {
    let secret = settings(json!({"service": "here", "apiKey": "sk-1"}));
    let answer = call(json!({"text": "tea", "into": "fr"}), secret).await.unwrap();
    assert_eq!(answer, r#"{"translated":"tea in fr by here","key":true}"#);
    // Null stands for what was left out, though the type itself knows no null there.
    let plain = settings(json!({"service": "here"}));
    let answer = call(json!({"text": "tea", "into": null}), plain).await.unwrap();
    assert_eq!(answer, r#"{"translated":"tea in de by here","key":false}"#);
}

#[tokio::test]
async fn what_the_schema_cannot_say_is_a_clear_error_without_sensitive_values() {
    let here = || settings(json!({"service": "here"}));
    let (model, operator) = failure(call(json!({"text": "", "into": "de"}), here()).await);
    assert_eq!(
        model,
        "the argument \"text\" cannot be used (not a usable value): repeat the call with another value"
    );
    assert_eq!(
        operator,
        "reading arguments that the schema accepts: the argument \"text\": not a usable value"
    );
    let (model, _) = failure(call(json!({"text": "a", "into": 5}), here()).await);
    assert!(model.starts_with("the argument \"into\" cannot be used (invalid type: integer `5`"), "{model}");

    let (model, operator) = failure(call(json!({"text": "a"}), settings(json!({"service": ""}))).await);
    assert!(model.contains("an administrator has to check its settings"), "{model}");
    assert_eq!(operator, "the setting \"service\" cannot be read by the tool: \"\" says nothing");
}

#[test]
fn settings_are_checked_with_their_types() {
    let tool = Translate.into_tool();
    assert_eq!(tool.validate_settings(&settings(json!({"service": "here", "apiKey": "sk-1"}))), []);
    let problems = tool.validate_settings(&settings(json!({"service": "here", "apiKey": "hush"})));
    assert_eq!(problems, [SettingProblem::field("apiKey", "a key begins with sk-")]);
    let problems = tool.validate_settings(&settings(json!({"service": ""})));
    assert_eq!(problems, [SettingProblem::field("service", "cannot be read by the tool: \"\" says nothing")]);
}

#[test]
fn no_message_holds_a_secret() {
    #[derive(Debug, Deserialize)]
    struct Numbers {
        #[expect(dead_code, reason = "it cannot be read")]
        pin: u64,
    }

    let secret = SettingValue::Secret("hush-4711".into());
    let problem = read::settings::<Numbers>(&Settings::new(BTreeMap::from([("pin".to_owned(), secret)])));
    let problem = problem.unwrap_err();
    assert_eq!(problem, SettingProblem::field("pin", "cannot be read by the tool: not a usable value"));
}

#[test]
fn every_kind_of_output_becomes_a_result() {
    assert_eq!("text".into_tool_output(), Ok(ToolOutput::text("text")));
    assert_eq!("text".to_owned().into_tool_output(), Ok(ToolOutput::text("text")));
    assert_eq!(ToolOutput::text("text").into_tool_output(), Ok(ToolOutput::text("text")));
    assert_eq!(Json([1, 2]).into_tool_output(), Ok(ToolOutput::json(json!([1, 2]))));
    let keys = BTreeMap::from([(vec![1], 2)]);
    assert!(Json(keys).into_tool_output().is_err());
}

#[test]
fn a_secret_cannot_be_printed() {
    let secret: Secret = serde_json::from_value(json!("hush")).unwrap();
    assert!(!format!("{secret:?}").contains("hush"));
    assert_eq!(secret.expose(), "hush");
}
