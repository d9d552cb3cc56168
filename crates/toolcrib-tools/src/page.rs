//! The page of a tool for people, made from its definition and from the comment with which its module opens.
//!
//! What a definition says is never written a second time by hand. Of the comment, what stands before its first heading
//! is the introduction; the list below `# Limits and errors` and what stands below `# Example` become sections.

use std::fmt::Write as _;
use std::time::Duration;

use serde_json::Value;
use toolcrib_runtime::confidence::Confidence;
use toolcrib_runtime::registry::RegisteredTool;
use toolcrib_runtime::tool::Outgoing;
use toolcrib_runtime::tool::definition::{Approval, Concurrency, Definition, SettingField};

mod comment;
#[cfg(test)]
mod tests;

use comment::Comment;

/// The page of a tool as Markdown. `source` is the text of the module that opens with the tool's comment.
pub fn page(tool: &RegisteredTool, source: &str) -> String {
    let comment = Comment::read(source);
    let id = tool.id();
    let (icon, name) = (&tool.display.icon, &tool.display.name);
    let mut page = format!("# {icon} {name}\n\n{}\n\n{}\n", tool.display.description, comment.introduction);
    section(&mut page, "When a model uses it", &occasions(&tool.definition));
    section(&mut page, "Arguments", &arguments(&tool.definition));
    section(&mut page, "Settings", &settings(tool));
    section(&mut page, "What it can touch", &touches(tool));
    let limits = format!("{}\n{}", limits(&tool.definition), comment.section("Limits and errors"));
    section(&mut page, "Limits and errors", limits.trim_end());
    section(&mut page, "Example", comment.section("Example"));
    let _ = write!(
        page,
        "\n<!-- Made by `cargo run -- schema tool-page {id} > docs/tools/{id}.md`: change the tool, not this file. -->\n"
    );
    page
}

fn section(page: &mut String, heading: &str, text: &str) {
    let _ = write!(page, "\n## {heading}\n{text}\n");
}

fn occasions(definition: &Definition) -> String {
    let mut text = format!("It reads this description:\n\n{}", quote(&definition.function.description));
    if let Some(policy) = &definition.system_prompt_instructions {
        let _ =
            write!(text, "\n\nWhile the tool is offered, the system prompt also says:\n\n{}", quote(policy));
    }
    text
}

fn quote(text: &str) -> String {
    text.lines().map(|line| format!("> {line}")).collect::<Vec<_>>().join("\n>\n")
}

fn arguments(definition: &Definition) -> String {
    let parameters = &definition.function.parameters;
    let Some(properties) = parameters["properties"].as_object().filter(|properties| !properties.is_empty())
    else {
        return "None.".to_owned();
    };
    let required = |name: &str| {
        parameters["required"].as_array().is_some_and(|names| names.iter().any(|required| required == name))
    };
    let rows = properties.iter().map(|(name, schema)| {
        let kind = type_of(schema);
        let needed = if required(name) && !kind.contains("null") { "yes" } else { "no" };
        let meaning = cell(schema["description"].as_str().unwrap_or_default());
        format!("| `{name}` | {kind} | {needed} | {meaning} |")
    });
    table("| name | type | needed | meaning |\n|---|---|---|---|", rows)
}

/// The type of a value in a few words.
fn type_of(schema: &Value) -> String {
    let kind = match &schema["type"] {
        Value::String(kind) => kind.clone(),
        Value::Array(kinds) => kinds.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" or "),
        _ => match schema["anyOf"].as_array() {
            Some(options) => options.iter().map(type_of).collect::<Vec<_>>().join(" or "),
            None => "any".to_owned(),
        },
    };
    let mut text = kind;
    if let Some(choices) = schema["enum"].as_array() {
        let choices: Vec<String> = choices.iter().map(|choice| format!("`{choice}`")).collect();
        let _ = write!(text, ": {}", choices.join(", "));
    }
    match (schema["minimum"].as_number(), schema["maximum"].as_number()) {
        (Some(least), Some(most)) => _ = write!(text, ", {least} to {most}"),
        (Some(least), None) => _ = write!(text, ", at least {least}"),
        (None, Some(most)) => _ = write!(text, ", at most {most}"),
        (None, None) => {}
    }
    text
}

