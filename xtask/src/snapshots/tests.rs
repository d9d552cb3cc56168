use super::*;

#[test]
fn a_snapshot_that_was_not_read_is_an_orphan() {
    let folder = tempfile::tempdir().unwrap();
    let snapshots = folder.path().join("crates/one/tests/it/snapshots");
    std::fs::create_dir_all(&snapshots).unwrap();
    std::fs::write(snapshots.join("read.snap"), "").unwrap();
    std::fs::write(snapshots.join("left.snap"), "").unwrap();
    let list = folder.path().join("list.txt");
    let roundabout = folder.path().join("crates/one/tests/../tests/it/snapshots/read.snap");
    std::fs::write(&list, format!("{}\n", roundabout.display())).unwrap();

    let findings = check(folder.path(), &list).unwrap();

    let places: Vec<&str> = findings.iter().map(|finding| finding.place.as_str()).collect();
    assert_eq!(places, ["crates/one/tests/it/snapshots/left.snap"]);
}

#[test]
fn a_missing_list_is_an_error_that_names_it() {
    let folder = tempfile::tempdir().unwrap();
    let error = check(folder.path(), &folder.path().join("none.txt")).unwrap_err();
    assert!(error.to_string().contains("none.txt"), "{error}");
}
