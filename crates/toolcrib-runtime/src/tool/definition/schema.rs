//! The format of definition files as a JSON Schema (draft 2020-12), for editors that complete and check them.
//!
//! Choices and limits are those of the reader. What a schema cannot say (that a required argument exists, which names
//! are taken) only the reader finds.

use serde_json::{Value, json};

use super::SUPPORTED_SCHEMA_VERSIONS;
use super::read::{APPROVALS, CONCURRENCIES, MAX_PRICE, MAX_RESULT_CHARACTERS, MAX_TIMEOUT_SECONDS, UNITS};
use super::settings_schema::TYPES;
use crate::caller::Components;
use crate::confidence::Confidence;

#[cfg(test)]
mod tests;

/// The schema of a definition file, every field described.
pub fn schema() -> Value {
    let mut whole = object("A tool definition: what a model and an administrator see of a tool.", fields());
    let id = "[a-z][a-z0-9_]{0,63}";
    let head = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Toolcrib tool definition",
        "required": ["schemaVersion", "id", "function"],
        // Without a source, the implementation has to be named.
        "anyOf": [{ "required": ["implementationKey"] }, { "required": ["source"] }],
        "$defs": {
            "id": { "type": "string", "pattern": format!("^{id}$") },
            "component": { "anyOf": [
                { "enum": Components::default().ids().collect::<Vec<_>>() },
                { "pattern": "^[a-z][a-z0-9_]*_assistant$", "description": "An assistant of the installation." }
            ] },
            "price": { "type": "integer", "minimum": 0, "maximum": MAX_PRICE },
        }
    });
    let properties = &mut whole["properties"];
    properties["$schema"] = text("Where this schema is, for editors.");
    if let (Value::Object(whole), Value::Object(mut head)) = (&mut whole, head) {
        head.append(whole);
        *whole = head;
    }
    whole
}

fn fields() -> Value {
    let versions = SUPPORTED_SCHEMA_VERSIONS;
    json!({
        "schemaVersion": { "description": "The version of this format.", "enum": versions },
        "id": reference("id", "The tool's id, unique in the installation: a lower-case letter, then at most 63 lower-case letters, digits and underscores."),
        "implementationKey": filled("The key of the implementation that answers calls. Needed unless there is a source."),
        "visibleIn": visible_in(),
        "settingsSchema": settings_schema(),
        "systemPromptInstructions": text("Policy text, put into the system prompt while the tool is offered. Say when to use the tool and when not."),
        "function": function(),
        "capability": filled("The key by which plans and preferences grant the tool. Default: the id, or the capability of the tool that is replaced."),
        "contextual": flag("The tool reads or writes what outlives the conversation; it is withheld in temporary chats.", false),
        "annotations": object("Hints about the tool's effects, as MCP defines them.", json!({
            "readOnly": flag("The tool changes nothing.", false),
            "destructive": flag("The tool may destroy something.", false),
            "idempotent": flag("A repeated call has no further effect.", false),
            "openWorld": flag("The tool deals with things outside the installation.", false),
        })),
        "concurrency": choice("Whether calls of the tool may run beside other parallel calls of the same round.", names(&CONCURRENCIES), "sequential"),
        "timeoutSeconds": integer("How long one call may take, in seconds. Default: the limits of the run.", 1, MAX_TIMEOUT_SECONDS),
        "maxResultCharacters": integer("The most characters of one result; the rest is cut, and the model is told. Default: the limits of the run.", 1, MAX_RESULT_CHARACTERS),
        "cost": cost(),
        "approval": choice("When a person has to agree to a call: never, always, or once the run has seen untrusted content.", names(&APPROVALS), "never"),
        "returnsUntrustedContent": flag("Results were written by people whom the user does not know.", false),
        "minimumConfidence": confidence(),
        "sensitiveArguments": list("Arguments whose values never appear in traces or logs.", json!({ "type": "string", "minLength": 1 })),
        "replaces": reference("id", "The id of the built-in tool whose place this one takes. Its parameters must accept every argument object that the built-in tool's accept."),
        "source": { "description": "Where the implementation comes from, for tools without Rust.", "type": "object" },
        "display": display(),
    })
}

fn visible_in() -> Value {
    let components = |about| list(about, json!({ "$ref": "#/$defs/component" }));
    object(
        "In which components the tool may be offered. When either list has entries, the lists replace the two flags.",
        json!({
            "chat": flag("In chats, and wherever there is no assistant.", true),
            "assistants": flag("In every assistant.", true),
            "allowedComponents": components("Only in these; empty means everywhere."),
            "deniedComponents": components("Never in these; wins over everything else."),
        }),
    )
}

