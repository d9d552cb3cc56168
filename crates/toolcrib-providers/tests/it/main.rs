//! Tests of the public interface: the wire conversion, the client against a scripted server, and both together.

#![expect(clippy::expect_used, clippy::panic, clippy::unwrap_used, reason = "what fails here is a test")]

mod client;
mod decoding;
mod front;
mod hostile;
mod profiles;
mod round_trip;
mod server;
