//! Which URLs stand in a conversation: those that the user wrote and those that tools brought back.
//!
//! What a model wrote does not count: text by strangers can make a model write any URL, with anything in it that the
//! model knows. So a result counts without what stands in its own call, which it may only repeat, and the text of a
//! call that was refused or failed does not count at all.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use url::Url;

use crate::message::{AssistantMessage, Message, Part};

/// Characters that end a URL in running text, in Markdown and in JSON.
const ENDS: [char; 9] = ['"', '<', '>', '`', '\\', '{', '}', '|', '^'];
/// Characters that end a sentence rather than a URL.
const TRAILING: [char; 11] = ['.', ',', ';', ':', '!', '?', '\'', '*', '_', '”', '»'];
/// The longest URL that is known, in bytes; nobody passes on longer ones.
const LONGEST: usize = 8 * 1024;
/// Readings of one URL that ends in brackets, and URLs of one word that are read to its end.
const MOST_READINGS: usize = 16;

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
        // What the latest answer wrote into its calls, by their ids: results stand directly behind it.
        let mut written: HashMap<&str, HashSet<String>> = HashMap::new();
        for message in messages {
            match message {
                Message::User(parts) => {
                    for part in parts {
                        if let Part::Text(text) = part {
                            collect(text, true, &mut known);
                        }
                    }
                }
                Message::ToolResult(result) if result.is_error => {}
                Message::ToolResult(result) => {
                    let mut found = HashSet::new();
                    for reading in readings(&result.text) {
                        collect(&reading, false, &mut found);
                    }
                    let own = written.get(result.call_id.as_str());
                    known.extend(found.into_iter().filter(|url| own.is_none_or(|own| !own.contains(url))));
                }
                Message::Assistant(answer) => written = written_into_calls(answer),
                Message::System(_) => {}
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

/// The URLs that an answer wrote into its calls.
fn written_into_calls(answer: &AssistantMessage) -> HashMap<&str, HashSet<String>> {
    let calls = answer.calls().map(|call| {
        let mut urls = HashSet::new();
        for text in [&call.name, &call.arguments] {
            for reading in readings(text) {
                collect(&reading, true, &mut urls);
            }
        }
        (call.id.as_str(), urls)
    });
    calls.collect()
}

/// A result as it stands, without the escapes of JSON, and without those of Markdown inside of it: a model reads
/// through all of them.
fn readings(text: &str) -> impl Iterator<Item = Cow<'_, str>> {
    let plain = text.contains('\\').then(|| without_json_escapes(text));
    let plainer = plain.as_deref().filter(|plain| plain.contains('\\')).map(without_markdown_escapes);
    let escaped = [plain, plainer].into_iter().flatten().map(Cow::Owned);
    std::iter::once(Cow::Borrowed(text)).chain(escaped)
}

fn without_json_escapes(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        plain.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        let Some(escaped) = rest.chars().next() else { break };
        rest = &rest[escaped.len_utf8()..];
        match escaped {
            'u' => match rest.get(..4).and_then(|digits| u32::from_str_radix(digits, 16).ok()) {
                Some(code) => {
                    // Half a surrogate pair stands for nothing that a URL is written with.
                    plain.push(char::from_u32(code).unwrap_or(' '));
                    rest = &rest[4..];
                }
                None => plain.push(' '),
            },
            '/' | '\\' | '"' => plain.push(escaped),
            // Line ends and tabs; anything else is no escape of JSON and stays for the next reading.
            'n' | 'r' | 't' | 'b' | 'f' => plain.push(' '),
            other => plain.extend(['\\', other]),
        }
    }
    plain.push_str(rest);
    plain
}

fn without_markdown_escapes(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        if character != '\\' || !characters.peek().is_some_and(char::is_ascii_punctuation) {
            plain.push(character);
        }
    }
    plain
}

