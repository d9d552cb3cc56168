//! The pages of the built-in tools under `docs/tools`.

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::Value;
use toolcrib_egress::{Egress, EgressSettings};
use toolcrib_runtime::registry::Catalog;
use toolcrib_tools::builtin::builtin;

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/tools");

#[tokio::test]
async fn every_tool_has_its_page_and_no_page_is_stale() {
    let egress = Egress::new(EgressSettings::default()).unwrap();
    let pages = builtin(&egress).pages();
    for (id, page) in &pages {
        let written = std::fs::read_to_string(Path::new(FOLDER).join(format!("{id}.md"))).unwrap_or_default();
        assert!(written == *page, "run `cargo run -- schema tool-page {id} > docs/tools/{id}.md`");
    }
    let files =
        std::fs::read_dir(FOLDER).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let expected: BTreeSet<String> = pages.keys().map(|id| format!("{id}.md")).collect();
    assert_eq!(files.collect::<BTreeSet<_>>(), expected, "pages of tools that are no more: remove them");
}

#[tokio::test]
async fn every_page_shows_calls_that_the_tool_accepts() {
    let egress = Egress::new(EgressSettings::default()).unwrap();
    let all = builtin(&egress);
    let (catalog, _) = Catalog::build(
        &all.definitions,
        &all.implementations,
        &toolcrib_runtime::caller::Components::default(),
    );
    for (id, page) in all.pages() {
        let begin = format!("toolcrib call {id} '");
        let calls: Vec<&str> = page.lines().filter_map(|line| line.strip_prefix(&begin)).collect();
        assert!(!calls.is_empty(), "the comment of {id} has no example that begins with {begin}");
        assert!(!page.contains("\n\n\n") && page.contains("\n## Limits and errors\n- "), "{id}");
        let schema = &catalog.by_id(&id).unwrap().definition.function.parameters;
        for call in calls {
            let mut arguments: Value = serde_json::from_str(call.split('\'').next().unwrap()).unwrap();
            // The executor puts null where an argument may be left out.
            for name in schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str) {
                arguments.as_object_mut().unwrap().entry(name).or_insert(Value::Null);
            }
            let validator = jsonschema::draft202012::new(schema).unwrap();
            assert!(validator.is_valid(&arguments), "{id}: {call}");
        }
    }
}
