//! Reads the JSON Schema of a tool's arguments, with every fault of it reported.

use std::collections::BTreeSet;

use jsonschema::ValidationError;
use jsonschema::error::{TypeKind, ValidationErrorKind};
use serde_json::{Map, Value, json};

use super::reader::{Place, Reader, describe, join};
use super::subschemas::subschemas;
use crate::nearest::nearest;

const TYPES: [&str; 7] = ["array", "boolean", "integer", "null", "number", "object", "string"];

/// The schema, when nothing is wrong with it.
pub(super) fn parameters(reader: &mut Reader<'_>, place: &Place<'_>) -> Option<Value> {
    let object = reader.object(place)?;
    let before = reader.problems.len();
    let is_object = object.get("type").and_then(Value::as_str) == Some("object");
    if !is_object {
        let found = object.get("type").map_or_else(|| "no \"type\"".to_owned(), describe);
        reader.error(&join(&place.pointer, "type"), found, "the arguments of a tool are of type \"object\"");
    }
    not_of_the_format(reader, place, is_object);
    let within = subschemas(place.value);
    let anchors = Anchors::of(within.iter().map(|schema| schema.fields));
    for schema in &within {
        let pointer = format!("{}{}", place.pointer, schema.pointer);
        required(reader, &pointer, schema.fields, schema.pointer.is_empty());
        patterns(reader, &pointer, schema.fields);
        reference(reader, &pointer, schema.fields, place.value, &anchors);
    }
    if reader.problems.len() == before
        && let Err(error) = jsonschema::draft202012::new(place.value)
    {
        let pointer = format!("{}{}", place.pointer, error.instance_path());
        reader.error(&pointer, error.to_string(), "a JSON Schema of draft 2020-12 is allowed");
    }
    (reader.problems.len() == before).then(|| place.value.clone())
}

/// Reports every violation of the schema of schemas.
fn not_of_the_format(reader: &mut Reader<'_>, place: &Place<'_>, is_object: bool) {
    let mut seen = BTreeSet::new();
    let validator = jsonschema::draft202012::meta::validator();
    for error in validator.iter_errors(place.value) {
        let below = error.instance_path().to_string();
        // The type of the whole has been told already, with more to say.
        if below == "/type" && !is_object {
            continue;
        }
        let pointer = format!("{}{below}", place.pointer);
        // The schema of schemas is in parts, and each of them may refuse the same.
        if seen.insert((pointer.clone(), error.kind().keyword().to_owned())) {
            violation(reader, &pointer, &error);
        }
    }
}

fn violation(reader: &mut Reader<'_>, pointer: &str, error: &ValidationError<'_>) {
    let instance = error.instance().as_ref();
    match error.kind() {
        // The only choice in the schema of schemas: one type or a list of them.
        ValidationErrorKind::AnyOf { .. } => types(reader, pointer, instance),
        ValidationErrorKind::Type { kind } => {
            let kinds: Vec<_> = match kind {
                TypeKind::Single(single) => vec![single.to_string()],
                TypeKind::Multiple(set) => set.iter().map(|kind| kind.to_string()).collect(),
            };
            reader.error(
                pointer,
                describe(instance),
                format!("a value of type {} is allowed", kinds.join(" or ")),
            );
        }
        _ => {
            let allowed = format!("a JSON Schema of draft 2020-12 is allowed: {}", error.masked());
            reader.error(pointer, describe(instance), allowed);
        }
    }
}

/// Reports which of the named types there is none of.
fn types(reader: &mut Reader<'_>, pointer: &str, value: &Value) {
    let allowed = format!("one of {} or a list of them, each once, is allowed", TYPES.join(", "));
    let items = value.as_array().map(Vec::as_slice).unwrap_or_default();
    let wrong: Vec<_> = items
        .iter()
        .enumerate()
        .filter(|(_, item)| !item.as_str().is_some_and(|name| TYPES.contains(&name)))
        .map(|(index, item)| (format!("{pointer}/{index}"), item))
        .collect();
    let wrong = if wrong.is_empty() { vec![(pointer.to_owned(), value)] } else { wrong };
    for (pointer, value) in wrong {
        let near = value.as_str().and_then(|name| nearest(name, TYPES));
        reader.error_near(&pointer, describe(value), allowed.clone(), near);
    }
}

