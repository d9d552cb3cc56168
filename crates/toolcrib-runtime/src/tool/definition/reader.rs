//! Reads JSON values with their places, and collects every problem instead of stopping at the first.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::problem::Problem;
use crate::nearest::nearest;

/// Collects the problems of one file.
pub(super) struct Reader<'f> {
    file: &'f str,
    pub(super) problems: Vec<Problem>,
}

/// The properties of an object whose names are read in any letter case.
pub(super) struct Fields<'v> {
    pointer: String,
    by_name: BTreeMap<String, (&'v str, &'v Value)>,
    known: Vec<&'static str>,
}

/// A value and where it stands.
#[derive(Clone)]
pub(super) struct Place<'v> {
    pub(super) value: &'v Value,
    pub(super) pointer: String,
}

impl<'f> Reader<'f> {
    pub(super) fn new(file: &'f str) -> Self {
        Self { file, problems: Vec::new() }
    }

    /// Notes a problem that makes the definition unusable.
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
        let mut problem = Problem::error(self.file, pointer, found, allowed);
        problem.nearest = nearest.map(str::to_owned);
        self.problems.push(problem);
    }

    /// The properties of an object.
    pub(super) fn fields<'v>(&mut self, place: &Place<'v>) -> Option<Fields<'v>> {
        let object = self.object(place)?;
        let mut by_name = BTreeMap::new();
        for (name, value) in object {
            if let Some((earlier, _)) = by_name.insert(name.to_lowercase(), (name.as_str(), value)) {
                self.error(
                    &join(&place.pointer, name),
                    format!("the property {name:?} beside {earlier:?}"),
                    "names differ by more than letter case: keep one of the two",
                );
            }
        }
        Some(Fields { pointer: place.pointer.clone(), by_name, known: Vec::new() })
    }

    pub(super) fn object<'v>(&mut self, place: &Place<'v>) -> Option<&'v Map<String, Value>> {
        let object = place.value.as_object();
        if object.is_none() {
            self.error(&place.pointer, describe(place.value), "an object is allowed");
        }
        object
    }

    pub(super) fn text(&mut self, place: &Place<'_>) -> Option<String> {
        let text = place.value.as_str();
        if text.is_none() {
            self.error(&place.pointer, describe(place.value), "a string is allowed");
        }
        text.map(str::to_owned)
    }

    /// A string that says something.
    pub(super) fn filled_text(&mut self, place: &Place<'_>) -> Option<String> {
        let text = self.text(place)?;
        if text.trim().is_empty() {
            self.error(&place.pointer, "an empty string", "a non-empty string is needed");
            return None;
        }
        Some(text)
    }

    pub(super) fn flag(&mut self, place: &Place<'_>) -> Option<bool> {
        let flag = place.value.as_bool();
        if flag.is_none() {
            self.error(&place.pointer, describe(place.value), "true or false is allowed");
        }
        flag
    }

    /// An integer within bounds.
    pub(super) fn integer(&mut self, place: &Place<'_>, minimum: i64, maximum: i64) -> Option<i64> {
        match place.value.as_i64() {
            Some(number) if (minimum..=maximum).contains(&number) => Some(number),
            _ => {
                let allowed = format!("an integer from {minimum} to {maximum} is allowed");
                self.error(&place.pointer, describe(place.value), allowed);
                None
            }
        }
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

    /// The strings of a list.
    pub(super) fn texts(&mut self, place: &Place<'_>) -> Vec<(String, String)> {
        let items = self.items(place);
        items.into_iter().filter_map(|item| Some((self.filled_text(&item)?, item.pointer))).collect()
    }

    /// One of a few words.
    pub(super) fn choice<T: Copy>(&mut self, place: &Place<'_>, choices: &[(&str, T)]) -> Option<T> {
        let text = self.text(place)?;
        let chosen = choices.iter().find(|(name, _)| name.eq_ignore_ascii_case(&text));
        if chosen.is_none() {
            let names: Vec<_> = choices.iter().map(|(name, _)| *name).collect();
            let allowed = format!("one of {} is allowed", names.join(", "));
            let near = nearest(&text, names);
            self.error_near(&place.pointer, format!("{text:?}"), allowed, near);
        }
        chosen.map(|(_, value)| *value)
    }
}

impl<'v> Fields<'v> {
    /// The property with this name in any letter case. JSON `null` counts as absent.
    pub(super) fn take(&mut self, name: &'static str) -> Option<Place<'v>> {
        self.known.push(name);
        let (written, value) = self.by_name.remove(&name.to_lowercase())?;
        (!value.is_null()).then(|| Place { value, pointer: join(&self.pointer, written) })
    }

    /// The property with this name; its absence is a problem.
    pub(super) fn require(&mut self, name: &'static str, reader: &mut Reader<'_>) -> Option<Place<'v>> {
        let place = self.take(name);
        if place.is_none() {
            reader.error(&self.pointer, format!("no {name:?}"), format!("{name:?} is required"));
        }
        place
    }

    /// Reports the properties that nobody took.
    pub(super) fn finish(self, reader: &mut Reader<'_>) {
        for (written, _) in self.by_name.values() {
            if *written == "$schema" {
                continue;
            }
            let allowed = format!("known here: {}", self.known.join(", "));
            let near = nearest(written, self.known.iter().copied());
            let pointer = join(&self.pointer, written);
            reader.error_near(&pointer, format!("the unknown property {written:?}"), allowed, near);
        }
    }
}

/// A JSON pointer (RFC 6901) one step deeper.
pub(super) fn join(pointer: &str, name: &str) -> String {
    format!("{pointer}/{}", name.replace('~', "~0").replace('/', "~1"))
}

/// A value in a few words, for "found …".
pub(super) fn describe(value: &Value) -> String {
    let shorten = |text: String| match text.char_indices().nth(60) {
        Some((cut, _)) => format!("{}…", &text[..cut]),
        None => text,
    };
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(flag) => format!("the boolean {flag}"),
        Value::Number(number) => format!("the number {number}"),
        Value::String(text) => format!("the string {}", shorten(format!("{text:?}"))),
        Value::Array(items) => format!("a list of {}", items.len()),
        Value::Object(_) => "an object".to_owned(),
    }
}
