use super::*;

fn count(path: &str, text: &str) -> usize {
    check(&Tree::of(&[(path, text)])).len()
}

#[test]
fn every_word_is_found_where_it_is_searched() {
    for (words, path) in
        [(IN_RUST, "a.rs"), (IN_CODE, "a.rs"), (IN_CODE, ".ci/run"), (EVERYWHERE, "README.md")]
    {
        for word in words {
            let findings = check(&Tree::of(&[(path, &format!("one\ntwo {}\n", word.text))]));
            assert_eq!(findings.len(), 1, "{} in {path}", word.text);
            assert_eq!(findings[0].line, Some(2));
            assert!(findings[0].message.contains(word.text));
        }
    }
}

#[test]
fn prose_may_speak_of_things_to_do_and_data_of_anything() {
    assert_eq!(count("README.md", concat!("TO", "DO lists are supported")), 0);
    assert_eq!(count("crates/one/tests/cases/page.html", concat!("sub", "agent")), 0);
    assert_eq!(count("crates/one/tests/it/main.rs", concat!("// sub", "agent")), 1);
}

#[test]
fn folders_of_one_machine_are_found() {
    for line in [
        concat!("cd /wo", "rk/main"),
        concat!("\"/ro", "ot/.cache\""),
        concat!("/ho", "me/ada/x"),
        concat!("`/Us", "ers/ada`"),
    ] {
        assert_eq!(count("docs/a.md", line), 1, "{line}");
    }
}

#[test]
fn the_same_names_inside_a_longer_path_are_not() {
    for line in [
        concat!("https://example.com/ho", "me/"),
        concat!("src/wo", "rk/a.rs"),
        concat!("$DIR/ro", "ot/"),
        concat!("./ho", "me/"),
    ] {
        assert_eq!(count("docs/a.md", line), 0, "{line}");
    }
}
