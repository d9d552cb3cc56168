//! What users of the crate notice, over its public surface.

mod cases;
mod hostile;
