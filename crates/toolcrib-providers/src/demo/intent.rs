//! Recognizes what a message asks for: the rules of the demo model.
//!
//! The first rule that fits decides. A rule names a tool and its arguments; whether the tool is offered is looked at
//! later, so that the model can say which one is missing.

use serde_json::{Map, Value};
use toolcrib_runtime::model::{ModelRequest, ToolChoice};

use super::places::time_zone_of;

/// The most pages that one message has read.
const MOST_PAGES: usize = 3;

const FUNCTIONS: [&str; 10] = ["sqrt", "sin", "cos", "tan", "log", "ln", "abs", "exp", "pi", "mod"];

/// A call that answers the question.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Wish {
    pub(super) tool: String,
    pub(super) arguments: Map<String, Value>,
    /// What the model says before it calls.
    pub(super) announcement: String,
}

/// Whether the tool may be called in this round.
pub(super) fn is_offered(tool: &str, request: &ModelRequest) -> bool {
    let allowed = match &request.tool_choice {
        ToolChoice::Auto | ToolChoice::Required => true,
        ToolChoice::None => false,
        ToolChoice::Named(name) => name == tool,
    };
    allowed && request.tools.iter().any(|offered| offered.name == tool)
}

/// The calls that the question asks for, in the order in which they are made.
pub(super) fn wishes(question: &str, request: &ModelRequest) -> Vec<Wish> {
    if let Some((tool, arguments)) = command(question) {
        return vec![Wish { announcement: format!("I call `{tool}`."), tool, arguments }];
    }
    let mut urls = urls(question);
    urls.truncate(MOST_PAGES);
    if !urls.is_empty() {
        let wish = |url: &&str| wish("read_web_page", "url", url, format!("I read {url}."));
        return urls.iter().map(wish).collect();
    }
    let rest = [("search", "web_search"), ("remember", "save_memory")].iter().find_map(|(verb, tool)| {
        let rest = after_verb(question, verb)?;
        Some((*tool, rest))
    });
    let mut found = match rest {
        Some(("web_search", query)) => wish("web_search", "query", query, format!("I search for “{query}”.")),
        Some((tool, content)) => wish(tool, "content", content, "I write that down.".to_owned()),
        None => match clock(question).or_else(|| sum(question)) {
            Some(wish) => wish,
            None => return Vec::new(),
        },
    };
    fill_required(&mut found, request);
    vec![found]
}

fn wish(tool: &str, argument: &str, value: &str, announcement: String) -> Wish {
    let arguments = Map::from_iter([(argument.to_owned(), Value::from(value))]);
    Wish { tool: tool.to_owned(), arguments, announcement }
}

/// Tools whose schema requires every property take `null`, or the first of the allowed values, for the others.
fn fill_required(wish: &mut Wish, request: &ModelRequest) {
    let Some(tool) = request.tools.iter().find(|tool| tool.name == wish.tool) else { return };
    let required = tool.parameters.get("required").and_then(Value::as_array).into_iter().flatten();
    for name in required.filter_map(Value::as_str) {
        if wish.arguments.contains_key(name) {
            continue;
        }
        let schema = &tool.parameters["properties"][name];
        let first_allowed = schema["enum"].get(0).cloned();
        let takes_null =
            schema["type"].as_array().is_some_and(|kinds| kinds.iter().any(|kind| kind == "null"));
        let value = if takes_null { Value::Null } else { first_allowed.unwrap_or_default() };
        wish.arguments.insert(name.to_owned(), value);
    }
}

/// `call TOOL {…}`: any tool with any arguments.
fn command(question: &str) -> Option<(String, Map<String, Value>)> {
    let rest = strip_word(question.trim(), "call")?.trim_start();
    let end =
        rest.find(|character: char| character.is_whitespace() || character == '{').unwrap_or(rest.len());
    let (tool, arguments) = rest.split_at(end);
    let arguments = match arguments.trim() {
        "" => Map::new(),
        text => serde_json::from_str(text).ok()?,
    };
    let is_name =
        !tool.is_empty() && tool.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte));
    is_name.then(|| (tool.to_owned(), arguments))
}

