//! Words an answer: from the results of tools, or from what is missing.
//!
//! Nothing is claimed that does not stand in a result. Results may be framed by lines that mark untrusted content,
//! so the JSON object is looked for inside.

use serde_json::{Map, Value};
use toolcrib_runtime::message::{ToolCall, ToolResult};
use toolcrib_runtime::model::ModelRequest;

use super::conversation::Turn;
use super::intent::{Wish, is_offered};
use super::passages::best_sentences;

/// The most sentences that are quoted from one page.
const MOST_SENTENCES: usize = 3;

/// The most characters of a result that are quoted where its form is not known.
const QUOTED_CHARACTERS: usize = 400;

/// The most openings of an object that are tried in a text.
const MOST_OPENINGS: usize = 64;

/// The answer to the question, one paragraph per result.
pub(super) fn from_results(turn: &Turn<'_>) -> String {
    let paragraphs: Vec<_> =
        turn.results.iter().map(|(call, result)| of_result(call, result, &turn.question)).collect();
    paragraphs.join("\n\n")
}

/// What is missing to fulfill the wish.
pub(super) fn without_tool(wish: &Wish) -> String {
    format!(
        "For this I would call the tool `{}`, but it is not offered here. The explanation of the offering says why: \
         it may be switched off, not configured, or not part of the plan.",
        wish.tool
    )
}

/// What the model can do with the tools on offer.
pub(super) fn without_rule(request: &ModelRequest) -> String {
    let examples = [
        ("read_web_page", "give me an address, as in “Read https://example.org and tell me what it is for”"),
        ("web_search", "“search for” something"),
        ("calculate", "let me calculate, as in “What is 12 * (3 + 4)?”"),
        ("get_current_time", "ask “What time is it in Tokyo?”"),
        ("save_memory", "tell me to “remember” something"),
    ];
    let offered = examples.iter().filter(|(tool, _)| is_offered(tool, request)).map(|(_, example)| *example);
    let offered: Vec<_> = offered.collect();
    let try_this = match offered.as_slice() {
        [] => "No tool that I know is offered here, so there is nothing that I can do.".to_owned(),
        [only] => format!("You can {only}."),
        [others @ .., last] => format!("You can {}, or {last}.", others.join(", ")),
    };
    format!(
        "I follow a few fixed rules, and none of them fits what you wrote. {try_this} For real answers, configure a provider."
    )
}

fn of_result(call: &ToolCall, result: &ToolResult, question: &str) -> String {
    if result.is_error {
        return format!("The tool `{}` did not succeed. It said: {}", call.name, quoted(&result.text));
    }
    let object = find_object(&result.text);
    let answer = object.as_ref().and_then(|object| match call.name.as_str() {
        "read_web_page" => of_page(object, question),
        "web_search" => of_search(object, question),
        "calculate" => of_calculation(object),
        "get_current_time" => of_clock(object),
        _ => None,
    });
    answer.unwrap_or_else(|| format!("The tool `{}` answered: {}", call.name, quoted(&result.text)))
}

fn of_page(page: &Map<String, Value>, question: &str) -> Option<String> {
    let content = page.get("content")?;
    let text = content.get("text")?.as_str()?;
    let url = page.get("final_url").or(page.get("url")).and_then(Value::as_str).unwrap_or_default();
    let title = content.get("title").and_then(Value::as_str).filter(|title| !title.trim().is_empty());
    let title = title.unwrap_or(url).trim();
    let sentences = best_sentences(text, question, MOST_SENTENCES);
    if sentences.is_empty() {
        return Some(format!("The page “{title}” ({url}) holds no text that can be read."));
    }
    Some(format!("From “{title}” ({url}): {}", sentences.join(" ")))
}

fn of_search(search: &Map<String, Value>, question: &str) -> Option<String> {
    let results = search.get("results")?.as_array()?;
    let line = |result: &Value| {
        let url =
            result.pointer("/search_metadata/final_url").or(result.get("url")).and_then(Value::as_str)?;
        let title =
            result.pointer("/page/title").or(result.get("title")).and_then(Value::as_str).unwrap_or(url);
        let text = result.pointer("/page/content").or(result.get("snippet")).and_then(Value::as_str);
        let sentence = best_sentences(text.unwrap_or_default(), question, 1).concat();
        Some(format!("- “{title}” ({url}): {sentence}"))
    };
    let lines: Vec<_> = results.iter().filter_map(line).take(MOST_SENTENCES).collect();
    if lines.is_empty() {
        let said = search.get("diagnostic").and_then(Value::as_str).unwrap_or("Nothing was found.");
        return Some(format!("The search gave no page to read. {said}"));
    }
    Some(format!("The search found:\n{}", lines.join("\n")))
}

fn of_calculation(calculation: &Map<String, Value>) -> Option<String> {
    let text = |field: &str| match calculation.get(field)? {
        Value::String(text) => Some(text.clone()),
        number @ Value::Number(_) => Some(number.to_string()),
        _ => None,
    };
    Some(format!("{} = {}", text("expression")?, text("result")?))
}

fn of_clock(clock: &Map<String, Value>) -> Option<String> {
    let iso = clock.get("iso")?.as_str()?;
    let (date, time) = iso.split_once('T')?;
    let minutes = time.get(..5)?;
    let text = |field: &str| clock.get(field).and_then(Value::as_str);
    let weekday = text("weekday").map(|weekday| format!("{weekday}, ")).unwrap_or_default();
    let zone = text("timezone").map(|zone| format!(" ({zone})")).unwrap_or_default();
    Some(format!("It is {minutes} on {weekday}{date}{zone}."))
}

/// The first JSON object in a text.
fn find_object(text: &str) -> Option<Map<String, Value>> {
    let openings = text.match_indices('{').take(MOST_OPENINGS);
    openings.map(|(start, _)| &text[start..]).find_map(|rest| {
        let mut values = serde_json::Deserializer::from_str(rest).into_iter::<Map<String, Value>>();
        values.next()?.ok().filter(|object| !object.is_empty())
    })
}

fn quoted(text: &str) -> String {
    let text = text.trim();
    match text.char_indices().nth(QUOTED_CHARACTERS) {
        Some((end, _)) => format!("{}…", text[..end].trim_end()),
        None => text.to_owned(),
    }
}
