//! Which URLs stand in a conversation: those that the user wrote and those that tools brought back.
//!
//! What a model wrote does not count: text by strangers can make a model write any URL, with anything in it that the
//! model knows.

use std::collections::HashSet;

use url::Url;

use crate::message::{Message, Part};

/// Characters that end a URL in running text, in Markdown and in JSON.
const ENDS: [char; 9] = ['"', '<', '>', '`', '\\', '{', '}', '|', '^'];
/// Characters that end a sentence rather than a URL.
const TRAILING: [char; 11] = ['.', ',', ';', ':', '!', '?', '\'', '*', '_', '”', '»'];

/// The URLs that a conversation knows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Links {
    /// A person chose the URL itself, so that there is nothing to know.
    Any,
    /// These, normalized.
    Only(HashSet<String>),
}

impl Links {
    /// Those of a conversation so far.
    pub fn of(messages: &[Message]) -> Self {
        let mut known = HashSet::new();
        for message in messages {
            match message {
                Message::User(parts) => {
                    for part in parts {
                        if let Part::Text(text) = part {
                            collect(text, true, &mut known);
                        }
                    }
                }
                Message::ToolResult(result) => collect(&result.text, false, &mut known),
                Message::System(_) | Message::Assistant(_) => {}
            }
        }
        Self::Only(known)
    }

    /// Whether the conversation knows a URL. Scheme, `www.`, a fragment, a slash at the end and letter case of the
    /// host make no difference; path and query do.
    pub fn contain(&self, url: &str) -> bool {
        match self {
            Self::Any => true,
            Self::Only(known) => normalized(url.trim()).is_some_and(|url| known.contains(&url)),
        }
    }
}

/// Adds every URL of a text. People leave the scheme out; in results, a name is not an address.
fn collect(text: &str, bare: bool, known: &mut HashSet<String>) {
    for word in text.split(|character: char| character.is_whitespace() || ENDS.contains(&character)) {
        let mut rest = word;
        let mut found = false;
        while let Some(start) = scheme(rest) {
            found = true;
            let url = &rest[start..];
            // Two URLs may touch, as in `[https://a](https://a)`.
            let end = scheme(&url[1..]).map_or(url.len(), |next| next + 1);
            spellings(&url[..end], known);
            rest = &url[end..];
        }
        if bare && !found && word.contains('.') {
            let word = word.trim_start_matches(|character: char| !character.is_alphanumeric());
            if looks_like_a_host(word) {
                spellings(&format!("https://{word}"), known);
            }
        }
    }
}

/// Where the first scheme of a text begins.
fn scheme(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let begins = |at: usize, name: &str| {
        bytes.get(at..at + name.len()).is_some_and(|part| part.eq_ignore_ascii_case(name.as_bytes()))
    };
    (0..bytes.len()).find(|at| begins(*at, "http://") || begins(*at, "https://"))
}

/// `example.org`, `docs.example.org/a?b`: at least two labels, the last of letters.
fn looks_like_a_host(word: &str) -> bool {
    let host = word.split(['/', '?', '#', ':']).next().unwrap_or_default();
    let host = host.trim_end_matches(TRAILING).trim_end_matches([')', ']']);
    let Some((name, last)) = host.rsplit_once('.') else { return false };
    !name.is_empty() && last.chars().count() >= 2 && last.chars().all(char::is_alphabetic)
}

/// A URL may end where the sentence or a bracket around it does: every such reading is known.
fn spellings(text: &str, known: &mut HashSet<String>) {
    let mut reading = text;
    loop {
        known.extend(normalized(reading));
        let shorter = reading.trim_end_matches(TRAILING);
        let shorter = if shorter.len() < reading.len() {
            shorter
        } else if reading.ends_with([')', ']']) && is_unbalanced(reading) {
            &reading[..reading.len() - 1]
        } else {
            break;
        };
        reading = shorter;
    }
    // `[text](https://example.org),` and the like: the bracket belongs to the text.
    for close in [')', ']'] {
        if let Some(cut) = first_unmatched(text, close) {
            known.extend(normalized(&text[..cut]));
        }
    }
}

