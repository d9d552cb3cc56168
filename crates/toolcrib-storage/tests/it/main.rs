//! What the store promises, tried on folders of its own.

mod conformance;
mod folder;
