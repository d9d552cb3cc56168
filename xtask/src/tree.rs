//! The files of the workspace, read once.
//!
//! Paths are relative to the workspace and use `/`. What a build or a tool leaves behind is not part of it.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::Context as _;

/// Folders that hold no files of the project.
const OUTSIDE: &[&str] = &[".git", "__pycache__", "node_modules", "target"];

/// All files, with the text of those that are text.
#[derive(Debug, Default)]
pub(crate) struct Tree {
    files: BTreeMap<String, Option<String>>,
}

impl Tree {
    /// Reads the files below `root`.
    pub(crate) fn read(root: &Path) -> anyhow::Result<Self> {
        let mut tree = Self::default();
        tree.add_folder(root, "")?;
        Ok(tree)
    }

    /// Every file.
    pub(crate) fn paths(&self) -> impl Iterator<Item = &str> {
        self.files.keys().map(String::as_str)
    }

    /// The files that are text, with it.
    pub(crate) fn texts(&self) -> impl Iterator<Item = (&str, &str)> {
        self.files.iter().filter_map(|(path, text)| Some((path.as_str(), text.as_deref()?)))
    }

    /// The text of one file; `None` when it is not there or is not text.
    pub(crate) fn text(&self, path: &str) -> Option<&str> {
        self.files.get(path)?.as_deref()
    }

    /// Whether the file is there.
    pub(crate) fn contains(&self, path: &str) -> bool {
        self.files.contains_key(path)
    }

    fn add_folder(&mut self, folder: &Path, prefix: &str) -> anyhow::Result<()> {
        let entries = folder.read_dir().with_context(|| format!("cannot list {}", folder.display()))?;
        for entry in entries {
            let entry = entry.with_context(|| format!("cannot list {}", folder.display()))?;
            let name = entry.file_name().to_string_lossy().into_owned();
            let kind =
                entry.file_type().with_context(|| format!("cannot examine {}", entry.path().display()))?;
            let path = format!("{prefix}{name}");
            if kind.is_dir() && !OUTSIDE.contains(&name.as_str()) {
                self.add_folder(&entry.path(), &format!("{path}/"))?;
            } else if kind.is_file() {
                let bytes = std::fs::read(entry.path())
                    .with_context(|| format!("cannot read {}", entry.path().display()))?;
                self.files.insert(path, String::from_utf8(bytes).ok());
            }
        }
        Ok(())
    }
}

#[cfg(test)]
impl Tree {
    /// A tree of the given files.
    pub(crate) fn of(files: &[(&str, &str)]) -> Self {
        let files = files.iter().map(|(path, text)| ((*path).to_owned(), Some((*text).to_owned()))).collect();
        Self { files }
    }
}

#[cfg(test)]
mod tests;
