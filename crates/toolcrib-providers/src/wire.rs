//! Conversion between the dialects' JSON and the runtime's types, without any input or output.
//!
//! Nothing in here waits, reads a clock or draws a random number: the same input gives the same bytes.

pub mod chat_completions;

pub mod problem;
pub mod sse;
