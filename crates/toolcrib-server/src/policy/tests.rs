use std::path::Path;

use toolcrib_egress::{Egress, EgressSettings};
use toolcrib_runtime::caller::Components;

use super::*;

fn catalog() -> Catalog {
    let egress = Egress::new(EgressSettings::default()).expect("set up");
    let built_in = toolcrib_tools::builtin::builtin(&egress);
    Catalog::build(&built_in.definitions, &built_in.implementations, &Components::default()).0
}

fn config(text: &str, variables: &[(&str, &str)]) -> Config {
    let environment =
        variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    Config::parse(text, Path::new("toolcrib.toml"), &environment).expect("valid")
}

#[test]
fn tools_that_do_not_exist_are_found_wherever_they_are_named() {
    let config = config(
        "[policy]\ndisabled_tools = [\"calculat\", \"calculate\"]\n\
         [policy.minimum_confidence]\nread_web_pages = \"HIGH\"\n\
         [policy.default_tools]\nchat = [\"get_current_tim\"]\n[tools.weather]\nkey = \"x\"\n",
        &[],
    );
    let found: Vec<_> = unknown_tools(&config, &catalog()).iter().map(ToString::to_string).collect();
    let expected = [
        "`policy.disabled_tools` names \"calculat\", and there is no such tool; did you mean \"calculate\"?",
        "`policy.minimum_confidence` names \"read_web_pages\", and there is no such tool; \
         did you mean \"read_web_page\"?",
        "`policy.default_tools.chat` names \"get_current_tim\", and there is no such tool; \
         did you mean \"get_current_time\"?",
        "`tools` names \"weather\", and there is no such tool",
    ];
    assert_eq!(found, expected);
}

#[test]
fn variables_become_what_the_fields_of_a_tool_take() {
    let field = |kind, secret| {
        let mut field =
            catalog().by_id("read_web_page").expect("a tool").definition.settings_schema.fields[0].clone();
        (field.kind, field.secret) = (kind, secret);
        field
    };
    let check = |kind, text: &str, expected: Value| {
        assert_eq!(as_field(&field(kind, false), &Value::from(text)), expected, "{text}");
    };
    check(SettingType::String, "12345678", Value::from("12345678"));
    check(SettingType::String, "1_000", Value::from("1_000"));
    check(SettingType::String, "true", Value::from("true"));
    check(SettingType::Integer, "7", Value::from(7));
    check(SettingType::Number, "0.5", Value::from(0.5));
    check(SettingType::Boolean, "true", Value::from(true));
    check(SettingType::Integer, "many", Value::from("many"));
}

#[test]
fn a_variable_configures_a_tool() {
    let variables = [
        ("TOOLCRIB_TOOLS__READ_WEB_PAGE__TIMEOUT_SECONDS", "7"),
        ("TOOLCRIB_TOOLS__READ_WEB_PAGE__ALLOWED_PRIVATE_HOSTS", "10"),
    ];
    let config = config("[tools.read_web_page]\nallowedPrivateHosts = \"x.example\"\n", &variables);
    let catalog = catalog();
    let tool = catalog.by_id("read_web_page").expect("a tool");
    let names: Vec<_> = config.tools["read_web_page"].keys().collect();
    assert_eq!(config.tools["read_web_page"]["allowedPrivateHosts"], "10", "{names:?}");
    let mut values = config.tools["read_web_page"].clone();
    values.remove("allowedPrivateHosts");
    match settings_state(tool, &values) {
        SettingsState::Ready(settings) => assert_eq!(settings.unsigned("timeoutSeconds"), Some(7)),
        SettingsState::NotConfigured(problems) => panic!("{problems:?}"),
    }
}
