//! Judges whether a tool's schema can be enforced by a provider.
//!
//! A schema is never changed here: one that does not qualify is sent as it is, without `strict`.

use serde_json::Value;

/// Keywords that the guide does not list.
const UNSUPPORTED: [&str; 9] = [
    "allOf",
    "oneOf",
    "not",
    "if",
    "then",
    "else",
    "dependentRequired",
    "dependentSchemas",
    "patternProperties",
];

/// Whether `OpenAI`'s structured outputs accept the schema: every object is closed and requires all of its
/// properties (<https://platform.openai.com/docs/guides/structured-outputs#supported-schemas>).
pub fn qualifies_for_strict(schema: &Value) -> bool {
    schema.get("type").and_then(Value::as_str) == Some("object") && qualifies(schema)
}

fn qualifies(schema: &Value) -> bool {
    let Some(fields) = schema.as_object() else { return false };
    if UNSUPPORTED.iter().any(|keyword| fields.contains_key(*keyword)) {
        return false;
    }
    let is_object = fields.contains_key("properties") || type_includes(fields.get("type"), "object");
    if is_object && !closed_and_required(schema) {
        return false;
    }
    let nested =
        ["$defs", "definitions"].iter().filter_map(|key| fields.get(*key)).filter_map(Value::as_object);
    let nested = nested.flat_map(|definitions| definitions.values());
    let options = fields.get("anyOf").and_then(Value::as_array).into_iter().flatten();
    nested.chain(options).chain(fields.get("items")).all(qualifies)
}

fn type_includes(kind: Option<&Value>, name: &str) -> bool {
    match kind {
        Some(Value::String(kind)) => kind == name,
        Some(Value::Array(kinds)) => kinds.iter().any(|kind| kind == name),
        _ => false,
    }
}

fn closed_and_required(schema: &Value) -> bool {
    let Some(properties) = schema.get("properties").and_then(Value::as_object) else { return false };
    let required: Vec<_> = schema.get("required").and_then(Value::as_array).into_iter().flatten().collect();
    schema.get("additionalProperties") == Some(&Value::Bool(false))
        && properties.keys().all(|name| required.iter().any(|required| *required == name))
        && properties.values().all(qualifies)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_closed_objects_with_all_properties_required_qualify() {
        let closed = json!({
            "type": "object",
            "properties": {"url": {"type": "string"}, "limit": {"type": ["integer", "null"]}},
            "required": ["url", "limit"],
            "additionalProperties": false
        });
        assert!(qualifies_for_strict(&closed));
        let with = |pointer: &str, value: Value| {
            let mut schema = closed.clone();
            *schema.pointer_mut(pointer).unwrap() = value;
            qualifies_for_strict(&schema)
        };
        assert!(!with("/required", json!(["url"])), "an optional property");
        assert!(!with("/additionalProperties", json!(true)), "an open object");
        assert!(
            !with("/properties/limit", json!({"oneOf": [{"type": "integer"}]})),
            "a keyword that is unknown"
        );
        assert!(
            !with("/properties/limit", json!({"type": "array", "items": {"type": "object"}})),
            "an open object inside"
        );
        assert!(!qualifies_for_strict(&json!({})));
        assert!(!qualifies_for_strict(&json!(true)));
    }
}
