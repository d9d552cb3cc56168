//! One thing that is not as it should be.
//!
//! Its text says where it is and what to do, so that nobody has to read the check to understand it.

use std::fmt;

/// A broken rule at a place.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Finding {
    /// Relative to the workspace, with `/` between the parts; or the name of a crate.
    pub(crate) place: String,
    /// Counted from 1, where the rule is about a line.
    pub(crate) line: Option<usize>,
    /// What is wrong, and what to do.
    pub(crate) message: String,
}

impl Finding {
    /// A finding about a file or a crate as a whole.
    pub(crate) fn whole(place: &str, message: impl Into<String>) -> Self {
        Self { place: place.to_owned(), line: None, message: message.into() }
    }

    /// A finding about one line, counted from 1.
    pub(crate) fn line(place: &str, line: usize, message: impl Into<String>) -> Self {
        Self { place: place.to_owned(), line: Some(line), message: message.into() }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(f, "{}:{line}: {}", self.place, self.message),
            None => write!(f, "{}: {}", self.place, self.message),
        }
    }
}
