//! Speaks the model dialects: pure wire conversion in both directions, and a thin client.
//!
//! Wire types stay inside this crate and the server's API: everything that leaves it is a type of
//! `toolcrib-runtime`. The modules stand in the order in which a request travels to a provider.

pub mod profile;
pub mod wire;

pub mod client;

pub mod demo;
