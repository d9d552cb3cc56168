//! The streamed answer: read from providers, written for clients.

mod calls;
mod decode;
mod encode;

pub use decode::ChunkDecoder;
pub use encode::ChunkEncoder;
