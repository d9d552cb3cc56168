use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

fn object(properties: &Value, required: &Value) -> Value {
    json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false})
}

/// The incompatibilities as `pointer: reason`.
fn found(old: &Value, new: &Value) -> Vec<String> {
    incompatibilities(old, new)
        .into_iter()
        .map(|found| format!("{}: {}", found.pointer, found.reason))
        .collect()
}

/// The incompatibilities of the property `a`, from one schema to another.
fn of_property(old: &Value, new: &Value) -> Vec<String> {
    found(&object(&json!({ "a": old }), &json!([])), &object(&json!({ "a": new }), &json!([])))
}

#[test]
fn what_accepts_as_much_or_more_is_compatible() {
    for (old, new) in [
        (json!({"type": "integer"}), json!({"type": "number"})),
        (json!({"type": "string"}), json!({"type": ["string", "null"]})),
        (json!({"type": ["string", "null"]}), json!({"anyOf": [{"type": "null"}, {"type": "string"}]})),
        (json!({"anyOf": [{"type": "null"}, {"type": "string"}]}), json!({"type": ["string", "null"]})),
        (json!({"enum": ["x", "y"]}), json!({"enum": ["y", "z", "x"]})),
        (json!({"const": 1}), json!({"type": "integer", "minimum": 1})),
        (json!({"type": "string", "enum": ["x", 5]}), json!({"type": "string"})),
        (
            json!({"type": "integer", "minimum": 1, "maximum": 20}),
            json!({"type": "integer", "minimum": 1, "maximum": 50}),
        ),
        (json!({"type": "number", "exclusiveMinimum": 1}), json!({"type": "number", "minimum": 1})),
        (json!({"type": "number", "minimum": 1}), json!({"type": "number", "exclusiveMinimum": 0.5})),
        (
            json!({"type": "string", "minLength": 2, "maxLength": 5}),
            json!({"type": "string", "minLength": 1, "maxLength": 5}),
        ),
        (
            json!({"type": "string", "pattern": "^a"}),
            json!({"type": "string", "pattern": "^a", "description": "x"}),
        ),
        (json!({"type": "string", "pattern": "^a"}), json!({"type": "string"})),
        (
            json!({"type": "array", "items": {"type": "integer"}}),
            json!({"type": "array", "items": {"type": "number"}}),
        ),
        (json!({"type": "array", "uniqueItems": true}), json!({"type": "array"})),
        (json!({"type": "integer"}), json!({"type": "integer", "minLength": 3})),
        (json!(false), json!({"type": "string"})),
        (json!({"type": "string"}), json!({})),
    ] {
        assert_eq!(of_property(&old, &new), Vec::<String>::new(), "{old} to {new}");
    }
}

#[test]
fn what_may_refuse_is_named_with_its_place() {
    let check = |old: Value, new: Value, expected: &str| {
        let found = of_property(&old, &new);
        assert_eq!(found, [format!("/properties/a{expected}")], "{old} to {new}");
    };
    check(
        json!({"type": "number"}),
        json!({"type": "integer"}),
        "/type: the type number is no longer accepted",
    );
    check(
        json!({"type": ["string", "null"]}),
        json!({"type": "string"}),
        "/type: the type null is no longer accepted",
    );
    check(json!({"enum": ["x", "y"]}), json!({"enum": ["x"]}), ": the string \"y\" is no longer accepted");
    check(
        json!({"type": "string"}),
        json!({"type": "string", "enum": ["x"]}),
        ": only listed values are accepted, and before there was no list",
    );
    check(
        json!({"type": "integer", "maximum": 20}),
        json!({"type": "integer", "maximum": 10}),
        "/maximum: larger numbers than 10 were accepted before",
    );
    check(
        json!({"type": "integer", "minimum": 1}),
        json!({"type": "integer", "exclusiveMinimum": 1}),
        "/exclusiveMinimum: smaller numbers than 1 were accepted before",
    );
    check(
        json!({"type": "string"}),
        json!({"type": "string", "maxLength": 9}),
        "/maxLength: it was unlimited before",
    );
    check(
        json!({"type": "string"}),
        json!({"type": "string", "minLength": 1}),
        "/minLength: it was 0 before",
    );
    check(
        json!({"type": "string"}),
        json!({"type": "string", "pattern": "^a"}),
        "/pattern: \"pattern\" differs, and cannot be compared",
    );
    check(
        json!({"type": "string"}),
        json!({"type": "string", "format": "uri"}),
        "/format: \"format\" differs, and cannot be compared",
    );
    check(json!({"type": "string"}), json!(false), ": nothing is accepted here any more");
    check(
        json!({"type": "array"}),
        json!({"type": "array", "uniqueItems": true}),
        "/uniqueItems: repeated items were accepted before",
    );
    check(
        json!({"type": "object", "properties": {"b": {"type": "string"}}}),
        json!({"type": "object", "properties": {"b": {"type": "string"}}, "additionalProperties": false}),
        "/additionalProperties: further properties were accepted before",
    );
}

