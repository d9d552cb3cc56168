use super::*;

fn check(value: &str, expected: Purposes, present: bool) {
    assert_eq!(purposes_of(value).intersects(expected), present, "{value}");
}

#[test]
fn purposes_come_from_whole_words() {
    check("cookie-policy cc-window", Purposes::CONSENT, true);
    check("tag-cookies hentry", Purposes::CONSENT, false);
    check("shareholder-letter", Purposes::SHARE, false);
    check("socialShareBar", Purposes::SHARE, true);
    check("table-of-contents", Purposes::CONTENTS_LIST, true);
    check("page-content", Purposes::CONTENTS_LIST, false);
    check("you-may-also-like", Purposes::RELATED, true);
    check("header", Purposes::AROUND, false);
    check("no-sidebar", Purposes::SIDEBAR, false);
    check("sr-only", Purposes::HIDDEN, true);
    check("hidden md:block", Purposes::SHOWN, true);
}
