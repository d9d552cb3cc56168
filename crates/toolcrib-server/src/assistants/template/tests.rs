use super::*;

fn rendered(text: &str, values: &[(&str, &str)]) -> String {
    let template = Template::parse(text).unwrap_or_else(|problems| panic!("{text}: {problems:?}"));
    template.render(&|input| values.iter().find(|(id, _)| *id == input).map(|(_, value)| *value))
}

fn problems(text: &str) -> Vec<String> {
    let problems = Template::parse(text).expect_err(text);
    problems.into_iter().map(|problem| problem.found).collect()
}

#[test]
fn values_and_optional_parts() {
    let check = |text: &str, values: &[(&str, &str)], expected: &str| {
        assert_eq!(rendered(text, values), expected, "{text}");
    };
    check("To {{language}}.", &[("language", "German")], "To German.");
    check("To {{ language }}.", &[("language", "German")], "To German.");
    check("A{{#x}} with {{x}}{{/x}}.", &[("x", "1")], "A with 1.");
    check("A{{#x}} with {{x}}{{/x}}.", &[], "A.");
    check("A{{^x}} without{{/x}}.", &[], "A without.");
    check("A{{^x}} without{{/x}}.", &[("x", "1")], "A.");
    check("{{#a}}a{{#b}}b{{/b}}{{^b}}-{{/b}}{{/a}}", &[("a", "1")], "a-");
    check("{{#a}}a{{#b}}b{{/b}}{{^b}}-{{/b}}{{/a}}", &[("b", "1")], "");
}

#[test]
fn a_line_with_nothing_but_a_mark_vanishes_whole() {
    let text = "One.\n  {{#x}}\nTwo {{x}}.\n{{/x}}\n{{^x}}\nNone.\n{{/x}}\nThree.\n";
    assert_eq!(rendered(text, &[("x", "2")]), "One.\nTwo 2.\nThree.");
    assert_eq!(rendered(text, &[]), "One.\nNone.\nThree.");
    assert_eq!(rendered("{{#x}}\na\n{{/x}}", &[("x", "2")]), "a");
    assert_eq!(rendered("a {{#x}}\nb{{/x}}", &[("x", "2")]), "a \nb", "the mark does not stand alone");
}

#[test]
fn values_are_never_read_as_marks() {
    let value = "{{other}} {{/x}} }} {{#y}}";
    assert_eq!(rendered("{{#x}}{{x}}{{/x}}", &[("x", value), ("other", "no")]), value);
}

#[test]
fn marks_that_cannot_be_read_are_all_told() {
    assert_eq!(
        problems("{{Language}} {{}} {{a b}}"),
        ["the mark \"{{Language}}\"", "the mark \"{{}}\"", "the mark \"{{a b}}\""]
    );
    assert_eq!(problems("{{language"), ["\"{{language\" without an end"]);
    assert_eq!(problems("{{#a}} {{^b}}"), ["{{#a}} without {{/a}}", "{{^b}} without {{/b}}"]);
    assert_eq!(problems("{{/a}}"), ["{{/a}} where nothing of that name is open"]);
    assert_eq!(
        problems("{{#a}}{{#b}}{{/a}}{{/b}}"),
        ["{{/a}} where nothing of that name is open", "{{#a}} without {{/a}}"]
    );
}

#[test]
fn mentions_know_whether_there_surely_is_a_value() {
    let template = Template::parse("{{a}}{{#a}}{{a}}{{b}}{{/a}}{{^a}}{{a}}{{/a}}").expect("valid");
    let found: Vec<_> = template
        .mentions()
        .into_iter()
        .map(|mention| (mention.input, mention.value, mention.guarded))
        .collect();
    let of = |input: &str, value, guarded| (input.to_owned(), value, guarded);
    let expected = [
        of("a", true, false),
        of("a", false, false),
        of("a", true, true),
        of("b", true, false),
        of("a", false, false),
        of("a", true, false),
    ];
    assert_eq!(found, expected);
}
