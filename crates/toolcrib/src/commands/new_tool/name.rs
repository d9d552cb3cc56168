//! The name of a new tool: its id, its module and, written together, its type.

use std::fmt;

/// Words of the language, which no module can be called (The Rust Reference, "Keywords", edition 2024).
const KEYWORDS: [&str; 52] = [
    "abstract", "as", "async", "await", "become", "box", "break", "const", "continue", "crate", "do", "dyn",
    "else", "enum", "extern", "false", "final", "fn", "for", "gen", "if", "impl", "in", "let", "loop",
    "macro", "match", "mod", "move", "mut", "override", "priv", "pub", "ref", "return", "self", "static",
    "struct", "super", "trait", "true", "try", "type", "typeof", "unsafe", "unsized", "use", "virtual",
    "where", "while", "yield", "union",
];

/// A name that can be an id and a module.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Name(String);

impl Name {
    pub(super) fn parse(text: &str) -> anyhow::Result<Self> {
        let well_formed = text.starts_with(|c: char| c.is_ascii_lowercase())
            && text.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
            && !text.contains("__")
            && !text.ends_with('_')
            && text.len() <= 64;
        anyhow::ensure!(
            well_formed,
            "{text:?} is no name of a tool: a lower-case letter is allowed, followed by at most 63 lower-case letters, \
             digits and single underscores, for example roll_dice"
        );
        anyhow::ensure!(
            !KEYWORDS.contains(&text),
            "{text:?} is a word of the Rust language: choose another name, for example {text}_tool"
        );
        Ok(Self(text.to_owned()))
    }

    pub(super) fn as_str(&self) -> &str {
        &self.0
    }

    /// `RollDice` for `roll_dice`.
    pub(super) fn type_name(&self) -> String {
        self.0.split('_').map(capitalized).collect()
    }

    /// The template with the name in its places.
    pub(super) fn fill(&self, template: &str) -> String {
        let title = capitalized(&self.0.replace('_', " "));
        template
            .replace("{{name}}", &self.0)
            .replace("{{Type}}", &self.type_name())
            .replace("{{title}}", &title)
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

fn capitalized(word: &str) -> String {
    let mut characters = word.chars();
    characters.next().map(|first| first.to_ascii_uppercase()).into_iter().chain(characters).collect()
}
