//! Text in the state that a script framework leaves in a page for its scripts.
//!
//! Invariant: only JSON is read, nothing is run; the walk is bounded in depth, strings and bytes.

use serde_json::Value;

use super::dom::{Dom, NodeId, Tag};
use super::metadata::json_ld::lenient_json;
use super::page::length;

const MAX_STATE_BYTES: usize = 4 * 1024 * 1024;
const MAX_PARTS: usize = 2_000;
const MAX_DEPTH: usize = 64;

/// A piece of content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Part {
    Title(String),
    Html(String),
    Text(String),
}

/// The pieces of content in a page's state, in order; empty when there is no state with prose.
pub(super) fn read(dom: &Dom, order: &[NodeId]) -> Vec<Part> {
    let mut best: (u32, Vec<Part>) = (0, Vec::new());
    let mut left = MAX_STATE_BYTES;
    let mut streamed = String::new();
    for &id in order {
        if let Some(preloaded) =
            dom.attribute(id, "data-preloaded").or_else(|| dom.attribute(id, "data-page"))
        {
            keep_longer(&mut best, preloaded);
        }
        if dom.tag(id) != Tag::Script || dom.has_attribute(id, "src") {
            continue;
        }
        let text = dom.raw_text(id);
        if text.len() > left {
            continue;
        }
        left -= text.len();
        let kind = dom.attribute(id, "type").unwrap_or_default().trim().to_ascii_lowercase();
        if kind == "application/json" {
            keep_longer(&mut best, &text);
        } else if let Some(chunk) = streamed_chunk(&text) {
            streamed.push_str(&chunk);
        } else if matches!(kind.as_str(), "" | "text/javascript" | "module" | "application/javascript") {
            for start in assignments(&text) {
                keep_longer(&mut best, &text[start..]);
            }
        }
    }
    for line in streamed.lines() {
        if let Some((_, value)) = line.split_once(':') {
            keep_longer(&mut best, value);
        }
    }
    if best.0 < 100 { Vec::new() } else { best.1 }
}

/// Where values begin that are assigned to a property of `window` or a variable that names a state.
fn assignments(script: &str) -> Vec<usize> {
    let mut starts = Vec::new();
    for (at, _) in script.match_indices('=').take(200) {
        let before = script[..at].trim_end();
        let name_start = before
            .rfind(|c: char| !c.is_alphanumeric() && !matches!(c, '_' | '.' | '$' | '"' | '\'' | '[' | ']'));
        let name = before[name_start
            .map_or(0, |index| index + before[index..].chars().next().map_or(1, char::len_utf8))..]
            .to_ascii_uppercase();
        let is_state = ["__", "STATE", "DATA", "STORE", "PROPS", "CONTEXT", "INITIAL", "PRELOAD"]
            .iter()
            .any(|word| name.contains(word));
        let after = script[at + 1..].trim_start();
        let offset = script.len() - after.len();
        if is_state && after.starts_with(['{', '[']) {
            starts.push(offset);
        } else if is_state && let Some(rest) = after.strip_prefix("JSON.parse(") {
            starts.push(script.len() - rest.len());
        }
    }
    starts
}

/// A chunk that a streaming framework pushes as `[1, "text"]`.
fn streamed_chunk(script: &str) -> Option<String> {
    let rest = script.trim_start().strip_prefix("self.__next_f.push(")?;
    match first_value(rest)? {
        Value::Array(values) => values.get(1).and_then(Value::as_str).map(str::to_owned),
        _ => None,
    }
}

/// The first JSON value of a text, whatever follows it.
fn first_value(text: &str) -> Option<Value> {
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<Value>();
    values.next()?.ok()
}

fn keep_longer(best: &mut (u32, Vec<Part>), text: &str) {
    let value = first_value(text).or_else(|| lenient_json(text));
    let Some(value) = value else { return };
    let mut parts = Vec::new();
    collect(&value, &mut parts);
    let size = parts
        .iter()
        .map(|part| match part {
            Part::Title(text) | Part::Html(text) | Part::Text(text) => length(text),
        })
        .sum();
    if size > best.0 {
        *best = (size, parts);
    }
}

