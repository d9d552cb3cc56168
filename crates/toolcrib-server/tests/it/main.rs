//! The server as its clients meet it: over real connections, with a provider that does what a script says.

#![expect(clippy::expect_used, clippy::panic, reason = "a broken harness fails the test at once")]

mod approvals;
mod assistants;
mod calls;
mod chat;
mod folder;
mod harness;
mod http;
mod keys;
mod lifecycle;
mod models;
mod providers;
mod upstream;
