//! Patterns in approval rules: `*` and `?` in text, and `*` as a step of a JSON pointer.
//!
//! Matching takes time in proportion to pattern times text, whatever either holds.

use std::fmt;

use serde_json::Value;

/// A text in which `*` stands for any characters and `?` for one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pattern(String);

/// A JSON pointer (RFC 6901) in which `*` stands for every property or item.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PointerPattern(String);

impl Pattern {
    /// A pattern of this text.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// Whether the whole of `text` matches.
    pub fn matches(&self, text: &str, any_case: bool) -> bool {
        if any_case { matches(&self.0.to_lowercase(), &text.to_lowercase()) } else { matches(&self.0, text) }
    }
}

impl PointerPattern {
    /// The pattern; `None` when it is no pointer: one begins with a slash, or is empty for the whole.
    pub fn new(text: impl Into<String>) -> Option<Self> {
        let text = text.into();
        (text.is_empty() || text.starts_with('/')).then_some(Self(text))
    }

    /// Every value at the place.
    pub(super) fn values<'v>(&self, root: &'v Value) -> Vec<&'v Value> {
        let mut found = vec![root];
        for step in self.0.split('/').skip(1) {
            let name = step.replace("~1", "/").replace("~0", "~");
            found = found
                .into_iter()
                .flat_map(|value| match value {
                    Value::Object(object) if step == "*" => object.values().collect(),
                    Value::Object(object) => object.get(&name).into_iter().collect(),
                    Value::Array(items) if step == "*" => items.iter().collect(),
                    Value::Array(items) => {
                        name.parse::<usize>().ok().and_then(|index| items.get(index)).into_iter().collect()
                    }
                    _ => Vec::new(),
                })
                .collect();
        }
        found
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Display for PointerPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Goes back to the last `*` only, which is enough.
fn matches(pattern: &str, text: &str) -> bool {
    let (pattern, text): (Vec<char>, Vec<char>) = (pattern.chars().collect(), text.chars().collect());
    let (mut at, mut read) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while read < text.len() {
        match pattern.get(at) {
            Some('*') => {
                star = Some((at, read));
                at += 1;
            }
            Some(expected) if *expected == '?' || *expected == text[read] => {
                at += 1;
                read += 1;
            }
            _ => match &mut star {
                Some((after, taken)) => {
                    *taken += 1;
                    (at, read) = (*after + 1, *taken);
                }
                None => return false,
            },
        }
    }
    pattern[at..].iter().all(|rest| *rest == '*')
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn stars_and_question_marks_match() {
        let check = |pattern: &str, text: &str, expected: bool| {
            assert_eq!(Pattern::new(pattern).matches(text, false), expected, "{pattern} {text}");
        };
        check("web_*", "web_search", true);
        check("*_page", "read_web_page", true);
        check("*", "", true);
        check("a?c", "abc", true);
        check("a?c", "ac", false);
        check("*/etc/*", "/srv/etc/passwd", true);
        check("/etc/*", "/ETC/passwd", false);
        assert!(Pattern::new("/etc/*").matches("/ETC/passwd", true));
        check("a*b*c", &format!("a{}c", "b".repeat(1_000)), true);
        check(&"*a".repeat(50), &"b".repeat(2_000), false);
    }

    #[test]
    fn pointers_find_every_value_at_their_place() {
        let value = json!({"to": [{"mail": "a"}, {"mail": "b"}], "a/b": 1});
        let found = |pattern: &str| PointerPattern::new(pattern).expect("a pointer").values(&value).len();
        assert_eq!(found("/to/*/mail"), 2);
        assert_eq!(found("/to/1/mail"), 1);
        assert_eq!(found("/a~1b"), 1);
        assert_eq!(found("/none/*"), 0);
        assert_eq!(found(""), 1);
        assert_eq!(PointerPattern::new("to"), None);
    }
}
