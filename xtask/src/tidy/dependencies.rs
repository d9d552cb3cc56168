//! Every dependency has its line in `docs/dependencies.md`, and every line its dependency.
//!
//! A line is a table row or a list item that begins with the name in backticks.

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
    let mut names: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (index, line) in page.lines().enumerate() {
        let item = line.trim_start().strip_prefix(['|', '-', '*']).map(str::trim_start);
        let name = item.and_then(|item| item.strip_prefix('`')).and_then(|rest| rest.split_once('`'));
        if let Some((name, _)) = name {
            names.entry(name).or_default().push(index + 1);
        }
    }
    names
}

#[cfg(test)]
mod tests;
