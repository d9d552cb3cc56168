//! The request: written for providers, read from clients.

mod decode;
mod encode;

pub use decode::{decode_request, decode_request_body};
pub use encode::encode_request;
