//! Text formats (plain text, Markdown, JSON, XML, YAML, CSV), whose text is kept unchanged.
//!
//! Invariant: nothing is parsed, expanded or fetched; only line ends and NUL characters are made uniform.

use url::Url;

use crate::document::{Document, Route};

/// The text as a document.
pub(crate) fn read(text: &str, url: &Url) -> Document {
    let mut kept = text.trim_start_matches('\u{FEFF}').replace("\r\n", "\n");
    if kept.contains('\0') {
        kept.retain(|character| character != '\0');
    }
    let end = kept.trim_end().len();
    kept.truncate(end);
    let mut document = Document::new(url.clone(), kept, Route::Text);
    document.metadata.title = file_name(url);
    document
}

/// The last part of the path, as the title of a file.
fn file_name(url: &Url) -> Option<String> {
    let name = url.path_segments()?.next_back()?;
    (!name.is_empty()).then(|| name.chars().take(1_000).collect())
}
