//! What users of the crate notice, over its public surface.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod cases;
mod fetch;
mod hostile;
mod metadata;
mod more_pages;