fn urls(text: &str) -> Vec<&str> {
    let starts = text.match_indices("http").map(|(start, _)| start);
    let mut found: Vec<&str> = Vec::new();
    for start in starts {
        let rest = &text[start..];
        if !rest.starts_with("http://") && !rest.starts_with("https://") {
            continue;
        }
        if start > 0
            && text[..start].ends_with(|before: char| before.is_alphanumeric() || "/=%".contains(before))
        {
            continue;
        }
        let ends = |character: char| character.is_whitespace() || "<>\"`|\\^{}[]".contains(character);
        let url = &rest[..rest.find(ends).unwrap_or(rest.len())];
        let url = without_punctuation(url);
        if url.len() > "https://".len() && !found.contains(&url) {
            found.push(url);
        }
    }
    found
}

/// Punctuation at the end belongs to the sentence, and a closing parenthesis only to the URL that opened it.
fn without_punctuation(mut url: &str) -> &str {
    loop {
        let shorter = url.trim_end_matches(['.', ',', ';', ':', '!', '?', '\'', '*', '”', '’']);
        let unbalanced =
            shorter.ends_with(')') && shorter.matches(')').count() > shorter.matches('(').count();
        let shorter = if unbalanced { &shorter[..shorter.len() - 1] } else { shorter };
        if shorter.len() == url.len() {
            return url;
        }
        url = shorter;
    }
}

/// What follows "search", "search for", "search the web for", "remember that", …
fn after_verb<'a>(question: &'a str, verb: &str) -> Option<&'a str> {
    let question = strip_word(question.trim(), "please").unwrap_or(question.trim()).trim_start();
    let mut rest = strip_word(question, verb)?.trim_start();
    for filler in ["the web", "the internet", "online", "for", "that", ":"] {
        rest = strip_word(rest, filler).unwrap_or(rest).trim_start();
    }
    let rest = rest.trim_end_matches(['.', '?', '!']).trim();
    (!rest.is_empty()).then_some(rest)
}

/// The text after the word, in any letter case.
fn strip_word<'a>(text: &'a str, word: &str) -> Option<&'a str> {
    let start = text.get(..word.len())?;
    let rest = &text[word.len()..];
    let ends = word == ":" || !rest.starts_with(char::is_alphanumeric);
    (ends && start.eq_ignore_ascii_case(word)).then_some(rest)
}

fn clock(question: &str) -> Option<Wish> {
    let lower = question.to_ascii_lowercase();
    let asks = [
        "what time",
        "which time",
        "time is it",
        "current time",
        "time in ",
        "time at ",
        "what date",
        "current date",
        "today's date",
        "date today",
        "date in ",
        "the date",
        "what day",
        "which day",
        "what is the time",
        "what's the time",
    ];
    if !asks.iter().any(|phrase| lower.contains(phrase)) {
        return None;
    }
    let place =
        [" in ", " at "].iter().find_map(|word| lower.find(word).map(|at| &question[at + word.len()..]));
    let place = place.map(|place| place.trim_matches(|letter: char| !letter.is_alphanumeric()));
    let place = place
        .map(|place| strip_ending(place, &[" right now", " now", " today"]))
        .filter(|place| !place.is_empty());
    let Some(place) = place else {
        let announcement = "I look at the clock.".to_owned();
        return Some(Wish { tool: "get_current_time".to_owned(), arguments: Map::new(), announcement });
    };
    // A place that is not known is passed on: the tool can say better what is wrong with it.
    let zone = time_zone_of(place).unwrap_or_else(|| place.to_owned());
    Some(wish("get_current_time", "timezone", &zone, format!("I look at the clock of {zone}.")))
}

