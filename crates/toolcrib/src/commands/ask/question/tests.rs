use super::*;

fn words(text: &str) -> Vec<String> {
    text.split_whitespace().map(str::to_owned).collect()
}

#[test]
fn standard_input_is_read_when_something_may_be_piped_in() {
    let cases = [
        ("a question", true, "a question", Input::Never),
        ("a question", false, "a question", Input::IfAny),
        ("a question -", true, "a question", Input::Whole),
        ("a question -", false, "a question", Input::Whole),
        ("-", true, "", Input::Whole),
        ("", false, "", Input::Whole),
        ("", true, "", Input::Never),
        ("5 - 3", false, "5 - 3", Input::IfAny),
    ];
    for (typed, terminal, question, input) in cases {
        assert_eq!(plan(&words(typed), terminal), (question.to_owned(), input), "{typed:?} {terminal}");
    }
}

#[test]
fn what_is_piped_in_stands_behind_the_question() {
    let cases = [
        ("Summarize", "a\nb\n", "Summarize\n\na\nb"),
        ("Summarize", "  indented\n", "Summarize\n\n  indented"),
        ("Summarize", " \n", "Summarize"),
        ("", "only this\n", "only this"),
        ("", "\n", ""),
    ];
    for (typed, piped, question) in cases {
        assert_eq!(joined(typed, piped), question, "{typed:?} {piped:?}");
    }
}
