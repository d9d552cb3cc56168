//! The governed loop: what tools exist, which are offered, asking a model, admitting and executing its calls.
