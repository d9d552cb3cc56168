//! What is remembered: keys, conversations, runs and traces, in SQLite.
