//! What `SQLite`'s errors mean: the translation of result codes into problems.
//!
//! Every problem that an operator can do something about has its own name; the rest keeps `SQLite`'s words.

use sqlx::error::ErrorKind;

use crate::record::trace::ContentError;
use crate::store::{StoreError, StoreProblem};

/// The codes are those of <https://www.sqlite.org/rescode.html>, without the upper bytes that refine them.
pub(super) mod code {
    pub(in crate::sqlite) const BUSY: i32 = 5;
    pub(in crate::sqlite) const LOCKED: i32 = 6;
    pub(in crate::sqlite) const READ_ONLY: i32 = 8;
    pub(in crate::sqlite) const CORRUPT: i32 = 11;
    pub(in crate::sqlite) const FULL: i32 = 13;
    pub(in crate::sqlite) const CANNOT_OPEN: i32 = 14;
    pub(in crate::sqlite) const NOT_A_DATABASE: i32 = 26;
}

/// A problem on its way to whoever knows what was attempted.
#[derive(Debug)]
pub(super) struct Failure(pub(super) StoreProblem);

impl Failure {
    /// A statement failed; when it referred to what does not exist, `what` is missing.
    pub(super) fn referring(error: sqlx::Error, what: &'static str) -> Self {
        let dangling = error
            .as_database_error()
            .is_some_and(|error| matches!(error.kind(), ErrorKind::ForeignKeyViolation));
        if dangling { Self(StoreProblem::Missing { what }) } else { error.into() }
    }

    /// A stored record cannot be understood, or not be written down.
    pub(super) fn content(what: impl Into<String>, error: &ContentError) -> Self {
        Self(StoreProblem::Content { what: what.into(), cause: error.to_string() })
    }

    /// The error of what was attempted.
    pub(super) fn during(self, attempt: &'static str) -> StoreError {
        StoreError { attempt, problem: self.0 }
    }
}

impl From<sqlx::Error> for Failure {
    fn from(error: sqlx::Error) -> Self {
        Self(problem(&error))
    }
}

impl From<StoreProblem> for Failure {
    fn from(problem: StoreProblem) -> Self {
        Self(problem)
    }
}

/// `SQLite`'s result code without its refinement; `None` when the error is not `SQLite`'s.
pub(super) fn primary_code(error: &sqlx::Error) -> Option<i32> {
    let code: i32 = error.as_database_error()?.code()?.parse().ok()?;
    Some(code & 0xff)
}

fn problem(error: &sqlx::Error) -> StoreProblem {
    if matches!(error, sqlx::Error::PoolClosed) {
        return StoreProblem::Closed;
    }
    let kind = error.as_database_error().map(sqlx::error::DatabaseError::kind);
    match kind {
        Some(ErrorKind::UniqueViolation) => return StoreProblem::Duplicate,
        Some(ErrorKind::ForeignKeyViolation) => {
            return StoreProblem::Missing { what: "record that it refers to" };
        }
        _ => {}
    }
    match primary_code(error) {
        Some(code::FULL) => StoreProblem::DiskFull,
        Some(code::BUSY | code::LOCKED) => StoreProblem::Locked,
        Some(code::READ_ONLY) => StoreProblem::ReadOnly,
        Some(code::CORRUPT | code::NOT_A_DATABASE) => StoreProblem::Damaged { cause: error.to_string() },
        _ => StoreProblem::Backend { cause: error.to_string() },
    }
}
