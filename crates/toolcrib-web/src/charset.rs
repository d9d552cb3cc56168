//! Bytes to text: byte order mark, HTTP header, `<meta>`, detection, in this order.
//!
//! Invariant: decoding never fails; labels mean what the Encoding Standard says (`iso-8859-1` is
//! windows-1252, `gb2312` is GBK), and a text whose encoding was guessed says so.

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252, X_USER_DEFINED};

/// Bytes in which a declaration within the document counts
/// (<https://html.spec.whatwg.org/multipage/parsing.html#prescan-a-byte-stream-to-determine-its-encoding>).
const PRESCAN_BYTES: usize = 1_024;
/// Bytes that are enough for a guess.
const DETECTION_BYTES: usize = 256 * 1024;

/// Text with how it was decoded.
#[derive(Debug)]
pub(crate) struct Decoded {
    pub(crate) text: String,
    /// The name of the encoding in the Encoding Standard.
    pub(crate) encoding: &'static str,
    /// Nothing declared the encoding, and the bytes left room for doubt.
    pub(crate) guessed: bool,
}

/// Decodes a body. `label` is the charset of the HTTP header, `top_level_domain` that of the page's host.
pub(crate) fn decode(bytes: &[u8], label: Option<&str>, top_level_domain: Option<&str>) -> Decoded {
    let declared = Encoding::for_bom(bytes)
        .map(|(encoding, _)| encoding)
        .or_else(|| label.and_then(|label| Encoding::for_label(label.trim().as_bytes())))
        .or_else(|| declared_within(bytes));
    let (encoding, guessed) = match declared {
        Some(encoding) => (encoding, false),
        None => detect(bytes, top_level_domain),
    };
    let (text, used, _) = encoding.decode(bytes);
    Decoded { text: text.into_owned(), encoding: used.name(), guessed }
}

/// The encoding that the first bytes of the document declare by `<meta>` or an XML declaration.
fn declared_within(bytes: &[u8]) -> Option<&'static Encoding> {
    let head = &bytes[..bytes.len().min(PRESCAN_BYTES)];
    // Only ASCII matters here, and Latin-1 keeps the positions of all bytes.
    let head: String = head.iter().map(|&byte| char::from(byte).to_ascii_lowercase()).collect();
    let label = xml_declaration(&head).or_else(|| meta_charset(&head))?;
    let encoding = Encoding::for_label(label.as_bytes())?;
    // A declaration that could be read as ASCII cannot stand in UTF-16.
    Some(if encoding == UTF_16LE || encoding == UTF_16BE {
        UTF_8
    } else if encoding == X_USER_DEFINED {
        WINDOWS_1252
    } else {
        encoding
    })
}

fn xml_declaration(head: &str) -> Option<String> {
    let declaration = head.trim_start().strip_prefix("<?xml")?;
    let declaration = &declaration[..declaration.find("?>")?];
    let value = declaration[declaration.find("encoding")? + "encoding".len()..].trim_start();
    quoted(value.strip_prefix('=')?)
}

/// The charset of the first `meta` outside comments.
fn meta_charset(head: &str) -> Option<String> {
    let mut rest = head;
    while let Some(start) = rest.find('<') {
        rest = &rest[start..];
        if let Some(comment) = rest.strip_prefix("<!--") {
            rest = &comment[comment.find("-->")? + 3..];
            continue;
        }
        let is_meta = rest.strip_prefix("<meta").is_some_and(|after| {
            after.starts_with(|character: char| character.is_whitespace() || character == '/')
        });
        if is_meta {
            let end = rest.find('>').unwrap_or(rest.len());
            if let Some(label) = charset_in(&rest[..end]) {
                return Some(label);
            }
        }
        rest = &rest[1..];
    }
    None
}

/// The value after `charset=`, as an attribute or within `content`.
fn charset_in(tag: &str) -> Option<String> {
    let mut rest = tag;
    while let Some(position) = rest.find("charset") {
        rest = rest[position + "charset".len()..].trim_start();
        if let Some(value) = rest.strip_prefix('=') {
            return quoted(value);
        }
    }
    None
}

/// A value that may be quoted.
fn quoted(value: &str) -> Option<String> {
    let value = value.trim_start();
    let ends: &[char] = match value.chars().next()? {
        '"' => &['"'],
        '\'' => &['\''],
        _ => &[' ', '\t', '\n', '\r', '\u{C}', ';', '"', '\'', '/', '>'],
    };
    let value = if ends.len() == 1 { &value[1..] } else { value };
    let end = value.find(ends).unwrap_or(value.len());
    let label = value[..end].trim();
    (!label.is_empty()).then(|| label.to_owned())
}

/// The most plausible encoding, and whether there was room for doubt.
fn detect(bytes: &[u8], top_level_domain: Option<&str>) -> (&'static Encoding, bool) {
    if let Some(encoding) = detect_utf_16(bytes) {
        return (encoding, true);
    }
    // A multi-byte character may be cut at the end of what was read.
    let valid = match std::str::from_utf8(bytes) {
        Ok(_) => true,
        Err(error) => error.error_len().is_none(),
    };
    if valid {
        return (UTF_8, false);
    }
    let sample = &bytes[..bytes.len().min(DETECTION_BYTES)];
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Allow);
    detector.feed(sample, sample.len() == bytes.len());
    let domain = top_level_domain
        .filter(|domain| domain.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-'))
        .map(str::as_bytes);
    (detector.guess(domain, Utf8Detection::Allow), true)
}

/// UTF-16 without a byte order mark: in Western text, and in markup, every other byte is zero.
fn detect_utf_16(bytes: &[u8]) -> Option<&'static Encoding> {
    let sample = &bytes[..bytes.len().min(PRESCAN_BYTES) & !1];
    if sample.len() < 8 {
        return None;
    }
    let zeros = |offset: usize| sample.iter().skip(offset).step_by(2).filter(|&&byte| byte == 0).count();
    let pairs = sample.len() / 2;
    let (even, odd) = (zeros(0), zeros(1));
    if odd * 10 >= pairs * 4 && even * 20 <= pairs {
        Some(UTF_16LE)
    } else if even * 10 >= pairs * 4 && odd * 20 <= pairs {
        Some(UTF_16BE)
    } else {
        None
    }
}

#[cfg(test)]
mod tests;
