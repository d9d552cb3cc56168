//! Warnings about definitions that were written for a person and not for a model.

use serde_json::Value;

use super::reader::join;
use super::subschemas::{keywords, subschemas};
use super::{Definition, Problem, Severity, strict_obstacles};
use crate::nearest::nearest;

const MAX_COMFORTABLE_PARAMETERS: usize = 8;
const PARAMETERS: &str = "/function/parameters";

/// Words by which a description says when to use the tool.
const OCCASIONS: [&str; 8] =
    ["use ", "when", "whenever", "if the", "before", "after", "for questions", "to find"];

/// Names of settings that are nearly always secrets.
const SECRET_WORDS: [&str; 6] = ["key", "token", "secret", "password", "passwd", "credential"];

/// What will make a model use the tool badly, though the definition is valid.
pub fn lint(definition: &Definition, file: &str) -> Vec<Problem> {
    let mut lints = Lints { file, problems: Vec::new() };
    lints.descriptions(definition);
    lints.parameters(definition);
    lints.keywords(definition);
    if definition.function.strict {
        for obstacle in strict_obstacles(&definition.function.parameters) {
            lints.warn(&format!("{PARAMETERS}{}", obstacle.pointer), obstacle.found, obstacle.advice);
        }
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
        self.warn_near(pointer, found, advice, None);
    }

    fn warn_near(
        &mut self,
        pointer: &str,
        found: impl Into<String>,
        advice: impl Into<String>,
        nearest: Option<&str>,
    ) {
        let problem = Problem::error(self.file, pointer, found, advice);
        let nearest = nearest.map(str::to_owned);
        self.problems.push(Problem { severity: Severity::Warning, nearest, ..problem });
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

    /// A word that JSON Schema does not know refuses nothing, so a misspelled rule is silently none.
    fn keywords(&mut self, definition: &Definition) {
        for schema in subschemas(&definition.function.parameters) {
            for word in schema.fields.keys().filter(|word| !word.starts_with("x-")) {
                if keywords().all(|known| known != word) {
                    let pointer = join(&format!("{PARAMETERS}{}", schema.pointer), word);
                    let advice =
                        "JSON Schema ignores it: use one of its keywords, or begin the name with \"x-\"";
                    let found = format!("the unknown keyword {word:?}");
                    self.warn_near(&pointer, found, advice, nearest(word, keywords()));
                }
            }
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
