//! What the store promises, tried on folders of its own.

mod concurrency;
mod conformance;
mod crash;
mod failures;
mod folder;
mod opening;
mod recovery;
mod roundtrip;
