//! Snapshots that no test reads any more.
//!
//! Which ones are read is known only from a run of all tests: insta appends their paths to the file that
//! `INSTA_SNAPSHOT_REFERENCES_FILE` names.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use anyhow::Context as _;

use crate::finding::Finding;
use crate::tree::Tree;

/// The snapshots below `root` that the test run behind `references` did not read.
pub(crate) fn check(root: &Path, references: &Path) -> anyhow::Result<Vec<Finding>> {
    let text = std::fs::read_to_string(references).with_context(|| {
        format!("cannot read {}, the list of snapshots that tests read", references.display())
    })?;
    let read: HashSet<PathBuf> = text.lines().map(|line| normal(Path::new(line))).collect();
    let tree = Tree::read(root)?;
    Ok(orphans(tree.paths().filter(|path| has_extension(path, "snap")), root, &read))
}

fn orphans<'a>(
    snapshots: impl Iterator<Item = &'a str>,
    root: &Path,
    read: &HashSet<PathBuf>,
) -> Vec<Finding> {
    snapshots
        .filter(|path| !read.contains(&normal(&root.join(path))))
        .map(|path| Finding::whole(path, "no test reads this snapshot: delete it, or restore its test"))
        .collect()
}

fn has_extension(path: &str, extension: &str) -> bool {
    Path::new(path).extension().is_some_and(|found| found == extension)
}

/// The path without `.` and `..`, which insta leaves in, as the file system resolves it.
fn normal(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_path_buf())
}

#[cfg(test)]
mod tests;
