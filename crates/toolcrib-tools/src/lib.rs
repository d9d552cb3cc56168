//! Everything that provides tools.
