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
    assert_eq!(config.tools["read_web_page"]["timeoutSeconds"], 7);
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
    check("[policy]\ntools_off = [\"chatt\"]\n", &[], &["chatt", "known: chat"]);
    check("[policy]\nconfidence_scheme = \"trust\"\n", &[], &["confidence_scheme", "trust_all"]);
    check("[providers.x]\n", &[], &["providers.x.base_url", "required"]);
    check("[providers.toolcrib]\nbase_url = \"http://h\"\n", &[], &["not `toolcrib`"]);
    check("[providers.x]\nbase_url = \"http://h\"\nkey = \"env:NO_KEY\"\n", &[], &["NO_KEY is not set"]);
    check("[providers.x]\nfamily = \"openia\"\n", &[], &["providers.x.family", "openai"]);
}

#[test]
fn a_key_in_the_file_itself_is_refused_without_repeating_it() {
    let message =
        parse("[providers.x]\nbase_url = \"http://h\"\nkey = \"sk-canary\"\n", &[]).expect_err("refused");
    assert!(message.contains("env:NAME") && !message.contains("canary"), "{message}");
}
