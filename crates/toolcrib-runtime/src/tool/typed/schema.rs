//! Makes the schemas of definitions from types.
//!
//! The schemas stand alone (references are written out wherever a type does not hold itself), hold nothing that only
//! Rust understands, and close every object whose properties are known.

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

mod strict;
mod tidy;

pub(super) use strict::{leave_out_nulls, strict};

/// Types of which "or null" is written into the type itself.
const SCALARS: [&str; 4] = ["string", "integer", "number", "boolean"];

/// The schema of arguments of this type, as the type accepts them.
pub(super) fn arguments<T: JsonSchema>() -> Value {
    let mut schema = generate::<T>();
    tidy::tidy(&mut schema, tidy::Titles::Drop);
    if let Some(fields) = schema.as_object_mut() {
        // What the struct is, the description of the tool says.
        fields.remove("description");
    }
    schema
}

/// The schema of settings of this type; `None` when there are none.
pub(super) fn settings<T: JsonSchema>() -> Option<Value> {
    let mut schema = generate::<T>();
    tidy::tidy(&mut schema, tidy::Titles::Keep);
    let fields = schema.as_object_mut()?;
    fields.retain(|name, _| !["title", "description", "additionalProperties"].contains(&name.as_str()));
    let properties = fields.get_mut("properties").and_then(Value::as_object_mut);
    let properties = properties.filter(|properties| !properties.is_empty())?;
    for property in properties.values_mut().filter_map(Value::as_object_mut) {
        without_null(property);
    }
    Some(schema)
}

fn generate<T: JsonSchema>() -> Value {
    let settings = SchemaSettings::draft2020_12().for_deserialize().with(|settings| {
        settings.inline_subschemas = true;
        settings.meta_schema = None;
    });
    settings.into_generator().into_root_schema_for::<T>().to_value()
}

/// A setting that is not set is absent: null is no value of its own.
fn without_null(property: &mut Map<String, Value>) {
    if let Some(Value::Array(kinds)) = property.get_mut("type") {
        kinds.retain(|kind| kind != "null");
        if let [kind] = kinds.as_slice() {
            let kind = kind.clone();
            property.insert("type".to_owned(), kind);
        }
    }
    if let Some(Value::Array(values)) = property.get_mut("enum") {
        values.retain(|value| !value.is_null());
    }
}

/// Whether a schema accepts null.
fn accepts_null(schema: &Value) -> bool {
    let Some(fields) = schema.as_object() else { return schema == &Value::Bool(true) };
    if let Some(Value::Array(values)) = fields.get("enum")
        && !values.contains(&Value::Null)
    {
        return false;
    }
    match (fields.get("type"), fields.get("anyOf")) {
        (Some(Value::String(kind)), _) => kind == "null",
        (Some(Value::Array(kinds)), _) => kinds.iter().any(|kind| kind == "null"),
        (_, Some(Value::Array(options))) => options.iter().any(accepts_null),
        _ => fields.get("const").is_none_or(Value::is_null) && !fields.contains_key("$ref"),
    }
}

/// Makes a schema accept null beside what it accepts.
fn allow_null(schema: &mut Value) {
    if accepts_null(schema) {
        return;
    }
    let Some(fields) = schema.as_object_mut() else { return };
    let scalar = fields.get("type").is_some_and(|kind| match kind {
        Value::String(kind) => SCALARS.contains(&kind.as_str()),
        Value::Array(_) => true,
        _ => false,
    });
    if scalar {
        if let Some(kind) = fields.get_mut("type") {
            match kind {
                Value::Array(kinds) => kinds.push(json!("null")),
                kind => *kind = json!([kind.clone(), "null"]),
            }
        }
        if let Some(Value::Array(values)) = fields.get_mut("enum") {
            values.push(Value::Null);
        }
    } else if let Some(Value::Array(options)) = fields.get_mut("anyOf") {
        options.push(json!({"type": "null"}));
    } else {
        let description = fields.shift_remove("description");
        let mut either = Map::new();
        either.extend(description.map(|text| ("description".to_owned(), text)));
        either.insert("anyOf".to_owned(), json!([schema.take(), {"type": "null"}]));
        *schema = Value::Object(either);
    }
}

/// The schemas that stand directly in this one.
fn children(fields: &mut Map<String, Value>) -> impl Iterator<Item = &mut Value> {
    fields.iter_mut().flat_map(|(keyword, value)| -> Vec<&mut Value> {
        match (keyword.as_str(), value) {
            ("properties" | "$defs" | "patternProperties", Value::Object(named)) => {
                named.values_mut().collect()
            }
            ("anyOf" | "oneOf" | "allOf" | "prefixItems", Value::Array(options)) => {
                options.iter_mut().collect()
            }
            ("items" | "additionalProperties" | "not" | "contains" | "propertyNames", value) => vec![value],
            _ => Vec::new(),
        }
    })
}

#[cfg(test)]
mod tests;
