//! A built-in tool is a folder: its definition, its implementation and its tests stand beside one another.

use std::collections::BTreeSet;

use crate::finding::Finding;
use crate::tree::Tree;

const BUILT_IN: &str = "crates/toolcrib-tools/src/builtin/";

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
    for file in ["definition.json", "tests.rs"] {
        if !tree.contains(&format!("{BUILT_IN}{folder}/{file}")) {
            findings.push(Finding::whole(
                &format!("{BUILT_IN}{folder}"),
                format!("a tool's folder has a `{file}`"),
            ));
        }
    }
    let implementation = format!("{folder}.rs");
    let beside = tree.contains(&format!("{BUILT_IN}{implementation}"));
    let inside = tree.contains(&format!("{BUILT_IN}{folder}/{implementation}"));
    if !beside && !inside {
        let message = format!("the implementation is `{implementation}`, in the tool's folder or beside it");
        findings.push(Finding::whole(&format!("{BUILT_IN}{folder}"), message));
    }
    findings
}

#[cfg(test)]
mod tests;
