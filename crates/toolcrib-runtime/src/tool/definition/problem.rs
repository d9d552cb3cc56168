//! What is wrong with a definition, and where.

use std::fmt;

/// One problem of one definition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// Whether the definition can be used all the same.
    pub severity: Severity,
    /// The file.
    pub file: String,
    /// JSON pointer (RFC 6901) to the place; empty for the whole document.
    pub pointer: String,
    /// What was found there.
    pub found: String,
    /// What is allowed there, or what to do.
    pub allowed: String,
    /// The known name that was probably meant.
    pub nearest: Option<String>,
    /// The file gave a tool before, and that version stays in use.
    pub last_good_stays: bool,
}

/// How bad a problem is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// The tool works, but a model will use it badly.
    Warning,
    /// The tool is left out.
    Error,
}

impl Problem {
    /// A problem that makes a definition unusable.
    pub fn error(file: &str, pointer: &str, found: impl Into<String>, allowed: impl Into<String>) -> Self {
        Self {
            severity: Severity::Error,
            file: file.to_owned(),
            pointer: pointer.to_owned(),
            found: found.into(),
            allowed: allowed.into(),
            nearest: None,
            last_good_stays: false,
        }
    }
}

impl Severity {
    /// The name in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = if self.pointer.is_empty() { "(whole file)" } else { &self.pointer };
        write!(f, "{}: {} at {place}: {}; {}", self.file, self.severity.name(), self.found, self.allowed)?;
        if let Some(nearest) = &self.nearest {
            write!(f, "; did you mean {nearest:?}?")?;
        }
        if self.last_good_stays {
            f.write_str("; the last good version stays in use")?;
        }
        Ok(())
    }
}
