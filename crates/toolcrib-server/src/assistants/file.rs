//! Reads the file of an assistant, with every problem in it at once.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};
use toolcrib_runtime::caller::{AssistantIdError, Components};
use toolcrib_runtime::nearest::nearest;
use toolcrib_runtime::tool::definition::Problem;

use super::input::{Choice, Input, Kind, LONG_TEXT_LENGTH, TEXT_LENGTH};
use super::reader::{Place, Reader, Table, describe};
use super::template::Template;
use super::{Assistant, DefaultTools, Need, stem};

/// The version of the format that is read.
const SCHEMA_VERSION: u64 = 1;
/// The place in a prompt where the name of the marks stands that the user's own text is put between.
pub(super) const DELIMITER: &str = "delimiter";
/// The highest temperature that any provider takes.
const HIGHEST_TEMPERATURE: f64 = 2.0;

/// The kind of an input, before the rest of it has been read.
#[derive(Clone, Copy, PartialEq, Eq)]
enum KindName {
    Text,
    LongText,
    Choice,
    Boolean,
    Number,
}

const KINDS: [(&str, KindName); 5] = [
    ("text", KindName::Text),
    ("long_text", KindName::LongText),
    ("choice", KindName::Choice),
    ("boolean", KindName::Boolean),
    ("number", KindName::Number),
];

/// Reads the text of a file; `file` names it in problems.
pub(super) fn read(text: &str, file: &str) -> Result<Assistant, Vec<Problem>> {
    let mut reader = Reader::new(file);
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let map: Map<String, Value> = match toml::from_str(text) {
        Ok(map) => map,
        Err(error) => {
            let line = error
                .span()
                .and_then(|span| text.get(..span.start))
                .map_or(1, |before| before.matches('\n').count() + 1);
            let found = format!("no valid TOML (line {line}: {})", error.message().trim_end());
            reader.error("", found, "an assistant is one TOML file (https://toml.io)");
            return Err(reader.problems);
        }
    };
    let assistant = whole(&mut reader, Table::of(&map, String::new()), stem(file));
    assistant.filter(|_| reader.problems.is_empty()).ok_or(reader.problems)
}

fn whole(reader: &mut Reader, mut table: Table<'_>, name_of_file: &str) -> Option<Assistant> {
    if let Some(place) = table.require("schema_version", reader)
        && place.value.as_u64() != Some(SCHEMA_VERSION)
    {
        reader.error(&place.pointer, describe(place.value), format!("{SCHEMA_VERSION} is allowed"));
    }
    let id = table.require("id", reader).and_then(|place| assistant_id(reader, &place, name_of_file));
    let icon = table.require("icon", reader).and_then(|place| reader.text(&place));
    let name = table.require("name", reader).and_then(|place| reader.texts(&place));
    let description = table.require("description", reader).and_then(|place| reader.texts(&place));
    let user_text = table.require("user_text", reader);
    let user_text = user_text.and_then(|place| Some((reader.id(&place)?, place.pointer)));
    let delimiter = table.take(DELIMITER).and_then(|place| Some((reader.id(&place)?, place.pointer)));
    let tools = table.take("tools").map_or(Some(DefaultTools::Usual), |place| tools(reader, &place));
    let temperature = table.take("temperature").and_then(|place| temperature(reader, &place));
    let needs = table.take("needs").map(|place| needs(reader, &place)).unwrap_or_default();
    let prompt_place = table.require("prompt", reader);
    let prompt = prompt_place.as_ref().and_then(|place| prompt(reader, place));
    let inputs_place = table.require("inputs", reader);
    let before = reader.problems.len();
    let inputs = inputs_place.map(|place| inputs(reader, &place)).unwrap_or_default();
    // What an input that cannot be read would have been called is not known.
    let inputs_are_whole = reader.problems.len() == before;
    table.finish(reader);
    if inputs_are_whole {
        if let Some((input, pointer)) = &user_text {
            check_user_text(reader, input, pointer, &inputs);
        }
        if let Some(prompt) = &prompt {
            let delimited = delimiter.as_ref().map(|(_, pointer)| pointer.as_str());
            let user_text = user_text.as_ref().map_or("", |(id, _)| id);
            check_mentions(reader, prompt, &inputs, user_text, delimited);
        }
    }
    Some(Assistant {
        id: id?,
        icon: icon?,
        name: name?,
        description: description?,
        inputs,
        user_text: user_text?.0,
        delimiter: delimiter.map(|(name, _)| name),
        tools: tools?,
        temperature,
        needs,
        prompt: prompt?,
    })
}

