//! The governed loop: what tools exist, which are offered, asking a model, admitting and executing its calls.
//!
//! The crate awaits only its own traits: it opens no socket and no file, reads no environment and no clock.
//! The modules stand in the order in which data flows through a run.
//!
#![doc = include_str!("../docs/guide.md")]

pub mod message;
pub mod tool;

pub mod registry;

pub mod caller;
pub mod confidence;
pub mod labels;
pub mod policy;

pub mod offering;

pub mod context;

pub mod model;

pub mod executor;
pub mod ledger;
pub mod links;

pub mod run;

pub mod journal;

pub mod clock;

pub mod nearest;
#[cfg(feature = "testing")]
pub mod testing;
