use serde_json::json;

use super::*;

fn check(status: u16, body: &str, kind: ModelErrorKind) {
    let source = ErrorSource::new("host", Vec::new());
    let error = source.refusal(status, None, body.as_bytes());
    assert_eq!(error.kind, kind, "{status} {body}");
    assert!(error.message.starts_with("provider `host` "), "{error}");
}

#[test]
fn refusals_are_told_apart() {
    use ModelErrorKind as Kind;
    check(401, r#"{"error":{"message":"Incorrect API key provided"}}"#, Kind::Unauthorized);
    check(
        429,
        r#"{"error":{"message":"Rate limit reached","type":"requests","code":"rate_limit_exceeded"}}"#,
        Kind::RateLimited,
    );
    check(
        429,
        r#"{"error":{"message":"You exceeded your current quota","code":"insufficient_quota"}}"#,
        Kind::QuotaExhausted,
    );
    check(402, r#"{"error":{"message":"Insufficient Balance"}}"#, Kind::QuotaExhausted);
    check(
        400,
        r#"{"error":{"message":"Your credit balance is too low to access the API"}}"#,
        Kind::QuotaExhausted,
    );
    check(
        404,
        r#"{"error":{"message":"The model `x` does not exist","code":"model_not_found"}}"#,
        Kind::ModelNotFound,
    );
    check(404, r#"{"error":"model \"x\" not found, try pulling it first"}"#, Kind::ModelNotFound);
    check(
        400,
        r#"{"error":{"message":"This model's maximum context length is 8192 tokens"}}"#,
        Kind::ContextTooLong,
    );
    check(
        400,
        r#"{"error":{"code":400,"message":"the request exceeds the available context size","type":"exceed_context_size_error"}}"#,
        Kind::ContextTooLong,
    );
    check(
        400,
        r#"{"error":{"message":"registry.ollama.ai/library/x does not support tools"}}"#,
        Kind::ToolsUnsupported,
    );
    check(404, r#"{"error":{"message":"No endpoints found that support tool use"}}"#, Kind::ToolsUnsupported);
    check(
        400,
        r#"{"object":"error","message":"\"auto\" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set","code":400}"#,
        Kind::ToolsUnsupported,
    );
    check(400, r#"{"error":{"message":"tool_choice 'x' not in tools"}}"#, Kind::BadRequest);
    check(422, r#"{"detail":[{"loc":["body","n"],"msg":"field required"}]}"#, Kind::BadRequest);
    check(503, "upstream connect error", Kind::ProviderFailed);
    check(
        529,
        r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#,
        Kind::ProviderFailed,
    );
    check(404, "<!doctype html><title>Not found</title>", Kind::BadResponse);
    check(502, "<html><body>Bad gateway</body></html>", Kind::ProviderFailed);
}

#[test]
fn reported_errors_are_judged_without_a_status_line() {
    let source = ErrorSource::new("host", Vec::new());
    let kind = |value: Value| source.reported(&value).kind;
    assert_eq!(kind(json!({"error": {"message": "slow down", "code": 429}})), ModelErrorKind::RateLimited);
    assert_eq!(
        kind(json!({"error": {"message": "x", "type": "server_error"}})),
        ModelErrorKind::ProviderFailed
    );
    assert_eq!(kind(json!({"error": "Unexpected"})), ModelErrorKind::ProviderFailed);
    assert_eq!(kind(json!({"message": "Overloaded", "code": "503"})), ModelErrorKind::ProviderFailed);
    assert_eq!(
        kind(json!({"error": {"type": "invalid_request_error", "message": "x"}})),
        ModelErrorKind::BadRequest
    );
}

#[test]
fn what_a_gateway_wrapped_is_told() {
    let source = ErrorSource::new("host", Vec::new());
    let error = source.reported(&json!({"error": {
        "message": "Provider returned error", "code": 400,
        "metadata": {"raw": "{\"error\":{\"message\":\"temperature is too high\"}}"}
    }}));
    assert_eq!(
        error.message,
        "provider `host` found the request wrong (400): Provider returned error: temperature is too high"
    );
}

#[test]
fn a_key_never_gets_into_an_error() {
    let key = "sk-0123456789abcdef";
    let source = ErrorSource::new("host", vec![SecretString::from("sk-0123"), SecretString::from(key)]);
    let long = format!("{}{key}", "x".repeat(MESSAGE_CHARACTERS - 8));
    for message in [format!("wrong key {key}!"), long] {
        let body = json!({"error": {"message": message}});
        for error in [source.refusal(401, None, body.to_string().as_bytes()), source.reported(&body)] {
            let shown = format!("{error} {error:?}");
            assert!(!shown.contains("sk-0"), "{shown}");
        }
    }
    assert!(!format!("{source:?}").contains("sk-0"));
}
