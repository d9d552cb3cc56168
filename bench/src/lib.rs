//! What the parts of a run cost beside the model and the tools: see `benches/runtime.rs`.
