//! Reads the arguments of a call: parses, repairs what can be repaired without loss, and validates.
//!
//! Arguments that do not fit are never passed on; the model is told where they are wrong and what would fit.

use std::str::FromStr as _;

use jsonschema::error::{TypeKind, ValidationErrorKind};
use jsonschema::{JsonType, ValidationError, Validator};
use serde_json::{Map, Value};

use crate::nearest::nearest;
use crate::registry::RegisteredTool;

#[cfg(test)]
mod tests;

/// Rounds of repair: a repaired value may itself hold values to repair.
const MAX_REPAIR_ROUNDS: usize = 4;
/// Violations that are looked at in a round. Schemas that refer to each other can find the same value wrong in thousands
/// of ways.
const MAX_CONSIDERED: usize = 1_000;
/// Violations that the model is told about at once.
const MAX_VIOLATIONS: usize = 10;

/// The compiled schema of a tool's arguments.
pub(crate) struct ArgumentsSchema {
    schema: Value,
    validator: Validator,
}

/// Arguments that the schema accepts.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Arguments {
    /// The arguments object.
    pub(crate) value: Value,
    /// The same without the nulls that stand for what was left out, for traces.
    pub(crate) given: Value,
    /// What was repaired, in words.
    pub(crate) repairs: Vec<String>,
}

/// Why arguments cannot be used, in words for the model.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub(crate) struct BadArguments(pub(crate) String);

impl Arguments {
    /// No arguments at all.
    pub(crate) fn none() -> Self {
        Self { value: Value::Object(Map::new()), given: Value::Object(Map::new()), repairs: Vec::new() }
    }
}

impl ArgumentsSchema {
    /// Compiles the schema once.
    pub(crate) fn compile(schema: &Value) -> Result<Self, String> {
        let validator = jsonschema::draft202012::new(schema).map_err(|error| error.to_string())?;
        Ok(Self { schema: schema.clone(), validator })
    }

    /// Parses, repairs and validates. Values of `sensitive` arguments appear in no message.
    pub(crate) fn read(
        &self,
        text: &str,
        sensitive: &dyn Fn(&str) -> bool,
    ) -> Result<Arguments, BadArguments> {
        let mut repairs = Vec::new();
        let mut left_out = Vec::new();
        let mut value = self.parse(text, &mut repairs)?;
        for _ in 0..MAX_REPAIR_ROUNDS {
            if self.validator.is_valid(&value) {
                break;
            }
            let violations = self.validator.iter_errors(&value).take(MAX_CONSIDERED);
            let edits: Vec<_> = violations.filter_map(|error| self.repair(&error)).collect();
            if edits.is_empty() {
                break;
            }
            for (pointer, edit) in edits {
                if edit.apply(&mut value, &pointer) {
                    repairs.extend(edit.describe(&pointer));
                    left_out.extend(edit.inserted(&pointer));
                }
            }
        }
        if self.validator.is_valid(&value) {
            let mut given = value.clone();
            for pointer in &left_out {
                Edit::Remove.apply(&mut given, pointer);
            }
            return Ok(Arguments { value, given, repairs });
        }
        let mut told = Vec::new();
        for error in self.validator.iter_errors(&value).take(MAX_CONSIDERED) {
            let line = format!("\n- {}", self.violation(&error, sensitive));
            if !told.contains(&line) {
                told.push(line);
            }
            if told.len() == MAX_VIOLATIONS {
                break;
            }
        }
        Err(BadArguments(format!(
            "The arguments do not fit the tool:{}\nExpected: {}",
            told.concat(),
            self.summary()
        )))
    }