fn settings_schema() -> Value {
    let mut field = object(
        "A setting that an administrator can make.",
        json!({
            "type": { "description": "The type of its values.", "enum": names(&TYPES) },
            "title": text("Its label."),
            "description": text("Its help text."),
            "enum": list("The allowed values.", json!({})),
            "default": { "description": "The value when nothing is set." },
            "minimum": { "description": "The smallest number.", "type": "number" },
            "maximum": { "description": "The largest number.", "type": "number" },
            "format": text("A JSON Schema format, for example `uri`."),
            "secret": flag("The value is kept in the secret store and never shown.", false),
        }),
    );
    field["required"] = json!(["type"]);
    object(
        "What an administrator can set for the tool.",
        json!({
            "type": { "description": "Always an object.", "const": "object" },
            "title": text("The title of the settings."),
            "description": text("What the settings are for."),
            "properties": map("The settings by name.", field),
            "required": list("Settings without which the tool is withheld; each must be one of the properties.", json!({ "type": "string", "minLength": 1 })),
            "additionalProperties": { "description": "Read and ignored: settings that are not named here are always refused." },
        }),
    )
}

fn function() -> Value {
    let parameters = json!({
        "description": "JSON Schema (draft 2020-12) of the arguments object. Give every property a description.",
        "$ref": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "properties": { "type": { "const": "object" } },
        "required": ["type"],
    });
    let mut function = object(
        "What the model sees of the tool.",
        json!({
            "name": {
                "description": "The function's name: 1 to 64 of A-Z, a-z, 0-9, _ and -. Best the same as the id.",
                "type": "string",
                "pattern": "^[A-Za-z0-9_-]{1,64}$",
            },
            "descriptionForLLM": text("What the tool does, what it returns, and when to use it, written for a model."),
            "strict": flag("Whether providers enforce the parameters where they can. That needs a closed object with all properties required.", true),
            "parameters": parameters,
        }),
    );
    function["required"] = json!(["name", "parameters"]);
    function
}

fn cost() -> Value {
    let mut rate = object(
        "The price of one unit.",
        json!({
            "key": filled("The rate's key."),
            "unit": { "description": "What the price is for one of.", "enum": names(&UNITS) },
            "price": reference("price", "The price of one unit, in millionths of a credit."),
        }),
    );
    rate["required"] = json!(["key", "unit", "price"]);
    let mut cost = object(
        "What a call costs.",
        json!({
            "perCall": reference("price", "The price of a call, in millionths of a credit."),
            "rates": list("Prices by rate key and unit.", rate),
            "maximum": reference("price", "The most that one call can cost, in millionths of a credit; held before the call. Needed with rates."),
        }),
    );
    cost["if"] = json!({ "properties": { "rates": { "minItems": 1 } }, "required": ["rates"] });
    cost["then"] = json!({ "required": ["maximum"] });
    cost
}

fn confidence() -> Value {
    let levels = Confidence::ALL.into_iter().filter(|level| *level != Confidence::Unknown);
    let levels: Vec<_> = levels.map(Confidence::name).collect();
    json!({
        "description": "The confidence that a provider needs to be offered the tool. An administrator's value wins.",
        "enum": levels,
    })
}

fn display() -> Value {
    let locale = object(
        "Texts in one locale.",
        json!({
            "name": text("The tool's name, for example \"Read web page\"."),
            "description": text("One sentence on what the tool does for the user."),
            "icon": text("One emoji or the name of an icon."),
            "fieldLabels": map("Labels of settings by their names.", json!({ "type": "string" })),
        }),
    );
    map("Texts for people by locale (BCP 47), for tools without Rust.", locale)
}

/// A closed object with these properties.
fn object(about: &str, properties: Value) -> Value {
    let closed = ("additionalProperties", Value::Bool(false));
    described(about, [("type", "object".into()), ("properties", properties), closed])
}

fn map(about: &str, values: Value) -> Value {
    described(about, [("type", "object".into()), ("additionalProperties", values)])
}

fn list(about: &str, items: Value) -> Value {
    described(about, [("type", "array".into()), ("items", items)])
}

fn described<const N: usize>(about: &str, keywords: [(&str, Value); N]) -> Value {
    [("description", Value::from(about))].into_iter().chain(keywords).collect()
}

fn text(about: &str) -> Value {
    json!({ "description": about, "type": "string" })
}

fn filled(about: &str) -> Value {
    json!({ "description": about, "type": "string", "pattern": "\\S" })
}

fn flag(about: &str, default: bool) -> Value {
    json!({ "description": about, "type": "boolean", "default": default })
}

fn integer(about: &str, minimum: i64, maximum: i64) -> Value {
    json!({ "description": about, "type": "integer", "minimum": minimum, "maximum": maximum })
}

fn choice(about: &str, names: Vec<&str>, default: &str) -> Value {
    described(about, [("enum", names.into()), ("default", default.into())])
}

fn reference(definition: &str, about: &str) -> Value {
    described(about, [("$ref", format!("#/$defs/{definition}").into())])
}

fn names<T>(choices: &[(&'static str, T)]) -> Vec<&'static str> {
    choices.iter().map(|(name, _)| *name).collect()
}
