use serde_json::{Value, json};

use super::*;

fn schema() -> ArgumentsSchema {
    ArgumentsSchema::compile(&json!({
        "type": "object",
        "properties": {
            "city": { "type": "string" },
            "days": { "type": "integer", "minimum": 1 },
            "unit": { "type": "string", "enum": ["celsius", "fahrenheit"] },
            "tags": { "type": "array", "items": { "type": "string" } },
            "exact": { "type": "boolean" },
            "token": { "type": "string", "maxLength": 3 }
        },
        "required": ["city"],
        "additionalProperties": false
    }))
    .expect("a schema")
}

fn read(text: &str) -> Result<Arguments, String> {
    schema().read(text, &|name| name == "token").map_err(|error| error.0)
}

#[test]
fn arguments_that_fit_are_passed_on_unchanged() {
    let arguments = read(r#"{"city":"Zürich","days":2}"#).expect("fits");
    assert_eq!(arguments.value, json!({"city": "Zürich", "days": 2}));
    assert_eq!(arguments.repairs, Vec::<String>::new());
}

#[test]
fn what_can_be_repaired_without_loss_is_repaired() {
    let check = |text: &str, expected: Value| {
        let arguments = read(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(arguments.value, expected, "{text}");
        assert_eq!(arguments.repairs.len(), 1, "{text}: {:?}", arguments.repairs);
    };
    check(r#"{"city":"a","days":"5"}"#, json!({"city": "a", "days": 5}));
    check(r#"{"city":7}"#, json!({"city": "7"}));
    check(r#"{"city":"a","tags":"one"}"#, json!({"city": "a", "tags": ["one"]}));
    check(r#"{"city":"a","tags":"[\"b\",\"c\"]"}"#, json!({"city": "a", "tags": ["b", "c"]}));
    check(r#"{"city":"a","exact":"true"}"#, json!({"city": "a", "exact": true}));
    check(r#""{\"city\":\"a\"}""#, json!({"city": "a"}));
}

#[test]
fn null_for_what_may_be_absent_is_taken_as_absent() {
    let arguments = read(r#"{"city":"a","unit":null}"#).expect("fits");
    assert_eq!(arguments.value, json!({"city": "a"}));
}

#[test]
fn what_may_be_null_may_be_left_out() {
    let schema = json!({
        "type": "object",
        "properties": { "url": { "type": "string" }, "offset": { "type": ["integer", "null"] } },
        "required": ["url", "offset"],
        "additionalProperties": false
    });
    let schema = ArgumentsSchema::compile(&schema).expect("a schema");
    let arguments = schema.read(r#"{"url":"u"}"#, &|_| false).expect("fits");
    assert_eq!(arguments.value, json!({"url": "u", "offset": null}));
    assert_eq!(arguments.given, json!({"url": "u"}), "traces show what was given");
    assert_eq!(arguments.repairs, Vec::<String>::new(), "absent and null mean the same");
    let message = schema.read("{}", &|_| false).expect_err("no url").0;
    assert!(
        message.contains("\"url\" is missing") && !message.contains("\"offset\" is missing"),
        "{message}"
    );
    assert!(message.contains("\"offset\": integer or null, optional"), "{message}");
}

#[test]
fn what_would_lose_something_is_not_repaired() {
    for text in [
        r#"{"city":"a","days":"5 days"}"#,
        r#"{"city":"a","days":5.5}"#,
        r#"{"city":"a","days":"12345678901234567890"}"#,
        r#"{"city":null}"#,
        r#"{"city":["a","b"]}"#,
        r#"{"city":"a","exact":"yes"}"#,
    ] {
        assert!(read(text).is_err(), "{text}");
    }
}

#[test]
fn violations_say_where_what_and_what_was_meant() {
    let check = |text: &str, parts: &[&str]| {
        let message = read(text).expect_err(text);
        for part in parts {
            assert!(message.contains(part), "{text}: {message}");
        }
    };
    check("{}", &["\"city\" is missing", "Expected: {\"city\": string;"]);
    check(
        r#"{"city":"a","unit":"celcius"}"#,
        &["/unit", "\"celcius\" is not one of", "did you mean \"celsius\""],
    );
    check(r#"{"city":"a","citty":"b"}"#, &["unknown property \"citty\"", "did you mean \"city\""]);
    check(r#"{"city":{}}"#, &["/city: {} is not of type string"]);
    check(r#"{"city":"a","days":0}"#, &["/days", "minimum"]);
    check("not json", &["not valid JSON", "Expected:"]);
    check("[1]", &["a list, not a JSON object"]);
    check("5", &["a number, not a JSON object"]);
    check("\"text\"", &["a string, not a JSON object"]);
}

#[test]
fn empty_arguments_are_an_empty_object() {
    let schema = ArgumentsSchema::compile(&json!({"type": "object", "properties": {}})).expect("a schema");
    for text in ["", "  ", "{}", "null"] {
        assert_eq!(schema.read(text, &|_| false).map(|arguments| arguments.value), Ok(json!({})), "{text:?}");
    }
}

#[test]
fn the_value_of_a_sensitive_argument_is_in_no_message() {
    let message = read(r#"{"city":"a","token":"canary"}"#).expect_err("too long");
    assert!(message.contains("/token") && !message.contains("canary"), "{message}");
    let message = read(r#"{"city":"a","token":{"x":"canary"}}"#).expect_err("wrong type");
    assert!(!message.contains("canary"), "{message}");
}

#[test]
fn a_violation_of_the_whole_object_does_not_repeat_a_sensitive_value() {
    let schema = ArgumentsSchema::compile(&json!({
        "type": "object",
        "properties": { "token": { "type": "string" } },
        "anyOf": [{ "required": ["other"] }, { "minProperties": 3 }]
    }))
    .expect("a schema");
    let message = schema.read(r#"{"token":"canary"}"#, &|name| name == "token").expect_err("does not fit").0;
    assert!(!message.contains("canary"), "{message}");
}

#[test]
fn deep_and_odd_text_is_refused_and_never_panics() {
    let deep = "[".repeat(100_000);
    assert!(read(&deep).is_err());
    for text in ["{\"city\":\"\\ud800\"}", "{\"city\":1e999}", "\u{0}", "{\"a\":{\"b\":[[[]]]}}"] {
        let _ = read(text);
    }
}

/// A schema as other programs write it: options instead of lists of types, objects within lists.
fn nested() -> ArgumentsSchema {
    ArgumentsSchema::compile(&json!({
        "type": "object",
        "properties": {
            "limit": { "anyOf": [{ "type": "integer" }, { "type": "null" }] },
            "flag": { "oneOf": [{ "type": "boolean" }, { "type": "null" }] },
            "stops": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {
                        "place": { "type": "string" },
                        "minutes": { "type": "integer" },
                        "kind/of": { "type": "string", "enum": ["short", "long"] }
                    },
                    "required": ["place"],
                    "additionalProperties": false
                }
            }
        },
        "required": ["limit"],
        "additionalProperties": false
    }))
    .expect("a schema")
}

#[test]
fn values_within_lists_and_options_are_repaired_and_the_place_is_said() {
    let check = |text: &str, expected: Value, repairs: &[&str]| {
        let arguments = nested().read(text, &|_| false).unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(arguments.value, expected, "{text}");
        assert_eq!(arguments.repairs, repairs, "{text}");
    };
    check(r#"{"limit":"5"}"#, json!({"limit": 5}), &["/limit: text became a number"]);
    check(
        r#"{"limit":1,"flag":"true"}"#,
        json!({"limit": 1, "flag": true}),
        &["/flag: text became true or false"],
    );
    check(
        r#"{"limit":1,"stops":{"place":"a","minutes":"7"}}"#,
        json!({"limit": 1, "stops": [{"place": "a", "minutes": 7}]}),
        &["/stops: a single value became a list", "/stops/0/minutes: text became a number"],
    );
    check(
        r#"{"limit":null,"stops":[{"place":1}]}"#,
        json!({"limit": null, "stops": [{"place": "1"}]}),
        &["/stops/0/place: a number became text"],
    );
}

#[test]
fn violations_within_lists_have_their_pointer_and_their_nearest_name() {
    let message = |text: &str| nested().read(text, &|_| false).expect_err(text).0;
    let found = message(r#"{"limit":1,"stops":[{"place":"a"},{"plase":"b","kind/of":"shrot"}]}"#);
    for part in [
        "/stops/1: \"place\" is missing",
        "/stops/1: unknown property \"plase\", did you mean \"place\"?",
        "/stops/1/kind~1of: \"shrot\" is not one of \"short\", \"long\", did you mean \"short\"?",
    ] {
        assert!(found.contains(part), "{part}: {found}");
    }
    let found = message(r#"{"limit":"many"}"#);
    assert!(found.contains("/limit"), "{found}");
}

#[test]
fn a_message_about_arguments_is_bounded() {
    let many: Map<String, Value> =
        (0..5_000).map(|index| (format!("{index}{}", "x".repeat(300)), json!(0))).collect();
    let message = nested().read(&Value::Object(many).to_string(), &|_| false).expect_err("unknown").0;
    assert!(message.chars().count() < 4_000, "{}", message.chars().count());
}

#[test]
fn schemas_that_go_round_end_and_what_they_find_again_is_told_once() {
    let round = ArgumentsSchema::compile(&json!({
        "type": "object",
        "properties": {"a": {"$ref": "#/$defs/a"}},
        "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"allOf": [{"$ref": "#/$defs/a"}]}}
    }));
    let read = round.expect("a schema").read(r#"{"a":{"a":1}}"#, &|_| false).expect("nothing refuses it");
    assert_eq!(read.value, json!({"a": {"a": 1}}));

    // Every step names the next one twice: the last one is asked 2^10 times.
    let steps = (0..10).map(|step| {
        let next = json!({"$ref": format!("#/$defs/{}", step + 1)});
        (step.to_string(), json!({"allOf": [next, next]}))
    });
    let mut steps: Map<String, Value> = steps.collect();
    steps.insert("10".to_owned(), json!({"minProperties": 1}));
    let schema = json!({"type": "object", "properties": {"a": {"$ref": "#/$defs/0"}}, "$defs": steps});
    let schema = ArgumentsSchema::compile(&schema).expect("a schema");
    assert!(schema.read(r#"{"a":{"b":1}}"#, &|_| false).is_ok());
    let told = schema.read(r#"{"a":{}}"#, &|_| false).expect_err("too few properties").0;
    assert_eq!(told.matches("/a: {} has less than 1 property").count(), 1, "{told}");
}
