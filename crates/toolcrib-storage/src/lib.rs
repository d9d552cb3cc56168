//! What is remembered: keys, conversations, runs and traces, in `SQLite`.
//!
//! The rest of the program sees the traits of [`store`] and the plain records of [`record`]; how they are kept is
//! the business of a backend alone. A record leaves its backend only for its owner: a foreign id is not found.
//!
//! [`sqlite::SqliteStore::open`] opens the store of a data folder.

pub mod record;
pub mod store;

pub mod sqlite;

#[cfg(any(test, feature = "testing"))]
pub mod conformance;
