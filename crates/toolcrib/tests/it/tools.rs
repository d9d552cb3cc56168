//! `toolcrib tools`, `call`, `check` and `doctor`.

use crate::harness::{Home, ended, program};

const DEFINITION: &str = r#"{
  "schemaVersion": 1,
  "id": "toss_marbles",
  "implementationKey": "toss_marbles",
  "function": {
    "name": "toss_marbles",
    "descriptionForLLM": "Rolls dice and returns what they show. Use it whenever chance shall decide.",
    "strict": true,
    "parameters": {
      "type": "object",
      "properties": { "sides": { "type": "integer", "description": "How many sides the die has." } },
      "required": ["sides"],
      "additionalProperties": false
    }
  },
  "display": { "en": { "name": "Dice", "description": "Rolls dice.", "icon": "🎲" } }
}"#;

#[test]
fn tools_are_listed_shown_and_explained() {
    let home = Home::new();
    let list = home.run(&["tools"]).with_code(0).out;
    insta::assert_snapshot!("tools_list", list);
    assert_eq!(home.run(&["tools", "list"]).with_code(0).out, list);
    let shown = home.run(&["tools", "show", "calculate"]).with_code(0).json();
    assert_eq!(shown["id"], "calculate");

    let explained = home.run(&["tools", "explain", "-m", "toolcrib/demo"]).with_code(0).out;
    insta::assert_snapshot!("tools_explain", explained);
    let one = home.run(&["tools", "explain", "calculate", "-m", "toolcrib/demo", "--tools", "none"]);
    insta::assert_snapshot!("tools_explain_withheld", one.with_code(0).out);
    let data =
        home.run(&["tools", "explain", "calculate", "-m", "toolcrib/demo", "--json"]).with_code(0).json();
    assert_eq!(data["tools"].as_array().unwrap().len(), 1);

    let unknown: [&[&str]; 2] =
        [&["tools", "show", "no_such_tool"], &["tools", "explain", "no_such_tool", "-m", "toolcrib/demo"]];
    for arguments in unknown {
        let told = home.run(arguments).with_code(1);
        assert!(told.err.contains("no_such_tool"), "{told:?}");
    }
}

#[test]
fn a_call_ends_with_what_became_of_it() {
    let home = Home::new();
    let good = home.run(&["call", "calculate", r#"{"expression": "2 + 3"}"#]).with_code(0);
    assert_eq!(good.json()["result"], "5");
    assert!(good.err.starts_with("SUCCESS in "), "{good:?}");

    let blocked = home.run(&["call", "read_web_page", r#"{"url": "http://127.0.0.1:8080/"}"#]).with_code(1);
    assert!(blocked.err.starts_with("BLOCKED in "), "{blocked:?}");
    assert!(!blocked.out.is_empty());

    let wrong = home.run(&["call", "calculate", r#"{"expr": "2 + 3"}"#]).with_code(1);
    assert!(wrong.err.starts_with("ERROR in "), "{wrong:?}");
    assert!(wrong.out.contains("\"expression\" is missing"), "{wrong:?}");
    home.run(&["call", "calculate", "{"]).with_code(1);

    let trace = home.run(&["call", "calculate", r#"{"expression": "1/0"}"#, "--trace"]).with_code(1).json();
    assert_eq!(trace["status"], "ERROR");
    let unknown = home.run(&["call", "no_such_tool"]).with_code(1);
    assert!(unknown.err.contains("no_such_tool"), "{unknown:?}");
    let settings = home.run(&["call", "calculate", "{}", "--settings", "/no/such/file"]).with_code(1);
    assert!(settings.err.contains("reading /no/such/file"), "{settings:?}");
}

#[test]
fn check_tells_every_fault_of_definitions() {
    let home = Home::new();
    let cases = [
        ("good.json", DEFINITION.to_owned(), 0, 0, 0),
        (
            "warning.json",
            DEFINITION.replace(r#", "description": "How many sides the die has.""#, ""),
            0,
            0,
            1,
        ),
        ("error.json", DEFINITION.replace("schemaVersion", "schemaVersoin"), 1, 2, 0),
    ];
    for (name, text, code, errors, warnings) in cases {
        let path = home.write(name, text);
        let report =
            ended(program(&["check", &path, "--format", "json"]).output().unwrap()).with_code(code).json();
        assert_eq!(report["files"], serde_json::json!([path]));
        let counts = (report["errors"].as_u64().unwrap(), report["warnings"].as_u64().unwrap());
        assert_eq!(counts, (errors, warnings), "{report:#}");
        assert_eq!(ended(program(&["check", &path, "--json"]).output().unwrap()).json(), report);
        let told = ended(program(&["check", &path]).output().unwrap()).with_code(code);
        assert!(told.err.starts_with("1 file, "), "{told:?}");
        assert_eq!(told.out.matches("    found    ").count() as u64, errors + warnings, "{told:?}");
    }
    let bytes = home.write("bytes.json", b"\xff\xfe");
    ended(program(&["check", &bytes, "--format", "json"]).output().unwrap()).with_code(1);
    let missing =
        ended(program(&["check", "missing.json", "--format", "json"]).output().unwrap()).with_code(1);
    assert!(missing.err.starts_with("error: reading missing.json: "), "{missing:?}");
}

#[test]
fn definitions_cannot_steer_the_terminal() {
    let home = Home::new();
    let path = home.write(
        "a.json",
        DEFINITION.replace("\"schemaVersion\": 1", r#""schemaVersion": "\u001b[2J\u009b1m""#),
    );
    let told = ended(program(&["check", &path]).output().unwrap()).with_code(1);
    assert!(!told.out.chars().any(|c| c.is_control() && c != '\n'), "{told:?}");
}

#[test]
fn doctor_tells_what_is_broken_and_what_to_do() {
    let home = Home::new();
    let broken = home.run(&["doctor"]).with_code(1).out;
    assert!(broken.contains("\n✓ ok      database: SQLite in "), "{broken}");
    assert!(broken.contains("\n✗ error   provider none: "), "{broken}");
    assert!(broken.contains("\n          → "), "{broken}");
    let data = home.run(&["doctor", "--json"]).with_code(1).json();
    assert!(data["checks"].as_array().unwrap().len() > 3, "{data:#}");
}

#[test]
fn the_format_of_definitions_is_printed_as_a_schema() {
    let schema = ended(program(&["schema", "definition"]).output().unwrap()).with_code(0).json();
    assert_eq!(schema["$schema"], "https://json-schema.org/draft/2020-12/schema");
    assert!(schema["properties"]["function"]["properties"]["descriptionForLLM"]["description"].is_string());
}

#[test]
fn a_definition_in_the_folder_is_used_and_a_broken_one_is_told() {
    let home = Home::new();
    let folder = home.path().join("tools");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("dice.json"), DEFINITION).unwrap();
    std::fs::write(folder.join("broken.json"), "{").unwrap();
    let list = home.run(&["tools", "--json"]).with_code(0).json();
    assert!(list["tools"].as_array().unwrap().iter().any(|tool| tool["id"] == "toss_marbles"), "{list}");
    let problems: Vec<_> =
        list["problems"].as_array().unwrap().iter().map(|text| text.as_str().unwrap()).collect();
    assert!(problems.iter().any(|text| text.contains("broken.json")), "{problems:?}");
    assert!(problems.iter().any(|text| text.contains("no implementation has")), "{problems:?}");
}