    fn parse(&self, text: &str, repairs: &mut Vec<String>) -> Result<Value, BadArguments> {
        if text.trim().is_empty() {
            return Ok(Value::Object(Map::new()));
        }
        let parsed: Value = serde_json::from_str(text).map_err(|error| {
            BadArguments(format!("The arguments are not valid JSON ({error}). Expected: {}", self.summary()))
        })?;
        match parsed {
            Value::Object(_) => Ok(parsed),
            Value::Null => Ok(Value::Object(Map::new())),
            Value::String(inner) => match serde_json::from_str(&inner) {
                Ok(object @ Value::Object(_)) => {
                    repairs.push("the whole: JSON inside a string was unpacked".to_owned());
                    Ok(object)
                }
                _ => Err(self.not_an_object("a string")),
            },
            other => Err(self.not_an_object(type_name(&other))),
        }
    }

    fn not_an_object(&self, found: &str) -> BadArguments {
        BadArguments(format!("The arguments are {found}, not a JSON object. Expected: {}", self.summary()))
    }

    /// What a lossless repair of this violation would be.
    fn repair(&self, error: &ValidationError<'_>) -> Option<(String, Edit)> {
        let pointer = error.instance_path().to_string();
        if let ValidationErrorKind::Required { property } = error.kind() {
            let name = property.as_str()?;
            let may_be_null = self.allows_null(&error.schema_path().to_string(), name);
            return may_be_null.then(|| (pointer, Edit::InsertNull(name.to_owned())));
        }
        let wanted = match error.kind() {
            ValidationErrorKind::Type { kind: TypeKind::Single(single) } => vec![*single],
            ValidationErrorKind::Type { kind: TypeKind::Multiple(set) } => set.iter().collect(),
            ValidationErrorKind::AnyOf { .. } | ValidationErrorKind::OneOfNotValid { .. } => {
                self.types_of_options(&error.schema_path().to_string())
            }
            _ => return None,
        };
        let allows = |kind: JsonType| wanted.contains(&kind);
        let instance = error.instance().as_ref();
        if instance.is_null() {
            return (!self.is_required(&pointer)).then_some((pointer, Edit::Remove));
        }
        if allows(JsonType::Array)
            && let Some(text) = instance.as_str()
            && let Ok(list @ Value::Array(_)) = serde_json::from_str(text)
        {
            return Some((pointer, Edit::Replace(list, "a list inside a string was unpacked")));
        }
        if allows(JsonType::Array) && !instance.is_array() {
            return Some((
                pointer,
                Edit::Replace(Value::Array(vec![instance.clone()]), "a single value became a list"),
            ));
        }
        let replaced = match instance {
            Value::String(text) => {
                let text = text.trim();
                if (allows(JsonType::Integer) || allows(JsonType::Number)) && is_plain_number(text) {
                    let number: Value = serde_json::from_str(text).ok()?;
                    (number.is_number()).then_some((number, "text became a number"))
                } else if allows(JsonType::Boolean) {
                    text.parse::<bool>().ok().map(|flag| (Value::Bool(flag), "text became true or false"))
                } else if allows(JsonType::Object) {
                    let inner: Option<Value> = serde_json::from_str(text).ok().filter(Value::is_object);
                    inner.map(|object| (object, "JSON inside a string was unpacked"))
                } else {
                    None
                }
            }
            Value::Number(number) if allows(JsonType::String) => {
                Some((Value::String(number.to_string()), "a number became text"))
            }
            _ => None,
        };
        replaced.map(|(value, how)| (pointer, Edit::Replace(value, how)))
    }

    /// The types of the options of an `anyOf` or `oneOf`, which is how "a number or null" is often written.
    fn types_of_options(&self, schema_path: &str) -> Vec<JsonType> {
        let options = self.schema.pointer(schema_path).and_then(Value::as_array);
        let types = options.into_iter().flatten().filter_map(|option| match option.get("type")? {
            Value::String(one) => Some(vec![one.as_str()]),
            Value::Array(several) => Some(several.iter().filter_map(Value::as_str).collect()),
            _ => None,
        });
        types.flatten().filter_map(|name| JsonType::from_str(name).ok()).collect()
    }

