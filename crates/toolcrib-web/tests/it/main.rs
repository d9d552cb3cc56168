//! What users of the crate notice, over its public surface.

mod cases;
mod fetch;
mod hostile;
mod metadata;
mod more_pages;
