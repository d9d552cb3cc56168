//! Every page of `tests/cases/pages` has the properties that `cases.json` names.

use std::fmt::Write;
use std::path::Path;

use regex::Regex;
use serde_json::Value;
use toolcrib_web::read_document;
use url::Url;

/// Texts that the Markdown may show with its markup characters escaped.
fn without_escapes(markdown: &str) -> String {
    let mut out = String::with_capacity(markdown.len());
    let mut characters = markdown.chars().peekable();
    while let Some(character) = characters.next() {
        let escapes = character == '\\' && characters.peek().is_some_and(char::is_ascii_punctuation);
        if !escapes {
            out.push(character);
        }
    }
    out
}

fn strings(case: &Value, key: &str) -> Vec<String> {
    case[key].as_array().unwrap().iter().map(|value| value.as_str().unwrap().to_owned()).collect()
}

fn faults(case: &Value, markdown: &str) -> Vec<String> {
    let plain = without_escapes(markdown);
    let mut faults = Vec::new();
    for text in strings(case, "must") {
        if !markdown.contains(&text) && !plain.contains(&text) {
            faults.push(format!("lacks {text:?}"));
        }
    }
    for text in strings(case, "must_not") {
        if markdown.contains(&text) {
            faults.push(format!("holds {text:?}"));
        }
    }
    for pattern in strings(case, "regex") {
        if !Regex::new(&pattern).unwrap().is_match(markdown) {
            faults.push(format!("does not match {pattern}"));
        }
    }
    for pattern in strings(case, "not_regex") {
        if Regex::new(&pattern).unwrap().is_match(markdown) {
            faults.push(format!("matches {pattern}"));
        }
    }
    faults
}

fn check_folder(folder: &str) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases").join(folder);
    let cases: Value =
        serde_json::from_str(&std::fs::read_to_string(folder.join("cases.json")).unwrap()).unwrap();
    let mut report = String::new();
    let cases = cases.as_array().unwrap();
    for case in cases {
        let id = case["id"].as_str().unwrap();
        let bytes = std::fs::read(folder.join(format!("{id}.html"))).unwrap();
        let url = Url::parse(case["url"].as_str().unwrap()).unwrap();
        let document = read_document(&bytes, case["content_type"].as_str(), &url).unwrap();
        let faults = faults(case, &document.markdown);
        if !faults.is_empty() {
            writeln!(
                report,
                "\n=== {id} ({})\n{}\n--- Markdown:\n{}",
                document.route.as_str(),
                faults.join("\n"),
                document.markdown
            )
            .unwrap();
        }
    }
    let pages = std::fs::read_dir(&folder).unwrap().filter(|entry| {
        entry.as_ref().unwrap().path().extension().is_some_and(|extension| extension == "html")
    });
    assert_eq!(pages.count(), cases.len(), "every page has a case");
    assert!(report.is_empty(), "{report}");
}

#[test]
fn pages_have_the_named_properties() {
    check_folder("pages");
}
