//! The doors: OpenAI-compatible API, admin API, web page; configuration and assembly.
