use super::*;

const SNAPSHOT: &str = "---\nsource: crates/one/tests/it/a.rs\nexpression: x\n---\n1\n";

#[test]
fn a_snapshot_beside_its_test_is_right() {
    let tree =
        Tree::of(&[("crates/one/tests/it/a.rs", ""), ("crates/one/tests/it/snapshots/it__a.snap", SNAPSHOT)]);
    assert_eq!(check(&tree), []);
}

#[test]
fn a_snapshot_without_its_test_file_or_undecided_is_found() {
    let left = Tree::of(&[("crates/one/tests/it/snapshots/it__a.snap", SNAPSHOT)]);
    assert!(check(&left)[0].message.contains("crates/one/tests/it/a.rs"));
    let undecided = Tree::of(&[("crates/one/src/snapshots/it__a.snap.new", SNAPSHOT)]);
    assert!(check(&undecided)[0].message.contains("waits"));
}
