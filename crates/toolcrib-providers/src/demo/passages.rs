//! Finds the sentences of a text that fit a question best.
//!
//! Words that few sentences have count for more; the sentences keep their order. Markdown is read as the text that
//! it shows.

use std::collections::{HashMap, HashSet};

/// Words that say nothing about the subject of a question.
const STOP_WORDS: [&str; 60] = [
    "the",
    "and",
    "for",
    "are",
    "was",
    "were",
    "what",
    "which",
    "who",
    "how",
    "when",
    "where",
    "why",
    "does",
    "did",
    "can",
    "could",
    "would",
    "should",
    "will",
    "you",
    "your",
    "tell",
    "read",
    "says",
    "say",
    "said",
    "about",
    "page",
    "website",
    "site",
    "web",
    "there",
    "this",
    "that",
    "these",
    "those",
    "with",
    "from",
    "into",
    "its",
    "has",
    "have",
    "had",
    "please",
    "give",
    "summarize",
    "summary",
    "summarise",
    "find",
    "out",
    "look",
    "some",
    "any",
    "all",
    "our",
    "they",
    "them",
    "then",
    "than",
];

/// Words count as the same when their beginnings of this many letters are.
const STEM: usize = 5;

/// The longest sentence that is quoted whole, in characters.
const LONGEST_SENTENCE: usize = 400;

/// At most `most` sentences of the text that fit the question best, else its first two.
pub(super) fn best_sentences(text: &str, question: &str, most: usize) -> Vec<String> {
    let sentences = sentences(text);
    let wanted: HashSet<_> = stems(&without_urls(question)).collect();
    let stems_of: Vec<HashSet<String>> = sentences.iter().map(|sentence| stems(sentence).collect()).collect();
    let mut spread: HashMap<&String, usize> = HashMap::new();
    for stem in stems_of.iter().flatten().filter(|stem| wanted.contains(*stem)) {
        *spread.entry(stem).or_default() += 1;
    }
    let score = |position: usize| -> usize {
        let hits = stems_of[position].iter().filter_map(|stem| spread.get(stem));
        hits.map(|sentences| 1000 / sentences).sum()
    };
    let mut ranked: Vec<_> = (0..sentences.len()).map(|position| (score(position), position)).collect();
    ranked.retain(|(score, _)| *score > 0);
    ranked.sort_by_key(|(score, position)| (std::cmp::Reverse(*score), *position));
    ranked.truncate(most);
    let mut chosen: Vec<_> = ranked.into_iter().map(|(_, position)| position).collect();
    chosen.sort_unstable();
    if chosen.is_empty() {
        chosen = (0..sentences.len().min(2)).collect();
    }
    chosen.into_iter().map(|position| shortened(&sentences[position])).collect()
}

fn shortened(sentence: &str) -> String {
    match sentence.char_indices().nth(LONGEST_SENTENCE) {
        Some((end, _)) => format!("{}…", sentence[..end].trim_end()),
        None => sentence.to_owned(),
    }
}

fn without_urls(text: &str) -> String {
    let words = text.split_whitespace().filter(|word| !word.contains("://"));
    words.collect::<Vec<_>>().join(" ")
}

fn stems(text: &str) -> impl Iterator<Item = String> {
    let words = text.split(|letter: char| !letter.is_alphanumeric()).map(str::to_lowercase);
    let words = words.filter(|word| word.chars().count() > 2 && !STOP_WORDS.contains(&word.as_str()));
    let stems = words.map(|word| match word.strip_suffix('s') {
        Some(singular) if singular.len() > 2 => singular.chars().take(STEM).collect::<String>(),
        _ => word.chars().take(STEM).collect(),
    });
    stems.collect::<Vec<_>>().into_iter()
}

/// The sentences of running text; headings, fences and table rules are left out.
fn sentences(text: &str) -> Vec<String> {
    let mut sentences = Vec::new();
    let mut paragraph = String::new();
    for line in text.lines().chain([""]) {
        let shown = shown(line);
        let starts_block = line.trim_start().starts_with(['-', '*', '|', '>', '#']);
        if shown.is_empty() || starts_block {
            split(&std::mem::take(&mut paragraph), &mut sentences);
        }
        if !shown.is_empty() {
            paragraph.push_str(&shown);
            paragraph.push(' ');
        }
    }
    sentences
}

/// What a line of Markdown shows.
fn shown(line: &str) -> String {
    let line = line.trim();
    if line.starts_with('#') || line.starts_with("```") || line.starts_with("|-") || line.starts_with("![") {
        return String::new();
    }
    let line = line.trim_start_matches(['-', '*', '>', '|', '+', ' ']).trim_end_matches('|');
    let mut shown = String::new();
    let mut rest = line;
    while let Some(open) = rest.find('[') {
        let link = rest[open..].find("](").and_then(|middle| {
            let end = rest[open + middle..].find(')')?;
            Some((&rest[open + 1..open + middle], open + middle + end + 1))
        });
        let Some((label, end)) = link else { break };
        shown.push_str(&rest[..open]);
        shown.push_str(label);
        rest = &rest[end..];
    }
    shown.push_str(rest);
    shown.replace("**", "").replace('`', "").replace(" | ", ", ").trim().to_owned()
}

fn split(paragraph: &str, sentences: &mut Vec<String>) {
    let mut start = 0;
    let characters: Vec<_> = paragraph.char_indices().collect();
    for (number, (position, character)) in characters.iter().enumerate() {
        if !matches!(character, '.' | '!' | '?' | '…' | '。' | '！' | '？') {
            continue;
        }
        let end = position + character.len_utf8();
        let mut following = characters[number + 1..].iter().map(|(_, next)| *next);
        let breaks = match following.next() {
            None => true,
            Some(next) if next.is_whitespace() => {
                // A new sentence does not start with a small letter: "e.g. this".
                !following.find(|next| !next.is_whitespace()).is_some_and(char::is_lowercase)
            }
            Some(_) => matches!(character, '。' | '！' | '？'),
        };
        if breaks {
            push(&paragraph[start..end], sentences);
            start = end;
        }
    }
    push(&paragraph[start..], sentences);
}

fn push(sentence: &str, sentences: &mut Vec<String>) {
    let sentence = sentence.trim();
    if sentence.chars().filter(|letter| letter.is_alphanumeric()).count() > 3 {
        sentences.push(sentence.to_owned());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "# The tides\n\nThe harbor has two tides a day. The old [mill](https://x.example/m) ran on the \
                        ebb, e.g. at night.\n\n- It closed in 1902.\n- The **mills** of the valley followed.\n";

    #[test]
    fn sentences_that_share_rare_words_with_the_question_are_chosen_in_order() {
        let found =
            best_sentences(TEXT, "Read https://x.example/tides and tell me what it says about the mill.", 3);
        assert_eq!(
            found,
            ["The old mill ran on the ebb, e.g. at night.", "The mills of the valley followed."]
        );
    }

    #[test]
    fn without_a_match_the_text_starts() {
        let found = best_sentences(TEXT, "Read https://x.example/tides", 3);
        assert_eq!(found, ["The harbor has two tides a day.", "The old mill ran on the ebb, e.g. at night."]);
        assert!(best_sentences("", "anything", 3).is_empty());
    }
}
