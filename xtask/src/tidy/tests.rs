use super::*;

#[test]
fn the_workspace_is_tidy() {
    let findings = check(&crate::workspace_root()).unwrap();
    let lines: Vec<String> = findings.iter().map(ToString::to_string).collect();
    assert!(lines.is_empty(), "{} findings:\n{}", lines.len(), lines.join("\n"));
}

#[test]
fn what_is_a_source_and_what_is_a_test() {
    for (path, source, test) in [
        ("crates/one/src/lib.rs", true, false),
        ("crates/one/src/a/tests.rs", true, true),
        ("crates/one/src/a/tests/b.rs", true, true),
        ("crates/one/tests/it/main.rs", false, true),
        ("xtask/src/main.rs", true, false),
        ("crates/one/src/page.html", false, false),
        ("fuzz/targets/one.rs", false, false),
    ] {
        assert_eq!((is_source(path), is_test(path)), (source, test), "{path}");
    }
}
