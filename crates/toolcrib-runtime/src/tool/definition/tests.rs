use serde_json::{Value, json};

use super::*;

/// The documented example of the first schema version: every field of the common format.
fn weather() -> Value {
    json!({
        "schemaVersion": 1,
        "id": "get_current_weather",
        "implementationKey": "get_current_weather",
        "visibleIn": {
            "chat": true, "assistants": true,
            "allowedComponents": ["chat", "translation_assistant"],
            "deniedComponents": ["legal_check_assistant"]
        },
        "settingsSchema": {
            "type": "object",
            "properties": { "demoLabel": { "type": "string", "secret": false } },
            "required": ["demoLabel"]
        },
        "systemPromptInstructions": "Use this tool only when the user asks for current weather conditions.",
        "function": {
            "name": "get_current_weather",
            "descriptionForLLM": "Get the current weather in a given location.",
            "strict": true,
            "parameters": {
                "type": "object",
                "properties": {
                    "city": { "type": "string", "description": "The city, e.g. 'Bern'." },
                    "unit": { "type": "string", "description": "The unit.", "enum": ["celsius", "fahrenheit"] }
                },
                "required": ["city", "unit"],
                "additionalProperties": false
            }
        }
    })
}

fn read(value: &Value) -> Result<Definition, Vec<Problem>> {
    Definition::read(&value.to_string(), "weather.json", &Components::default())
}

/// The problems after `change`, as `pointer: found`.
fn problems(change: impl FnOnce(&mut Value)) -> Vec<String> {
    let mut value = weather();
    change(&mut value);
    let problems = read(&value).expect_err("the change makes the definition invalid");
    assert!(problems.iter().all(|problem| problem.file == "weather.json" && !problem.allowed.is_empty()));
    problems.iter().map(|problem| format!("{}: {}", problem.pointer, problem.found)).collect()
}

#[test]
fn the_common_format_is_read_unchanged() {
    let definition = read(&weather()).expect("valid");
    assert_eq!(definition.id, "get_current_weather");
    assert_eq!(definition.capability, "get_current_weather");
    assert!(
        definition.settings_schema.field("demoLabel").is_some_and(|field| field.required && !field.secret)
    );
    assert_eq!(definition.approval, Approval::Never);
    assert!(definition.function.strict);
    assert_eq!(lint(&definition, "weather.json"), []);
}

#[test]
fn property_names_are_read_in_any_letter_case() {
    let text = weather()
        .to_string()
        .replace("schemaVersion", "SchemaVersion")
        .replace("implementationKey", "IMPLEMENTATIONKEY");
    assert!(Definition::read(&text, "weather.json", &Components::default()).is_ok());
}

#[test]
fn each_problem_names_its_place() {
    let check = |change: fn(&mut Value), expected: &[&str]| assert_eq!(problems(change), expected);
    check(|v| v["schemaVersion"] = json!(2), &["/schemaVersion: the number 2"]);
    check(|v| v["schemaVersion"] = json!("1"), &["/schemaVersion: the string \"1\""]);
    check(|v| v["id"] = json!("Weather"), &["/id: the string \"Weather\""]);
    check(|v| v["id"] = json!("1st"), &["/id: the string \"1st\""]);
    check(|v| v["implementationKey"] = json!(" "), &["/implementationKey: an empty string"]);
    check(|v| v["visibleIn"]["chat"] = json!("yes"), &["/visibleIn/chat: the string \"yes\""]);
    check(
        |v| v["visibleIn"]["allowedComponents"][1] = json!("translation_asistant"),
        &["/visibleIn/allowedComponents/1: the unknown component \"translation_asistant\""],
    );
    check(|v| v["settingsSchema"]["required"][0] = json!("demo"), &["/settingsSchema/required/0: \"demo\""]);
    check(|v| v["function"]["name"] = json!("get weather"), &["/function/name: the string \"get weather\""]);
    check(
        |v| v["function"]["parameters"]["type"] = json!("array"),
        &["/function/parameters/type: the string \"array\""],
    );
    check(
        |v| v["function"]["parameters"]["required"][0] = json!("town"),
        &["/function/parameters/required/0: \"town\""],
    );
    check(|v| v["minimumConfidence"] = json!("UNKNOWN"), &["/minimumConfidence: \"UNKNOWN\""]);
    check(|v| v["timeoutSeconds"] = json!(0), &["/timeoutSeconds: the number 0"]);
    check(|v| v["sensitiveArguments"] = json!(["town"]), &["/sensitiveArguments/0: \"town\""]);
    check(|v| v["cost"] = json!({"perCall": -1}), &["/cost/perCall: the number -1"]);
    check(|v| v["colour"] = json!("red"), &["/colour: the unknown property \"colour\""]);
    check(|v| v["Id"] = json!("x"), &["/Id: the property \"Id\" beside \"id\""]);
    check(|v| *v = json!([]), &[": a list of 0"]);
}

