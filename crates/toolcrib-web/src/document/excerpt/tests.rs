use proptest::prelude::*;

use super::*;

fn check(markdown: &str, budget: usize, expected: &str) {
    let part = excerpt(markdown, 0, budget);
    assert_eq!(part.text, expected);
    assert!(part.text.chars().count() <= budget);
}

#[test]
fn what_fits_is_returned_whole() {
    let part = excerpt("abc", 0, 3);
    assert_eq!(part.text, "abc");
    assert_eq!((part.truncated, part.next_offset, part.total_characters), (false, None, 3));
    assert_eq!(excerpt("abc", 2, 3).text, "c");
    assert_eq!(excerpt("abc", 9, 3).text, "");
}

#[test]
fn cuts_at_the_last_blank_line_first() {
    let text = format!("one\n\ntwo\nthree {}", "x".repeat(100));
    check(&text, 26 + 20, &format!("one\n\n{TRUNCATION_MARKER}"));
}

#[test]
fn cuts_at_a_line_break_in_the_second_half_next() {
    let text = format!("a line of text\nxy{}", "z".repeat(100));
    check(&text, 26 + 20, &format!("a line of text\n\n{TRUNCATION_MARKER}"));
    let text = format!("a\n{}", "z".repeat(100));
    check(&text, 26 + 20, &format!("a\n{}\n\n{TRUNCATION_MARKER}", "z".repeat(18)));
}

#[test]
fn cuts_between_characters_last() {
    check(&"ä".repeat(100), 30, &format!("ääää\n\n{TRUNCATION_MARKER}"));
    check(&"ä".repeat(100), 5, "äääää");
}

proptest! {
    #[test]
    fn excerpts_add_up_within_their_budget(
        text in "([a-zäあ \n]|\n\n){0,300}",
        budget in 1_usize..80,
    ) {
        let mut whole = String::new();
        let mut offset = Some(0);
        while let Some(at) = offset {
            let part = excerpt(&text, at, budget);
            prop_assert!(part.text.chars().count() <= budget);
            prop_assert_eq!(part.truncated, part.next_offset.is_some());
            whole.extend(part.text.chars().take(part.returned_characters));
            prop_assert!(part.next_offset.is_none_or(|next| next > at));
            offset = part.next_offset;
        }
        prop_assert_eq!(whole, text);
    }
}
