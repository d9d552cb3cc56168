//! What people read of a tool, in their language.
//!
//! Every text exists in English; a language that a tool does not speak gets the English one, never an empty one.

use std::collections::BTreeMap;

/// How a tool is shown to people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Display {
    /// The name, for example "Read web page".
    pub name: String,
    /// One sentence on what it does for the user.
    pub description: String,
    /// One emoji or the name of an icon.
    pub icon: String,
}

/// How a field of a tool's settings is shown to people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FieldTexts {
    /// The label, for example "Time per page (seconds)".
    pub label: String,
    /// One or two sentences on what the field does; empty when the label says it all.
    pub help: String,
}

impl Display {
    /// A display of these texts.
    pub fn new(icon: impl Into<String>, name: impl Into<String>, description: impl Into<String>) -> Self {
        Self { name: name.into(), description: description.into(), icon: icon.into() }
    }
}

impl FieldTexts {
    /// Texts of a field.
    pub fn new(label: impl Into<String>, help: impl Into<String>) -> Self {
        Self { label: label.into(), help: help.into() }
    }
}

/// The language of a BCP 47 tag in lower case, without script, region and variants: `de` of `de-AT` and `DE_at`.
///
/// An implementation chooses its texts by it: `match language(locale).as_str() { "de" => …, _ => … }`.
pub fn language(locale: &str) -> String {
    locale.trim().split(['-', '_']).next().unwrap_or_default().to_ascii_lowercase()
}

/// Finds the entry for a BCP 47 tag as RFC 4647, section 3.4, looks it up: `de-Latn-AT`, then `de-Latn`, then `de`.
pub(crate) fn look_up<'e, T>(locale: &str, entries: &'e BTreeMap<String, T>) -> Option<&'e T> {
    let tag = locale.trim().replace('_', "-");
    let mut wanted = tag.as_str();
    loop {
        if let Some((_, entry)) = entries.iter().find(|(known, _)| known.eq_ignore_ascii_case(wanted)) {
            return Some(entry);
        }
        wanted = match wanted.rsplit_once('-')?.0 {
            // A single character introduces what follows and means nothing alone.
            shorter if shorter.rfind('-').is_some_and(|at| at + 2 == shorter.len()) => {
                &shorter[..shorter.len() - 2]
            }
            shorter => shorter,
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_language_of_a_tag() {
        for (tag, expected) in
            [("de", "de"), ("DE_at", "de"), (" de-Latn-AT ", "de"), ("", ""), ("en-US", "en")]
        {
            assert_eq!(language(tag), expected, "{tag:?}");
        }
    }

    #[test]
    fn a_tag_is_looked_up_from_the_narrowest_to_the_broadest() {
        let entries: BTreeMap<String, u8> =
            [("de", 1), ("de-AT", 2), ("zh-Hant", 3), ("en", 4)].map(|(tag, n)| (tag.to_owned(), n)).into();
        let check = |tag: &str, expected: Option<u8>| {
            assert_eq!(look_up(tag, &entries).copied(), expected, "{tag:?}");
        };
        check("de", Some(1));
        check("de-CH", Some(1));
        check("de_at", Some(2));
        check("DE-AT-1996", Some(2));
        check("zh-Hant-TW", Some(3));
        check("zh-Hant-x-private", Some(3));
        check("zh", None);
        check("fr", None);
        check("", None);
    }
}
