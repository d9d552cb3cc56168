//! Data folders, files and ports that cannot be used.

use std::net::TcpListener;
use std::process::Stdio;

use crate::harness::{Home, ended};

#[test]
fn a_data_folder_that_is_a_file_is_told() {
    let home = Home::new();
    let file = home.write("file", "text");
    let told = ended(home.command(&["tools", "--data", &file]).output().unwrap()).with_code(1);
    assert!(told.err.starts_with("error: ") && told.err.contains(&file), "{told:?}");
    assert_eq!(told.out, "");
}

#[test]
fn a_broken_configuration_is_told_with_its_place() {
    let home = Home::new();
    let path = home.write("toolcrib.toml", "[server]\nlisten = \n");
    let told = home.run(&["serve"]).with_code(1);
    assert!(told.err.contains(&path) && told.err.contains("line 2"), "{told:?}");
    home.write("toolcrib.toml", "[server]\nlisen = \"127.0.0.1:0\"\n");
    let told = home.run(&["tools"]).with_code(1);
    assert!(told.err.contains("did you mean `listen`?"), "{told:?}");
    let told = home.run(&["tools", "--config", "/no/such/file.toml"]).with_code(1);
    assert!(told.err.contains("/no/such/file.toml"), "{told:?}");
}

#[test]
fn a_taken_port_is_told() {
    let home = Home::new();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let told = home.run(&["serve", "--listen", &address]).with_code(1);
    assert!(told.err.contains(&format!("listening on {address}")), "{told:?}");
    assert!(told.err.contains("--listen 127.0.0.1:0"), "{told:?}");
    assert!(!home.path().join("server.json").exists());
}

#[test]
fn a_server_that_is_not_there_is_told() {
    let told = Home::new().run(&["tools", "--server", "http://127.0.0.1:9"]).with_code(1);
    assert!(told.err.contains("hint: "), "{told:?}");
    let told = Home::new().run(&["tools", "--server", "nowhere"]).with_code(1);
    assert!(told.err.contains("\"nowhere\""), "{told:?}");
}

#[test]
fn commands_on_one_folder_at_the_same_moment_wait_for_each_other() {
    let home = Home::new();
    home.run(&["keys"]).with_code(0);
    let start = |_| {
        home.command(&["keys", "create", "key"]).stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap()
    };
    let children: Vec<_> = (0..4).map(start).collect();
    for child in children {
        ended(child.wait_with_output().unwrap()).with_code(0);
    }
    let keys = home.run(&["keys", "--json"]).with_code(0).json();
    assert_eq!(keys["keys"].as_array().unwrap().len(), 4);
}
