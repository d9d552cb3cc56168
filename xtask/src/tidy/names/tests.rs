use super::*;

#[test]
fn empty_words_are_found_in_crates_folders_and_files() {
    for path in [
        "crates/toolcrib-core/Cargo.toml",
        "crates/one/src/utils.rs",
        "crates/one/src/common/a.rs",
        "crates/one/src/session_manager.rs",
        "crates/one/src/types.rs",
    ] {
        assert_eq!(check(&Tree::of(&[(path, "")])).len(), 1, "{path}");
    }
}

#[test]
fn other_names_and_wire_types_are_not() {
    for path in [
        "crates/one/src/wire/messages/types.rs",
        "crates/one/src/media_types.rs",
        "crates/one/src/score.rs",
        "crates/one/src/database.rs",
        "docs/common.md",
    ] {
        assert_eq!(check(&Tree::of(&[(path, "")])), [], "{path}");
    }
}
