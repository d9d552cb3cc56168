//! A definition file before it is read: its name, its text, and whether it belongs to the program.

use std::sync::Arc;

/// A definition file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DefinitionFile {
    /// The file's name, for problems. No two files of a catalog share it.
    pub file: String,
    /// Its text, or why there is none.
    pub text: Result<Arc<str>, Unreadable>,
    /// Whether it belongs to the program.
    pub provenance: Provenance,
}

/// Where a definition comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Provenance {
    /// Compiled in. Another definition may replace it.
    BuiltIn,
    /// Added to the installation.
    Added,
}

/// Why the text of a file that is there could not be had.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unreadable {
    /// Reading it failed, for this reason.
    Failed(String),
    /// Its bytes are no text.
    NotUtf8,
    /// It is larger than a definition can be.
    TooLarge {
        /// The most that is read, in bytes.
        limit: u64,
    },
}

impl DefinitionFile {
    /// A definition that is compiled in.
    pub fn built_in(file: impl Into<String>, text: impl Into<Arc<str>>) -> Self {
        Self { file: file.into(), text: Ok(text.into()), provenance: Provenance::BuiltIn }
    }

    /// A definition that was added to the installation.
    pub fn added(file: impl Into<String>, text: impl Into<Arc<str>>) -> Self {
        Self { file: file.into(), text: Ok(text.into()), provenance: Provenance::Added }
    }

    /// An added definition whose file is there, but cannot be read.
    pub fn unreadable(file: impl Into<String>, why: Unreadable) -> Self {
        Self { file: file.into(), text: Err(why), provenance: Provenance::Added }
    }
}

impl Unreadable {
    /// What was found.
    pub(super) fn found(&self) -> String {
        match self {
            Self::Failed(cause) => format!("a file that cannot be read: {cause}"),
            Self::NotUtf8 => "bytes that are not UTF-8".to_owned(),
            Self::TooLarge { .. } => "a file that is too large for a definition".to_owned(),
        }
    }

    /// What is allowed.
    pub(super) fn allowed(&self) -> String {
        match self {
            Self::Failed(_) => "a definition is a file that can be read".to_owned(),
            Self::NotUtf8 => "a definition is JSON in UTF-8 (RFC 8259, section 8.1)".to_owned(),
            Self::TooLarge { limit } => format!("a definition has at most {limit} bytes"),
        }
    }
}