fn collect(value: &Value, parts: &mut Vec<Part>) {
    // Last in, first out: children are pushed in reverse so that they come out in order.
    let mut waiting: Vec<(&str, &Value, usize)> = vec![("", value, 0)];
    let mut nested = Vec::new();
    while let Some((key, value, depth)) = waiting.pop() {
        if depth > MAX_DEPTH || parts.len() >= MAX_PARTS {
            continue;
        }
        match value {
            Value::String(text) => {
                if (text.starts_with('{') || text.starts_with('[')) && text.len() > 40 {
                    nested.push(text);
                } else if let Some(part) = part_of(key, text).filter(|part| !parts.contains(part)) {
                    parts.push(part);
                }
            }
            Value::Array(values) => waiting.extend(values.iter().rev().map(|value| (key, value, depth + 1))),
            Value::Object(object) => {
                let inner = object.iter().filter(|(key, _)| !is_machinery(key)).collect::<Vec<_>>();
                waiting.extend(inner.into_iter().rev().map(|(key, value)| (key.as_str(), value, depth + 1)));
            }
            _ => {}
        }
    }
    // Some systems keep JSON as text within JSON; one level of that is read.
    for text in nested.into_iter().take(20) {
        if let Ok(Value::Object(object)) = serde_json::from_str::<Value>(text) {
            let mut waiting: Vec<(&String, &Value)> = object.iter().collect();
            while let Some((key, value)) = waiting.pop() {
                match value {
                    Value::String(text) if parts.len() < MAX_PARTS => parts.extend(part_of(key, text)),
                    Value::Object(object) => waiting.extend(object.iter()),
                    Value::Array(values) => waiting.extend(values.iter().map(|value| (key, value))),
                    _ => {}
                }
            }
        }
    }
}

/// A string as content; `None` for labels, addresses, code and settings.
fn part_of(key: &str, text: &str) -> Option<Part> {
    let trimmed = text.trim();
    let lower = key.to_ascii_lowercase();
    if matches!(lower.as_str(), "headline" | "title" | "heading")
        && trimmed.len() <= 200
        && trimmed.contains(' ')
    {
        return Some(Part::Title(trimmed.to_owned()));
    }
    let is_html = trimmed.contains("</p>")
        || trimmed.contains("</li>")
        || trimmed.contains("</h2>")
        || trimmed.contains("<br");
    if is_html {
        return (length(trimmed) > 30).then(|| Part::Html(trimmed.to_owned()));
    }
    if trimmed.starts_with(['<', '{', '/', '#', '.', '@'])
        || trimmed.contains("://") && !trimmed.contains(' ')
    {
        return None;
    }
    let words = trimmed.split_whitespace().count();
    let size = length(trimmed);
    let is_content_key = matches!(
        lower.as_str(),
        "text"
            | "body"
            | "content"
            | "html"
            | "markdown"
            | "paragraph"
            | "paragraphs"
            | "value"
            | "articlebody"
            | "contenthtml"
            | "bodytext"
            | "raw"
            | "cooked"
            | "children"
            | "answer"
            | "question"
            | "message"
            | "article"
    );
    let dense = size >= 30 && words > 0 && size as usize > trimmed.chars().count();
    let is_prose = if is_content_key { words >= 4 || dense } else { (words >= 8 && size >= 40) || dense };
    let is_code = trimmed.contains("){")
        || trimmed.contains("=>")
        || trimmed.matches([';', '{', '}']).count() * 20 > trimmed.len();
    (is_prose && !is_code).then(|| Part::Text(trimmed.to_owned()))
}

/// Parts of a state that hold no content of the page.
fn is_machinery(key: &str) -> bool {
    matches!(
        key.to_ascii_lowercase().as_str(),
        "translations"
            | "messages"
            | "i18n"
            | "locale"
            | "locales"
            | "dictionary"
            | "config"
            | "env"
            | "labels"
            | "seo"
            | "meta"
            | "metadata"
            | "metatags"
            | "head"
            | "analytics"
            | "tracking"
            | "buildmanifest"
            | "runtimeconfig"
            | "theme"
            | "styles"
            | "css"
            | "classname"
            | "style"
            | "query"
            | "navigation"
            | "menu"
            | "footer"
            | "header"
            | "cookies"
            | "consent"
            | "ads"
            | "related"
            | "recommendations"
            | "newsletter"
            | "settings"
            | "features"
            | "flags"
            | "excerpt"
            | "teaser"
            | "og"
            | "opengraph"
            | "jsonld"
            | "errors"
            | "alt"
    )
}
