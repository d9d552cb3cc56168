//! A URL in, a clean document out: fetching, charset, main content, Markdown, metadata.
