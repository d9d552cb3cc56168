//! Which tools a model may call.
