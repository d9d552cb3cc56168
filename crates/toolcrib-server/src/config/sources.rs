//! `[sources]`: where tools come from beside the program itself.

use std::path::PathBuf;

use serde::Deserialize;

/// Where tools come from.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SourcesSection {
    /// Folders of definitions beside `tools` in the data folder, where relative paths start. They are watched.
    pub tools_folders: Vec<PathBuf>,
}
