//! The one door to the outside: an HTTP client that cannot reach a forbidden address.
