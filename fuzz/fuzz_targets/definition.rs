//! Any text as a definition: it is read or refused with a place, and building a catalog of it keeps what is good.

#![no_main]

use std::sync::Arc;

use libfuzzer_sys::fuzz_target;
use toolcrib_runtime::registry::{Catalog, DefinitionFile};
use toolcrib_runtime::testing::{RecordingTool, definition_text};
use toolcrib_runtime::tool::Tool;
use toolcrib_runtime::tool::definition::{Definition, lint};

fuzz_target!(|text: &str| {
    match Definition::read(text, "fuzz.json", &toolcrib_runtime::caller::Components::default()) {
        Ok(definition) => drop(lint(&definition, "fuzz.json")),
        Err(problems) => assert!(!problems.is_empty()),
    }
    let tools: Vec<Arc<dyn Tool>> = vec![Arc::new(RecordingTool::returning("good", "fine"))];
    let good = DefinitionFile::built_in("good.json", definition_text("good"));
    let added = DefinitionFile::added("fuzz.json", text);
    let (catalog, problems) = Catalog::build(&[good.clone(), added.clone()], &tools, &toolcrib_runtime::caller::Components::default());
    assert!(!catalog.tools().is_empty());
    let (again, repeated) = catalog.rebuild(&[good.clone(), added], &tools, &toolcrib_runtime::caller::Components::default());
    assert_eq!(catalog.tools().len(), again.tools().len());
    assert_eq!(problems, repeated);
    let (alone, problems) = again.rebuild(&[good], &tools, &toolcrib_runtime::caller::Components::default());
    assert!(alone.by_id("good").is_some() && problems.is_empty());
});
