use super::*;

fn parse(text: &str, variables: &[(&str, &str)]) -> Result<Config, String> {
    let environment =
        variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    Config::parse(text, Path::new("toolcrib.toml"), &environment).map_err(|error| error.to_string())
}

#[test]
fn nothing_configured_is_a_working_configuration() {
    let config = parse("", &[]).expect("valid");
    assert_eq!(config.server.listen.to_string(), "127.0.0.1:8420");
    assert_eq!(config.limits.limits(), toolcrib_runtime::run::Limits::default());
}

#[test]
fn the_environment_overrides_the_file() {
    let text = "[server]\nlisten = \"127.0.0.1:1\"\n[tools.read_web_page]\ntimeoutSeconds = 5\n";
    let variables = [
        ("TOOLCRIB_SERVER__LISTEN", "127.0.0.1:9"),
        ("TOOLCRIB_TOOLS__READ_WEB_PAGE__TIMEOUT_SECONDS", "7"),
        ("TOOLCRIB_LIMITS__CALLS", "3"),
        ("TOOLCRIB_DATA", "/elsewhere"),
    ];
    let config = parse(text, &variables).expect("valid");
    assert_eq!(config.server.listen.to_string(), "127.0.0.1:9");
    assert_eq!(config.tools["read_web_page"]["timeoutSeconds"], "7", "the tool's schema says what it is");
    assert_eq!(config.limits.calls, Some(3));
}

#[test]
fn what_is_wrong_is_named_with_its_place_and_what_is_allowed() {
    let check = |text: &str, variables: &[(&str, &str)], parts: &[&str]| {
        let message = parse(text, variables).expect_err(text);
        for part in parts {
            assert!(message.contains(part), "{text}: {message}");
        }
    };
    check("[server]\nlisen = 1\n", &[], &["toolcrib.toml", "`lisen`", "did you mean `listen`"]);
    check("[sever]\n", &[], &["`sever`", "did you mean `server`"]);
    check("[server]\nlisten = \"here\"\n", &[], &["server.listen", "toolcrib.toml"]);
    check("[server\n", &[], &["toolcrib.toml"]);
    check("[limits]\ncalls = -1\n", &[], &["limits.calls"]);
    check("", &[("TOOLCRIB_LIMITS__CALLS", "many")], &["limits.calls", "variable TOOLCRIB_LIMITS__CALLS"]);
    check("[limits]\nrun_seconds = 0\n", &[], &["limits.run_seconds", "above 0"]);
    check("[limits]\nparallel_calls = 0\n", &[], &["limits.parallel_calls", "above 0"]);
    check("[server]\nbody_seconds = 0\n", &[], &["server.body_seconds", "above 0"]);
    check("[policy]\nconfidence_scheme = \"trust\"\n", &[], &["confidence_scheme", "trust_all"]);
    check("[providers.x]\n", &[], &["providers.x.base_url", "required"]);
    check("[providers.toolcrib]\nbase_url = \"http://h\"\n", &[], &["not `toolcrib`"]);
    check("[providers.x]\nbase_url = \"http://h\"\nkey = \"env:NO_KEY\"\n", &[], &["NO_KEY is not set"]);
    check("[providers.x]\nfamily = \"openia\"\n", &[], &["providers.x.family", "openai"]);
}

#[test]
fn components_are_checked_once_it_is_known_which_there_are() {
    let check = |text: &str, expected: &str| {
        let mut components = toolcrib_runtime::caller::Components::default();
        components.add_assistant("minutes_assistant").expect("well formed");
        let checked = parse(text, &[]).expect("valid").policy.check_components(&components);
        let message = checked.map_or_else(|error| error.to_string(), |()| String::new());
        assert!(message.contains(expected) && message.is_empty() == expected.is_empty(), "{text}: {message}");
    };
    let known = "there are chat, api, mcp, cli, agenda_assistant, ";
    check("[policy]\ntools_off = [\"*\", \"minutes_assistant\"]\n", "");
    check("[policy.default_tools]\nminutes_assistant = []\n", "");
    check("[policy]\ntools_off = [\"chatt\"]\n", "policy.tools_off: there is no component \"chatt\"");
    check("[policy]\ntools_off = [\"chatt\"]\n", known);
    check("[policy]\ntools_off = [\"chatt\"]\n", "did you mean \"chat\"?");
    check("[policy.default_tools]\nminute_assistant = []\n", "did you mean \"minutes_assistant\"?");
}

#[test]
fn a_key_in_the_file_itself_is_refused_without_repeating_it() {
    let message =
        parse("[providers.x]\nbase_url = \"http://h\"\nkey = \"sk-canary\"\n", &[]).expect_err("refused");
    assert!(message.contains("env:NAME") && !message.contains("canary"), "{message}");
}

#[test]
fn an_empty_variable_overrides_nothing() {
    let variables = [("TOOLCRIB_SERVER__LISTEN", ""), ("TOOLCRIB_LIMITS__CALLS", "  ")];
    let config = parse("[limits]\ncalls = 3\n", &variables).expect("valid");
    assert_eq!((config.server.listen.port(), config.limits.calls), (8420, Some(3)));
}

#[test]
fn a_variable_that_looks_like_a_number_is_text_where_text_is_wanted() {
    let url = ("TOOLCRIB_PROVIDERS__X__BASE_URL", "http://h");
    let config = parse("", &[url, ("TOOLCRIB_TOOLS__SEARCH__API_KEY", "1_2e3")]).expect("valid");
    assert_eq!(config.tools["search"]["api_key"], "1_2e3");
    let config = parse("", &[url, ("TOOLCRIB_PROVIDERS__X__REGION", "\"europe\"")]).expect("valid");
    assert_eq!(config.providers["x"].region.as_deref(), Some("europe"));
    let message = parse("", &[url, ("TOOLCRIB_PROVIDERS__X__REGION", "5")]).expect_err("no region");
    assert!(message.contains("one of europe"), "{message}");
    let message = parse("", &[url, ("TOOLCRIB_PROVIDERS__X__KEY", "12345678")]).expect_err("no reference");
    assert!(message.contains("env:NAME") && !message.contains("12345678"), "{message}");
}

#[test]
fn no_message_shows_a_line_or_a_value_that_may_be_a_secret() {
    let check = |text: &str, parts: &[&str]| {
        let message = parse(text, &[]).expect_err(text);
        assert!(!message.contains("canary") && !message.contains("424242"), "{message}");
        for part in parts {
            assert!(message.contains(part), "{text}: {message}");
        }
    };
    check("[tools.search]\napiKey = \"canary\n", &["line 2, column", "toolcrib.toml"]);
    check("[tools.search]\n  apiKey = canary\n", &["line 2, column 12"]);
    check("[tools]\nsearch = \"canary\"\n", &["tools.search"]);
    check("[providers.x]\nbase_url = \"http://h\"\nkey = 424242\n", &["providers.x.key"]);
}

#[test]
fn printing_a_configuration_shows_no_setting_of_a_tool() {
    let config = parse("[tools.search]\napiKey = \"canary\"\n", &[]).expect("valid");
    let printed = format!("{config:?}");
    assert!(printed.contains("apiKey") && !printed.contains("canary"), "{printed}");
    let provider = ProviderSection { key: Some("canary".to_owned()), ..ProviderSection::default() };
    let printed = format!("{provider:?}");
    assert!(printed.contains("*****") && !printed.contains("canary"), "{printed}");
}
