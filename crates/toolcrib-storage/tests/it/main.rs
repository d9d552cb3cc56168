//! What the store promises, tried on folders of its own.
#![expect(clippy::unwrap_used, reason = "helpers of tests fail like tests")]

mod concurrency;
mod conformance;
mod crash;
mod failures;
mod folder;
mod labels;
mod opening;
mod recovery;
mod roundtrip;
mod upgrade;
mod waiting;
