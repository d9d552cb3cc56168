//! The tools, seen from outside.
#![expect(clippy::unwrap_used, reason = "helpers of tests fail like tests")]

mod definitions;
mod page;
mod pages;
mod server_behaviours;
mod texts;
mod url_guard;
