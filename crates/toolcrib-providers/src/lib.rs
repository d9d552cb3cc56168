//! Speaks the model dialects: pure wire conversion in both directions, and a thin client.
