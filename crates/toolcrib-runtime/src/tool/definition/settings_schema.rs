//! What an administrator can set for a tool, and the check of values against it.

use std::collections::BTreeMap;

use secrecy::SecretString;
use serde_json::{Map, Number, Value};

use super::reader::{Place, Reader, describe, join};
use crate::nearest::nearest;
use crate::tool::{SettingProblem, SettingValue, Settings};

/// The fields of a tool's settings, in the order of the definition.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SettingsSchema {
    /// The fields.
    pub fields: Vec<SettingField>,
}

/// One field.
#[derive(Debug, Clone, PartialEq)]
pub struct SettingField {
    /// The name.
    pub name: String,
    /// The type of its values.
    pub kind: SettingType,
    /// The label, when the definition gives one.
    pub title: Option<String>,
    /// The help text, when the definition gives one.
    pub description: Option<String>,
    /// The allowed values; empty allows every value of the type.
    pub choices: Vec<Value>,
    /// The value when nothing is set.
    pub default: Option<Value>,
    /// The smallest number.
    pub minimum: Option<Number>,
    /// The largest number.
    pub maximum: Option<Number>,
    /// A JSON Schema format such as `uri`.
    pub format: Option<String>,
    /// Kept in the secret store, never shown.
    pub secret: bool,
    /// The tool is withheld until the field is set.
    pub required: bool,
}

/// The type of a field's values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SettingType {
    /// Text.
    String,
    /// A whole number.
    Integer,
    /// A number.
    Number,
    /// True or false.
    Boolean,
}

/// The names of the types.
pub(super) const TYPES: [(&str, SettingType); 4] = [
    ("string", SettingType::String),
    ("integer", SettingType::Integer),
    ("number", SettingType::Number),
    ("boolean", SettingType::Boolean),
];

impl SettingsSchema {
    /// Checks values against the fields and fills in defaults.
    ///
    /// # Errors
    /// Every problem: unknown fields, wrong types, values out of range, missing required fields.
    pub fn resolve(&self, values: &Map<String, Value>) -> Result<Settings, Vec<SettingProblem>> {
        let mut problems = Vec::new();
        for name in values.keys().filter(|name| self.field(name).is_none()) {
            let names = self.fields.iter().map(|field| field.name.as_str());
            let hint = nearest(name, names.clone()).map(|near| format!("; did you mean {near:?}?"));
            let known = names.collect::<Vec<_>>().join(", ");
            let message = format!("unknown setting; known: {known}{}", hint.unwrap_or_default());
            problems.push(SettingProblem::field(name, message));
        }
        let mut resolved = BTreeMap::new();
        for field in &self.fields {
            let value = values.get(&field.name).filter(|value| !value.is_null()).or(field.default.as_ref());
            match value {
                Some(value) => match field.check(value) {
                    Ok(()) => {
                        resolved.insert(field.name.clone(), field.wrap(value));
                    }
                    Err(message) => problems.push(SettingProblem::field(&field.name, message)),
                },
                None if field.required => {
                    problems.push(SettingProblem::field(&field.name, "required, but not set"));
                }
                None => {}
            }
        }
        if problems.is_empty() { Ok(Settings::new(resolved)) } else { Err(problems) }
    }

    /// The field with this name.
    pub fn field(&self, name: &str) -> Option<&SettingField> {
        self.fields.iter().find(|field| field.name == name)
    }

    pub(super) fn read(reader: &mut Reader<'_>, place: &Place<'_>) -> Self {
        let Some(mut schema) = reader.fields(place) else { return Self::default() };
        if let Some(kind) = schema.take("type")
            && kind.value.as_str() != Some("object")
        {
            reader.error(
                &kind.pointer,
                describe(kind.value),
                "\"object\" is the only type of a settings schema",
            );
        }
        let mut fields = Vec::new();
        // A property that is there but wrong has been told already.
        let mut names: Option<Vec<&str>> = Some(Vec::new());
        if let Some(properties) = schema.take("properties") {
            let object = reader.object(&properties);
            names = object.map(|object| object.keys().map(String::as_str).collect());
            for (name, value) in object.into_iter().flatten() {
                let place = Place { value, pointer: join(&properties.pointer, name) };
                fields.extend(SettingField::read(reader, name, &place));
            }
        }
        let required = schema.take("required").map(|place| reader.texts(&place)).unwrap_or_default();
        for (name, pointer) in required {
            if let Some(field) = fields.iter_mut().find(|field: &&mut SettingField| field.name == name) {
                field.required = true;
            } else if let Some(names) = names.as_ref().filter(|names| !names.contains(&name.as_str())) {
                let near = nearest(&name, names.iter().copied());
                let allowed =
                    format!("a required setting must be one of the properties: {}", names.join(", "));
                reader.error_near(&pointer, format!("{name:?}"), allowed, near);
            }
        }
        schema.take("additionalProperties");
        schema.take("title");
        schema.take("description");
        schema.finish(reader);
        Self { fields }
    }
}

