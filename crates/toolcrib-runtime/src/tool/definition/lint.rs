//! Warnings about definitions that were written for a person and not for a model.

use serde_json::Value;

use super::reader::join;
use super::{Definition, Problem, Severity};

const MAX_COMFORTABLE_PARAMETERS: usize = 8;
const PARAMETERS: &str = "/function/parameters";

/// Words by which a description says when to use the tool.
const OCCASIONS: [&str; 8] =
    ["use ", "when", "whenever", "if the", "before", "after", "for questions", "to find"];

/// Names of settings that are nearly always secrets.
const SECRET_WORDS: [&str; 6] = ["key", "token", "secret", "password", "passwd", "credential"];

/// Keywords that providers with enforced schemas refuse.
const NOT_STRICT: [&str; 12] = [
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

/// What will make a model use the tool badly, though the definition is valid.
pub fn lint(definition: &Definition, file: &str) -> Vec<Problem> {
    let mut lints = Lints { file, problems: Vec::new() };
    lints.descriptions(definition);
    lints.parameters(definition);
    if definition.function.strict {
        lints.strict(&definition.function.parameters, PARAMETERS);
    }
    lints.names(definition);
    lints.secrets(definition);
    lints.problems
}

struct Lints<'f> {
    file: &'f str,
    problems: Vec<Problem>,
}

impl Lints<'_> {
    fn warn(&mut self, pointer: &str, found: impl Into<String>, advice: impl Into<String>) {
        self.problems.push(Problem {
            severity: Severity::Warning,
            file: self.file.to_owned(),
            pointer: pointer.to_owned(),
            found: found.into(),
            allowed: advice.into(),
            nearest: None,
        });
    }

    fn descriptions(&mut self, definition: &Definition) {
        let description = definition.function.description.to_lowercase();
        let instructions =
            definition.system_prompt_instructions.as_deref().unwrap_or_default().to_lowercase();
        let pointer = "/function/descriptionForLLM";
        if description.trim().is_empty() {
            self.warn(pointer, "no description", "say what the tool does and what it returns");
        } else if !OCCASIONS.iter().any(|word| description.contains(word) || instructions.contains(word)) {
            let advice = "add a sentence such as \"Use this when …\", here or in systemPromptInstructions";
            self.warn(pointer, "a description that never says when to use the tool", advice);
        }
    }

    fn parameters(&mut self, definition: &Definition) {
        let Some(properties) = definition.function.parameters.get("properties").and_then(Value::as_object)
        else {
            return;
        };
        if properties.len() > MAX_COMFORTABLE_PARAMETERS {
            let advice = format!("models do well with at most {MAX_COMFORTABLE_PARAMETERS}: split the tool");
            self.warn(PARAMETERS, format!("{} parameters", properties.len()), advice);
        }
        for (name, schema) in properties {
            let described =
                schema.get("description").and_then(Value::as_str).is_some_and(|text| !text.trim().is_empty());
            if !described {
                let pointer = join(&format!("{PARAMETERS}/properties"), name);
                self.warn(
                    &pointer,
                    "a parameter without description",
                    "say what it means and give an example value",
                );
            }
        }
    }

    /// Providers enforce a schema only when every object is closed and every property required.
    fn strict(&mut self, schema: &Value, pointer: &str) {
        let Some(object) = schema.as_object() else { return };
        for keyword in NOT_STRICT.iter().filter(|keyword| object.contains_key(**keyword)) {
            let found = format!("the keyword {keyword:?} in a strict schema");
            self.warn(
                &join(pointer, keyword),
                found,
                "set \"strict\": false, or write the schema without it",
            );
        }
        if let Some(properties) = object.get("properties").and_then(Value::as_object) {
            if object.get("additionalProperties") != Some(&Value::Bool(false)) {
                let advice = "add \"additionalProperties\": false, or set \"strict\": false";
                self.warn(pointer, "an open object in a strict schema", advice);
            }
            let required = object.get("required").and_then(Value::as_array);
            for (name, property) in properties {
                let place = join(&format!("{pointer}/properties"), name);
                if !required.is_some_and(|required| required.iter().any(|entry| entry.as_str() == Some(name)))
                {
                    let advice = "require it and allow null, or set \"strict\": false";
                    self.warn(&place, "an optional property in a strict schema", advice);
                }
                self.strict(property, &place);
            }
        }
        if let Some(items) = object.get("items") {
            self.strict(items, &join(pointer, "items"));
        }
    }

    fn names(&mut self, definition: &Definition) {
        let name = &definition.function.name;
        if *name != definition.id {
            let advice =
                format!("keep id and function name alike ({:?}) unless there is a reason", definition.id);
            self.warn("/function/name", format!("the name {name:?}"), advice);
        }
        if definition.implementation_key != definition.id && definition.replaces.is_none() {
            let advice = format!(
                "keep id and implementation key alike ({:?}) unless there is a reason",
                definition.id
            );
            self.warn("/implementationKey", format!("the key {:?}", definition.implementation_key), advice);
        }
    }

    fn secrets(&mut self, definition: &Definition) {
        for field in &definition.settings_schema.fields {
            let name = field.name.to_lowercase();
            if !field.secret && SECRET_WORDS.iter().any(|word| name.contains(word)) {
                let pointer = join("/settingsSchema/properties", &field.name);
                let advice = "add \"secret\": true, so that it is kept in the secret store and never shown";
                self.warn(&pointer, "a setting that looks like a secret", advice);
            }
        }
    }
}
