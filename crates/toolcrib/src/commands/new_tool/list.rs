//! Adds a tool to the text of the list of tools.

use anyhow::Context as _;

use super::name::Name;

/// The list with the tool in it: its module, its type, and its line among the others.
pub(super) fn with(text: &str, name: &Name) -> anyhow::Result<String> {
    let type_name = name.type_name();
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    insert(&mut lines, "mod ", &format!("mod {name};")).context("there is no list of modules")?;
    let exported = format!("pub use {name}::{type_name};");
    insert(&mut lines, "pub use ", &exported).context("there is no list of types")?;
    let end = lines.iter().position(|line| line == "    all").context("there is no list of tools")?;
    lines.insert(end, format!("    all.typed({type_name}, include_str!(\"builtin/{name}.rs\"));"));
    Ok(lines.join("\n") + "\n")
}

/// Puts a line among those that begin alike, in alphabetical order.
fn insert(lines: &mut Vec<String>, begin: &str, line: &str) -> Option<()> {
    let is_entry = |line: &String| line.starts_with(begin) && line.ends_with(';');
    let first = lines.iter().position(is_entry)?;
    let entries = lines[first..].iter().take_while(|line| is_entry(line));
    let before = entries.take_while(|entry| entry.as_str() < line).count();
    lines.insert(first + before, line.to_owned());
    Some(())
}

/// Whether a text in Rust holds this name.
pub(super) fn names(text: &str, name: &str) -> bool {
    text.split(|c: char| !c.is_alphanumeric() && c != '_').any(|word| word == name)
}
