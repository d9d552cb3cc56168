//! What the compiler and clippy do not check: files, names, the list of dependencies, tool folders.
//!
//! One rule of a kind is one file below, and one line in `check_tree`.

use std::path::Path;

use crate::finding::Finding;
use crate::tree::Tree;

mod dependencies;
mod names;
mod snapshots;
mod sources;
mod tool_folders;
mod words;

/// Every broken rule in the workspace at `root`, in the order of places.
pub(crate) fn check(root: &Path) -> anyhow::Result<Vec<Finding>> {
    check_tree(&Tree::read(root)?)
}

fn check_tree(tree: &Tree) -> anyhow::Result<Vec<Finding>> {
    let mut findings = Vec::new();
    findings.extend(sources::check(tree));
    findings.extend(names::check(tree));
    findings.extend(words::check(tree));
    findings.extend(dependencies::check(tree)?);
    findings.extend(tool_folders::check(tree));
    findings.extend(snapshots::check(tree));
    findings.sort();
    Ok(findings)
}

/// Whether `path` is a Rust file in the source folder of a crate.
fn is_source(path: &str) -> bool {
    let mut parts = path.split('/');
    let in_crate = match parts.next() {
        Some("crates") => parts.next().is_some() && parts.next() == Some("src"),
        Some("xtask") => parts.next() == Some("src"),
        _ => false,
    };
    in_crate && is_rust(path)
}

/// Whether `path` is a Rust file.
fn is_rust(path: &str) -> bool {
    Path::new(path).extension().is_some_and(|extension| extension == "rs")
}

/// Whether `path` holds tests and nothing else: `tests.rs`, or a file in a folder of that name.
fn is_test(path: &str) -> bool {
    path.split('/').any(|part| part == "tests.rs" || part == "tests")
}

#[cfg(test)]
mod tests;
