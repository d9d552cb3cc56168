//! Addresses in a page, made absolute and safe to write into Markdown.
//!
//! Invariant: what is returned is an absolute address whose text holds no character that ends a Markdown link.

use url::Url;

/// The absolute address of a link; `None` for scripts, data, and places within the same page.
pub(super) fn resolve(base: &Url, href: &str) -> Option<Url> {
    let href = href.trim();
    if href.is_empty() || href.starts_with('#') || href.len() > 8_192 {
        return None;
    }
    let url = base.join(href).ok()?;
    matches!(url.scheme(), "http" | "https" | "mailto" | "tel" | "ftp").then_some(url)
}

/// The address of a picture or another embedded file.
pub(super) fn resolve_file(base: &Url, source: &str) -> Option<Url> {
    resolve(base, source).filter(|url| matches!(url.scheme(), "http" | "https"))
}

/// The address as a Markdown link destination.
pub(super) fn destination(url: &Url) -> String {
    let mut out = String::with_capacity(url.as_str().len());
    for character in url.as_str().chars() {
        match character {
            '(' => out.push_str("%28"),
            ')' => out.push_str("%29"),
            '<' => out.push_str("%3C"),
            '>' => out.push_str("%3E"),
            ' ' => out.push_str("%20"),
            '|' => out.push_str("%7C"),
            '\\' => out.push_str("%5C"),
            other => out.push(other),
        }
    }
    out
}
