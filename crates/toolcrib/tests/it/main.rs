//! The built program as people and scripts use it: real processes on data folders of their own.

#![expect(clippy::unwrap_used, clippy::panic, reason = "helpers of tests fail like tests")]

mod answers;
mod approvals;
mod assistants;
mod harness;
mod help;
mod keys;
mod pipes;
mod serving;
mod tools;
mod trouble;
