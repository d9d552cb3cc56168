//! The behaviors of the door, seen from outside.
#![expect(clippy::unwrap_used, reason = "helpers of tests fail like tests")]

mod url_guard;
