use super::*;

const MANIFEST_TEXT: &str =
    "[workspace.dependencies]\nown = { path = \"crates/own\" }\nurl = \"2\"\nhttp = \"1\"\n";

fn messages(page: &str) -> Vec<String> {
    let tree = Tree::of(&[(MANIFEST, MANIFEST_TEXT), (PAGE, page)]);
    check(&tree).unwrap().into_iter().map(|finding| finding.to_string()).collect()
}

#[test]
fn a_page_with_a_line_for_each_is_right() {
    assert_eq!(
        messages("| library | job |\n|---|---|\n| url | parses URLs |\n| `http` | names of HTTP |\n"),
        [""; 0]
    );
}

#[test]
fn missing_needless_and_double_lines_are_found() {
    assert_eq!(
        messages("| `url` | parses |\n| `url` | again |\n| `serde` | left over |\n"),
        [
            "docs/dependencies.md: `http` has no line: say what it is for",
            "docs/dependencies.md:3: `serde` is not among the workspace's dependencies: remove the line",
            "docs/dependencies.md:2: `url` has a line already",
        ]
    );
}

#[test]
fn a_missing_page_is_one_finding() {
    let findings = check(&Tree::of(&[(MANIFEST, MANIFEST_TEXT)])).unwrap();
    assert_eq!(findings.len(), 1);
}
