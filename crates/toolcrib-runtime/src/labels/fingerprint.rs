//! Recognizes protected text wherever it turns up again, without keeping the text.
//!
//! Clients that keep their conversations themselves send them back as plain messages: nothing in such a request says
//! that an answer in it was built on protected data. So what the answer said is remembered by hashes of its word
//! groups, chosen by winnowing: a passage of at least [`RECOGNIZED_WORDS`] words in a row is recognized in any later
//! text, however it is wrapped, cased or spaced; a shorter text is recognized when it comes back as a whole, and the
//! shortest ("Yes.") only behind the question that it answers.
//!
//! Source: Schleimer, Wilkerson, Aiken, "Winnowing: Local Algorithms for Document Fingerprinting", SIGMOD 2003.

use std::collections::{BTreeSet, HashSet, VecDeque};
use std::hash::{Hash, Hasher};

use siphasher::sip::SipHasher13;

/// Words in one group.
const GROUP: usize = 6;
/// Groups of which one is chosen.
const WINDOW: usize = 9;
/// A passage of this many words is always recognized.
pub const RECOGNIZED_WORDS: usize = GROUP + WINDOW - 1;
/// Characters that stand for one word in scripts without spaces.
const UNSPACED: usize = 6;
/// A whole text of fewer words says too little: "Yes." is no secret.
const SHORTEST_TEXT: usize = 4;

/// The hash of a word group, or of a whole short text. Stored, and therefore the same in every version.
pub type Fingerprint = i64;

/// The fingerprints of a text.
pub fn of_text(text: &str) -> BTreeSet<Fingerprint> {
    let words: Vec<u64> = words(text).collect();
    let mut chosen = BTreeSet::new();
    if (SHORTEST_TEXT..RECOGNIZED_WORDS).contains(&words.len()) {
        chosen.insert(hash(&(true, &words)));
    }
    // The smallest of every window, the last of equals: neighbors choose the same, so that few are kept.
    let mut window: VecDeque<(usize, Fingerprint)> = VecDeque::new();
    for (position, group) in words.windows(GROUP).enumerate() {
        let group = hash(&(false, group));
        while window.back().is_some_and(|(_, earlier)| *earlier >= group) {
            window.pop_back();
        }
        window.push_back((position, group));
        while window.front().is_some_and(|(at, _)| at + WINDOW <= position) {
            window.pop_front();
        }
        if position + 1 >= WINDOW
            && let Some((_, smallest)) = window.front()
        {
            chosen.insert(*smallest);
        }
    }
    chosen
}

/// The fingerprint of an answer behind the question that it answers, for answers that say nothing without it.
pub fn of_exchange(question: &str, answer: &str) -> Fingerprint {
    let (question, answer): (Vec<u64>, Vec<u64>) = (words(question).collect(), words(answer).collect());
    hash(&(question, answer))
}

/// What is only in `protected` and not in `known`: a question that an answer repeats is not protected by that.
pub fn new_in<'a>(
    protected: impl IntoIterator<Item = &'a str>,
    known: impl IntoIterator<Item = &'a str>,
) -> BTreeSet<Fingerprint> {
    let chosen: BTreeSet<Fingerprint> = protected.into_iter().flat_map(of_text).collect();
    without_known(&chosen, known)
}

/// Those fingerprints that do not stand for something in `known`.
pub fn without_known<'a>(
    chosen: &BTreeSet<Fingerprint>,
    known: impl IntoIterator<Item = &'a str>,
) -> BTreeSet<Fingerprint> {
    if chosen.is_empty() {
        return BTreeSet::new();
    }
    // All groups of what was known, not only the chosen ones: a window chooses by its neighbors.
    let known: HashSet<Fingerprint> = known.into_iter().flat_map(all_groups).collect();
    chosen.iter().filter(|fingerprint| !known.contains(fingerprint)).copied().collect()
}

fn all_groups(text: &str) -> Vec<Fingerprint> {
    let words: Vec<u64> = words(text).collect();
    let mut groups: Vec<Fingerprint> = words.windows(GROUP).map(|group| hash(&(false, group))).collect();
    groups.push(hash(&(true, &words)));
    groups
}

/// The words of a text as hashes: runs of letters and digits, letter case put aside. Scripts that part words by no
/// spaces give every few characters as one, wherever they begin.
fn words(text: &str) -> impl Iterator<Item = u64> {
    // Vowel signs and tone marks of such scripts are no letters, and part nothing.
    let belongs = |character: char| character.is_alphanumeric() || is_unspaced(character);
    let runs = text.split(move |character: char| !belongs(character)).filter(|run| !run.is_empty());
    runs.flat_map(|run| {
        let characters: Vec<char> = run.chars().flat_map(char::to_lowercase).collect();
        let length =
            if run.chars().any(is_unspaced) { UNSPACED.min(characters.len()) } else { characters.len() };
        let words = characters.windows(length.max(1)).map(|word| {
            let mut hasher = SipHasher13::new();
            for character in word {
                hasher.write_u32(u32::from(*character));
            }
            hasher.finish()
        });
        words.collect::<Vec<_>>()
    })
}

