//! The behaviors of the door, seen from outside.
#![expect(clippy::unwrap_used, clippy::panic, reason = "helpers of tests fail like tests")]
#![expect(clippy::needless_pass_by_value, reason = "helpers take results as they come")]

mod bodies;
mod chains;
mod environment;
mod leaks;
mod operator;
mod protocol;
mod sizes;
mod support;
mod times;
mod tls;
mod url_guard;
