//! Everything that provides tools.
//!
//! Each tool is a definition beside its implementation; nothing here decides who may call it. The crate reaches
//! the outside only through `toolcrib-egress`, and knows the time only from the call's context.

pub mod builtin;
pub mod page;
