use super::*;
use crate::testing::{RecordingTool, definition, definition_text};

fn file(name: &str, text: String) -> DefinitionFile {
    DefinitionFile::added(name, text)
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

fn built_in(id: &str) -> DefinitionFile {
    DefinitionFile::built_in(format!("builtin/{id}/definition.json"), definition_text(id))
}

/// A definition with `id`, which replaces `replaced` and is answered by the implementation `key`.
fn replacing(id: &str, replaced: &str, key: &str) -> serde_json::Value {
    let mut value = definition(id);
    value["replaces"] = replaced.into();
    value["implementationKey"] = key.into();
    value
}

fn ids(catalog: &Catalog) -> Vec<&str> {
    catalog.tools().iter().map(|tool| tool.id()).collect()
}

fn texts(problems: &[Problem]) -> Vec<String> {
    problems.iter().map(ToString::to_string).collect()
}

#[test]
fn a_replacing_definition_takes_the_place_of_the_built_in_one() {
    for id in ["search", "my_search"] {
        for key in ["search", "mine"] {
            let added = file("mine.json", replacing(id, "search", key).to_string());
            let (catalog, problems) = Catalog::build(
                &[built_in("search"), added],
                &[tool("search"), tool("mine")],
                &Components::default(),
            );
            assert_eq!(problems, []);
            assert_eq!(ids(&catalog), [id]);
            let tool = catalog.by_id(id).expect("in the catalog");
            assert_eq!(tool.file.file, "mine.json");
            assert_eq!(tool.definition.capability, "search", "what granted the tool grants it still");
            assert_eq!(tool.implementation.as_ref().map(|tool| tool.implementation_key()), Some(key));
        }
    }
    let mut value = replacing("mine", "search", "mine");
    value["capability"] = "mine".into();
    let files = [built_in("search"), file("mine.json", value.to_string())];
    let (catalog, _) = Catalog::build(&files, &[tool("search"), tool("mine")], &Components::default());
    assert_eq!(catalog.by_id("mine").map(|tool| tool.definition.capability.as_str()), Some("mine"));
}

#[test]
fn what_cannot_replace_leaves_the_built_in_tool_in_place() {
    let check = |added: &[serde_json::Value], expected: &[&str]| {
        let mut files = vec![built_in("search"), built_in("fetch")];
        files.extend(
            added.iter().enumerate().map(|(index, value)| file(&format!("{index}.json"), value.to_string())),
        );
        let (catalog, problems) = Catalog::build(
            &files,
            &[tool("search"), tool("fetch"), tool("mine"), tool("own")],
            &Components::default(),
        );
        assert!(catalog.by_id("search").is_some(), "{expected:?}");
        let texts = texts(&problems);
        assert_eq!(texts.len(), expected.len(), "{texts:?}");
        for (text, part) in texts.iter().zip(expected) {
            assert!(text.contains(part), "{text}");
        }
    };
    check(
        &[replacing("mine", "serch", "mine")],
        &["/replaces: the unknown tool \"serch\"; built-in tools: fetch, search; did you mean \"search\"?"],
    );
    check(&[replacing("mine", "search", "no_such_key")], &["/implementationKey"]);
    check(&[replacing("fetch", "search", "mine")], &["/id: the id \"fetch\", which builtin/fetch"]);
    check(&[definition("search")], &["say \"replaces\": \"search\""]);
    let mut own = definition("own");
    own["replaces"] = serde_json::Value::Null;
    check(&[own, replacing("mine", "own", "mine")], &["the tool \"own\" of 0.json, which is not built in"]);
    let mut narrower = replacing("mine", "search", "mine");
    narrower["function"]["parameters"]["properties"]["q"]["maxLength"] = 5.into();
    narrower["function"]["parameters"]["properties"]["more"] = serde_json::json!({"type": "string"});
    narrower["function"]["parameters"]["required"] = serde_json::json!(["more"]);
    check(
        &[narrower],
        &[
            "/function/parameters/properties/more: the property is required",
            "/function/parameters/properties/q/maxLength",
        ],
    );
}

#[test]
fn a_built_in_tool_is_replaced_once() {
    let files = [
        built_in("search"),
        file("a.json", replacing("one", "search", "one").to_string()),
        file("b.json", replacing("two", "search", "two").to_string()),
    ];
    let (catalog, problems) =
        Catalog::build(&files, &[tool("search"), tool("one"), tool("two")], &Components::default());
    assert_eq!(ids(&catalog), ["one"]);
    assert!(
        problems[0].file == "b.json" && problems[0].found.contains("a.json replaces already"),
        "{problems:?}"
    );
}

#[test]
fn what_did_not_change_is_taken_over_as_it_is() {
    let implementations = [tool("alpha"), tool("beta")];
    let files = [file("a.json", definition_text("alpha")), file("b.json", definition_text("beta"))];
    let (before, _) = Catalog::build(&files, &implementations, &Components::default());
    let mut changed = definition("beta");
    changed["contextual"] = true.into();
    let files = [file("a.json", definition_text("alpha")), file("b.json", changed.to_string())];
    let (after, problems) = before.rebuild(&files, &implementations, &Components::default());
    assert_eq!(problems, []);
    let same = |id| Arc::ptr_eq(before.by_id(id).expect("before"), after.by_id(id).expect("after"));
    assert!(same("alpha") && !same("beta"));
    assert!(after.by_id("beta").is_some_and(|tool| tool.definition.contextual));
    let (other, _) = after.rebuild(&files, &[tool("alpha"), tool("beta")], &Components::default());
    let now = other.by_id("alpha").and_then(|tool| tool.implementation.clone()).expect("implemented");
    assert!(!Arc::ptr_eq(&now, &implementations[0]), "another implementation is taken");
}

#[test]
fn a_file_that_breaks_keeps_its_last_good_version_and_says_so() {
    let implementations = [tool("alpha"), tool("beta")];
    let good = [file("a.json", definition_text("alpha")), file("b.json", definition_text("beta"))];
    let (before, _) = Catalog::build(&good, &implementations, &Components::default());
    let mut missing = definition("beta");
    missing["implementationKey"] = "gamma".into();
    for broken in [
        file("b.json", "{".to_owned()),
        file("b.json", definition_text("alpha")),
        file("b.json", missing.to_string()),
        DefinitionFile::unreadable("b.json", Unreadable::NotUtf8),
        DefinitionFile::unreadable("b.json", Unreadable::Failed("no right".to_owned())),
        DefinitionFile::unreadable("b.json", Unreadable::TooLarge { limit: 5 }),
    ] {
        let mut catalog =
            before.rebuild(&[good[0].clone(), broken.clone()], &implementations, &Components::default()).0;
        // However often the files are looked at.
        for _ in 0..2 {
            let (next, problems) =
                catalog.rebuild(&[good[0].clone(), broken.clone()], &implementations, &Components::default());
            assert_eq!(ids(&next), ["alpha", "beta"], "{broken:?}");
            assert!(Arc::ptr_eq(&before.tools()[1], &next.tools()[1]), "{broken:?}");
            assert_eq!(problems.len(), 1, "{problems:?}");
            assert!(problems[0].last_good_stays, "{problems:?}");
            assert!(problems[0].to_string().ends_with("the last good version stays in use"), "{problems:?}");
            catalog = next;
        }
        let (mended, problems) = catalog.rebuild(&good, &implementations, &Components::default());
        assert_eq!((ids(&mended), problems), (vec!["alpha", "beta"], Vec::new()));
        let (gone, problems) = catalog.rebuild(&good[..1], &implementations, &Components::default());
        assert_eq!(
            (ids(&gone), problems),
            (vec!["alpha"], Vec::new()),
            "a file that is gone takes its tool away"
        );
    }
}

#[test]
fn a_new_file_takes_no_tool_away_that_is_in_use() {
    let implementations = [tool("alpha"), tool("beta")];
    let used = file("b.json", definition_text("beta"));
    let (before, _) = Catalog::build(std::slice::from_ref(&used), &implementations, &Components::default());
    let (after, problems) = before.rebuild(
        &[file("a.json", definition_text("beta")), used],
        &implementations,
        &Components::default(),
    );
    assert_eq!(after.by_id("beta").map(|tool| tool.file.file.as_str()), Some("b.json"));
    assert_eq!(problems.iter().map(|problem| problem.file.as_str()).collect::<Vec<_>>(), ["a.json"]);
}

#[test]
fn two_files_can_exchange_their_ids_at_once() {
    let implementations = [tool("alpha"), tool("beta")];
    let (alpha, beta) = (definition_text("alpha"), definition_text("beta"));
    let (before, _) = Catalog::build(
        &[file("a.json", alpha.clone()), file("b.json", beta.clone())],
        &implementations,
        &Components::default(),
    );
    let (after, problems) = before.rebuild(
        &[file("a.json", beta), file("b.json", alpha)],
        &implementations,
        &Components::default(),
    );
    assert_eq!(problems, []);
    assert_eq!(after.by_id("beta").map(|tool| tool.file.file.as_str()), Some("a.json"));
}

#[test]
fn a_replacement_that_breaks_stays_and_one_that_goes_brings_the_built_in_back() {
    let implementations = [tool("search"), tool("mine")];
    let added = file("mine.json", replacing("mine", "search", "mine").to_string());
    let (replaced, _) =
        Catalog::build(&[built_in("search"), added], &implementations, &Components::default());
    let (broken, problems) = replaced.rebuild(
        &[built_in("search"), file("mine.json", "{".to_owned())],
        &implementations,
        &Components::default(),
    );
    assert_eq!(ids(&broken), ["mine"]);
    assert!(problems[0].last_good_stays);
    let (gone, problems) = broken.rebuild(&[built_in("search")], &implementations, &Components::default());
    assert_eq!((ids(&gone), problems), (vec!["search"], Vec::new()));
}
