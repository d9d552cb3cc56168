//! Rules about single Rust files: how they open, how long they are, and where they stand.

use super::{is_rust, is_source, is_test};
use crate::finding::Finding;
use crate::tree::Tree;

/// How many lines a file may have, its tests not counted.
const MAXIMUM_LINES: usize = 600;

/// Files that may be longer, each with the reason why it is not divided.
const LONGER: &[(&str, &str)] = &[];

/// How a module opens: with its first sentence, or with the guide that holds it.
const OPENINGS: &[&str] = &["//!", "#![doc = include_str!("];

/// Findings of all Rust files of the tree.
pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    tree.texts().filter(|(path, _)| is_rust(path)).flat_map(|(path, text)| check_file(path, text)).collect()
}

fn check_file(path: &str, text: &str) -> Vec<Finding> {
    let mut findings = Vec::new();
    if path.ends_with("/mod.rs") {
        findings.push(Finding::whole(
            path,
            "a module is `foo.rs` beside the folder `foo/`: rename this `mod.rs`",
        ));
    }
    if is_source(path) && !is_test(path) {
        if !OPENINGS.iter().any(|opening| text.starts_with(opening)) {
            findings.push(Finding::line(
                path,
                1,
                "a module opens with `//!`: say in one sentence what it is",
            ));
        }
        findings.extend(length(path, text));
    }
    findings
}

fn length(path: &str, text: &str) -> Option<Finding> {
    let lines = lines_without_tests(text);
    let exempt = LONGER.iter().any(|(longer, _reason)| *longer == path);
    (lines > MAXIMUM_LINES && !exempt).then(|| {
        let message = format!(
            "has {lines} lines without tests, and {MAXIMUM_LINES} is the most: divide it, or list it with a \
             reason in xtask/src/tidy/sources.rs"
        );
        Finding::whole(path, message)
    })
}

/// Lines up to the first module of tests that stands in the file itself.
fn lines_without_tests(text: &str) -> usize {
    let lines: Vec<&str> = text.lines().collect();
    lines
        .windows(2)
        .position(|pair| pair[0] == "#[cfg(test)]" && pair[1].starts_with("mod ") && pair[1].ends_with('{'))
        .unwrap_or(lines.len())
}

#[cfg(test)]
mod tests;