fn strip_ending<'a>(text: &'a str, endings: &[&str]) -> &'a str {
    let ending = endings.iter().find(|ending| {
        let start = text.len().checked_sub(ending.len());
        start.and_then(|start| text.get(start..)).is_some_and(|end| end.eq_ignore_ascii_case(ending))
    });
    ending.map_or(text, |ending| &text[..text.len() - ending.len()])
}

fn sum(question: &str) -> Option<Wish> {
    let expression = expression(question)?;
    let announcement = format!("I calculate {expression}.");
    Some(wish("calculate", "expression", &expression, announcement))
}

/// The longest arithmetic expression in the text.
fn expression(text: &str) -> Option<String> {
    let mut runs: Vec<String> = vec![String::new()];
    let mut rest = text;
    while let Some(character) = rest.chars().next() {
        let word = &rest[..rest.find(|letter: char| !letter.is_alphabetic()).unwrap_or(rest.len())];
        let run = runs.last_mut()?;
        if !word.is_empty() {
            let after_percent = word.eq_ignore_ascii_case("of") && run.trim_end().ends_with('%');
            match FUNCTIONS.iter().find(|function| function.eq_ignore_ascii_case(word)) {
                Some(function) => run.push_str(function),
                None if after_percent => run.push_str("of"),
                None => runs.push(String::new()),
            }
            rest = &rest[word.len()..];
            continue;
        }
        rest = &rest[character.len_utf8()..];
        match character {
            '0'..='9' | '+' | '-' | '*' | '/' | '^' | '%' | '(' | ')' | '.' | ' ' => run.push(character),
            '×' | '·' => run.push('*'),
            '÷' => run.push('/'),
            '−' => run.push('-'),
            ',' if ends_with_digit(run) && groups_thousands(rest) => {}
            ',' if ends_with_digit(run) && rest.starts_with(|next: char| next.is_ascii_digit()) => {
                run.push('.');
            }
            _ => runs.push(String::new()),
        }
    }
    let candidates = runs.iter().map(|run| tidy(run)).filter(|run| is_expression(run));
    candidates.max_by_key(|run| run.len()).map(str::to_owned)
}

fn ends_with_digit(run: &str) -> bool {
    run.ends_with(|last: char| last.is_ascii_digit())
}

/// Three digits and no fourth.
fn groups_thousands(rest: &str) -> bool {
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    digits == 3
}

/// Without the sentence's own punctuation and half operations at the ends.
fn tidy(run: &str) -> &str {
    let run = run.trim_end_matches([' ', '.', '+', '-', '*', '/', '^', '(']);
    let run = run.trim_start_matches([' ', '.', '+', '*', '/', '^', '%', ')']);
    let opened = run.matches('(').count();
    let closed = run.matches(')').count();
    // "(2 + 3)" keeps its parentheses, "2 + 3)" does not.
    if closed > opened { run.trim_end_matches(')') } else { run }
}

fn is_expression(run: &str) -> bool {
    if run.matches('(').count() != run.matches(')').count() || is_date(run) {
        return false;
    }
    let has_digit = run.bytes().any(|byte| byte.is_ascii_digit());
    let calls_function = FUNCTIONS.iter().any(|function| run.contains(&format!("{function}(")));
    let mut seen_number = false;
    let mut seen_operator = false;
    for character in run.chars() {
        match character {
            '0'..='9' if seen_operator => return true,
            '0'..='9' => seen_number = true,
            '+' | '-' | '*' | '/' | '^' | '%' if seen_number => seen_operator = true,
            _ => {}
        }
    }
    has_digit && calls_function
}

/// `2026-11-30`, which nobody wants subtracted.
fn is_date(run: &str) -> bool {
    let parts: Vec<_> = run.split(['-', '/', '.']).collect();
    let digits =
        |part: &&str| !part.is_empty() && part.len() <= 4 && part.bytes().all(|byte| byte.is_ascii_digit());
    parts.len() == 3 && parts.iter().all(digits) && parts.iter().any(|part| part.len() == 4)
}

#[cfg(test)]
mod tests;
