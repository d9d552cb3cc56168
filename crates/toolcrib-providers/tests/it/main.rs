//! Tests of the public interface: the wire conversion, the client against a scripted server, and both together.

mod client;
mod decoding;
mod front;
mod profiles;
mod round_trip;
mod server;