fn settings(tool: &RegisteredTool) -> String {
    let fields = &tool.definition.settings_schema.fields;
    if fields.is_empty() {
        return "None.".to_owned();
    }
    let rows = fields.iter().map(|field| {
        let texts = tool.setting_texts(&field.name, "en");
        let default = field.default.as_ref().map(|value| format!("`{value}`")).unwrap_or_default();
        let meaning = cell(&format!("**{}.** {}", texts.label, texts.help));
        format!("| `{}` | {} | {default} | {meaning} |", field.name, setting_type(field))
    });
    let rows = table("| name | type | default | meaning |\n|---|---|---|---|", rows);
    format!("They stand under `[tools.{}]` in `toolcrib.toml`.\n\n{rows}", tool.id())
}

fn setting_type(field: &SettingField) -> String {
    let mut schema = serde_json::Map::from_iter([("type".to_owned(), Value::from(field.kind.name()))]);
    schema.extend(field.minimum.clone().map(|least| ("minimum".to_owned(), Value::Number(least))));
    schema.extend(field.maximum.clone().map(|most| ("maximum".to_owned(), Value::Number(most))));
    if !field.choices.is_empty() {
        schema.insert("enum".to_owned(), Value::Array(field.choices.clone()));
    }
    let mut text = type_of(&Value::Object(schema));
    for (holds, word) in [(field.required, ", required"), (field.secret, ", secret")] {
        if holds {
            text.push_str(word);
        }
    }
    text
}

fn touches(tool: &RegisteredTool) -> String {
    let definition = &tool.definition;
    let annotations = definition.annotations;
    let outgoing = match tool.implementation.as_ref().map(|tool| tool.outgoing()) {
        None | Some(Outgoing::Nothing) => "nothing leaves the installation",
        Some(Outgoing::ConfiguredService) => "data goes to a service that an administrator configured",
        Some(Outgoing::ModelChosenUrl) => "a URL that the model chose is fetched",
    };
    let effects = match (annotations.read_only, annotations.destructive) {
        (true, _) => "none, it only reads",
        (false, true) => "it may change and destroy things",
        (false, false) => "it may change things",
    };
    let untrusted = if definition.returns_untrusted_content {
        "yes: results were written by people whom the user does not know"
    } else {
        "no"
    };
    let confidence = match definition.minimum_confidence.unwrap_or_default() {
        Confidence::None => "every provider may be offered it".to_owned(),
        level => format!("it is offered to providers of confidence {} and above", level.name()),
    };
    let approval = match definition.approval {
        Approval::Never => "never",
        Approval::Always => "before every call",
        Approval::AfterUntrusted => "once the run has read untrusted content",
    };
    let mut lines = vec![
        ("Outgoing data", outgoing.to_owned()),
        ("Effects", effects.to_owned()),
        ("Untrusted content", untrusted.to_owned()),
        ("Confidence", confidence),
        ("Approval by a person", approval.to_owned()),
    ];
    if definition.contextual {
        let text = "withheld, since it reads or writes what outlives them";
        lines.push(("Temporary conversations", text.to_owned()));
    }
    let mut sensitive: Vec<&str> = definition.sensitive_arguments.iter().map(String::as_str).collect();
    sensitive.extend(tool.implementation.iter().flat_map(|tool| tool.sensitive_arguments()));
    sensitive.sort_unstable();
    sensitive.dedup();
    if !sensitive.is_empty() {
        lines.push(("Never shown in traces or logs", format!("`{}`", sensitive.join("`, `"))));
    }
    lines.iter().map(|(what, text)| format!("- {what}: {text}.")).collect::<Vec<_>>().join("\n")
}

fn limits(definition: &Definition) -> String {
    let whole = |time: Duration| time.as_secs();
    let time = match definition.timeout {
        Some(time) => format!("{} seconds at most", whole(time)),
        None => "the run's limit".to_owned(),
    };
    let size = match definition.max_result_characters {
        Some(count) => format!("{count} characters at most"),
        None => "the run's limit".to_owned(),
    };
    let beside = match definition.concurrency {
        Concurrency::Parallel => "may run beside others of the same round",
        Concurrency::Sequential => "run one after the other",
    };
    format!("- Time of a call: {time}.\n- Size of a result: {size}.\n- Calls {beside}.")
}

fn table(head: &str, rows: impl Iterator<Item = String>) -> String {
    std::iter::once(head.to_owned()).chain(rows).collect::<Vec<_>>().join("\n")
}

/// Text in a cell of a table.
fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', "<br>")
}
