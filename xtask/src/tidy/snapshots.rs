//! Snapshots that wait for a decision, or whose test file is gone.
//!
//! Which of the others are still read is known only from a test run: see `crate::snapshots`.

use std::path::Path;

use crate::finding::Finding;
use crate::tree::Tree;

/// Findings of all snapshots of the tree.
pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    tree.texts().filter_map(|(path, text)| check_file(tree, path, text)).collect()
}

fn check_file(tree: &Tree, path: &str, text: &str) -> Option<Finding> {
    if path.ends_with(".snap.new") || path.ends_with(".pending-snap") {
        return Some(Finding::whole(path, "waits for a decision: accept the new snapshot, or delete it"));
    }
    let source = source(path, text)?;
    (!tree.contains(source)).then(|| {
        let message = format!("belongs to {source}, which is not there: delete it, or restore the test");
        Finding::whole(path, message)
    })
}

/// The file of the test, from the head of a snapshot; `None` for any other file.
fn source<'a>(path: &str, text: &'a str) -> Option<&'a str> {
    Path::new(path).extension().filter(|extension| *extension == "snap")?;
    text.lines()
        .take(10)
        .find_map(|line| line.strip_prefix("source: "))
        .map(|source| source.trim_matches('"'))
}

#[cfg(test)]
mod tests;
