//! Every dependency has its line in `docs/dependencies.md`, and every line its dependency.
//!
//! A line is a row of a table whose first cell is the name.

use std::collections::BTreeMap;

use anyhow::Context as _;

use crate::finding::Finding;
use crate::tree::Tree;

const MANIFEST: &str = "Cargo.toml";
const PAGE: &str = "docs/dependencies.md";

/// Findings of the workspace's manifest against the page.
pub(super) fn check(tree: &Tree) -> anyhow::Result<Vec<Finding>> {
    let manifest = tree.text(MANIFEST).context("cannot read Cargo.toml of the workspace")?;
    let declared = declared(manifest)?;
    let Some(page) = tree.text(PAGE) else {
        return Ok(vec![Finding::whole(PAGE, "is missing: it says in one line what each dependency is for")]);
    };
    let described = described(page);
    let mut findings = Vec::new();
    for name in &declared {
        if !described.contains_key(name.as_str()) {
            findings.push(Finding::whole(PAGE, format!("`{name}` has no line: say what it is for")));
        }
    }
    for (name, lines) in &described {
        if !declared.iter().any(|declared| declared == name) {
            let message = format!("`{name}` is not among the workspace's dependencies: remove the line");
            findings.push(Finding::line(PAGE, lines[0], message));
        }
        if let Some(second) = lines.get(1) {
            findings.push(Finding::line(PAGE, *second, format!("`{name}` has a line already")));
        }
    }
    Ok(findings)
}

/// The names under `[workspace.dependencies]`, without the workspace's own crates.
fn declared(manifest: &str) -> anyhow::Result<Vec<String>> {
    let manifest: toml::Table = manifest.parse().context("cannot parse Cargo.toml of the workspace")?;
    let dependencies = manifest
        .get("workspace")
        .and_then(|workspace| workspace.get("dependencies"))
        .and_then(toml::Value::as_table)
        .context("Cargo.toml of the workspace has no [workspace.dependencies]")?;
    let foreign = dependencies.iter().filter(|(_, value)| value.get("path").is_none());
    Ok(foreign.map(|(name, _)| name.clone()).collect())
}

/// The names that have a line on the page, with the numbers of their lines.
fn described(page: &str) -> BTreeMap<&str, Vec<usize>> {
    let lines: Vec<&str> = page.lines().collect();
    let mut names: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (index, line) in lines.iter().enumerate() {
        let heads_a_table = lines.get(index + 1).and_then(|next| first_cell(next)).is_some_and(is_rule);
        if let Some(name) = first_cell(line).filter(|cell| !is_rule(cell) && !heads_a_table) {
            names.entry(name).or_default().push(index + 1);
        }
    }
    names
}

/// What stands in the first cell, when the line is a row of a table.
fn first_cell(line: &str) -> Option<&str> {
    let (cell, _) = line.strip_prefix('|')?.split_once('|')?;
    Some(cell.trim().trim_matches('`'))
}

/// Whether the cell is a part of the line under a table's head.
fn is_rule(cell: &str) -> bool {
    cell.contains('-') && cell.chars().all(|character| "-: ".contains(character))
}

#[cfg(test)]
mod tests;
