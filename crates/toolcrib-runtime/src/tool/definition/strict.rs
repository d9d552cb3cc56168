//! What keeps providers from enforcing a schema: one rule for lints and for requests.
//!
//! Source: <https://platform.openai.com/docs/guides/structured-outputs#supported-schemas>: every object is closed and
//! requires all of its properties, and some keywords are refused.

use serde_json::{Map, Value};

use super::reader::join;

const REFUSED: [&str; 12] = [
    "allOf",
    "oneOf",
    "not",
    "if",
    "then",
    "else",
    "dependentRequired",
    "dependentSchemas",
    "patternProperties",
    "propertyNames",
    "unevaluatedProperties",
    "minProperties",
];

/// One thing that keeps a schema from being enforced.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StrictObstacle {
    /// JSON pointer (RFC 6901) into the schema.
    pub pointer: String,
    /// What stands there.
    pub found: String,
    /// What to do about it.
    pub advice: &'static str,
}

/// Everything that keeps a schema of arguments from being enforced; nothing when it can be.
pub fn strict_obstacles(schema: &Value) -> Vec<StrictObstacle> {
    let mut obstacles = Vec::new();
    if !schema.as_object().is_some_and(|fields| type_includes(fields, "object")) {
        obstacles.push(StrictObstacle {
            pointer: String::new(),
            found: "arguments that are no object".to_owned(),
            advice: "set \"type\": \"object\"",
        });
    }
    look(schema, "", &mut obstacles);
    obstacles
}

fn look(schema: &Value, pointer: &str, obstacles: &mut Vec<StrictObstacle>) {
    let mut add = |pointer: &str, found: String, advice| {
        obstacles.push(StrictObstacle { pointer: pointer.to_owned(), found, advice });
    };
    let Some(fields) = schema.as_object() else {
        add(pointer, "a schema that allows anything".to_owned(), "say which type is meant");
        return;
    };
    for keyword in REFUSED.iter().filter(|keyword| fields.contains_key(**keyword)) {
        let found = format!("the keyword {keyword:?} in a strict schema");
        add(&join(pointer, keyword), found, "set \"strict\": false, or write the schema without it");
    }
    let properties = fields.get("properties").and_then(Value::as_object);
    if properties.is_some() || type_includes(fields, "object") {
        if fields.get("additionalProperties") != Some(&Value::Bool(false)) {
            let advice = "add \"additionalProperties\": false, or set \"strict\": false";
            add(pointer, "an open object in a strict schema".to_owned(), advice);
        }
        let required = fields.get("required").and_then(Value::as_array);
        for name in properties.into_iter().flat_map(Map::keys) {
            if !required.is_some_and(|required| required.iter().any(|entry| entry.as_str() == Some(name))) {
                let advice = "require it and allow null, or set \"strict\": false";
                add(
                    &join(&join(pointer, "properties"), name),
                    "an optional property in a strict schema".to_owned(),
                    advice,
                );
            }
        }
    }
    for key in ["properties", "$defs", "definitions"] {
        for (name, below) in fields.get(key).and_then(Value::as_object).into_iter().flatten() {
            look(below, &join(&join(pointer, key), name), obstacles);
        }
    }
    for (index, option) in fields.get("anyOf").and_then(Value::as_array).into_iter().flatten().enumerate() {
        look(option, &format!("{pointer}/anyOf/{index}"), obstacles);
    }
    if let Some(items) = fields.get("items") {
        look(items, &join(pointer, "items"), obstacles);
    }
}

fn type_includes(fields: &Map<String, Value>, name: &str) -> bool {
    match fields.get("type") {
        Some(Value::String(kind)) => kind == name,
        Some(Value::Array(kinds)) => kinds.iter().any(|kind| kind == name),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_closed_objects_with_all_properties_required_can_be_enforced() {
        let closed = json!({
            "type": "object",
            "properties": {"url": {"type": "string"}, "limit": {"type": ["integer", "null"]}},
            "required": ["url", "limit"],
            "additionalProperties": false
        });
        assert_eq!(strict_obstacles(&closed), []);
        let places = |pointer: &str, value: Value| -> Vec<String> {
            let mut schema = closed.clone();
            *schema.pointer_mut(pointer).expect("a place") = value;
            strict_obstacles(&schema).into_iter().map(|obstacle| obstacle.pointer).collect()
        };
        assert_eq!(places("/required", json!(["url"])), ["/properties/limit"]);
        assert_eq!(places("/additionalProperties", json!(true)), [""]);
        assert_eq!(places("/properties/limit", json!({"oneOf": []})), ["/properties/limit/oneOf"]);
        let open_inside = json!({"type": "array", "items": {"type": "object"}});
        assert_eq!(places("/properties/limit", open_inside), ["/properties/limit/items"]);
        let one_of_two = json!({"anyOf": [{"type": "null"}, {"type": "object"}]});
        assert_eq!(places("/properties/limit", one_of_two), ["/properties/limit/anyOf/1"]);
        assert_ne!(strict_obstacles(&json!({})), []);
        assert_ne!(strict_obstacles(&json!(true)), []);
    }
}
