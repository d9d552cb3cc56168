use super::*;

fn count(files: &[&str]) -> usize {
    count_with(files, "impl Tool for Clock {}")
}

fn count_with(files: &[&str], text: &str) -> usize {
    let files: Vec<(String, &str)> = files.iter().map(|file| (format!("{BUILT_IN}{file}"), text)).collect();
    let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (path.as_str(), *text)).collect();
    check(&Tree::of(&files)).len()
}

#[test]
fn a_complete_folder_has_no_findings() {
    assert_eq!(count(&["clock/definition.json", "clock/tests.rs", "clock/clock.rs"]), 0);
    assert_eq!(count(&["clock/definition.json", "clock/tests.rs", "clock.rs"]), 0);
    assert_eq!(count(&["tests/all.rs", "tests.rs"]), 0);
}

#[test]
fn each_missing_file_is_found() {
    assert_eq!(count(&["clock/tests.rs", "clock.rs"]), 1);
    assert_eq!(count(&["clock/definition.json", "clock.rs"]), 1);
    assert_eq!(count(&["clock/definition.json", "clock/tests.rs"]), 1);
    assert_eq!(count(&["clock/notes.md"]), 2);
}

#[test]
fn a_definition_stands_in_one_place() {
    let typed = "impl TypedTool for Clock {}";
    assert_eq!(count_with(&["clock.rs", "clock/tests.rs"], typed), 0);
    assert_eq!(count_with(&["clock.rs", "clock/tests.rs", "clock/definition.json"], typed), 1);
    assert_eq!(count(&["clock.rs", "clock/tests.rs"]), 1);
}