fn assistant_id(reader: &mut Reader, place: &Place<'_>, name_of_file: &str) -> Option<String> {
    let id = reader.text(place)?;
    if Components::default().add_assistant(&id).is_err() {
        reader.error(&place.pointer, format!("{id:?}"), AssistantIdError::ALLOWED);
        return None;
    }
    if id != name_of_file {
        let allowed = format!("the file is named after its id: {id}.toml");
        reader.error(&place.pointer, format!("{id:?} in a file named {name_of_file:?}"), allowed);
        return None;
    }
    Some(id)
}

fn tools(reader: &mut Reader, place: &Place<'_>) -> Option<DefaultTools> {
    match place.value {
        Value::String(text) if text == "default" => Some(DefaultTools::Usual),
        Value::Array(_) => {
            let items = reader.items(place);
            let ids: Vec<_> = items.iter().map(|item| reader.id(item)).collect();
            ids.into_iter().collect::<Option<BTreeSet<_>>>().map(DefaultTools::Only)
        }
        other => {
            reader.error(&place.pointer, describe(other), "\"default\" or a list of tool ids is allowed");
            None
        }
    }
}

fn temperature(reader: &mut Reader, place: &Place<'_>) -> Option<f64> {
    let number = reader.number(place)?;
    if (0.0..=HIGHEST_TEMPERATURE).contains(&number) {
        return Some(number);
    }
    let allowed = format!("a number from 0 to {HIGHEST_TEMPERATURE} is allowed");
    reader.error(&place.pointer, describe(place.value), allowed);
    None
}

fn needs(reader: &mut Reader, place: &Place<'_>) -> BTreeSet<Need> {
    let items = reader.items(place);
    items.iter().filter_map(|item| reader.word(item, &Need::NAMES)).collect()
}

fn prompt(reader: &mut Reader, place: &Place<'_>) -> Option<Template> {
    let text = reader.text(place)?;
    match Template::parse(&text) {
        Ok(template) => Some(template),
        Err(problems) => {
            for problem in problems {
                reader.error(&place.pointer, problem.found, problem.allowed);
            }
            None
        }
    }
}

fn inputs(reader: &mut Reader, place: &Place<'_>) -> Vec<Input> {
    let mut inputs: Vec<Input> = Vec::new();
    for item in reader.items(place) {
        let Some(table) = reader.table(&item) else { continue };
        let Some(input) = input(reader, table) else { continue };
        if inputs.iter().any(|other| other.id == input.id) {
            let found = format!("the id {:?}, which another input has already", input.id);
            reader.error(&format!("{}/id", item.pointer), found, "every input has an id of its own");
        } else if input.id == DELIMITER {
            let allowed = "this name stands for the marks around the user's own text; choose another";
            reader.error(&format!("{}/id", item.pointer), format!("{DELIMITER:?}"), allowed);
        }
        inputs.push(input);
    }
    inputs
}