#[test]
fn properties_are_kept_and_none_becomes_required() {
    let text = json!({"type": "string"});
    let old = object(&json!({"query": text, "limit": {"type": "integer"}}), &json!(["query"]));
    assert_eq!(
        found(&old, &object(&json!({"query": text, "limit": {"type": "integer"}, "more": text}), &json!([]))),
        [""; 0]
    );
    assert_eq!(
        found(&old, &object(&json!({"query": text}), &json!(["query"]))),
        ["/properties/limit: the property is no longer accepted"]
    );
    assert_eq!(
        found(
            &old,
            &object(&json!({"query": text, "limit": {"type": "integer"}}), &json!(["query", "limit"]))
        ),
        ["/properties/limit: the property is required, and could be left out before"]
    );
    // An open object may hold anything under a name that the new schema gives a type.
    let open = json!({"type": "object", "properties": {"query": text}});
    let typed = json!({"type": "object", "properties": {"query": text, "limit": {"type": "integer"}}});
    assert!(!found(&open, &typed).is_empty());
}

#[test]
fn references_and_endless_alternatives_are_refused_unless_equal() {
    let schema = json!({"$defs": {"a": {"type": "string"}}, "properties": {"x": {"$ref": "#/$defs/a"}}});
    let other = json!({"$defs": {"a": {"type": "integer"}}, "properties": {"x": {"$ref": "#/$defs/a"}}});
    assert_eq!(found(&schema, &schema), [""; 0]);
    assert_eq!(found(&schema, &other).len(), 1);
    let nested = (0..9).fold(json!({"type": ["string", "null"]}), |below, index| {
        json!({"type": ["object", "array"], "properties": {"p": below.clone()}, "items": below, "minProperties": index % 2})
    });
    let changed = serde_json::from_str(&nested.to_string().replace("null", "boolean")).expect("JSON");
    assert!(!found(&nested, &changed).is_empty());
}

/// Values of a small world, so that schemas and instances meet.
fn instance() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-2i64..4).prop_map(Value::from),
        prop_oneof![Just(0.5), Just(1.5), Just(2.0)].prop_map(Value::from),
        prop_oneof![Just(""), Just("a"), Just("ab"), Just("abc")].prop_map(Value::from),
    ];
    leaf.prop_recursive(2, 12, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            prop::collection::vec(("[abc]", inner), 0..3).prop_map(|fields| fields.into_iter().collect()),
        ]
    })
}