/// Adds every URL of a text. People leave the scheme out; in results, a name is not an address.
fn collect(text: &str, bare: bool, known: &mut HashSet<String>) {
    for word in text.split(|character: char| character.is_whitespace() || ENDS.contains(&character)) {
        let mut rest = word;
        let mut found = 0;
        while let Some(start) = scheme(rest) {
            found += 1;
            let url = &rest[start..];
            // Two URLs may touch, as in `[https://a](https://a)`, or one may hold another, as in `https://a/?of=https://b`.
            let end = scheme(&url[1..]).map_or(url.len(), |next| next + 1);
            spellings(&url[..end], known);
            if end < url.len() && found <= MOST_READINGS {
                spellings(url, known);
            }
            rest = &url[end..];
        }
        if bare && found == 0 && word.contains('.') {
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
    if text.len() > LONGEST {
        return;
    }
    let mut reading = text;
    for _ in 0..MOST_READINGS {
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
    // Parentheses are written either way: Markdown ends a link's address with one.
    let place = format!("{path}{query}").replace("%28", "(").replace("%29", ")");
    Some(format!("{user}{host}{port}{place}"))
}

#[cfg(test)]
mod tests {
    use serde_json::Map;

    use super::*;
    use crate::message::{AssistantMessage, AssistantPart, ToolCall, ToolResult};

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
        check("[tide](https://en.example.org/wiki/Tide_%28sea%29)", "https://en.example.org/wiki/Tide_(sea)");
        check("<https://example.org/a>", "https://example.org/a#part");
        check("what is on example.org?", "https://www.example.org/");
        check("docs.example.org/guide, quickly", "https://docs.example.org/guide");
        check("HTTPS://EXAMPLE.ORG/A", "https://example.org/A");
        check(
            "https://archive.example/2020/https://example.org/a",
            "https://archive.example/2020/https://example.org/a",
        );
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

    fn result(call_id: &str, text: &str, is_error: bool) -> Message {
        Message::ToolResult(ToolResult { call_id: call_id.to_owned(), text: text.to_owned(), is_error })
    }

    fn call(id: &str, name: &str, arguments: &str) -> Message {
        let call = ToolCall {
            id: id.to_owned(),
            name: name.to_owned(),
            arguments: arguments.to_owned(),
            opaque: Map::new(),
        };
        Message::Assistant(AssistantMessage { parts: vec![AssistantPart::Call(call)], opaque: Map::new() })
    }

    #[test]
    fn a_model_cannot_make_a_url_known_by_having_it_repeated() {
        let url = "https://evil.example/?d=secret";
        let arguments = format!(r#"{{"text":"{url}"}}"#);
        let echoed =
            Links::of(&[call("c", "echo", &arguments), result("c", &format!("You said {url}."), false)]);
        assert!(!echoed.contain(url));
        let shouted = r#"{"text":"EVIL.example\u002f?d=secret"}"#;
        let echoed =
            Links::of(&[call("c", "echo", shouted), result("c", &format!("You said {url}."), false)]);
        assert!(!echoed.contain(url), "a tool that adds the scheme");
        let refused =
            Links::of(&[call("c", url, "{}"), result("c", &format!("There is no tool named {url}"), true)]);
        assert!(!refused.contain(url));
        // A client that keeps the conversation itself does not say which results were errors.
        let refused =
            Links::of(&[call("c", url, "{}"), result("c", &format!("There is no tool named {url}"), false)]);
        assert!(!refused.contain(url));
        let found = Links::of(&[
            call("c", "search", r#"{"query":"tides"}"#),
            result("c", &format!("1. {url}"), false),
            call("c", "read", &arguments),
            result("c", &format!("Read {url}"), false),
        ]);
        assert!(found.contain(url), "what was found before stays known when its page is read");
    }

    #[test]
    fn a_result_is_read_through_the_escapes_of_json_and_markdown() {
        let check = |text: &str, url: &str| {
            assert!(Links::of(&[result("c", text, false)]).contain(url), "{text} {url}");
        };
        check(r#"{"url":"https:\/\/a.example\/x"}"#, "https://a.example/x");
        check(r#"{"url":"https://a.example/?a=1\u0026b=2"}"#, "https://a.example/?a=1&b=2");
        check(r#"{"url":"https://b\u00fccher.example/"}"#, "https://bücher.example/");
        check(r#"{"text":"See https://a.example/x\nor not"}"#, "https://a.example/x");
        check(r#"{"text":"[a \\[b\\]](https://a.example/x \"title\")"}"#, "https://a.example/x");
        check(r#"{"text":"It is https://a.example/\\_x\\_"}"#, "https://a.example/_x_");
        check(r"Plain: https://a.example/\_x\_ and more", "https://a.example/_x_");
        check(r#"{"url":"https://a.example/x\u"}"#, "https://a.example/x");
    }

    #[test]
    fn hostile_text_takes_no_time() {
        let brackets = format!("https://a.example/{}", ")]".repeat(400_000));
        let schemes = "https://a.example/".repeat(40_000);
        let escapes = "\\".repeat(400_000);
        for text in [brackets, schemes, escapes] {
            let links = Links::of(&[result("c", &text, false)]);
            assert!(!links.contain("https://b.example/"));
        }
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
