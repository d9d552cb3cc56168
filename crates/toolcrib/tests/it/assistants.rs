//! `toolcrib assistants`, and `ask` and `check` with assistants.

use serde_json::json;

use crate::harness::{Home, ended, program};

const HAIKU: &str = r#"
schema_version = 1
id = "haiku_assistant"
icon = "🌸"
name = { en = "Haiku" }
description = { en = "Writes a haiku." }
user_text = "subject"
tools = ["calculate"]
prompt = "calculate {{number}} + 1"

[[inputs]]
id = "subject"
kind = "text"
label = { en = "Subject" }

[[inputs]]
id = "number"
kind = "number"
label = { en = "Number" }
default = 22
"#;

#[test]
fn assistants_are_listed_and_shown() {
    let home = Home::new();
    let list = home.run(&["assistants"]).with_code(0).out;
    insta::assert_snapshot!("assistants_list", list);
    assert_eq!(home.run(&["assistants", "list"]).with_code(0).out, list);
    let data = home.run(&["assistants", "--json"]).with_code(0).json();
    assert_eq!(data["assistants"].as_array().unwrap().len(), 13);

    insta::assert_snapshot!(
        "assistants_show",
        home.run(&["assistants", "show", "synonyms"]).with_code(0).out
    );
    let shown = home.run(&["assistants", "show", "translation_assistant", "--json"]).with_code(0).json();
    assert_eq!(shown["user_text"], "text");
    let unknown = home.run(&["assistants", "show", "translator"]).with_code(1);
    assert!(unknown.err.contains("did you mean \"translation_assistant\"?"), "{unknown:?}");
}

#[test]
fn a_question_goes_to_an_assistant_with_its_inputs() {
    let home = Home::new();
    let answer = |more: &[&str]| {
        let arguments = [&["ask", "-m", "toolcrib/demo", "--json", "--assistant"], more].concat();
        home.run(&arguments)
    };
    let given = answer(&["synonyms", "--input", "count=3", "calculate 20 + 3"]).with_code(0).json();
    assert_eq!(given["calls"], json!([]), "this assistant has no tools on: {given:#}");
    let wrong = answer(&["translation", "--input", "target_langage=German", "Good morning"]).with_code(1);
    assert!(wrong.err.contains("did you mean \"target_language\"?"), "{wrong:?}");
    assert!(wrong.err.contains("\"Target language\" is required"), "{wrong:?}");
    let unknown = answer(&["translations", "Good morning"]).with_code(1);
    assert!(unknown.err.contains("did you mean \"translation_assistant\"?"), "{unknown:?}");
    let twice = answer(&["synonyms", "-i", "count=3", "-i", "count=4", "word"]).with_code(1);
    assert!(twice.err.contains("\"count\" has two values"), "{twice:?}");
    answer(&["synonyms", "--input", "count", "word"]).with_code(2);
    home.run(&["ask", "--input", "count=3", "word"]).with_code(2);
}

#[test]
fn what_is_piped_in_is_the_text_that_an_assistant_works_on() {
    let home = Home::new();
    let arguments = ["ask", "-m", "toolcrib/demo", "--json", "--assistant", "my_tasks"];
    let answer = home.run_with_input(&arguments, "What time is it in Tokyo?".as_bytes()).with_code(0).json();
    assert_eq!(answer["calls"][0]["tool"], "get_current_time", "its default tools are on: {answer:#}");
}

#[test]
fn own_assistants_are_read_from_the_data_folder() {
    let home = Home::new();
    std::fs::create_dir(home.path().join("assistants")).unwrap();
    home.write("assistants/haiku_assistant.toml", HAIKU);
    let broken = home.write("assistants/poem_assistant.toml", "icon = 7\n");
    let list = home.run(&["assistants"]).with_code(0);
    assert!(list.out.contains("🌸 haiku_assistant"), "{list:?}");
    assert!(list.err.contains("poem_assistant.toml: error at /icon"), "{list:?}");
    let asked =
        home.run(&["ask", "-m", "toolcrib/demo", "--assistant", "haiku", "calculate 20 + 3"]).with_code(0);
    assert!(asked.out.contains("= 23"), "{asked:?}");
    home.write("toolcrib.toml", "[policy]\ntools_off = [\"haiku_asistant\"]\n");
    let told = home.run(&["assistants"]).with_code(1);
    assert!(told.err.contains("policy.tools_off") && told.err.contains("\"haiku_assistant\"?"), "{told:?}");

    let report = ended(program(&["check", &broken, "--json"]).output().unwrap()).with_code(1).json();
    assert!(report["errors"].as_u64().unwrap() > 3, "{report:#}");
    let good = home.path().join("assistants/haiku_assistant.toml").display().to_string();
    ended(program(&["check", &good]).output().unwrap()).with_code(0);
}
