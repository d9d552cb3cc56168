use super::*;

fn messages(path: &str, text: &str) -> Vec<String> {
    check(&Tree::of(&[(path, text)])).into_iter().map(|finding| finding.message).collect()
}

#[test]
fn a_module_without_a_sentence_is_found() {
    assert_eq!(messages("crates/one/src/lib.rs", "//! One.\n"), [""; 0]);
    assert_eq!(messages("crates/one/src/lib.rs", "#![doc = include_str!(\"../docs/one.md\")]\n"), [""; 0]);
    assert!(messages("crates/one/src/lib.rs", "mod a;\n")[0].contains("opens with"));
    assert_eq!(messages("crates/one/src/a/tests.rs", "use super::*;\n"), [""; 0]);
}

#[test]
fn a_mod_file_is_found_everywhere() {
    assert!(messages("crates/one/tests/it/mod.rs", "")[0].contains("mod.rs"));
    assert_eq!(messages("crates/one/src/mode.rs", "//! One.\n"), [""; 0]);
}

#[test]
fn a_long_file_is_found_and_its_tests_do_not_count() {
    let body = "//! One.\n".repeat(MAXIMUM_LINES);
    assert_eq!(messages("crates/one/src/a.rs", &body), [""; 0]);
    assert_eq!(messages("crates/one/src/a.rs", &format!("{body}#[cfg(test)]\nmod tests {{\n}}\n")), [""; 0]);
    assert!(messages("crates/one/src/a.rs", &format!("{body}//\n"))[0].contains("601 lines"));
    assert_eq!(messages("crates/one/src/a/tests.rs", &format!("{body}//\n")), [""; 0]);
}

#[test]
fn every_exception_is_needed() {
    let tree = Tree::read(&crate::workspace_root()).unwrap();
    for (path, reason) in LONGER {
        let lines = tree.text(path).map(lines_without_tests);
        assert!(
            lines > Some(MAXIMUM_LINES),
            "{path} is listed as longer ({reason}), but has {lines:?} lines"
        );
    }
}
