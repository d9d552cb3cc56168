use super::*;
use crate::testing::{RecordingTool, definition_text};

fn file(name: &str, text: String) -> DefinitionFile {
    DefinitionFile { file: name.to_owned(), text }
}

fn build(files: &[DefinitionFile], implementations: &[Arc<dyn Tool>]) -> (Catalog, Vec<Problem>) {
    Catalog::build(files, implementations, &Components::default())
}

fn tool(key: &str) -> Arc<dyn Tool> {
    Arc::new(RecordingTool::returning(key, "fine"))
}

#[test]
fn one_bad_definition_never_takes_the_others_down() {
    let files = [
        file("a.json", definition_text("alpha")),
        file("broken.json", "{".to_owned()),
        file("b.json", definition_text("beta")),
    ];
    let (catalog, problems) = build(&files, &[tool("alpha"), tool("beta")]);
    assert_eq!(catalog.tools().iter().map(|tool| tool.id()).collect::<Vec<_>>(), ["alpha", "beta"]);
    assert_eq!(problems.len(), 1);
    assert_eq!(problems[0].file, "broken.json");
}

#[test]
fn order_is_by_id_whatever_the_order_of_the_files() {
    let files = ["c", "a", "b"].map(|id| file(id, definition_text(id)));
    let (catalog, _) = build(&files, &[]);
    assert_eq!(catalog.tools().iter().map(|tool| tool.id()).collect::<Vec<_>>(), ["a", "b", "c"]);
    assert_eq!(catalog.by_function_name("b").map(|tool| tool.id()), Some("b"));
}

#[test]
fn the_later_of_two_with_one_id_is_left_out_and_both_files_are_named() {
    let files = [file("first.json", definition_text("same")), file("second.json", definition_text("same"))];
    let (catalog, problems) = build(&files, &[tool("same")]);
    assert_eq!(catalog.tools().len(), 1);
    assert_eq!(problems.len(), 1);
    assert_eq!(problems[0].file, "second.json");
    assert!(problems[0].found.contains("first.json"));
}

#[test]
fn a_definition_without_implementation_is_known_and_reported() {
    let (catalog, problems) = build(&[file("x.json", definition_text("weather"))], &[tool("weathr")]);
    assert!(catalog.by_id("weather").is_some_and(|tool| tool.implementation.is_none()));
    assert_eq!(problems[0].nearest.as_deref(), Some("weathr"));
}

#[test]
fn a_run_keeps_the_catalog_it_began_with() {
    let registry = Registry::default();
    let before = registry.catalog();
    registry.publish(build(&[file("a.json", definition_text("alpha"))], &[]).0);
    assert!(before.by_id("alpha").is_none());
    assert!(registry.catalog().by_id("alpha").is_some());
}