#[test]
fn all_problems_of_a_file_are_reported_at_once() {
    let found = problems(|v| {
        v["id"] = json!(7);
        v["function"]["name"] = json!("");
        v["approval"] = json!("sometimes");
    });
    assert_eq!(found.len(), 3, "{found:?}");
}

#[test]
fn a_schema_that_is_none_is_refused() {
    let found = problems(|v| v["function"]["parameters"]["properties"]["city"]["type"] = json!("text"));
    assert_eq!(found.len(), 1);
    assert!(found[0].starts_with("/function/parameters/properties/city/type"), "{found:?}");
    let found = problems(|v| {
        v["function"]["parameters"]["properties"]["city"] = json!({"$ref": "https://example.org/x"});
    });
    assert_eq!(found.len(), 1, "{found:?}");
}

#[test]
fn every_fault_of_a_schema_is_reported_with_its_place() {
    let mut value = weather();
    value["approval"] = json!("sometimes");
    value["function"]["parameters"] = json!({
        "type": "objekt",
        "properties": {
            "kind": {"type": "strin"},
            "kinds": {"type": ["string", "nul", "string"]},
            "short": {"minLength": -1, "pattern": "(["},
            "list": {"enum": "red", "items": 5},
            "defined": {"$ref": "#/$defs/adress"},
            "anchored": {"$ref": "#nowhere"},
            "remote": {"$ref": "https://example.org/address.json"},
            "inner": {
                "properties": {"street": {"type": "string"}},
                "required": ["stret"],
                "additionalProperties": false
            }
        },
        "$defs": {"address": {"patternProperties": {"*": {}}}},
        "required": ["kind", "shorty", 7]
    });
    let problems = read(&value).expect_err("nearly everything is wrong");
    let told: Vec<_> = problems.iter().map(|problem| format!("{problem}\n")).collect();
    insta::assert_snapshot!(told.concat());
}

#[test]
fn references_within_a_schema_are_followed() {
    let check = |reference: &str| {
        let mut value = weather();
        value["function"]["parameters"]["properties"]["city"] = json!({"$ref": reference});
        value["function"]["parameters"]["$defs"] = json!({
            "a/b~": {"type": "string"},
            "named": {"$anchor": "place"},
            "round": {"anyOf": [{"$ref": "#/$defs/round"}, {"$ref": "#/$defs/round"}]}
        });
        assert_eq!(read(&value).err().unwrap_or_default(), [], "{reference}");
    };
    check("#");
    check("#/$defs/a~1b~0");
    check("#/$defs/a~1b%7E0");
    check("#place");
    check("#/$defs/round");
    check("https://json-schema.org/draft/2020-12/schema");
}

#[test]
fn a_typing_error_gets_a_suggestion() {
    let mut value = weather();
    value["minimumConfidense"] = json!("LOW");
    let problems = read(&value).expect_err("unknown property");
    assert_eq!(problems[0].nearest.as_deref(), Some("minimumConfidence"));
}

#[test]
fn text_that_is_no_json_says_where_it_stops() {
    for text in ["", "{", "{} x", "{\"id\": 1,}", "// comment\n{}", "null"] {
        let problems = Definition::read(text, "broken.json", &Components::default()).expect_err(text);
        assert_eq!(problems.len(), 1, "{text}");
    }
}

fn component(id: &str) -> Component {
    Components::default().parse(id).expect("known")
}

