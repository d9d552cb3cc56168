//! Runs admitted calls.
