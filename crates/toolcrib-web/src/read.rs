//! Bytes to document, without any input or output.
//!
//! Invariant: the same bytes, content type and address give the same document.

use url::Url;

use crate::charset;
use crate::document::{Document, Warning};
use crate::error::PageError;
use crate::formats::{self, ContentType, Format};

/// Reads a body that was fetched from `url`, the address after redirects.
///
/// `content_type` is the value of the HTTP header; without one the first bytes decide. The work is pure and
/// takes milliseconds for a page, seconds for hostile ones: call it where blocking is allowed.
///
/// # Errors
/// [`PageError::Empty`] for a body without content, [`PageError::Unsupported`] for formats that are not read.
pub fn read_document(bytes: &[u8], content_type: Option<&str>, url: &Url) -> Result<Document, PageError> {
    if bytes.iter().all(u8::is_ascii_whitespace) {
        return Err(PageError::Empty);
    }
    let content_type = content_type.and_then(ContentType::parse);
    let (format, media_type) = formats::identify(bytes, content_type.as_ref())?;
    let label = content_type.as_ref().and_then(|content_type| content_type.charset.as_deref());
    let decoded = charset::decode(bytes, label, top_level_domain(url));
    let mut document = match format {
        Format::Html => formats::html::read(&decoded.text, url),
        Format::Xml => formats::feed::read(&decoded.text, url),
        Format::Text => formats::text::read(&decoded.text, url),
    };
    document.metadata.media_type = Some(media_type);
    if decoded.guessed {
        document.warn(Warning::DecodedByGuess);
    }
    tracing::debug!(
        host = url.host_str(),
        encoding = decoded.encoding,
        route = document.route.as_str(),
        status = document.status.as_str(),
        "read a page"
    );
    Ok(document)
}

fn top_level_domain(url: &Url) -> Option<&str> {
    url.domain()?.trim_end_matches('.').rsplit('.').next().filter(|domain| !domain.is_empty())
}
