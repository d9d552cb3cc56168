//! How much of anything one fetch may use.
//!
//! Invariant: every wait and every buffer of a fetch is bounded by a field of [`Budgets`]; the time budgets
//! run on one absolute clock that starts with the fetch.

use std::time::Duration;

/// The budgets of one fetch. The defaults are those of the egress specification.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Budgets {
    /// One name look-up (A and AAAA together). Default 3 s.
    pub dns: Duration,
    /// Connecting, the TLS handshake included. Default 3 s.
    pub connect: Duration,
    /// From the first byte sent to the last byte of the final response's header. Default 5 s.
    pub headers: Duration,
    /// Between two pieces of a body. Default 5 s.
    pub idle: Duration,
    /// The whole chain with all its redirects. Default 15 s.
    pub total: Duration,
    /// Bytes of a body on the wire, framing included. Default 5 MiB.
    pub wire_bytes: u64,
    /// Bytes of a body after decoding. Default 10 MiB.
    pub decoded_bytes: u64,
    /// How many decoded bytes one byte on the wire may become. Default 100.
    pub ratio: u64,
    /// Decoded bytes below which the ratio is not looked at. Default 64 KiB.
    pub ratio_floor: u64,
    /// Bytes of all headers of one hop, interim responses included; the same again for trailers.
    /// Default 64 KiB.
    pub header_bytes: usize,
    /// Fields of one header or trailer section. Default 100.
    pub header_fields: usize,
    /// Interim (1xx) responses before the final one. Default 8.
    pub interim_responses: usize,
    /// Redirects that are followed. Default 5.
    pub redirects: usize,
}

impl Default for Budgets {
    fn default() -> Self {
        Self {
            dns: Duration::from_secs(3),
            connect: Duration::from_secs(3),
            headers: Duration::from_secs(5),
            idle: Duration::from_secs(5),
            total: Duration::from_secs(15),
            wire_bytes: 5 * 1024 * 1024,
            decoded_bytes: 10 * 1024 * 1024,
            ratio: 100,
            ratio_floor: 64 * 1024,
            header_bytes: 64 * 1024,
            header_fields: 100,
            interim_responses: 8,
            redirects: 5,
        }
    }
}

/// Longest URL that is looked at, in bytes.
pub(crate) const URL_BYTES: usize = 2048;

/// Longest line that may introduce a chunk, extensions included.
pub(crate) const CHUNK_LINE_BYTES: usize = 1024;

/// Largest single chunk that may be announced; a larger one is a broken or hostile server.
pub(crate) const CHUNK_BYTES: u64 = 0xffff_ffff;

/// Largest zstd window (RFC 9659, section 3).
pub(crate) const ZSTD_WINDOW_BYTES: u64 = 8 * 1024 * 1024;

/// Addresses of one name that are tried, at most.
pub(crate) const CONNECT_ATTEMPTS: usize = 6;

/// How long one address may stay silent before the next one is tried beside it (RFC 8305).
pub(crate) const NEXT_ADDRESS_AFTER: Duration = Duration::from_millis(250);

/// Decoded bytes that a caller may look at before the rest of a body is read.
pub(crate) const BODY_START_BYTES: usize = 1024;
