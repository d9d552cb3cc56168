use super::*;

const CALCULATE: &str = include_str!("../../../toolcrib-tools/src/builtin/calculate/definition.json");

fn problems(files: &[(&str, &[u8])]) -> (usize, Vec<String>) {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, bytes) in files {
        std::fs::write(folder.path().join(name), bytes).expect("written");
    }
    let report = check(&[folder.path().to_owned()]).expect("looked at");
    (report.files.len(), report.problems.iter().map(ToString::to_string).collect())
}

#[test]
fn a_definition_without_an_implementation_is_no_problem_of_the_file() {
    let own = CALCULATE.replace("\"calculate\"", "\"my_own_tool\"");
    assert_eq!(problems(&[("a.json", own.as_bytes())]), (1, Vec::new()));
}

#[test]
fn an_implementation_key_that_is_used_twice_is_a_problem() {
    let other = CALCULATE
        .replace("\"id\": \"calculate\"", "\"id\": \"other\"")
        .replace("\"name\": \"calculate\"", "\"name\": \"other\"");
    let (_, problems) = problems(&[("a.json", CALCULATE.as_bytes()), ("b.json", other.as_bytes())]);
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
    let report = check(&[unreadable, broken]).expect("looked at");
    let texts: Vec<_> = report.problems.iter().map(ToString::to_string).collect();
    assert!(texts.iter().any(|text| text.contains("cannot be read")), "{texts:?}");
    assert!(texts.iter().any(|text| text.contains("not UTF-8")), "{texts:?}");
}

#[test]
fn what_the_built_in_tools_have_already_is_found_and_their_own_files_are_not() {
    assert_eq!(problems(&[("calculate.json", CALCULATE.as_bytes())]), (1, Vec::new()));
    let taken = CALCULATE.replace("\"schemaVersion\": 1", "\"schemaVersion\": 1 ");
    let (_, found) = problems(&[("a.json", taken.as_bytes())]);
    assert!(found.len() == 1 && found[0].contains("say \"replaces\": \"calculate\""), "{found:?}");
    let replacing = |id: &str| {
        let text =
            CALCULATE.replace("\"schemaVersion\": 1", &format!("\"schemaVersion\": 1, \"replaces\": {id:?}"));
        problems(&[("a.json", text.as_bytes())]).1
    };
    assert_eq!(replacing("calculate"), Vec::<String>::new());
    let found = replacing("calculat");
    assert!(found.len() == 1 && found[0].contains("did you mean \"calculate\"?"), "{found:?}");
}
