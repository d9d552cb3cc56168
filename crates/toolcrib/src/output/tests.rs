use serde_json::{Value, json};

use super::*;

#[test]
fn nothing_that_steers_a_terminal_is_left_in_text() {
    let cases = [
        ("plain, with\ttab\nand line", "plain, with\ttab\nand line"),
        ("\u{1b}[31mred\u{1b}[0m", "[31mred[0m"),
        ("\u{1b}]0;title\u{7}after", "]0;titleafter"),
        ("\u{9b}2Jcleared \u{9d}0;x\u{9c}", "2Jcleared 0;x"),
        ("over\rwritten\u{8}\u{7f}", "overwritten"),
        ("Zürich 東京 🧮", "Zürich 東京 🧮"),
    ];
    for (given, expected) in cases {
        assert_eq!(clean(given), expected, "{given:?}");
        assert_eq!(text_of(&json!(given)), expected, "{given:?}");
        assert_eq!(styled(Style::new(), given), expected, "{given:?}");
    }
}

#[test]
fn json_stays_the_same_data_and_steers_nothing() {
    let value = json!({"title": "a\u{1b}[2J\u{7f}\u{85}\u{9b}31mé\n"});
    let text = compact(&value);
    assert!(!text.contains(char::is_control), "{text:?}");
    let read: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(read, value);
}

#[test]
fn columns_are_filled_by_characters_and_not_by_bytes() {
    assert_eq!(column(Style::new(), "é", 3), "é  ");
    assert_eq!(column(Style::new(), "long", 3), "long");
}

#[test]
fn one_is_no_plural() {
    assert_eq!(counted(1, "file"), "1 file");
    assert_eq!(counted(0, "error"), "0 errors");
}
