//! Removes from a schema what says nothing to a model, and writes the rest as models know it.

use serde_json::{Map, Value, json};

use super::{SCALARS, allow_null, children};

/// What becomes of titles.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Titles {
    /// They are labels for people.
    Keep,
    /// They repeat names.
    Drop,
}

/// Formats that name types of Rust and mean nothing elsewhere.
const RUST_FORMATS: [&str; 15] = [
    "int", "int8", "int16", "int32", "int64", "int128", "uint", "uint8", "uint16", "uint32", "uint64",
    "uint128", "float", "double", "char",
];

/// Tidies a schema and everything in it.
pub(super) fn tidy(schema: &mut Value, titles: Titles) {
    let Some(fields) = schema.as_object_mut() else { return };
    let nullable = take_null_option(fields);
    write_as_enum(fields);
    if titles == Titles::Drop {
        fields.shift_remove("title");
    }
    let format = fields.get("format").and_then(Value::as_str);
    if format.is_some_and(|format| RUST_FORMATS.contains(&format)) {
        fields.shift_remove("format");
    }
    if fields.get("default") == Some(&Value::Null) {
        fields.shift_remove("default");
    }
    if let Some(Value::String(text)) = fields.get_mut("description") {
        *text = without_wraps(text);
    }
    close(fields);
    children(fields).for_each(|child| tidy(child, titles));
    flatten_options(fields);
    if nullable {
        allow_null(schema);
    }
}

/// Takes "or null" out of an `anyOf` that offers one scalar beside it: what remains is that scalar. The description of
/// the place wins over that of the type.
fn take_null_option(fields: &mut Map<String, Value>) -> bool {
    let Some(Value::Array(options)) = fields.get("anyOf") else { return false };
    let null = json!({"type": "null"});
    let mut others = options.iter().filter(|option| **option != null);
    let (Some(other), None) = (others.next(), others.next()) else { return false };
    if options.len() != 2 || !is_scalar(other) {
        return false;
    }
    let Value::Object(other) = other.clone() else { return false };
    fields.shift_remove("anyOf");
    for (keyword, value) in other {
        fields.entry(keyword).or_insert(value);
    }
    true
}

fn is_scalar(schema: &Value) -> bool {
    let scalar = schema["type"].as_str().is_some_and(|kind| SCALARS.contains(&kind));
    scalar
        || schema["oneOf"]
            .as_array()
            .is_some_and(|options| options.iter().all(|option| words(option).is_some()))
}

/// The words that a schema allows, when it allows nothing else.
fn words(schema: &Value) -> Option<Vec<&Value>> {
    let words = match (&schema["const"], &schema["enum"]) {
        (word @ Value::String(_), _) => vec![word],
        (_, Value::Array(words)) => words.iter().collect(),
        _ => return None,
    };
    words.iter().all(|word| word.is_string()).then_some(words)
}

/// Writes a choice between words as `enum`, and what each of them means into the description. Any other `oneOf` becomes
/// an `anyOf`, which providers take: of the variants of an enum only one fits.
fn write_as_enum(fields: &mut Map<String, Value>) {
    let Some(Value::Array(options)) = fields.get("oneOf") else { return };
    let choice: Option<Vec<Vec<&Value>>> = options.iter().map(words).collect();
    let Some(choice) = choice else {
        if let Some(options) = fields.shift_remove("oneOf") {
            fields.insert("anyOf".to_owned(), options);
        }
        return;
    };
    let meanings = options.iter().zip(&choice).filter_map(|(option, words)| {
        let meaning = without_wraps(option["description"].as_str()?);
        Some(format!("{}: {meaning}", words.first()?.as_str()?))
    });
    let own = fields.get("description").and_then(Value::as_str).map(str::to_owned);
    let description = own.into_iter().chain(meanings).collect::<Vec<_>>().join(" ");
    let words: Vec<Value> = choice.into_iter().flatten().cloned().collect();
    fields.shift_remove("oneOf");
    fields.insert("type".to_owned(), json!("string"));
    fields.insert("enum".to_owned(), Value::Array(words));
    if !description.is_empty() {
        fields.insert("description".to_owned(), Value::from(description));
    }
}

/// Writes options that are nothing but options of their own directly into the list.
fn flatten_options(fields: &mut Map<String, Value>) {
    let Some(Value::Array(options)) = fields.get_mut("anyOf") else { return };
    let flat = std::mem::take(options).into_iter().flat_map(|option| match &option {
        Value::Object(only) if only.len() == 1 => match only.get("anyOf") {
            Some(Value::Array(inner)) => inner.clone(),
            _ => vec![option],
        },
        _ => vec![option],
    });
    *options = flat.collect();
}

/// Closes an object whose properties are all known.
fn close(fields: &mut Map<String, Value>) {
    let open = ["additionalProperties", "unevaluatedProperties", "patternProperties", "allOf"];
    let is_object =
        fields.get("type").is_some_and(|kind| kind == "object") || fields.contains_key("properties");
    if is_object && !open.iter().any(|keyword| fields.contains_key(*keyword)) {
        fields.entry("properties").or_insert_with(|| json!({}));
        fields.insert("additionalProperties".to_owned(), Value::Bool(false));
    }
}

/// The text of a doc comment without the line breaks that only keep lines short.
fn without_wraps(text: &str) -> String {
    let mut out = String::new();
    let mut paragraph_ended = true;
    for line in text.lines().map(str::trim) {
        let item = line.starts_with("- ") || line.starts_with("* ");
        if !out.is_empty() && !line.is_empty() {
            out.push(if paragraph_ended || item { '\n' } else { ' ' });
        }
        out.push_str(line);
        paragraph_ended = line.is_empty();
    }
    out
}