fn keyword(inner: BoxedStrategy<Value>) -> impl Strategy<Value = (&'static str, Value)> {
    let kind =
        || prop::sample::select(vec!["null", "boolean", "integer", "number", "string", "array", "object"]);
    let names = || prop::sample::subsequence(vec!["a", "b", "c"], 0..3);
    let schemas = || prop::collection::vec(inner.clone(), 1..3).prop_map(Value::from);
    prop_oneof![
        6 => kind().prop_map(|kind| ("type", Value::from(kind))),
        2 => prop::collection::hash_set(kind(), 1..3)
            .prop_map(|kinds| ("type", kinds.into_iter().collect::<Vec<_>>().into())),
        1 => prop::collection::vec(instance(), 1..4).prop_map(|values| ("enum", Value::from(values))),
        1 => instance().prop_map(|value| ("const", value)),
        3 => (prop::sample::select(vec![
            "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum",
        ]), -1i64..3).prop_map(|(keyword, limit)| (keyword, Value::from(limit))),
        1 => Just(("multipleOf", json!(2))),
        3 => (prop::sample::select(vec![
            "minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties",
        ]), 0u64..3).prop_map(|(keyword, limit)| (keyword, Value::from(limit))),
        1 => Just(("uniqueItems", json!(true))),
        1 => Just(("pattern", json!("^a"))),
        4 => prop::collection::vec(("[abc]", inner.clone()), 1..3)
            .prop_map(|fields| ("properties", fields.into_iter().collect())),
        2 => names().prop_map(|names| ("required", Value::from(names))),
        2 => inner.clone().prop_map(|schema| ("additionalProperties", schema)),
        2 => Just(("additionalProperties", json!(false))),
        1 => inner.clone().prop_map(|schema| ("patternProperties", json!({ "^[ab]": schema }))),
        2 => inner.clone().prop_map(|schema| ("items", schema)),
        1 => schemas().prop_map(|schemas| ("prefixItems", schemas)),
        1 => inner.clone().prop_map(|schema| ("contains", schema)),
        1 => schemas().prop_map(|schemas| ("anyOf", schemas)),
        1 => schemas().prop_map(|schemas| ("oneOf", schemas)),
        1 => schemas().prop_map(|schemas| ("allOf", schemas)),
        1 => inner.clone().prop_map(|schema| ("not", schema)),
        1 => inner.clone().prop_map(|schema| ("if", schema)),
        1 => inner.clone().prop_map(|schema| ("then", schema)),
        1 => inner.prop_map(|schema| ("propertyNames", schema)),
    ]
}

fn schema() -> impl Strategy<Value = Value> {
    let leaf =
        prop_oneof![any::<bool>().prop_map(Value::from), Just(json!({})), Just(json!({"type": "string"}))];
    leaf.prop_recursive(2, 16, 4, |inner| {
        prop::collection::vec(keyword(inner.boxed()), 1..5).prop_map(|fields| {
            fields.into_iter().map(|(keyword, value)| (keyword.to_owned(), value)).collect()
        })
    })
}

/// Two schemas of which the second is the first with some keywords taken from a third or left out.
fn pair() -> impl Strategy<Value = (Value, Value)> {
    (schema(), schema(), prop::collection::vec(0u8..3, 8)).prop_map(|(old, other, choices)| {
        let (Some(fields), Some(others)) = (old.as_object(), other.as_object()) else { return (old, other) };
        let names = fields.keys().chain(others.keys().filter(|name| !fields.contains_key(*name)));
        let new = names.zip(choices.iter().cycle()).filter_map(|(name, choice)| {
            let value = match choice {
                0 => others.get(name).or(fields.get(name)),
                1 => fields.get(name),
                _ => None,
            };
            Some((name.clone(), value?.clone()))
        });
        (old.clone(), new.collect())
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_000, ..ProptestConfig::default() })]

    #[test]
    fn what_is_called_compatible_accepts_all_that_was_accepted(
        (old, new) in prop_oneof![pair(), (schema(), schema())],
        values in prop::collection::vec(instance(), 24),
    ) {
        if incompatibilities(&old, &new).is_empty() {
            let before = jsonschema::draft202012::new(&old).expect("a schema");
            let now = jsonschema::draft202012::new(&new).expect("a schema");
            for value in values {
                prop_assert!(!before.is_valid(&value) || now.is_valid(&value), "{old} to {new}: {value}");
            }
        }
    }
}
