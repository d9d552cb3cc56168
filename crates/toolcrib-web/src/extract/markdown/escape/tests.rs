use super::*;

fn check(text: &str, expected: &str) {
    let mut out = String::new();
    push_escaped(&mut out, text, false);
    assert_eq!(out, expected);
}

#[test]
fn only_markup_is_escaped() {
    check("snake_case_name", "snake_case_name");
    check("_stressed_", "\\_stressed\\_");
    check("2 * 3", "2 * 3");
    check("*x*", "\\*x\\*");
    check("a < b <b>", "a < b \\<b>");
    check("C:\\dir \\*", "C:\\dir \\\\\\*");
    check("[1] and [a](b)", "[1] and [a\\](b)");
    check("AT&T &amp; &#38;", "AT&T &amp; \\&#38;");
    check("a ~ b ~~c~~", "a ~ b \\~\\~c\\~\\~");
}

#[test]
fn line_starts_are_escaped() {
    for (line, expected) in [
        ("# no heading", "\\# no heading"),
        ("#tag", "#tag"),
        ("- no item", "\\- no item"),
        ("-5 degrees", "-5 degrees"),
        ("1986. A year", "1986\\. A year"),
        ("3.14 is pi", "3.14 is pi"),
        ("> no quote", "\\> no quote"),
        ("---", "\\---"),
        ("plain", "plain"),
    ] {
        assert_eq!(escape_line_start(line), expected);
    }
}

#[test]
fn inline_code_outgrows_its_backticks() {
    assert_eq!(inline_code("x"), "`x`");
    assert_eq!(inline_code("a`b"), "``a`b``");
    assert_eq!(inline_code("`a`"), "`` `a` ``");
}