impl SettingField {
    fn read(reader: &mut Reader<'_>, name: &str, place: &Place<'_>) -> Option<Self> {
        let mut fields = reader.fields(place)?;
        let kind = fields.require("type", reader).and_then(|place| reader.choice(&place, &TYPES));
        let default = fields.take("default");
        let minimum = fields.take("minimum").and_then(|place| number(reader, &place));
        let maximum = fields.take("maximum").and_then(|place| number(reader, &place));
        let field = Self {
            name: name.to_owned(),
            kind: kind.unwrap_or(SettingType::String),
            title: fields.take("title").and_then(|place| reader.text(&place)),
            description: fields.take("description").and_then(|place| reader.text(&place)),
            choices: fields.take("enum").map_or_else(Vec::new, |place| {
                reader.items(&place).into_iter().map(|item| item.value.clone()).collect()
            }),
            default: default.as_ref().map(|place| place.value.clone()),
            minimum,
            maximum,
            format: fields.take("format").and_then(|place| reader.text(&place)),
            secret: fields.take("secret").and_then(|place| reader.flag(&place)).unwrap_or(false),
            required: false,
        };
        fields.finish(reader);
        if kind.is_some()
            && let Some(default) = default
            && let Err(message) = field.check(default.value)
        {
            reader.error(
                &default.pointer,
                describe(default.value),
                format!("the default must fit the field: {message}"),
            );
        }
        Some(field)
    }

    /// Whether a value fits the field; if not, what is wrong and what is allowed.
    pub fn check(&self, value: &Value) -> Result<(), String> {
        let fits = match self.kind {
            SettingType::String => value.is_string(),
            SettingType::Integer => value.is_i64() || value.is_u64(),
            SettingType::Number => value.is_number(),
            SettingType::Boolean => value.is_boolean(),
        };
        // A secret's value must not appear in any message.
        let found = if self.secret { "the value".to_owned() } else { describe(value) };
        if !fits {
            return Err(format!("{found} is not of type {}", self.kind.name()));
        }
        if !self.choices.is_empty() && !self.choices.contains(value) {
            let choices: Vec<_> = self.choices.iter().map(Value::to_string).collect();
            return Err(format!("{found} is not one of {}", choices.join(", ")));
        }
        if let (Some(number), Some(minimum)) = (value.as_f64(), self.minimum.as_ref())
            && minimum.as_f64().is_some_and(|minimum| number < minimum)
        {
            return Err(format!("{found} is below the minimum of {minimum}"));
        }
        if let (Some(number), Some(maximum)) = (value.as_f64(), self.maximum.as_ref())
            && maximum.as_f64().is_some_and(|maximum| number > maximum)
        {
            return Err(format!("{found} is above the maximum of {maximum}"));
        }
        Ok(())
    }

    fn wrap(&self, value: &Value) -> SettingValue {
        match value.as_str() {
            Some(text) if self.secret => SettingValue::Secret(SecretString::from(text)),
            _ => SettingValue::Plain(value.clone()),
        }
    }
}

impl SettingType {
    /// The JSON Schema name of the type.
    pub fn name(self) -> &'static str {
        TYPES.iter().find(|(_, kind)| *kind == self).map_or("", |(name, _)| name)
    }
}

fn number(reader: &mut Reader<'_>, place: &Place<'_>) -> Option<Number> {
    let number = place.value.as_number();
    if number.is_none() {
        reader.error(&place.pointer, describe(place.value), "a number is allowed");
    }
    number.cloned()
}
