//! The help of every command, and what is wrong usage.

use crate::harness::{ended, program};

#[test]
fn help() {
    let commands: [&[&str]; 28] = [
        &[],
        &["serve"],
        &["ask"],
        &["assistants"],
        &["assistants", "list"],
        &["assistants", "show"],
        &["tools"],
        &["tools", "list"],
        &["tools", "show"],
        &["tools", "explain"],
        &["explain"],
        &["approvals"],
        &["approvals", "list"],
        &["approvals", "show"],
        &["approvals", "answer"],
        &["runs"],
        &["runs", "list"],
        &["runs", "show"],
        &["runs", "traces"],
        &["runs", "cancel"],
        &["call"],
        &["check"],
        &["new-tool"],
        &["keys"],
        &["keys", "list"],
        &["keys", "create"],
        &["keys", "revoke"],
        &["doctor"],
    ];
    let all = commands.iter().copied().chain([&["schema"][..]]);
    for command in all {
        let arguments: Vec<&str> = command.iter().copied().chain(["--help"]).collect();
        let help = ended(program(&arguments).output().unwrap()).with_code(0);
        assert_eq!(help.err, "");
        let name = if command.is_empty() { "toolcrib".to_owned() } else { command.join("_") };
        insta::assert_snapshot!(format!("help_{name}"), help.out);
    }
}

#[test]
fn every_command_has_its_help_held() {
    let help = ended(program(&["--help"]).output().unwrap()).out;
    let commands =
        help.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    let names: Vec<&str> = commands.filter_map(|line| line.split_whitespace().next()).collect();
    assert_eq!(
        names,
        [
            "serve",
            "ask",
            "assistants",
            "tools",
            "explain",
            "approvals",
            "runs",
            "call",
            "check",
            "new-tool",
            "keys",
            "doctor",
            "schema",
            "help"
        ]
    );
}

#[test]
fn wrong_usage_is_told_with_code_2() {
    let wrong: [(&[&str], &str); 9] = [
        (&["aks"], "unrecognized subcommand 'aks'"),
        (&["tools", "remove"], "unrecognized subcommand 'remove'"),
        (&["check"], "<PATH>..."),
        (&["call"], "<ID>"),
        (&["serve", "--listen", "nowhere"], "invalid value 'nowhere'"),
        (&["check", "--format", "xml", "a"], "possible values: text, json"),
        (&["new-tool", "dice", "--kind", "cobol"], "possible values: rust"),
        (&["check", "--built-in", "a"], "cannot be used with"),
        (&["doctor", "--colour"], "unexpected argument '--colour'"),
    ];
    for (arguments, message) in wrong {
        let told = ended(program(arguments).output().unwrap()).with_code(2);
        assert!(told.err.contains(message), "{told:?}");
        assert_eq!(told.out, "");
    }
}

#[test]
fn commands_that_need_no_place_work_without_a_home() {
    let errors = ended(program(&["schema", "errors"]).output().unwrap()).with_code(0);
    assert!(errors.out.starts_with("# "), "{}", errors.out);
    let page = ended(program(&["schema", "tool-page", "calculate"]).output().unwrap()).with_code(0);
    assert!(page.out.starts_with("# 🧮 Calculator\n"), "{}", page.out);
    let unknown = ended(program(&["schema", "tool-page", "dice"]).output().unwrap()).with_code(1);
    assert!(unknown.err.contains("\"dice\"; there are calculate, get_current_time"), "{}", unknown.err);
    let built_in = ended(program(&["check", "--built-in"]).output().unwrap()).with_code(0);
    assert!(
        built_in.out.is_empty() && built_in.err.ends_with("files, 0 errors, 0 warnings\n"),
        "{built_in:?}"
    );
    let nowhere = ended(program(&["new-tool", "dice"]).current_dir("/").output().unwrap()).with_code(1);
    assert!(nowhere.err.starts_with("error: there is no checkout of the project in / "), "{nowhere:?}");
    let missing = ended(program(&["check", "/no/such/file.json"]).output().unwrap()).with_code(1);
    assert!(missing.err.contains("/no/such/file.json"), "{}", missing.err);
    let lost = ended(program(&["tools"]).output().unwrap()).with_code(1);
    assert_eq!(lost.err, "error: no home folder is known; name a data folder with --data\n");
}
