//! The behaviors of the door, seen from outside.