#[test]
fn an_assistant_of_the_installation_may_be_named_and_a_near_miss_is_told() {
    let mut value = weather();
    value["visibleIn"]["allowedComponents"] = json!(["minutes_assistant"]);
    let problems = read(&value).expect_err("not built in");
    assert_eq!(problems[0].pointer, "/visibleIn/allowedComponents/0");
    let mut components = Components::default();
    components.add_assistant("minutes_assistant").expect("well formed");
    let read = |value: &Value| Definition::read(&value.to_string(), "weather.json", &components);
    assert!(read(&value).is_ok());
    value["visibleIn"]["allowedComponents"] = json!(["minute_assistant"]);
    let problems = read(&value).expect_err("a near miss");
    assert_eq!(problems[0].nearest.as_deref(), Some("minutes_assistant"));
}

#[test]
fn a_capability_has_one_name_in_a_definition() {
    let mut value = weather();
    value["capability"] = json!("google_search");
    assert_eq!(read(&value).expect("valid").capability, "web_search");
}

#[test]
fn lists_replace_the_flags_and_denial_wins() {
    let visibility = |chat, assistants, allowed: &[&str], denied: &[&str]| Visibility {
        chat,
        assistants,
        allowed: allowed.iter().map(|id| component(id)).collect(),
        denied: denied.iter().map(|id| component(id)).collect(),
    };
    let admits = |visibility: &Visibility, id| visibility.admits(&component(id));
    assert!(admits(&visibility(true, false, &[], &[]), "api"));
    assert!(!admits(&visibility(true, false, &[], &[]), "rewrite_assistant"));
    assert!(
        admits(&visibility(false, false, &[], &["chat"]), "rewrite_assistant"),
        "an empty allow list is everything"
    );
    assert!(!admits(&visibility(true, true, &["chat"], &["chat"]), "chat"), "denial wins");
    assert!(!admits(&visibility(true, true, &["chat"], &[]), "api"));
}

#[test]
fn settings_are_checked_against_their_fields() {
    let mut value = weather();
    value["settingsSchema"]["properties"] = json!({
        "demoLabel": { "type": "string" },
        "size": { "type": "integer", "minimum": 1, "maximum": 20, "default": 5 },
        "mode": { "type": "string", "enum": ["a", "b"] },
        "apiKey": { "type": "string", "secret": true },
    });
    let schema = read(&value).expect("valid").settings_schema;
    let resolve = |settings: Value| schema.resolve(settings.as_object().expect("object"));
    let settings = resolve(json!({"demoLabel": "x", "apiKey": "canary"})).expect("valid");
    assert_eq!(settings.unsigned("size"), Some(5));
    assert_eq!(settings.text("apiKey"), Some("canary"));
    assert!(!format!("{settings:?}").contains("canary"), "a secret must not be printable");
    let fields = |settings: Value| -> Vec<Option<String>> {
        resolve(settings).expect_err("invalid").into_iter().map(|problem| problem.field).collect()
    };
    assert_eq!(fields(json!({})), [Some("demoLabel".to_owned())]);
    assert_eq!(
        fields(json!({"demoLabel": 1, "size": 21, "mode": "c", "sice": 1})),
        ["sice", "demoLabel", "size", "mode"].map(|field| Some(field.to_owned()))
    );
    let problems = resolve(json!({"demoLabel": "x", "apiKey": 12345})).expect_err("invalid");
    assert!(!problems[0].message.contains("12345"), "a secret's value must not be in a message");
}

#[test]
fn definitions_written_for_people_get_warnings() {
    let mut value = weather();
    value["systemPromptInstructions"] = json!(null);
    value["function"]["name"] = json!("weather");
    value["function"]["parameters"]["additionalProperties"] = json!(true);
    value["function"]["parameters"]["required"] = json!(["city"]);
    value["function"]["parameters"]["properties"]["city"]["description"] = json!("");
    value["settingsSchema"]["properties"]["apiKey"] = json!({"type": "string"});
    let definition = read(&value).expect("valid");
    let lints: Vec<_> = lint(&definition, "weather.json").into_iter().map(|lint| lint.pointer).collect();
    assert_eq!(
        lints,
        [
            "/function/descriptionForLLM",
            "/function/parameters/properties/city",
            "/function/parameters",
            "/function/parameters/properties/unit",
            "/function/name",
            "/settingsSchema/properties/apiKey",
        ]
    );
}