/// Reports arguments that are required and cannot be given.
fn required(reader: &mut Reader<'_>, pointer: &str, fields: &Map<String, Value>, is_whole: bool) {
    let is_closed = fields.get("additionalProperties") == Some(&Value::Bool(false))
        && !fields.contains_key("patternProperties");
    if !is_whole && !is_closed {
        return;
    }
    let properties = fields.get("properties").and_then(Value::as_object);
    let names: Vec<&str> = properties.map(|map| map.keys().map(String::as_str).collect()).unwrap_or_default();
    for (index, name) in fields.get("required").and_then(Value::as_array).into_iter().flatten().enumerate() {
        if let Some(name) = name.as_str()
            && !names.contains(&name)
        {
            let allowed = format!("a required argument must be one of the properties: {}", names.join(", "));
            let near = nearest(name, names.iter().copied());
            reader.error_near(&format!("{pointer}/required/{index}"), format!("{name:?}"), allowed, near);
        }
    }
}

/// Reports patterns that are no regular expressions.
fn patterns(reader: &mut Reader<'_>, pointer: &str, fields: &Map<String, Value>) {
    let own =
        fields.get("pattern").and_then(Value::as_str).map(|pattern| (join(pointer, "pattern"), pattern));
    let by_name = fields.get("patternProperties").and_then(Value::as_object).into_iter().flat_map(Map::keys);
    let by_name =
        by_name.map(|pattern| (join(&join(pointer, "patternProperties"), pattern), pattern.as_str()));
    for (pointer, pattern) in own.into_iter().chain(by_name) {
        if !compiles(&json!({ "pattern": pattern })) {
            let found = format!("the pattern {pattern:?}");
            reader.error(
                &pointer,
                found,
                "a regular expression is allowed (ECMA-262), with every bracket closed",
            );
        }
    }
}

/// Reports references to nothing, and to other documents.
fn reference(
    reader: &mut Reader<'_>,
    pointer: &str,
    fields: &Map<String, Value>,
    whole: &Value,
    anchors: &Anchors<'_>,
) {
    for keyword in ["$ref", "$dynamicRef"] {
        let Some(target) = fields.get(keyword).and_then(Value::as_str) else { continue };
        let leads_somewhere = match target.strip_prefix('#') {
            // An identifier of its own moves the root that a reference counts from, and an escaped pointer is rare:
            // both are left to the compiler of schemas.
            _ if anchors.has_identifiers || target.contains('%') => true,
            Some("") => true,
            Some(below) if below.starts_with('/') => whole.pointer(below).is_some(),
            Some(anchor) => anchors.names.contains(anchor),
            // The schemas of JSON Schema itself are known everywhere.
            None => compiles(&json!({ keyword: target })),
        };
        if !leads_somewhere {
            let definitions = whole.get("$defs").and_then(Value::as_object);
            let known: Vec<_> =
                definitions.into_iter().flat_map(Map::keys).map(|name| join("#/$defs", name)).collect();
            let known_here =
                if known.is_empty() { String::new() } else { format!(", here one of {}", known.join(", ")) };
            let allowed = format!("a reference to a place in this schema is allowed{known_here}");
            let near = nearest(target, known.iter().map(String::as_str));
            reader.error_near(&join(pointer, keyword), describe(&fields[keyword]), allowed, near);
        }
    }
}

/// The names that a schema gives to places in it.
struct Anchors<'s> {
    names: BTreeSet<&'s str>,
    has_identifiers: bool,
}

impl<'s> Anchors<'s> {
    fn of(schemas: impl Iterator<Item = &'s Map<String, Value>>) -> Self {
        let mut anchors = Self { names: BTreeSet::new(), has_identifiers: false };
        for fields in schemas {
            let named = |keyword| fields.get(keyword).and_then(Value::as_str);
            anchors.names.extend(named("$anchor").into_iter().chain(named("$dynamicAnchor")));
            anchors.has_identifiers |= fields.contains_key("$id");
        }
        anchors
    }
}

fn compiles(schema: &Value) -> bool {
    jsonschema::draft202012::new(schema).is_ok()
}