fn input(reader: &mut Reader, mut table: Table<'_>) -> Option<Input> {
    let id = table.require("id", reader).and_then(|place| reader.id(&place));
    let kind = table.require("kind", reader).and_then(|place| reader.word(&place, &KINDS));
    let label = table.require("label", reader).and_then(|place| reader.texts(&place));
    let help = table.take("help").and_then(|place| reader.texts(&place));
    let required = table.take("required").and_then(|place| reader.flag(&place)).unwrap_or(false);
    let kind = match kind {
        Some(kind) => of_kind(reader, &mut table, kind),
        // Without a kind nothing can be said of the keys that only some kinds have.
        None => return None,
    };
    let default = table.take("default");
    table.finish(reader);
    let mut input = Input { id: id?, kind: kind?, label: label?, help, required, default: None };
    if let Some(place) = default {
        if input.required {
            let allowed = "an input that has a default is not required: leave one of the two out";
            reader.error(&place.pointer, "a default of a required input", allowed);
        }
        let blank = Input::is_blank(place.value);
        match input.prompt_text(place.value) {
            Ok(_) if !blank => input.default = Some(place.value.clone()),
            Ok(_) => reader.error(&place.pointer, "an empty default", "leave it out"),
            Err(problem) => {
                let near = problem.nearest.as_deref();
                reader.error_near(&place.pointer, problem.found, problem.allowed, near);
            }
        }
    }
    Some(input)
}

fn of_kind(reader: &mut Reader, table: &mut Table<'_>, kind: KindName) -> Option<Kind> {
    match kind {
        KindName::Text => Some(Kind::Text { max_length: max_length(reader, table)?.or(Some(TEXT_LENGTH)) }),
        KindName::LongText => {
            Some(Kind::LongText { max_length: max_length(reader, table)?.or(Some(LONG_TEXT_LENGTH)) })
        }
        KindName::Boolean => Some(Kind::Boolean),
        KindName::Choice => {
            let place = table.require("options", reader)?;
            choices(reader, &place).map(Kind::Choice)
        }
        KindName::Number => {
            let minimum = table.take("minimum").and_then(|place| reader.number(&place));
            let maximum = table.take("maximum").and_then(|place| reader.number(&place));
            if let (Some(least), Some(most)) = (minimum, maximum)
                && least > most
            {
                let found = format!("the minimum {least} above the maximum {most}");
                reader.error(&table.pointer, found, "the minimum is not above the maximum");
                return None;
            }
            Some(Kind::Number { minimum, maximum })
        }
    }
}

/// `Some(None)` when the file names none, `None` when what it names cannot be read.
#[expect(clippy::option_option, reason = "absent and wrong are different things")]
fn max_length(reader: &mut Reader, table: &mut Table<'_>) -> Option<Option<usize>> {
    let Some(place) = table.take("max_length") else { return Some(None) };
    let length =
        place.value.as_u64().filter(|length| *length > 0).and_then(|length| usize::try_from(length).ok());
    if length.is_none() {
        reader.error(
            &place.pointer,
            describe(place.value),
            "a whole number of characters above 0 is allowed",
        );
        return None;
    }
    Some(length)
}

fn choices(reader: &mut Reader, place: &Place<'_>) -> Option<Vec<Choice>> {
    let items = reader.items(place);
    if items.len() < 2 {
        reader.error(&place.pointer, format!("{} options", items.len()), "a choice has at least two options");
        return None;
    }
    let mut choices: Vec<Choice> = Vec::new();
    let mut whole = true;
    for item in &items {
        let choice = reader.table(item).and_then(|table| choice(reader, table));
        let Some(choice) = choice else {
            whole = false;
            continue;
        };
        if choices.iter().any(|other| other.id == choice.id) {
            let found = format!("the id {:?}, which another option has already", choice.id);
            reader.error(&format!("{}/id", item.pointer), found, "every option has an id of its own");
        }
        choices.push(choice);
    }
    whole.then_some(choices)
}