fn is_unbalanced(text: &str) -> bool {
    [')', ']'].into_iter().any(|close| first_unmatched(text, close).is_some())
}

fn first_unmatched(text: &str, close: char) -> Option<usize> {
    let open = if close == ')' { '(' } else { '[' };
    let mut depth = 0_usize;
    for (at, character) in text.char_indices() {
        if character == open {
            depth += 1;
        } else if character == close {
            if depth == 0 {
                return Some(at);
            }
            depth -= 1;
        }
    }
    None
}

/// The form in which URLs are compared; `None` for what is no web address.
fn normalized(text: &str) -> Option<String> {
    let url = Url::parse(text).ok().filter(|url| matches!(url.scheme(), "http" | "https"))?;
    let host = url.host_str()?.trim_end_matches('.');
    let host = host.strip_prefix("www.").unwrap_or(host);
    let port = url.port().map(|port| format!(":{port}")).unwrap_or_default();
    let path = url.path().trim_end_matches('/');
    let query = url.query().map(|query| format!("?{query}")).unwrap_or_default();
    let user = if url.username().is_empty() && url.password().is_none() {
        String::new()
    } else {
        format!("{}:{}@", url.username(), url.password().unwrap_or_default())
    };
    Some(format!("{user}{host}{port}{path}{query}"))
}

#[cfg(test)]
mod tests {
    use serde_json::Map;

    use super::*;
    use crate::message::{AssistantMessage, ToolResult};

    fn known(text: &str) -> Links {
        Links::of(&[Message::user(text)])
    }

    #[test]
    fn urls_of_the_user_are_known_however_they_stand_in_the_text() {
        let check = |text: &str, url: &str| assert!(known(text).contain(url), "{text} {url}");
        check("Read https://Example.org/a, please.", "https://example.org/a");
        check("Read https://example.org/a.", "http://example.org/a/");
        check("see [the page](https://example.org/a?b=c&d=e)!", "https://example.org/a?b=c&d=e");
        check("(https://en.example.org/wiki/Tide_(sea))", "https://en.example.org/wiki/Tide_(sea)");
        check("<https://example.org/a>", "https://example.org/a#part");
        check("what is on example.org?", "https://www.example.org/");
        check("docs.example.org/guide, quickly", "https://docs.example.org/guide");
        check("HTTPS://EXAMPLE.ORG/A", "https://example.org/A");
        check("[https://example.org/x](https://example.org/y)", "https://example.org/y");
        check("http://10.77.0.2/tides.html", "http://10.77.0.2/tides.html");
        check("https://bücher.example/ä", "https://xn--bcher-kva.example/%C3%A4");
    }

    #[test]
    fn other_urls_are_not_known() {
        let check = |text: &str, url: &str| assert!(!known(text).contain(url), "{text} {url}");
        check("Read https://example.org/a", "https://example.org/b");
        check("Read https://example.org/a", "https://example.org/a?secret=1");
        check("Read https://example.org/a", "https://example.org.evil.example/a");
        check("Read https://example.org/a", "https://user:secret@example.org/a");
        check("Read https://example.org:8443/", "https://example.org/");
        check("What is e.g. this?", "https://e.g/");
        check("nothing", "not a url");
    }

    #[test]
    fn results_count_and_what_the_model_wrote_does_not() {
        let result = Message::ToolResult(ToolResult {
            call_id: "c".to_owned(),
            text: r#"{"links":[{"url":"https://example.org/next?page=2"}],"text":"See https://a.example/x\nand b.example"}"#
                .to_owned(),
            is_error: false,
        });
        let answer = Message::Assistant(AssistantMessage {
            opaque: Map::new(),
            ..AssistantMessage::from_text("https://evil.example/?d=secret")
        });
        let links = Links::of(&[result, answer]);
        assert!(links.contain("https://example.org/next?page=2"));
        assert!(links.contain("https://a.example/x"));
        assert!(!links.contain("https://b.example"), "a bare name in a result is no link");
        assert!(!links.contain("https://evil.example/?d=secret"));
        assert!(Links::Any.contain("https://anything.example"));
    }
}
