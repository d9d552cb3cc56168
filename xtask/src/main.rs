//! Generators, tidy checks and benchmark drivers.
fn main() {}