    fn is_required(&self, pointer: &str) -> bool {
        let Some((parent, name)) = pointer.rsplit_once('/') else { return true };
        if !parent.is_empty() {
            // Nested objects are left to the validator.
            return true;
        }
        let required = self.schema.get("required").and_then(Value::as_array);
        required.is_some_and(|names| names.iter().any(|entry| entry.as_str() == Some(name)))
    }

    /// Whether a property of the object whose `required` stands at `schema_path` may be null. Schemas for providers
    /// that enforce them require every property and write "optional" as "or null"; other models leave it out.
    fn allows_null(&self, schema_path: &str, name: &str) -> bool {
        let parent = schema_path.rsplit_once('/').map_or("", |(parent, _)| parent);
        let schema = self.schema.pointer(parent).and_then(|parent| parent.get("properties")?.get(name));
        let is_null = |value: &Value| value.as_str() == Some("null");
        schema.is_some_and(|schema| match schema.get("type") {
            Some(Value::Array(types)) => types.iter().any(is_null),
            Some(single) => is_null(single),
            None => schema
                .get("anyOf")
                .and_then(Value::as_array)
                .is_some_and(|options| options.iter().any(|option| option.get("type").is_some_and(is_null))),
        })
    }

    fn violation(&self, error: &ValidationError<'_>, sensitive: &dyn Fn(&str) -> bool) -> String {
        let pointer = error.instance_path().to_string();
        let place = if pointer.is_empty() { "(arguments)" } else { &pointer };
        let top = pointer.trim_start_matches('/').split('/').next().unwrap_or_default();
        // The whole object, or an object that holds a sensitive value, is not repeated either.
        let holds_sensitive =
            |value: &Value| value.as_object().is_some_and(|object| object.keys().any(|name| sensitive(name)));
        let hidden = sensitive(top) || holds_sensitive(error.instance());
        let found = if hidden { "the value".to_owned() } else { shorten(&error.instance().to_string()) };
        match error.kind() {
            ValidationErrorKind::Required { property } => format!("{place}: {property} is missing"),
            ValidationErrorKind::AdditionalProperties { unexpected }
            | ValidationErrorKind::UnevaluatedProperties { unexpected } => {
                let known = self.known_properties(&error.schema_path().to_string());
                let described = unexpected.iter().take(MAX_VIOLATIONS).map(|name| {
                    let near = nearest(name, known.iter().map(String::as_str));
                    let hint = near.map(|near| format!(", did you mean {near:?}?")).unwrap_or_default();
                    format!("unknown property {:?}{hint}", shorten(name))
                });
                format!("{place}: {}", described.collect::<Vec<_>>().join("; "))
            }
            ValidationErrorKind::Enum { options } => {
                let options = options.as_array().map(Vec::as_slice).unwrap_or_default();
                let allowed = options.iter().map(Value::to_string).collect::<Vec<_>>().join(", ");
                let near = error.instance().as_str().filter(|_| !hidden);
                let near = near.and_then(|text| nearest(text, options.iter().filter_map(Value::as_str)));
                let hint = near.map(|near| format!(", did you mean {near:?}?")).unwrap_or_default();
                format!("{place}: {found} is not one of {allowed}{hint}")
            }
            ValidationErrorKind::Type { kind } => {
                let wanted = match kind {
                    TypeKind::Single(single) => single.to_string(),
                    TypeKind::Multiple(set) => {
                        set.iter().map(|one| one.to_string()).collect::<Vec<_>>().join(" or ")
                    }
                };
                format!("{place}: {found} is not of type {wanted}")
            }
            _ if hidden => format!("{place}: {}", error.masked()),
            _ => format!("{place}: {}", shorten(&error.to_string())),
        }
    }

