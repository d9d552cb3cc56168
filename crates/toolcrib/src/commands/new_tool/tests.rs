use super::*;

const REAL_LIST: &str = include_str!("../../../../toolcrib-tools/src/builtin.rs");

/// A list of two tools, formed like the real one.
const LIST_OF_TWO: &str = r#"use toolcrib_egress::Egress;

mod arguments;
mod calculate;
mod read_web_page;
#[cfg(test)]
mod tests;

pub use calculate::Calculate;
pub use read_web_page::ReadWebPage;

pub fn builtin(egress: &Egress) -> BuiltIn {
    let mut all = BuiltIn::default();
    all.typed(Calculate::new(), include_str!("builtin/calculate.rs"));
    all
}
"#;

/// A checkout with a list of tools and nothing else.
fn copy() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir_all(folder.path().join(MODULES)).unwrap();
    fs::write(folder.path().join(LIST), LIST_OF_TWO).unwrap();
    folder
}

/// Every file of a folder, with its text.
fn contents(folder: &Path) -> Vec<(PathBuf, String)> {
    let mut all = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            all.push((path.clone(), String::new()));
            all.extend(contents(&path));
        } else {
            all.push((path.clone(), fs::read_to_string(&path).unwrap()));
        }
    }
    all.sort();
    all
}

#[test]
fn a_tool_is_written_and_stands_in_the_list() {
    let copy = copy();
    let below = copy.path().join(MODULES);
    let plan = rust(&checkout(&below).unwrap(), "roll_dice").unwrap();
    plan.carry_out().unwrap();
    let read = |path: &str| fs::read_to_string(copy.path().join(path)).unwrap();
    let tool = read("crates/toolcrib-tools/src/builtin/roll_dice.rs");
    for part in ["pub struct RollDice;", "KEY: &'static str = \"roll_dice\"", "\"Roll dice\"", "\"de\" =>"] {
        assert!(tool.contains(part), "{part}");
    }
    let tests = read("crates/toolcrib-tools/src/builtin/roll_dice/tests.rs");
    assert!(tests.contains("use super::RollDice;"));
    assert!(!tool.contains("{{") && !tests.contains("{{"));
    let list = read(LIST);
    assert!(list.contains("mod read_web_page;\nmod roll_dice;\n#[cfg(test)]\nmod tests;\n"), "{list}");
    assert!(list.contains("pub use read_web_page::ReadWebPage;\npub use roll_dice::RollDice;\n"), "{list}");
    assert!(
        list.contains("    all.typed(RollDice, include_str!(\"builtin/roll_dice.rs\"));\n    all\n}\n"),
        "{list}"
    );
    // A second tool finds its place before and behind others.
    rust(copy.path(), "a_tool").unwrap().carry_out().unwrap();
    assert!(read(LIST).contains("mod a_tool;\nmod arguments;\n"));
    let again = rust(copy.path(), "roll_dice").unwrap_err().to_string();
    assert!(again.contains("builtin/roll_dice.rs already: choose another name"), "{again}");
}

#[test]
fn the_real_list_takes_a_tool_with_three_lines() {
    let name = Name::parse("a_tool_of_a_test").unwrap();
    let list = list::with(REAL_LIST, &name).unwrap();
    let added: Vec<&str> = list.lines().filter(|line| !REAL_LIST.lines().any(|old| old == *line)).collect();
    let expected = [
        "mod a_tool_of_a_test;",
        "pub use a_tool_of_a_test::AToolOfATest;",
        "    all.typed(AToolOfATest, include_str!(\"builtin/a_tool_of_a_test.rs\"));",
    ];
    assert_eq!(added, expected);
    assert_eq!(list.lines().count(), REAL_LIST.lines().count() + 3);
}

#[test]
fn names_that_cannot_be_are_refused_with_what_is_allowed() {
    let copy = copy();
    for name in
        ["", "Roll", "roll-dice", "2d6", "_dice", "dice_", "roll__dice", "würfel", "../dice", &"a".repeat(65)]
    {
        let error = rust(copy.path(), name).unwrap_err().to_string();
        assert!(error.contains("lower-case letter is allowed") && error.contains("roll_dice"), "{error}");
    }
    for name in ["type", "async", "gen"] {
        let error = rust(copy.path(), name).unwrap_err().to_string();
        assert!(error.contains("a word of the Rust language"), "{error}");
    }
    for name in ["answer", "display", "egress", "string"] {
        let error = rust(copy.path(), name).unwrap_err().to_string();
        assert!(error.contains("means something else there"), "{error}");
    }
    fs::create_dir_all(copy.path().join("docs/tools")).unwrap();
    fs::write(copy.path().join("docs/tools/dice.md"), "").unwrap();
    assert!(rust(copy.path(), "dice").unwrap_err().to_string().contains("docs/tools/dice.md already"));
}

#[test]
fn outside_a_checkout_nothing_happens() {
    let folder = tempfile::tempdir().unwrap();
    let error = checkout(folder.path()).unwrap_err().to_string();
    assert!(error.contains("no checkout of the project") && error.contains(LIST), "{error}");
    assert_eq!(contents(folder.path()), []);
}

#[test]
fn a_list_that_is_not_understood_is_left_alone() {
    for missing in ["mod ", "pub use ", "    all\n"] {
        let copy = copy();
        let text: String =
            LIST_OF_TWO.split_inclusive('\n').filter(|line| !line.starts_with(missing)).collect();
        fs::write(copy.path().join(LIST), text).unwrap();
        let before = contents(copy.path());
        let error = format!("{:#}", rust(copy.path(), "roll_dice").unwrap_err());
        assert!(error.contains("there is no list of"), "{error}");
        assert_eq!(contents(copy.path()), before);
    }
}

#[test]
fn after_an_error_nothing_is_left() {
    let copy = copy();
    let before = contents(copy.path());
    let plan = rust(copy.path(), "roll_dice").unwrap();
    // The last step fails: what it would write is there already.
    let in_the_way = copy.path().join(LIST).with_extension("rs.new");
    fs::write(&in_the_way, "").unwrap();
    let error = format!("{:#}", plan.carry_out().unwrap_err());
    assert!(error.contains("builtin.rs"), "{error}");
    fs::remove_file(&in_the_way).unwrap();
    assert_eq!(contents(copy.path()), before);
    plan.carry_out().unwrap();
}