/// Han, Kana, Thai, Lao, Myanmar and Khmer (Unicode 16, Blocks.txt).
fn is_unspaced(character: char) -> bool {
    matches!(character,
        '\u{0E00}'..='\u{0EFF}' | '\u{1000}'..='\u{109F}' | '\u{1780}'..='\u{17FF}' | '\u{3040}'..='\u{30FF}'
        | '\u{31F0}'..='\u{31FF}' | '\u{3400}'..='\u{9FFF}' | '\u{F900}'..='\u{FAFF}'
        | '\u{20000}'..='\u{3FFFF}')
}

fn hash(value: &impl Hash) -> Fingerprint {
    let mut hasher = SipHasher13::new();
    value.hash(&mut hasher);
    hasher.finish().cast_signed()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const ANSWER: &str = "The quarterly plan of the harbor project moves the pump house to the eastern pier, because \
                          the ground at the old site gives way when the river is high in spring.";

    fn recognized(stored: &BTreeSet<Fingerprint>, text: &str) -> bool {
        of_text(text).iter().any(|fingerprint| stored.contains(fingerprint))
    }

    #[test]
    fn a_passage_is_recognized_in_another_text_however_it_is_written() {
        let stored = of_text(ANSWER);
        assert!(recognized(&stored, ANSWER));
        let wrapped =
            format!("You said earlier:\n> {}\n\nIs that right?", ANSWER.to_uppercase().replace(' ', "\n> "));
        assert!(recognized(&stored, &wrapped));
        let part =
            "… moves the pump house to the eastern pier, because the ground at the old site gives way …";
        assert!(recognized(&stored, part));
        assert!(!recognized(
            &stored,
            "The pump house and the eastern pier are old. The river is high in spring."
        ));
        assert!(!recognized(&stored, "Please summarize the quarterly plan."));
    }

    #[test]
    fn a_short_text_is_recognized_as_a_whole_and_a_word_is_no_secret() {
        let stored = of_text("The code is 4711 blue.");
        assert!(recognized(&stored, "the code is 4711 BLUE"));
        assert!(!recognized(&stored, "Tell me: the code is 4711 blue, or is it not?"));
        assert!(of_text("Yes, I can.").is_empty());
    }

    #[test]
    fn the_shortest_answers_are_recognized_behind_their_question() {
        let stored = of_exchange("Is the pump house to be moved?", "Yes.");
        assert_eq!(stored, of_exchange("is the pump house to be moved", "YES"));
        assert_ne!(stored, of_exchange("Is it raining?", "Yes."));
        assert_ne!(stored, of_exchange("Is the pump house to be moved? Yes.", ""));
    }

    #[test]
    fn scripts_without_spaces_are_recognized_as_well() {
        let stored = of_text("港口项目的季度计划把泵房移到东码头，因为旧址的地面在春天河水上涨时会塌陷。");
        assert!(recognized(&stored, "他说：因为旧址的地面在春天河水上涨时会塌陷，对吗？"));
        assert!(!recognized(&stored, "春天的河水很高，旧码头在港口的东边，我们明天去看看吧。"));
        let stored = of_text("แผนรายไตรมาสของโครงการท่าเรือจะย้ายโรงสูบน้ำไปยังท่าเรือด้านตะวันออก");
        assert!(recognized(&stored, "จะย้ายโรงสูบน้ำไปยังท่าเรือด้านตะวันออก"));
    }

    #[test]
    fn what_an_answer_repeats_of_the_question_is_not_protected() {
        let question =
            "What does the page of the tide mill at the old harbor say about visitors on Saturdays in June?";
        let answer = format!("{question} {ANSWER}");
        let stored = new_in([answer.as_str()], [question]);
        assert!(!recognized(&stored, question));
        assert!(recognized(&stored, ANSWER));
    }

    #[test]
    fn fingerprints_are_the_same_in_every_version() {
        let stored: Vec<_> = of_text(ANSWER).into_iter().collect();
        insta::assert_json_snapshot!(stored);
    }

    proptest! {
        #[test]
        fn every_passage_of_enough_words_is_recognized(
            text in prop::collection::vec("[a-z]{1,4}", 30..80),
            start in 0usize..16,
            before in prop::collection::vec("[a-z]{1,4}", 0..20),
            after in prop::collection::vec("[a-z]{1,4}", 0..20),
        ) {
            let stored = of_text(&text.join(" "));
            let passage = text[start..start + RECOGNIZED_WORDS].to_vec();
            let inside = [before, passage, after].concat().join(", ");
            prop_assert!(recognized(&stored, &inside));
        }
    }
}
