//! Words and marks that must not stand in files of the project.
//!
//! The words are written in two halves here, so that this file may be checked like any other.

use std::path::Path;

use super::is_rust;
use crate::finding::Finding;
use crate::tree::Tree;

/// A text that is searched for, and what to do where it stands.
struct Word {
    text: &'static str,
    advice: &'static str,
}

const IN_RUST: &[Word] = &[
    Word { text: concat!("to", "do!("), advice: "write it now, or leave it out" },
    Word { text: concat!("unimple", "mented!("), advice: "write it now, or leave it out" },
    Word { text: concat!("db", "g!("), advice: "remove it: `tracing` is for logs" },
    Word {
        text: concat!("#[al", "low("),
        advice: "use `#[expect(lint, reason = \"…\")]`, which tells when it is no longer needed",
    },
    Word {
        text: concat!("#![al", "low("),
        advice: "use `#![expect(lint, reason = \"…\")]`, which tells when it is no longer needed",
    },
];

const IN_CODE: &[Word] = &[
    Word { text: concat!("TO", "DO"), advice: "do it, or describe the limit as it is" },
    Word { text: concat!("FIX", "ME"), advice: "fix it, or describe the limit as it is" },
    Word { text: concat!("XX", "X:"), advice: "fix it, or describe the limit as it is" },
];

const EVERYWHERE: &[Word] = &[
    Word { text: concat!("sub", "agent"), advice: "the project speaks of itself alone: reword this" },
    Word { text: concat!("sub-", "agent"), advice: "the project speaks of itself alone: reword this" },
    Word { text: concat!("work/", "shared"), advice: "the project speaks of itself alone: reword this" },
    Word { text: concat!("../", "shared/"), advice: "the project speaks of itself alone: reword this" },
];

/// Folders at the root of a machine that only this or that machine has.
const MACHINE_FOLDERS: &[&str] =
    &[concat!("/wo", "rk/"), concat!("/ro", "ot/"), concat!("/ho", "me/"), concat!("/Us", "ers/")];

/// Extensions of files that people write as code.
const CODE: &[&str] = &["css", "js", "py", "rs", "sh", "sql", "toml"];

/// Findings of all text files, apart from data that tests read: pages and recordings say what they like.
pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    tree.texts()
        .filter(|(path, _)| !is_test_data(path))
        .flat_map(|(path, text)| check_file(path, text))
        .collect()
}

fn check_file(path: &str, text: &str) -> Vec<Finding> {
    let mut searched: Vec<&Word> = EVERYWHERE.iter().collect();
    if is_rust(path) {
        searched.extend(IN_RUST);
    }
    if is_code(path) {
        searched.extend(IN_CODE);
    }
    let mut findings = Vec::new();
    for (index, line) in text.lines().enumerate() {
        for word in &searched {
            if line.contains(word.text) {
                findings.push(Finding::line(path, index + 1, format!("`{}`: {}", word.text, word.advice)));
            }
        }
        for folder in MACHINE_FOLDERS {
            if names_folder(line, folder) {
                let message =
                    format!("`{folder}` is a folder of one machine: use a relative path or a variable");
                findings.push(Finding::line(path, index + 1, message));
            }
        }
    }
    findings
}

/// Whether `folder` stands in `line` as the beginning of a path, and not inside a longer path or URL.
fn names_folder(line: &str, folder: &str) -> bool {
    line.match_indices(folder).any(|(position, _)| {
        let before = line[..position].chars().next_back();
        before.is_none_or(|character| !character.is_alphanumeric() && !"._-~/*}$)>".contains(character))
    })
}

fn is_test_data(path: &str) -> bool {
    path.contains("/tests/") && !is_code(path)
}

fn is_code(path: &str) -> bool {
    path == ".ci/run"
        || Path::new(path)
            .extension()
            .and_then(|extension| extension.to_str())
            .is_some_and(|extension| CODE.contains(&extension))
}

#[cfg(test)]
mod tests;
