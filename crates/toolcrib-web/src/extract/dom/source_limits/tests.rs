use std::fmt::Write;

use super::*;

fn attributes(count: usize, separator: &str) -> String {
    let mut all = String::new();
    for index in 0..count {
        write!(all, "{separator}a{index}=\"x y\"").unwrap();
    }
    all
}

#[test]
fn an_ordinary_page_is_untouched() {
    let page =
        "<!doctype html><p class=\"a b\" title='<b x=\"1\">'>one</p><!-- <a x=\" --><div a b c>two</div>";
    assert!(matches!(without_excess_attributes(page), Cow::Borrowed(_)));
}

#[test]
fn excess_attributes_are_cut_and_the_tag_still_ends() {
    let page = format!("<p>before</p><div{}>inside</div>", attributes(10_000, " "));
    let cut = without_excess_attributes(&page);
    assert!(cut.len() < 8_000);
    assert!(cut.ends_with(">inside</div>"));
    assert!(cut.contains("a255="));
    assert!(!cut.contains("a300="));
}

#[test]
fn a_quote_opened_in_a_comment_does_not_hide_the_tag() {
    let page = format!("<!-- <a x=\" --><div{}>inside</div>", attributes(10_000, "/"));
    assert!(without_excess_attributes(&page).len() < 8_000);
}

#[test]
fn an_unfinished_tag_ends_with_the_source() {
    let page = format!("<div{}", attributes(10_000, " "));
    assert!(without_excess_attributes(&page).len() < 8_000);
}