#[test]
fn both_examples_of_the_documentation_load() {
    let first = include_str!("../../../../../docs/examples/get_current_weather/definition.json");
    let second = include_str!("../../../../../docs/examples/acme_weather/definition.json");
    let first = Definition::read(first, "first.json", &Components::default()).expect("valid");
    assert!(first.function.strict);
    assert!(!first.visible_in.admits(&Components::default().parse("legal_check_assistant").expect("known")));
    let second = Definition::read(second, "second.json", &Components::default()).expect("valid");
    assert!(!second.function.strict && second.settings_schema.fields.is_empty());
    assert_eq!(second.function.parameters["required"], json!(["city"]));
    for definition in [first, second] {
        assert_eq!(lint(&definition, "example.json"), [], "{}", definition.id);
    }
}

#[test]
fn every_field_is_refused_when_it_is_of_a_wrong_type_or_out_of_range() {
    let check = |pointer: &str, wrong: &[Value]| {
        for value in wrong {
            let found = problems(|definition| {
                let (parent, name) = pointer.rsplit_once('/').expect("a pointer");
                definition.pointer_mut(parent).expect(pointer)[name] = value.clone();
            });
            assert!(!found.is_empty(), "{pointer}: {value}");
            assert!(
                found.iter().all(|problem| problem.starts_with(pointer)),
                "{pointer}: {value}: {found:?}"
            );
        }
    };
    let (number, list, object) = (json!(5), json!([]), json!({}));
    let no_text = [number.clone(), list.clone(), object.clone(), json!(true)];
    for field in
        ["id", "implementationKey", "systemPromptInstructions", "capability", "replaces", "minimumConfidence"]
    {
        check(&format!("/{field}"), &no_text);
    }
    check("/function/name", &no_text);
    check("/function/descriptionForLLM", &no_text);
    check("/function/parameters", &[number.clone(), list.clone(), json!(true), object.clone()]);
    let no_object = [number.clone(), list.clone(), json!("text"), json!(false)];
    for field in ["visibleIn", "settingsSchema", "function", "annotations", "cost", "source", "display"] {
        check(&format!("/{field}"), &no_object);
    }
    let no_flag = [number.clone(), json!("true"), list.clone(), object.clone()];
    for field in [
        "/contextual",
        "/returnsUntrustedContent",
        "/visibleIn/chat",
        "/visibleIn/assistants",
        "/function/strict",
        "/settingsSchema/properties/demoLabel/secret",
    ] {
        check(field, &no_flag);
    }
    for field in ["readOnly", "destructive", "idempotent", "openWorld"] {
        let found = problems(|definition| definition["annotations"] = json!({ field: "yes" }));
        assert_eq!(found, [format!("/annotations/{field}: the string \"yes\"")]);
    }
    let no_list = [number.clone(), json!("chat"), object.clone(), json!([5]), json!([""])];
    for field in [
        "/visibleIn/allowedComponents",
        "/visibleIn/deniedComponents",
        "/settingsSchema/required",
        "/sensitiveArguments",
    ] {
        check(field, &no_list);
    }
    check("/schemaVersion", &[json!(0), json!(2), json!(1.5), json!("1"), list.clone()]);
    check("/timeoutSeconds", &[json!(0), json!(-1), json!(3_601), json!(1.5), json!("5")]);
    check("/maxResultCharacters", &[json!(0), json!(1_000_001), json!("5"), list.clone()]);
    check("/concurrency", &[json!("both"), number.clone(), list.clone()]);
    check("/approval", &[json!("ask"), json!(true), object.clone()]);
    check("/cost", &[json!({"perCall": -1}), json!({"maximum": 0.5}), json!({"rates": 5})]);
    check("/cost", &[json!({"rates": [{"key": "k", "unit": "mile", "price": 1}], "maximum": 1})]);
    check(
        "/cost",
        &[json!({"rates": [{"key": "k", "unit": "page", "price": 1}]}), json!({"rates": [{}], "maximum": 1})],
    );
    check(
        "/display",
        &[json!({"en": 5}), json!({"en": {"name": 5}}), json!({"en": {"fieldLabels": {"a": 5}}})],
    );
    check(
        "/display",
        &[json!({"en": {"description": []}}), json!({"en": {"icon": {}}}), json!({"en": {"fieldLabels": 1}})],
    );
    let field = "/settingsSchema/properties/demoLabel";
    check(field, &[number, list, json!("string"), object, json!({"type": "list"}), json!({"type": 5})]);
    for wrong in [
        json!({"title": 5}),
        json!({"description": 5}),
        json!({"enum": "a"}),
        json!({"minimum": "1"}),
        json!({"maximum": []}),
        json!({"format": 5}),
        json!({"default": 5}),
        json!({"unknown": 5}),
    ] {
        let mut value = wrong.clone();
        value["type"] = json!("string");
        check(field, &[value]);
    }
    check("/settingsSchema/type", &[json!("array"), json!(5)]);
    check("/settingsSchema/properties", &[json!(5), json!([])]);
}

