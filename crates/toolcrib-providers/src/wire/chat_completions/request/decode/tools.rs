//! Reads the client's tools and its choice among them.

use serde_json::{Map, Value, json};
use toolcrib_runtime::model::{ToolChoice, ToolSpec};

use super::fields::{Problems, found};

/// The longest function name, as at `OpenAI`.
const LONGEST_NAME: usize = 64;

/// What a request says about tools.
#[derive(Default)]
pub(super) struct Tools {
    pub(super) functions: Vec<ToolSpec>,
    pub(super) native: Vec<Value>,
    pub(super) choice: ToolChoice,
    pub(super) parallel: Option<bool>,
}

pub(super) fn read(rest: &mut Map<String, Value>, problems: &mut Problems) -> Tools {
    let mut tools = Tools { parallel: problems.flag(rest, "parallel_tool_calls"), ..Tools::default() };
    for (retired, current) in [("functions", "tools"), ("function_call", "tool_choice")] {
        if rest.shift_remove(retired).is_some_and(|value| !value.is_null()) {
            problems
                .add(retired, format!("is the form that OpenAI replaced in 2023: send `{current}` instead"));
        }
    }
    match rest.shift_remove("tools") {
        None | Some(Value::Null) => {}
        Some(Value::Array(listed)) => {
            for (position, tool) in listed.into_iter().enumerate() {
                problems
                    .within(&format!("tools[{position}]"), |problems| read_tool(tool, &mut tools, problems));
            }
        }
        Some(other) => problems.add("tools", format!("must be an array of tools, found {}", found(&other))),
    }
    if let Some(choice) = rest.shift_remove("tool_choice").filter(|value| !value.is_null()) {
        problems.within("tool_choice", |problems| read_choice(&choice, &mut tools, problems));
    }
    tools
}

fn read_tool(tool: Value, tools: &mut Tools, problems: &mut Problems) {
    let Value::Object(mut fields) = tool else {
        problems.add(
            "",
            format!("must be an object such as {{\"type\": \"function\", …}}, found {}", found(&tool)),
        );
        return;
    };
    match fields.get("type") {
        Some(Value::String(kind)) if kind == "function" => {}
        Some(Value::String(kind)) if kind == "custom" => {
            problems.add(
                "type",
                "found \"custom\": tools with free-form input are not supported, use \"function\"",
            );
            return;
        }
        Some(Value::String(_)) => return tools.native.push(fields.into()),
        // Some clients leave the type of a function out.
        None | Some(Value::Null) if fields.contains_key("function") => {}
        None | Some(Value::Null) => {
            problems.add("type", "is missing: say \"function\", or the type of a tool of the provider");
            return;
        }
        Some(other) => {
            problems.add("type", format!("must be a string, found {}", found(other)));
            return;
        }
    }
    let function = match fields.shift_remove("function") {
        Some(Value::Object(mut function)) => {
            problems.within("function", |problems| read_function(&mut function, problems))
        }
        Some(other) => {
            problems.add("function", format!("must be an object, found {}", found(&other)));
            return;
        }
        // The flat form of the Responses API.
        None => read_function(&mut fields, problems),
    };
    let Some(function) = function else { return };
    if tools.functions.iter().any(|known| known.name == function.name) {
        problems.add(
            "function.name",
            format!("{:?} stands in `tools` twice: names must be unique", function.name),
        );
        return;
    }
    tools.functions.push(function);
}

fn read_function(fields: &mut Map<String, Value>, problems: &mut Problems) -> Option<ToolSpec> {
    let name = problems.required_text(fields, "name", "name the function");
    let is_valid = |name: &str| {
        name.len() <= LONGEST_NAME
            && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte))
    };
    if !is_valid(&name) {
        let allowed = format!("allowed are at most {LONGEST_NAME} letters, digits, `_`, `-` and `.`");
        problems.add("name", format!("found {}; {allowed}", found(&name.into())));
        return None;
    }
    let description = problems.text(fields, "description");
    let strict = problems.flag(fields, "strict");
    let parameters = match fields.shift_remove("parameters") {
        None | Some(Value::Null) => json!({"type": "object", "properties": {}}),
        Some(schema @ Value::Object(_)) => schema,
        Some(other) => {
            problems.add("parameters", format!("must be a JSON Schema object, found {}", found(&other)));
            return None;
        }
    };
    (!name.is_empty()).then_some(ToolSpec { name, description, parameters, strict })
}

fn read_choice(choice: &Value, tools: &mut Tools, problems: &mut Problems) {
    const ALLOWED: &str = "allowed are \"auto\", \"none\", \"required\" and {\"type\": \"function\", \"function\": \
                           {\"name\": …}}";
    let word = choice.as_str().or_else(|| choice.get("type").and_then(Value::as_str));
    match word {
        Some("auto") => tools.choice = ToolChoice::Auto,
        Some("none") => tools.choice = ToolChoice::None,
        Some("required" | "any") => tools.choice = ToolChoice::Required,
        Some("function" | "tool") if choice.is_object() => {
            match choice.pointer("/function/name").or(choice.get("name")) {
                Some(Value::String(name)) if !name.is_empty() => {
                    tools.choice = ToolChoice::Named(name.clone());
                }
                _ => problems.add("function.name", "is missing: name the tool that the model has to call"),
            }
        }
        Some("allowed_tools") if choice.is_object() => {
            let allowed = choice.get("allowed_tools").unwrap_or(choice);
            read_allowed(allowed, tools, problems);
        }
        _ => problems.add("", format!("found {}; {ALLOWED}", found(choice))),
    }
}

fn read_allowed(allowed: &Value, tools: &mut Tools, problems: &mut Problems) {
    let Some(listed) = allowed.get("tools").and_then(Value::as_array) else {
        problems.add("allowed_tools.tools", "must be an array of the tools that may be called");
        return;
    };
    let name = |tool: &Value| {
        let name = tool.pointer("/function/name").or(tool.get("name"));
        name.and_then(Value::as_str).map(str::to_owned)
    };
    let names: Vec<_> = listed.iter().filter_map(name).collect();
    tools.functions.retain(|tool| names.contains(&tool.name));
    match allowed.get("mode").and_then(Value::as_str) {
        None | Some("auto") => tools.choice = ToolChoice::Auto,
        Some("required") => tools.choice = ToolChoice::Required,
        Some(other) => {
            problems
                .add("allowed_tools.mode", format!("found {other:?}; allowed are \"auto\" and \"required\""));
        }
    }
}
