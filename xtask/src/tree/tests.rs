use super::*;

#[test]
fn build_output_is_no_part_of_the_tree_and_binary_files_have_no_text() {
    let folder = tempfile::tempdir().unwrap();
    for (path, bytes) in
        [("a/b.rs", &b"fn"[..]), ("target/x.rs", b"fn"), ("node_modules/y.js", b""), ("c.bin", &[0xff])]
    {
        let path = folder.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    }

    let tree = Tree::read(folder.path()).unwrap();

    assert_eq!(tree.paths().collect::<Vec<_>>(), ["a/b.rs", "c.bin"]);
    assert_eq!(tree.texts().collect::<Vec<_>>(), [("a/b.rs", "fn")]);
}
