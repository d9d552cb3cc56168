//! Which kinds of document are read, and which reader takes a body.
//!
//! Invariant: what the reader cannot show as text is refused by its media type, at the headers where they
//! tell it and by its first bytes where they do not.

use crate::error::PageError;

pub(crate) mod feed;
pub(crate) mod html;
pub(crate) mod text;

/// Bytes that are looked at to tell a format.
const SNIFF_BYTES: usize = 1_024;

/// A kind of document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    Html,
    /// XML that may turn out to be a feed or XHTML.
    Xml,
    Text,
}

/// A `Content-Type` taken apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ContentType {
    /// Type and subtype in lower case.
    pub(crate) media_type: String,
    pub(crate) charset: Option<String>,
}

impl ContentType {
    /// Reads a header value; `None` when it names no media type (RFC 9110, section 8.3.1).
    pub(crate) fn parse(value: &str) -> Option<Self> {
        let mut parts = value.split(';');
        let media_type = parts.next()?.trim().to_ascii_lowercase();
        let (kind, subtype) = media_type.split_once('/')?;
        let is_token = |part: &str| {
            !part.is_empty() && part.bytes().all(|b| b.is_ascii_alphanumeric() || b"!#$&-^_.+*".contains(&b))
        };
        if !is_token(kind) || !is_token(subtype) || subtype == "*" || media_type == "unknown/unknown" {
            return None;
        }
        let charset = parts
            .filter_map(|parameter| parameter.split_once('='))
            .find(|(name, _)| name.trim().eq_ignore_ascii_case("charset"))
            .map(|(_, value)| value.trim().trim_matches(['"', '\'']).to_owned());
        Some(Self { media_type, charset })
    }
}

/// Whether documents of this `Content-Type` are read. Call it with the header's value before the body is
/// fetched; a missing or malformed value is accepted, and decided by the first bytes later.
pub fn is_accepted_content_type(content_type: &str) -> bool {
    ContentType::parse(content_type).is_none_or(|parsed| format_of(&parsed.media_type).is_some())
}

/// The format that a media type stands for; `None` for those that are refused.
fn format_of(media_type: &str) -> Option<Format> {
    let (kind, subtype) = media_type.split_once('/')?;
    match (kind, subtype) {
        ("text", "html") | ("application", "xhtml+xml" | "vnd.wap.xhtml+xml") => Some(Format::Html),
        ("text" | "application", "xml" | "rss+xml" | "atom+xml" | "rdf+xml" | "x-rss+xml") => {
            Some(Format::Xml)
        }
        ("text", "event-stream" | "rtf")
        | ("image" | "audio" | "video" | "font" | "model" | "multipart", _) => None,
        ("text", _)
        | (
            "application",
            "json" | "x-json" | "ndjson" | "x-ndjson" | "jsonl" | "yaml" | "x-yaml" | "csv" | "markdown"
            | "toml" | "sql" | "javascript" | "x-javascript" | "ecmascript" | "x-sh" | "x-tex" | "x-latex"
            | "json5",
        ) => Some(Format::Text),
        (_, other) if other.ends_with("+json") || other.ends_with("+yaml") => Some(Format::Text),
        (_, other) if other.ends_with("+xml") => Some(Format::Xml),
        _ => None,
    }
}

/// What a body is: its format and the media type to report.
pub(crate) fn identify(
    bytes: &[u8],
    content_type: Option<&ContentType>,
) -> Result<(Format, String), PageError> {
    let head = &bytes[..bytes.len().min(SNIFF_BYTES)];
    if let Some(binary) = binary_type(head) {
        return Err(PageError::Unsupported { media_type: binary.to_owned() });
    }
    let Some(content_type) = content_type else {
        let (format, media_type) = sniff(head)?;
        return Ok((format, media_type.to_owned()));
    };
    match format_of(&content_type.media_type) {
        Some(format) => Ok((format, content_type.media_type.clone())),
        None => Err(PageError::Unsupported { media_type: content_type.media_type.clone() }),
    }
}

