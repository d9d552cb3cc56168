use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::*;
use crate::tool::definition::strict_obstacles;
use crate::tool::typed::{NoArguments, NoSettings, Secret};

#[derive(Deserialize, JsonSchema)]
#[expect(dead_code, reason = "only the schema is read")]
/// A whole order, which the model need not be told.
struct Order {
    /// What is ordered, for
    /// example "tea".
    ///
    /// - one thing only
    item: String,
    /// How many.
    #[serde(default = "one")]
    count: u32,
    /// How hot, in degrees Celsius; null leaves it to the kitchen.
    heat: Option<f64>,
    size: Size,
    /// Who takes it.
    by: Option<Transport>,
    notes: Vec<Note>,
    /// Wrapped how.
    wrap: Option<Wrap>,
}

fn one() -> u32 {
    1
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Size {
    Small,
    VeryLarge,
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
/// A way to move things.
enum Transport {
    /// Slow and
    /// quiet.
    Bicycle,
    /// Fast.
    Car,
}

#[derive(Deserialize, JsonSchema)]
#[expect(dead_code, reason = "only the schema is read")]
struct Note {
    text: String,
    #[serde(default)]
    loud: bool,
}

#[derive(Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "lowercase")]
enum Wrap {
    Paper { color: String },
    Nothing,
}

#[test]
fn the_schema_of_arguments_says_what_a_model_needs_and_nothing_else() {
    let accepted = arguments::<Order>();
    insta::assert_json_snapshot!("order_accepted", accepted);
    let strict = strict(&accepted);
    insta::assert_json_snapshot!("order_strict", strict);
    assert_eq!(strict_obstacles(&strict), []);
    let text = strict.to_string();
    for noise in ["$schema", "$ref", "$defs", "\"title\"", "uint32", "double", "whole order"] {
        assert!(!text.contains(noise), "{noise}: {text}");
    }
}

#[test]
fn what_the_strict_schema_accepts_the_type_reads() {
    let accepted = arguments::<Order>();
    let validator = jsonschema::draft202012::new(&strict(&accepted)).unwrap();
    let all_null = json!({
        "item": "tea", "count": null, "heat": null, "size": "very_large", "by": null,
        "notes": [{"text": "hot", "loud": null}], "wrap": null
    });
    let given = json!({
        "item": "tea", "count": 2, "heat": 61.5, "size": "small", "by": "car",
        "notes": [{"text": "hot", "loud": true}], "wrap": {"kind": "paper", "color": "red"}
    });
    let read = |value: &Value| {
        assert!(validator.is_valid(value), "{value}");
        let mut value = value.clone();
        leave_out_nulls(&mut value, &accepted);
        serde_json::from_value::<Order>(value).unwrap()
    };
    let order = read(&all_null);
    assert_eq!((order.count, order.heat, order.notes[0].loud), (1, None, false));
    assert!(order.by.is_none() && order.wrap.is_none());
    let order = read(&given);
    assert_eq!((order.count, order.heat, order.notes[0].loud), (2, Some(61.5), true));
    assert!(matches!(order.wrap, Some(Wrap::Paper { color }) if color == "red"));
    for (pointer, wrong) in [("/size", json!("medium")), ("/count", json!(-1)), ("/by", json!("train"))] {
        let mut value = given.clone();
        *value.pointer_mut(pointer).unwrap() = wrong;
        assert!(!validator.is_valid(&value), "{pointer}");
    }
}

#[test]
fn a_type_that_holds_itself_keeps_its_references() {
    #[derive(Deserialize, JsonSchema)]
    #[expect(dead_code, reason = "only the schema is read")]
    struct Tree {
        name: String,
        below: Vec<Tree>,
    }
    let schema = strict(&arguments::<Tree>());
    assert!(jsonschema::draft202012::new(&schema).unwrap().is_valid(&json!({
        "name": "a", "below": [{"name": "b", "below": []}]
    })));
    assert_eq!(strict_obstacles(&schema).len(), 0, "{schema:#}");
}

#[test]
fn no_arguments_are_a_closed_empty_object() {
    let schema = strict(&arguments::<NoArguments>());
    assert_eq!(schema, json!({"type": "object", "properties": {}, "additionalProperties": false}));
    assert_eq!(strict_obstacles(&schema), []);
}

#[test]
fn settings_are_fields_with_one_type_each() {
    #[derive(Deserialize, JsonSchema)]
    #[serde(rename_all = "camelCase")]
    #[expect(dead_code, reason = "only the schema is read")]
    struct Settings {
        /// Where the service
        /// answers.
        #[schemars(title = "Address", extend("format" = "uri"))]
        base_url: String,
        #[schemars(title = "Key")]
        api_key: Option<Secret>,
        #[schemars(extend("secret" = true))]
        second_key: Option<String>,
        #[serde(default = "one")]
        #[schemars(range(min = 1, max = 10))]
        retries: u32,
        by: Option<Transport>,
        verbose: Option<bool>,
    }
    insta::assert_json_snapshot!("settings", settings::<Settings>().unwrap());
    assert_eq!(settings::<NoSettings>(), None);
}
