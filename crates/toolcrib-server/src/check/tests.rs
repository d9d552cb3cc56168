use super::*;

const ABACUS: &str = r#"{
  "schemaVersion": 1,
  "id": "abacus",
  "implementationKey": "abacus",
  "function": {
    "name": "abacus",
    "descriptionForLLM": "Evaluates an expression. Use it for every calculation.",
    "parameters": {
      "type": "object",
      "properties": { "expression": { "type": "string", "description": "For example 2^64 - 1." } },
      "required": ["expression"],
      "additionalProperties": false
    }
  }
}"#;

fn problems(files: &[(&str, &[u8])]) -> (usize, Vec<String>) {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, bytes) in files {
        std::fs::write(folder.path().join(name), bytes).expect("written");
    }
    let report = check(&[folder.path().to_owned()], None).expect("looked at");
    (report.files.len(), report.problems.iter().map(ToString::to_string).collect())
}

#[test]
fn a_definition_without_an_implementation_is_no_problem_of_the_file() {
    let own = ABACUS.replace("\"abacus\"", "\"my_own_tool\"");
    assert_eq!(problems(&[("a.json", own.as_bytes())]), (1, Vec::new()));
}

#[test]
fn an_implementation_key_that_is_used_twice_is_a_problem() {
    let other = ABACUS
        .replace("\"id\": \"abacus\"", "\"id\": \"other\"")
        .replace("\"name\": \"abacus\"", "\"name\": \"other\"");
    let (_, problems) = problems(&[("a.json", ABACUS.as_bytes()), ("b.json", other.as_bytes())]);
    let errors: Vec<_> = problems.iter().filter(|text| text.contains("error at")).collect();
    assert_eq!(errors.len(), 1, "{problems:?}");
    assert!(errors[0].contains("b.json: error at /implementationKey"), "{problems:?}");
}

#[cfg(unix)]
#[test]
fn a_file_that_cannot_be_read_does_not_end_the_report() {
    let folder = tempfile::tempdir().expect("a folder");
    // Reading a process's own memory from its beginning fails for everyone, administrators included.
    let unreadable = PathBuf::from("/proc/self/mem");
    if !unreadable.exists() {
        return;
    }
    let broken = folder.path().join("b.json");
    std::fs::write(&broken, b"\xff").expect("written");
    let report = check(&[unreadable, broken], None).expect("looked at");
    let texts: Vec<_> = report.problems.iter().map(ToString::to_string).collect();
    assert!(texts.iter().any(|text| text.contains("cannot be read")), "{texts:?}");
    assert!(texts.iter().any(|text| text.contains("not UTF-8")), "{texts:?}");
}

#[test]
fn a_definition_may_name_the_assistants_that_are_beside_it_or_installed() {
    let own = ABACUS.replacen('{', r#"{"visibleIn": {"allowedComponents": ["minutes_assistant"]},"#, 1);
    let assistant = include_str!("../../../../assistants/rewrite_assistant.toml")
        .replace("id = \"rewrite_assistant\"", "id = \"minutes_assistant\"");
    let (_, alone) = problems(&[("a.json", own.as_bytes())]);
    assert_eq!(alone.len(), 1, "{alone:?}");
    assert!(alone[0].contains("/visibleIn/allowedComponents/0"), "{alone:?}");
    let beside = [("a.json", own.as_bytes()), ("minutes_assistant.toml", assistant.as_bytes())];
    assert_eq!(problems(&beside), (2, Vec::new()));
    let data = tempfile::tempdir().expect("a folder");
    std::fs::create_dir(data.path().join("assistants")).expect("made");
    std::fs::write(data.path().join("assistants/minutes_assistant.toml"), assistant).expect("written");
    let definition = data.path().join("a.json");
    std::fs::write(&definition, own).expect("written");
    let report = check(&[definition], Some(data.path())).expect("looked at");
    assert_eq!(report.problems, []);
}

#[test]
fn every_problem_of_an_assistant_is_told_and_other_toml_files_of_a_folder_are_left_alone() {
    let broken = b"schema_version = 1\nid = \"minutes_assistant\"\nicn = \"x\"\n";
    let files: [(&str, &[u8]); 2] = [("minutes_assistant.toml", broken), ("toolcrib.toml", b"[server]\n")];
    let (count, problems) = problems(&files);
    assert_eq!(count, 1);
    assert!(
        problems.iter().any(|text| text.contains("error at /icn") && text.contains("did you mean \"icon\""))
    );
    assert!(problems.iter().any(|text| text.contains("no \"prompt\"")), "{problems:?}");
}

#[tokio::test]
async fn what_is_compiled_in_is_well() {
    let report = check_built_in().expect("set up");
    assert!(report.problems.is_empty(), "{:?}", report.problems);
    assert!(report.files.len() >= 3, "{:?}", report.files);
}

#[tokio::test]
async fn what_the_built_in_tools_have_already_is_found_and_their_own_files_are_not() {
    let all = builtin(&Egress::new(EgressSettings::default()).expect("set up"));
    let calculate = all.definitions.iter().find(|file| file.file.contains("calculate")).expect("built in");
    let calculate = calculate.text.as_deref().expect("readable");
    assert_eq!(problems(&[("calculate.json", calculate.as_bytes())]), (1, Vec::new()));
    let taken = calculate.replace("\"schemaVersion\": 1", "\"schemaVersion\": 1 ");
    let (_, found) = problems(&[("a.json", taken.as_bytes())]);
    assert!(found.len() == 1 && found[0].contains("say \"replaces\": \"calculate\""), "{found:?}");
    let replacing = |id: &str| {
        let text =
            calculate.replace("\"schemaVersion\": 1", &format!("\"schemaVersion\": 1, \"replaces\": {id:?}"));
        problems(&[("a.json", text.as_bytes())]).1
    };
    assert_eq!(replacing("calculate"), Vec::<String>::new());
    let found = replacing("calculat");
    assert!(found.len() == 1 && found[0].contains("did you mean \"calculate\"?"), "{found:?}");
}
