use super::*;

fn check(style: &str, class: &str, hidden: bool) {
    let mut rules = HidingRules::default();
    rules.read_style(&without_comments(style));
    assert_eq!(rules.classes.contains(class), hidden, "{style}");
}

#[test]
fn only_plain_rules_hide() {
    check(".a { display: none; }", "a", true);
    check(".a,.b{color:red;visibility:hidden!important}", "b", true);
    check("/* .x{ */ .a{display:none}", "a", true);
    check("@import url(x.css); .a{display:none}", "a", true);
    check("@media print { .a { display: none } } .b { display: none }", "a", false);
    check("@media print { .a { display: none } } .b { display: none }", "b", true);
    check("body .a{display:none}", "a", false);
    check(".a:hover{display:none}", "a", false);
    check(".a{display:none}.a{display:block}", "a", false);
    check(".a{display:none", "a", true);
}

#[test]
fn declarations_are_read_in_order() {
    assert_eq!(hiding("DISPLAY : None"), Some(true));
    assert_eq!(hiding("display:none;display:block"), Some(false));
    assert_eq!(hiding("visibility:hidden;display:block"), Some(true));
    assert_eq!(hiding("color:red"), None);
}