fn choice(reader: &mut Reader, mut table: Table<'_>) -> Option<Choice> {
    let id = table.require("id", reader).and_then(|place| reader.id(&place));
    let label = table.require("label", reader).and_then(|place| reader.texts(&place));
    let prompt = match table.take("prompt") {
        Some(place) if place.value.as_str().is_some_and(|text| text.trim().is_empty()) => Some(String::new()),
        Some(place) => reader.text(&place),
        None => label.as_ref().map(|label| label.english().to_owned()),
    };
    table.finish(reader);
    Some(Choice { id: id?, label: label?, prompt: prompt? })
}

fn check_user_text(reader: &mut Reader, id: &str, pointer: &str, inputs: &[Input]) {
    let Some(input) = inputs.iter().find(|input| input.id == id) else {
        let ids: Vec<_> = inputs.iter().map(|input| input.id.as_str()).collect();
        let allowed = format!("one of the inputs is allowed: {}", ids.join(", "));
        reader.error_near(pointer, format!("{id:?}"), allowed, nearest(id, ids.iter().copied()));
        return;
    };
    if !matches!(input.kind, Kind::Text { .. } | Kind::LongText { .. }) {
        let found = format!("the input {id:?} of kind {}", input.kind.name());
        reader.error(pointer, found, "the user's own text is of kind text or long_text");
    }
    if input.default.is_some() {
        reader.error(
            pointer,
            format!("the input {id:?} with a default"),
            "the user's own text has no default",
        );
    }
}

/// Checks that the prompt and the inputs fit each other.
fn check_mentions(
    reader: &mut Reader,
    prompt: &Template,
    inputs: &[Input],
    user_text: &str,
    delimiter: Option<&str>,
) {
    const PROMPT: &str = "/prompt";
    let mentions = prompt.mentions();
    let by_id: BTreeMap<&str, &Input> = inputs.iter().map(|input| (input.id.as_str(), input)).collect();
    let mut told = BTreeSet::new();
    for mention in &mentions {
        let id = mention.input.as_str();
        let mark = format!("{{{{{id}}}}}");
        let (found, allowed) = if id == user_text {
            (mark, "the user's own text is the user message and cannot stand in the prompt".to_owned())
        } else if id == DELIMITER {
            if delimiter.is_some() {
                continue;
            }
            (mark, "name the marks around the user's own text first: delimiter = \"…\"".to_owned())
        } else if let Some(input) = by_id.get(id) {
            match &input.kind {
                Kind::Boolean if mention.value => {
                    (mark, format!("a boolean has no text: use {{{{#{id}}}}} … {{{{/{id}}}}}"))
                }
                _ if mention.value && !mention.guarded && input.may_be_empty() => {
                    let allowed = format!(
                        "there may be no value: put it between {{{{#{id}}}}} and {{{{/{id}}}}}, require the input, \
                         or give it a default"
                    );
                    (mark, allowed)
                }
                _ => continue,
            }
        } else {
            if told.insert(mention.input.clone()) {
                let ids: Vec<_> = by_id.keys().copied().filter(|known| *known != user_text).collect();
                let allowed = format!("an input can stand there: {}", ids.join(", "));
                reader.error_near(
                    PROMPT,
                    format!("the unknown placeholder {mark}"),
                    allowed,
                    nearest(id, ids),
                );
            }
            continue;
        };
        if told.insert(format!("{id} {allowed}")) {
            reader.error(PROMPT, found, allowed);
        }
    }
    let used = |id: &str| mentions.iter().any(|mention| mention.input == id);
    for (index, input) in inputs.iter().enumerate().filter(|(_, input)| input.id != user_text) {
        if !used(&input.id) && input.id != DELIMITER {
            let found = format!("the input {:?}, which the prompt does not use", input.id);
            reader.error(&format!("/inputs/{index}"), found, "use it in the prompt, or leave it out");
        }
    }
    if let Some(pointer) = delimiter
        && !used(DELIMITER)
    {
        reader.error(
            pointer,
            "a delimiter that the prompt does not mention",
            "say in the prompt what <{{delimiter}}> is",
        );
    }
}
