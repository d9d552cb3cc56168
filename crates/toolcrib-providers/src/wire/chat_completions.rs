//! `OpenAI`'s Chat Completions, read and written in both directions.
//!
//! `encode_request`, `decode_response` and `ChunkDecoder` speak to providers, `decode_request`, `encode_response`
//! and `ChunkEncoder` to clients. The decoders accept every known deviation of real hosts and clients; the encoders
//! emit only what `OpenAI`'s own SDKs accept. Source: <https://platform.openai.com/docs/api-reference/chat>.

mod call_ids;
mod request;
mod response;
mod stream;
mod types;

pub use request::{decode_request, decode_request_body, encode_request};
pub use response::{decode_response, encode_error, encode_response};
pub use stream::{ChunkDecoder, ChunkEncoder};
pub use types::{ChatRequest, Completion, ErrorBody, UrlCitation, WireError, url_citations};

pub(crate) use types::mix;

/// Holds a call's id as its provider wrote it, when that id was not unique within its round. The field is ours: it
/// is restored towards the provider and never shown to a client.
pub(crate) const WIRE_ID_FIELD: &str = "toolcrib_wire_id";

/// Marks an opaque part of a user message that holds fields of the message itself, such as `name`.
pub(crate) const MESSAGE_FIELDS_TYPE: &str = "toolcrib_message_fields";
