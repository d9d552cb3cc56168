//! A built-in tool is its implementation, its tests, and its definition where that does not follow from types; they
//! stand beside one another.

use std::collections::BTreeSet;

use crate::finding::Finding;
use crate::tree::Tree;

const BUILT_IN: &str = "crates/toolcrib-tools/src/builtin/";

/// Where a definition follows from types.
const TYPED: &str = "impl TypedTool for ";

/// Findings of all folders of built-in tools.
pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let folders: BTreeSet<&str> =
        tree.paths().filter_map(|path| Some(path.strip_prefix(BUILT_IN)?.split_once('/')?.0)).collect();
    folders
        .into_iter()
        .filter(|folder| *folder != "tests")
        .flat_map(|folder| check_folder(tree, folder))
        .collect()
}

fn check_folder(tree: &Tree, folder: &str) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut add = |message: String| findings.push(Finding::whole(&format!("{BUILT_IN}{folder}"), message));
    let has = |file: &str| tree.contains(&format!("{BUILT_IN}{folder}/{file}"));
    let implementation = format!("{folder}.rs");
    let beside = tree.text(&format!("{BUILT_IN}{implementation}"));
    let inside = tree.text(&format!("{BUILT_IN}{folder}/{implementation}"));
    if !has("tests.rs") {
        add("a tool's folder has a `tests.rs`".to_owned());
    }
    match beside.or(inside) {
        None => add(format!("the implementation is `{implementation}`, in the tool's folder or beside it")),
        Some(text) => match (text.contains(TYPED), has("definition.json")) {
            (false, false) => {
                add("a tool's folder has a `definition.json`, unless the tool is a `TypedTool`".to_owned());
            }
            (true, true) => {
                add("the definition of a `TypedTool` follows from its types: remove `definition.json`"
                    .to_owned());
            }
            (true, false) | (false, true) => {}
        },
    }
    findings
}

#[cfg(test)]
mod tests;
