use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::*;
use crate::tool::definition::Definition;

/// A definition that has something at every level.
fn full() -> Value {
    json!({
        "schemaVersion": 1,
        "id": "full",
        "implementationKey": "full",
        "visibleIn": {},
        "settingsSchema": { "type": "object", "properties": { "baseUrl": { "type": "string" } } },
        "function": { "name": "full", "parameters": { "type": "object" } },
        "annotations": {},
        "cost": { "rates": [{ "key": "k", "unit": "call", "price": 1 }], "maximum": 1 },
        "display": { "en": {} },
    })
}

/// The definitions that are known to be good: the examples, and those that are built in.
const CORPUS: [&str; 3] = [
    include_str!("../../../../../../docs/examples/get_current_weather/definition.json"),
    include_str!("../../../../../../docs/examples/acme_weather/definition.json"),
    include_str!("../../../../../toolcrib-tools/src/builtin/read_web_page/definition.json"),
];

fn problems(definition: &Value) -> Vec<String> {
    let schema = schema();
    let validator = jsonschema::draft202012::new(&schema).expect("a schema");
    validator.iter_errors(definition).map(|error| format!("{}: {error}", error.instance_path())).collect()
}

#[test]
fn the_schema_is_as_it_was() {
    insta::assert_json_snapshot!(schema());
}

#[test]
fn the_schema_and_the_reader_know_the_same_fields_at_every_level() {
    assert!(Definition::read(&full().to_string(), "full.json", &Components::default()).is_ok());
    let schema = schema();
    let levels = [
        ("", ""),
        ("/visibleIn", "/properties/visibleIn"),
        ("/settingsSchema", "/properties/settingsSchema"),
        (
            "/settingsSchema/properties/baseUrl",
            "/properties/settingsSchema/properties/properties/additionalProperties",
        ),
        ("/function", "/properties/function"),
        ("/annotations", "/properties/annotations"),
        ("/cost", "/properties/cost"),
        ("/cost/rates/0", "/properties/cost/properties/rates/items"),
        ("/display/en", "/properties/display/additionalProperties"),
    ];
    for (place, of_schema) in levels {
        let mut definition = full();
        definition.pointer_mut(place).expect(place)["notKnown"] = json!(1);
        let found =
            Definition::read(&definition.to_string(), "full.json", &Components::default()).expect_err(place);
        let known = found[0].allowed.strip_prefix("known here: ").expect("the known fields");
        let read: BTreeSet<&str> = known.split(", ").collect();
        let level = schema.pointer(of_schema).expect(of_schema);
        let described = level["properties"].as_object().expect("properties");
        let names: BTreeSet<&str> =
            described.keys().map(String::as_str).filter(|name| *name != "$schema").collect();
        assert_eq!(names, read, "{place}");
        assert_eq!(level["additionalProperties"], json!(false), "{place}");
        assert!(!problems(&definition).is_empty(), "{place}");
        for (name, field) in described {
            assert!(field["description"].as_str().is_some_and(|text| text.len() > 8), "{place}/{name}");
        }
    }
}

#[test]
fn what_reads_well_is_valid() {
    for text in CORPUS {
        let definition: Value = serde_json::from_str(text).expect("JSON");
        assert!(Definition::read(text, "corpus.json", &Components::default()).is_ok(), "{text}");
        assert_eq!(problems(&definition), [""; 0], "{text}");
    }
    assert_eq!(problems(&full()), [""; 0]);
}

#[test]
fn what_the_reader_refuses_for_its_form_is_invalid() {
    let check = |pointer: &str, value: Value| {
        let mut definition = full();
        let (parent, name) = pointer.rsplit_once('/').expect("a pointer");
        definition.pointer_mut(parent).expect(pointer)[name] = value;
        assert!(
            Definition::read(&definition.to_string(), "full.json", &Components::default()).is_err(),
            "{definition}"
        );
        assert!(!problems(&definition).is_empty(), "{definition}");
    };
    check("/schemaVersion", json!(2));
    check("/id", json!("Full"));
    check("/implementationKey", json!(" "));
    check("/visibleIn/allowedComponents", json!(["chatt"]));
    check("/function/name", json!("two words"));
    check("/function/parameters", json!({"type": "array"}));
    check("/function/parameters", json!({"type": "object", "properties": 5}));
    check("/timeoutSeconds", json!(0));
    check("/maxResultCharacters", json!(2_000_000));
    check("/minimumConfidence", json!("UNKNOWN"));
    check("/concurrency", json!("side by side"));
    check("/approval", json!("sometimes"));
    check("/cost/maximum", Value::Null);
    check("/settingsSchema/properties/baseUrl", json!({"type": "list"}));
}
