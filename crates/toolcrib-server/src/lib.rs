//! The doors of Toolcrib: OpenAI-compatible API, admin API and web page; configuration, assembly and serving.
//!
//! Every door leads to the one governed path of `toolcrib-runtime`. `assemble` is the only place that constructs
//! concrete implementations. The modules stand in the order in which a request meets them.

pub mod config;
pub mod environment;

mod app;
pub mod assemble;
mod assistants;
mod models;
mod policy;
mod sources;
mod system_clock;

mod auth;
pub mod error;
mod middleware;
pub mod serve;

mod active;
mod api;
mod conversation;
mod labels;
mod places;
mod run;
mod ui;
mod waiting;

pub mod check;
pub mod client;
pub mod doctor;
mod ids;
pub mod instance;
pub mod reference;
