//! HTML and XHTML pages.
//!
//! Invariant: a page with any text gives a document with text, and says how far it can be trusted to be the
//! main content.

use url::Url;

use crate::document::{Document, Status, Warning};
use crate::extract;

/// The page as a document.
pub(crate) fn read(text: &str, url: &Url) -> Document {
    let extracted = extract::extract(text, url);
    let mut document = Document::new(url.clone(), extracted.markdown, extracted.route);
    document.metadata = extracted.metadata;
    document.links = extracted.links;
    document.outline = extracted.outline;
    if extracted.lenient && document.status != Status::Empty {
        document.warn(Warning::LenientExtraction);
    }
    document
}
