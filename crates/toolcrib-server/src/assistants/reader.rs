//! Reads TOML tables key by key and collects every problem on the way.

use std::collections::BTreeMap;

use serde_json::{Map, Value};
use toolcrib_runtime::nearest::nearest;
use toolcrib_runtime::tool::definition::{Problem, Severity};

use super::texts::Texts;

/// Collects the problems of one file.
pub(super) struct Reader {
    file: String,
    pub(super) problems: Vec<Problem>,
}

/// A value, and where it stands (a JSON pointer, RFC 6901).
#[derive(Clone)]
pub(super) struct Place<'v> {
    pub(super) value: &'v Value,
    pub(super) pointer: String,
}

/// The keys of a table that nobody has taken yet.
pub(super) struct Table<'v> {
    pub(super) pointer: String,
    rest: BTreeMap<&'v str, &'v Value>,
    known: Vec<&'static str>,
}

impl Reader {
    pub(super) fn new(file: &str) -> Self {
        Self { file: file.to_owned(), problems: Vec::new() }
    }

    pub(super) fn error(&mut self, pointer: &str, found: impl Into<String>, allowed: impl Into<String>) {
        self.error_near(pointer, found, allowed, None);
    }

    pub(super) fn error_near(
        &mut self,
        pointer: &str,
        found: impl Into<String>,
        allowed: impl Into<String>,
        nearest: Option<&str>,
    ) {
        self.problems.push(Problem {
            last_good_stays: false,
            severity: Severity::Error,
            file: self.file.clone(),
            pointer: pointer.to_owned(),
            found: found.into(),
            allowed: allowed.into(),
            nearest: nearest.map(str::to_owned),
        });
    }

    pub(super) fn table<'v>(&mut self, place: &Place<'v>) -> Option<Table<'v>> {
        let Value::Object(map) = place.value else {
            self.error(&place.pointer, describe(place.value), "a table is allowed");
            return None;
        };
        Some(Table::of(map, place.pointer.clone()))
    }

    /// A string that says something.
    pub(super) fn text(&mut self, place: &Place<'_>) -> Option<String> {
        match place.value.as_str().map(str::trim) {
            Some("") => self.error(&place.pointer, "an empty string", "a text is needed"),
            Some(text) => return Some(text.to_owned()),
            None => self.error(&place.pointer, describe(place.value), "a text is allowed"),
        }
        None
    }

    pub(super) fn flag(&mut self, place: &Place<'_>) -> Option<bool> {
        let flag = place.value.as_bool();
        if flag.is_none() {
            self.error(&place.pointer, describe(place.value), "true or false is allowed");
        }
        flag
    }

    pub(super) fn number(&mut self, place: &Place<'_>) -> Option<f64> {
        let number = place.value.as_f64();
        if number.is_none() {
            self.error(&place.pointer, describe(place.value), "a number is allowed");
        }
        number
    }

    /// The items of a list.
    pub(super) fn items<'v>(&mut self, place: &Place<'v>) -> Vec<Place<'v>> {
        let Some(items) = place.value.as_array() else {
            self.error(&place.pointer, describe(place.value), "a list is allowed");
            return Vec::new();
        };
        let with_place = |(index, value)| Place { value, pointer: format!("{}/{index}", place.pointer) };
        items.iter().enumerate().map(with_place).collect()
    }

    /// One of a few words.
    pub(super) fn word<T: Copy>(&mut self, place: &Place<'_>, words: &[(&str, T)]) -> Option<T> {
        let text = self.text(place)?;
        let found = words.iter().find(|(word, _)| *word == text);
        if found.is_none() {
            let names: Vec<_> = words.iter().map(|(word, _)| *word).collect();
            let allowed = format!("one of {} is allowed", names.join(", "));
            self.error_near(&place.pointer, format!("{text:?}"), allowed, nearest(&text, names));
        }
        found.map(|(_, value)| *value)
    }

    /// An id of inputs, options and marks.
    pub(super) fn id(&mut self, place: &Place<'_>) -> Option<String> {
        let text = self.text(place)?;
        let snake = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
        if text.len() <= 64 && text.starts_with(|c: char| c.is_ascii_lowercase()) && text.chars().all(snake) {
            return Some(text);
        }
        let allowed =
            "an id is a lower-case letter followed by at most 63 lower-case letters, digits and underscores";
        self.error(&place.pointer, format!("{text:?}"), allowed);
        None
    }

    /// A table of texts by locale.
    pub(super) fn texts(&mut self, place: &Place<'_>) -> Option<Texts> {
        let Value::Object(map) = place.value else {
            let allowed = "a table of texts by language is allowed, for example { en = \"…\", de = \"…\" }";
            self.error(&place.pointer, describe(place.value), allowed);
            return None;
        };
        let mut texts = BTreeMap::new();
        for (locale, value) in map {
            let place = Place { value, pointer: format!("{}/{locale}", place.pointer) };
            if !is_locale(locale) {
                let allowed = "a language is a BCP 47 tag such as en, de or pt-BR";
                self.error(&place.pointer, format!("the language {locale:?}"), allowed);
                continue;
            }
            if let Some(text) = self.text(&place) {
                texts.insert(locale.clone(), text);
            }
        }
        if !map.contains_key(Texts::ENGLISH) {
            self.error(
                &place.pointer,
                "no text in English",
                "\"en\" is required; other languages may be added",
            );
            return None;
        }
        Some(Texts::new(texts))
    }
}

impl<'v> Table<'v> {
    pub(super) fn of(map: &'v Map<String, Value>, pointer: String) -> Self {
        let rest = map.iter().map(|(key, value)| (key.as_str(), value)).collect();
        Self { pointer, rest, known: Vec::new() }
    }

    /// The value of this key.
    pub(super) fn take(&mut self, key: &'static str) -> Option<Place<'v>> {
        self.known.push(key);
        let value = self.rest.remove(key)?;
        Some(Place { value, pointer: format!("{}/{key}", self.pointer) })
    }

    /// The same; its absence is a problem.
    pub(super) fn require(&mut self, key: &'static str, reader: &mut Reader) -> Option<Place<'v>> {
        let place = self.take(key);
        if place.is_none() {
            reader.error(&self.pointer, format!("no {key:?}"), format!("{key:?} is required"));
        }
        place
    }

    /// Reports the keys that nobody took.
    pub(super) fn finish(self, reader: &mut Reader) {
        for key in self.rest.keys() {
            let allowed = format!("known here: {}", self.known.join(", "));
            let near = nearest(key, self.known.iter().copied());
            let pointer = format!("{}/{key}", self.pointer);
            reader.error_near(&pointer, format!("the unknown key {key:?}"), allowed, near);
        }
    }
}

/// A value in a few words, for "found …".
pub(super) fn describe(value: &Value) -> String {
    match value {
        Value::Null => "nothing".to_owned(),
        Value::Bool(flag) => format!("the boolean {flag}"),
        Value::Number(number) => format!("the number {number}"),
        Value::String(text) => {
            let shown: String = text.chars().take(60).collect();
            let more = if shown.len() < text.len() { "…" } else { "" };
            format!("the text {shown:?}{more}")
        }
        Value::Array(items) => format!("a list of {}", items.len()),
        Value::Object(_) => "a table".to_owned(),
    }
}

fn is_locale(text: &str) -> bool {
    let mut parts = text.split('-');
    let language = parts.next().unwrap_or_default();
    let part = |part: &str| (1..=8).contains(&part.len()) && part.chars().all(|c| c.is_ascii_alphanumeric());
    (2..=8).contains(&language.len()) && language.chars().all(|c| c.is_ascii_lowercase()) && parts.all(part)
}
