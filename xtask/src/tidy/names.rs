//! Names that say nothing about what is inside.
//!
//! A crate or module that can hold anything ends up holding everything.

use super::is_source;
use crate::finding::Finding;
use crate::tree::Tree;

/// Empty as a name and as a part of one: `session_manager` says no more than `session`.
const EMPTY_PARTS: &[&str] = &["common", "core", "helper", "helpers", "manager", "misc", "util", "utils"];

/// Empty as a name, but not as a part of one: `media_types` does say what is inside.
const EMPTY_NAMES: &[&str] = &["types"];

/// Crates and modules with an empty name.
pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    tree.paths()
        .filter(|path| is_source(path) || path.ends_with("/Cargo.toml"))
        .filter_map(check_path)
        .collect()
}

fn check_path(path: &str) -> Option<Finding> {
    let word = path.split('/').find_map(empty_word)?;
    let wire_types = word == "types" && path.contains("/wire/") && path.ends_with("/types.rs");
    (!wire_types).then(|| {
        let message =
            format!("`{word}` does not say what is inside: name the crate or module after what it does");
        Finding::whole(path, message)
    })
}

/// The empty word in one part of a path.
fn empty_word(part: &str) -> Option<&str> {
    let name = part.strip_suffix(".rs").unwrap_or(part);
    let empty_part = name.split(['-', '_']).find(|word| EMPTY_PARTS.contains(word));
    empty_part.or_else(|| EMPTY_NAMES.contains(&name).then_some(name))
}

#[cfg(test)]
mod tests;