/// Whether a body that begins like this can be read; the error names what it is instead. `unnamed` says that
/// no media type was declared.
pub(crate) fn check_start(start: &[u8], unnamed: bool) -> Result<(), String> {
    let head = &start[..start.len().min(SNIFF_BYTES)];
    if let Some(binary) = binary_type(head) {
        return Err(binary.to_owned());
    }
    match sniff(head) {
        Err(PageError::Unsupported { media_type }) if unnamed => Err(media_type),
        _ => Ok(()),
    }
}

/// The format that the first bytes show.
fn sniff(head: &[u8]) -> Result<(Format, &'static str), PageError> {
    let wide = head.starts_with(b"\xFF\xFE") || head.starts_with(b"\xFE\xFF");
    let without_zeros: Vec<u8> = head.iter().copied().filter(|&byte| byte != 0).collect();
    let zeros = head.len() - without_zeros.len();
    // UTF-16 holds zeros, but no more than about half.
    let may_be_wide = wide || (zeros * 10 >= head.len() * 3 && zeros * 10 <= head.len() * 6);
    let controls = without_zeros.iter().filter(|&&b| b < 0x20 && !b"\t\n\r\x0C\x1B".contains(&b)).count();
    if (zeros > 0 && !may_be_wide) || controls * 50 > head.len() {
        return Err(PageError::Unsupported { media_type: "application/octet-stream".to_owned() });
    }
    let text = String::from_utf8_lossy(&without_zeros).to_ascii_lowercase();
    let text = text.trim_start_matches(['\u{FEFF}', '\u{FFFD}']).trim_start();
    let is_xml = text.starts_with("<?xml") && !text.contains("<html");
    let is_feed = ["<rss", "<feed", "<rdf:rdf"].iter().any(|start| text.starts_with(start));
    Ok(if is_xml || is_feed {
        (Format::Xml, "application/xml")
    } else if looks_like_html(text) {
        (Format::Html, "text/html")
    } else if text.starts_with(['{', '[']) {
        (Format::Text, "application/json")
    } else {
        (Format::Text, "text/plain")
    })
}

fn looks_like_html(text: &str) -> bool {
    let starts = [
        "<!doctype",
        "<html",
        "<head",
        "<body",
        "<?xml",
        "<!--",
        "<meta",
        "<title",
        "<script",
        "<div",
        "<p>",
        "<h1",
        "<table",
        "<article",
        "<main",
        "<section",
    ];
    starts.iter().any(|start| text.starts_with(start)) || text.contains("<html") || text.contains("<body")
}

/// The media type of formats that begin with fixed bytes
/// (<https://mimesniff.spec.whatwg.org/#matching-a-mime-type-pattern>).
fn binary_type(head: &[u8]) -> Option<&'static str> {
    const SIGNATURES: &[(&[u8], &str)] = &[
        (b"%PDF-", "application/pdf"),
        (b"\x89PNG\r\n\x1A\n", "image/png"),
        (b"\xFF\xD8\xFF", "image/jpeg"),
        (b"GIF87a", "image/gif"),
        (b"GIF89a", "image/gif"),
        (b"PK\x03\x04", "application/zip"),
        (b"\x1F\x8B\x08", "application/gzip"),
        (b"7z\xBC\xAF\x27\x1C", "application/x-7z-compressed"),
        (b"Rar!\x1A\x07", "application/vnd.rar"),
        (b"\x7FELF", "application/x-elf"),
        (b"\0asm", "application/wasm"),
        (b"OggS", "application/ogg"),
        (b"\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1", "application/x-ole-storage"),
        (b"SQLite format 3\0", "application/vnd.sqlite3"),
        (b"ID3", "audio/mpeg"),
        (b"wOF2", "font/woff2"),
        (b"{\\rtf", "application/rtf"),
    ];
    let found = SIGNATURES.iter().find(|(signature, _)| head.starts_with(signature)).map(|(_, name)| *name);
    found.or(match head {
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => Some("image/webp"),
        [_, _, _, _, b'f', b't', b'y', b'p', ..] => Some("video/mp4"),
        _ => None,
    })
}

#[cfg(test)]
mod tests;
