//! Which tools exist.
