//! Checks of the workspace: `cargo xtask tidy`, `cargo xtask arrows` and `cargo xtask snapshots FILE`.
//!
//! Every check is a function from files or metadata to findings, and runs as a test as well, so that
//! `cargo test --workspace` holds the workspace to them.

#![expect(clippy::print_stdout, reason = "this program is used in a terminal and prints what it finds")]

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context as _;

use crate::finding::Finding;

mod arrows;
mod finding;
mod snapshots;
mod tidy;
mod tree;

const USAGE: &str = "usage: cargo xtask <command>

commands:
  tidy             check files, names, the list of dependencies and tool folders
  arrows           check which crate may use which
  snapshots FILE   check that every snapshot belongs to a test; FILE is what a test run wrote
                   with INSTA_SNAPSHOT_REFERENCES_FILE=FILE";

fn main() -> anyhow::Result<ExitCode> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let root = workspace_root();
    let findings = match arguments.as_slice() {
        ["tidy"] => tidy::check(&root)?,
        ["arrows"] => arrows::check(&root)?,
        ["snapshots", file] => snapshots::check(&root, Path::new(file))?,
        _ => anyhow::bail!("{USAGE}"),
    };
    Ok(report(arguments.first().context("a command was matched above")?, &findings))
}

/// Prints one line for each finding, and the sum.
fn report(command: &str, findings: &[Finding]) -> ExitCode {
    for finding in findings {
        println!("{finding}");
    }
    println!("{command}: {} findings", findings.len());
    if findings.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// The folder of the workspace: the parent of this crate's own.
fn workspace_root() -> PathBuf {
    let own = Path::new(env!("CARGO_MANIFEST_DIR"));
    own.parent().unwrap_or(own).to_path_buf()
}
