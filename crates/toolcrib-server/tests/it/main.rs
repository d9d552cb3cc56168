//! The server as its clients meet it: over real connections, with a provider that does what a script says.

mod chat;
mod harness;
mod http;
mod keys;
mod lifecycle;
mod providers;
mod upstream;