/// The lints after `change`, as `pointer: found`.
fn lints(change: impl FnOnce(&mut Value)) -> Vec<String> {
    let mut value = weather();
    change(&mut value);
    let definition = read(&value).expect("a lint makes nothing invalid");
    let lints = lint(&definition, "weather.json");
    assert!(lints.iter().all(|lint| lint.severity == Severity::Warning && !lint.allowed.is_empty()));
    lints.iter().map(|lint| format!("{}: {}", lint.pointer, lint.found)).collect()
}

#[test]
fn each_lint_alone_warns_of_its_fault() {
    let check = |change: fn(&mut Value), expected: &[&str]| assert_eq!(lints(change), expected);
    check(
        |v| v["function"]["descriptionForLLM"] = json!("  "),
        &["/function/descriptionForLLM: no description"],
    );
    check(
        |v| v["systemPromptInstructions"] = json!("Be careful."),
        &["/function/descriptionForLLM: a description that never says when to use the tool"],
    );
    check(
        |v| v["function"]["parameters"]["properties"]["city"] = json!({"type": "string"}),
        &["/function/parameters/properties/city: a parameter without description"],
    );
    check(
        |v| {
            let names: Vec<_> = (1..=9).map(|index| format!("p{index}")).collect();
            let described = json!({"type": "string", "description": "Any text."});
            let properties: Value = names.iter().map(|name| (name.clone(), described.clone())).collect();
            v["function"]["parameters"]["properties"] = properties;
            v["function"]["parameters"]["required"] = json!(names);
        },
        &["/function/parameters: 9 parameters"],
    );
    check(
        |v| v["function"]["parameters"]["required"] = json!(["city"]),
        &["/function/parameters/properties/unit: an optional property in a strict schema"],
    );
    check(
        |v| v["function"]["parameters"]["additionalProperties"] = json!(true),
        &["/function/parameters: an open object in a strict schema"],
    );
    check(
        |v| v["function"]["parameters"]["properties"]["city"]["not"] = json!({"const": ""}),
        &["/function/parameters/properties/city/not: the keyword \"not\" in a strict schema"],
    );
    check(
        |v| v["function"]["parameters"]["properties"]["city"]["minLenght"] = json!(1),
        &["/function/parameters/properties/city/minLenght: the unknown keyword \"minLenght\""],
    );
    check(|v| v["function"]["name"] = json!("weather"), &["/function/name: the name \"weather\""]);
    check(|v| v["implementationKey"] = json!("weather"), &["/implementationKey: the key \"weather\""]);
    check(
        |v| v["settingsSchema"]["properties"]["apiToken"] = json!({"type": "string"}),
        &["/settingsSchema/properties/apiToken: a setting that looks like a secret"],
    );
}

#[test]
fn what_is_as_it_should_be_gets_no_lint() {
    let check = |change: fn(&mut Value)| assert_eq!(lints(change), [""; 0]);
    check(|v| {
        v["function"]["strict"] = json!(false);
        v["function"]["parameters"]["required"] = json!([]);
        v["function"]["parameters"]["additionalProperties"] = json!(true);
        v["function"]["parameters"]["x-order"] = json!(["city", "unit"]);
    });
    check(|v| {
        v["replaces"] = json!("weather");
        v["implementationKey"] = json!("weather");
    });
    check(|v| v["settingsSchema"]["properties"]["apiToken"] = json!({"type": "string", "secret": true}));
    check(|v| {
        v["systemPromptInstructions"] = json!(null);
        v["function"]["descriptionForLLM"] = json!("Gets the weather. Use it when the sky matters.");
    });
}
