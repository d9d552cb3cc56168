//! Strictness: every property is required, and null stands for what is left out.
//!
//! A type need not know of this: the nulls that it does not accept itself are left out again before it reads them.

use serde_json::{Map, Value};

use super::{accepts_null, allow_null, children};

/// A schema in which every property is required.
pub(in super::super) fn strict(schema: &Value) -> Value {
    let mut schema = schema.clone();
    require_everything(&mut schema);
    schema
}

fn require_everything(schema: &mut Value) {
    let Some(fields) = schema.as_object_mut() else { return };
    children(fields).for_each(require_everything);
    let required: Vec<Value> = fields.get("required").and_then(Value::as_array).cloned().unwrap_or_default();
    let Some(properties) = fields.get_mut("properties").and_then(Value::as_object_mut) else { return };
    for (name, property) in properties.iter_mut() {
        if !required.iter().any(|known| known == name) {
            say_default(property);
            allow_null(property);
        }
    }
    let all: Vec<Value> = properties.keys().map(|name| Value::from(name.as_str())).collect();
    if !all.is_empty() {
        fields.insert("required".to_owned(), Value::Array(all));
    }
    // After `required`, as in definitions that are written by hand.
    if let Some(closed) = fields.shift_remove("additionalProperties") {
        fields.insert("additionalProperties".to_owned(), closed);
    }
}

/// A default is nothing that a provider fills in: it is what null means.
fn say_default(property: &mut Value) {
    let Some(fields) = property.as_object_mut() else { return };
    let Some(default) = fields.shift_remove("default") else { return };
    let description = fields.get("description").and_then(Value::as_str).unwrap_or_default();
    if !description.contains("null") {
        let text = format!("{description} null means {default}.");
        fields.insert("description".to_owned(), Value::from(text.trim_start()));
    }
}

/// Leaves out nulls in place of properties that need not be there and cannot be null.
pub(in super::super) fn leave_out_nulls(value: &mut Value, schema: &Value) {
    match value {
        Value::Object(values) => {
            if let Some(object) = objects(schema) {
                leave_out_in_object(values, object);
            }
        }
        Value::Array(items) => {
            if let Some(of_items) = schema.get("items") {
                for item in items {
                    leave_out_nulls(item, of_items);
                }
            }
        }
        _ => {}
    }
}

fn leave_out_in_object(values: &mut Map<String, Value>, schema: &Map<String, Value>) {
    let Some(properties) = schema.get("properties").and_then(Value::as_object) else { return };
    let required = schema.get("required").and_then(Value::as_array);
    for (name, property) in properties {
        let is_required = required.is_some_and(|required| required.iter().any(|known| known == name));
        if !is_required && values.get(name).is_some_and(Value::is_null) && !accepts_null(property) {
            values.shift_remove(name);
        } else if let Some(value) = values.get_mut(name) {
            leave_out_nulls(value, property);
        }
    }
}

/// The schema itself, or the one object that it offers beside null.
fn objects(schema: &Value) -> Option<&Map<String, Value>> {
    let fields = schema.as_object()?;
    match fields.get("anyOf").and_then(Value::as_array) {
        None => Some(fields),
        Some(options) => {
            let mut objects =
                options.iter().filter_map(Value::as_object).filter(|o| o.contains_key("properties"));
            let only = objects.next()?;
            objects.next().is_none().then_some(only)
        }
    }
}
