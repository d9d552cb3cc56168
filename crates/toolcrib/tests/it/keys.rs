//! `toolcrib keys`.

use crate::harness::Home;

#[test]
fn keys_are_made_listed_and_revoked() {
    let home = Home::new();
    let none = home.run(&["keys"]).with_code(0);
    assert_eq!((none.out.as_str(), none.err.contains("no keys yet")), ("", true), "{none:?}");
    let made = home.run(&["keys", "create", "My \u{1b}[31mkey"]).with_code(0);
    assert!(made.out.starts_with("tc_") && made.out.trim().len() == 67, "{made:?}");
    assert_eq!(made.err, "This is the only time that the key is shown.\n");
    let other =
        home.run(&["keys", "create", "A second key, with a longer name", "--json"]).with_code(0).json();

    let id = home.run(&["keys", "list", "--json"]).with_code(0).json();
    let id =
        id["keys"].as_array().unwrap().iter().find(|key| key["id"] != other["id"]).unwrap()["id"].clone();
    let revoked = home.run(&["keys", "revoke", id.as_str().unwrap()]).with_code(0);
    assert_eq!((revoked.out.as_str(), revoked.err.as_str()), ("", "My [31mkey is revoked.\n"));

    let list = home.run(&["keys", "list"]).with_code(0).out;
    let lines: Vec<&str> = list.lines().collect();
    assert_eq!(lines.len(), 2, "{list}");
    let columns: Vec<usize> = lines.iter().map(|line| line.find("  tc_").unwrap()).collect();
    assert_eq!(columns[0], columns[1], "not aligned:\n{list}");
    for line in lines {
        let state = if line.starts_with(id.as_str().unwrap()) { "revoked" } else { "active" };
        assert!(line.contains(state), "{line}");
        assert!(line.ends_with("never used"), "{line}");
    }
}

#[test]
fn a_key_that_is_not_there_cannot_be_revoked() {
    let told = Home::new().run(&["keys", "revoke", "key_none"]).with_code(1);
    assert!(told.err.starts_with("error: ") && told.err.contains("key_none"), "{told:?}");
    assert_eq!(told.out, "");
}
