//! A URL in, a clean document out: fetching, charset, main content, Markdown, metadata.
//!
//! [`fetch_document`] fetches through `toolcrib-egress`; [`read_document`] does the rest and touches nothing
//! outside. The way of the data: bytes, format ([`is_accepted_content_type`]), charset, tree, main content,
//! Markdown, [`Document`]. Invariant: no input makes this crate panic, recurse without bound or run for a time
//! that is not linear in its size.

mod charset;
mod document;
mod error;
mod extract;
mod fetch;
mod formats;
mod read;

pub use document::{
    Document, Excerpt, Heading, LITTLE_CONTENT_CHARACTERS, Link, Metadata, Route, Status, TRUNCATION_MARKER,
    Warning,
};
pub use error::PageError;
pub use fetch::{PageRequest, fetch_document};
pub use formats::is_accepted_content_type;
pub use read::read_document;
