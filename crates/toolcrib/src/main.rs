//! The Toolcrib program.
fn main() {}