    fn known_properties(&self, schema_path: &str) -> Vec<String> {
        let parent = schema_path.rsplit_once('/').map_or("", |(parent, _)| parent);
        let properties = self.schema.pointer(parent).and_then(|schema| schema.get("properties"));
        properties.and_then(Value::as_object).map(|map| map.keys().cloned().collect()).unwrap_or_default()
    }

    /// The schema in one line: names, types, and what is required.
    pub(crate) fn summary(&self) -> String {
        let properties = self.schema.get("properties").and_then(Value::as_object);
        let Some(properties) = properties.filter(|properties| !properties.is_empty()) else {
            return "{} (no arguments)".to_owned();
        };
        let required: Vec<_> =
            self.schema.get("required").and_then(Value::as_array).into_iter().flatten().collect();
        let described = properties.iter().map(|(name, schema)| {
            let kind = match (schema.get("enum").and_then(Value::as_array), schema.get("type")) {
                (Some(options), _) => options.iter().map(Value::to_string).collect::<Vec<_>>().join(" | "),
                (None, Some(Value::String(kind))) => kind.clone(),
                (None, Some(Value::Array(kinds))) => {
                    kinds.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" or ")
                }
                _ => "any".to_owned(),
            };
            let needed = required.iter().any(|entry| entry.as_str() == Some(name));
            let optional = if needed && !self.allows_null("/required", name) { "" } else { ", optional" };
            format!("{name:?}: {kind}{optional}")
        });
        format!("{{{}}}", described.collect::<Vec<_>>().join("; "))
    }
}

impl RegisteredTool {
    /// Whether arguments that a person wrote fit the tool; what is wrong with them otherwise.
    ///
    /// # Errors
    /// Every violation, with its place, what was found and what is allowed.
    pub fn check_arguments(&self, arguments: &Value) -> Result<(), String> {
        let read = self.arguments.read(&arguments.to_string(), &|_| false);
        read.map(|_| ()).map_err(|bad| bad.0)
    }
}

/// A repair of one value.
enum Edit {
    InsertNull(String),
    Remove,
    Replace(Value, &'static str),
}

impl Edit {
    fn apply(&self, root: &mut Value, pointer: &str) -> bool {
        match self {
            Self::InsertNull(name) => {
                let object = root.pointer_mut(pointer).and_then(Value::as_object_mut);
                object.is_some_and(|object| object.insert(name.clone(), Value::Null).is_none())
            }
            Self::Remove => {
                let Some((parent, name)) = pointer.rsplit_once('/') else { return false };
                let name = name.replace("~1", "/").replace("~0", "~");
                let parent = root.pointer_mut(parent).and_then(Value::as_object_mut);
                parent.is_some_and(|object| object.shift_remove(&name).is_some())
            }
            Self::Replace(value, _) => match root.pointer_mut(pointer) {
                Some(place) => {
                    *place = value.clone();
                    true
                }
                None => false,
            },
        }
    }

    /// The place of a null that this edit put in.
    fn inserted(&self, pointer: &str) -> Option<String> {
        match self {
            Self::InsertNull(name) => {
                Some(format!("{pointer}/{}", name.replace('~', "~0").replace('/', "~1")))
            }
            Self::Remove | Self::Replace(..) => None,
        }
    }

    /// What is worth telling: absent and null mean the same.
    fn describe(&self, pointer: &str) -> Option<String> {
        match self {
            Self::InsertNull(_) | Self::Remove => None,
            Self::Replace(_, how) => Some(format!("{pointer}: {how}")),
        }
    }
}

/// A number in JSON's own spelling, so that nothing is lost by reading it as one.
fn is_plain_number(text: &str) -> bool {
    let digits = text.strip_prefix('-').unwrap_or(text);
    digits.starts_with(|c: char| c.is_ascii_digit()) && digits.len() <= 15
}

fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

fn shorten(text: &str) -> String {
    match text.char_indices().nth(120) {
        Some((cut, _)) => format!("{}…", &text[..cut]),
        None => text.to_owned(),
    }
}
