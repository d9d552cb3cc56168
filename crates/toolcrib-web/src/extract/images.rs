//! The real source of a picture behind lazy loading.
//!
//! Invariant: placeholders, tracking pixels and data addresses are no sources.

use url::Url;

use super::dom::{Dom, NodeId, Tag};
use super::links::resolve_file;
use super::words::any_class;

/// Where pages put the address that a script is to load later, most specific first.
const LAZY_SOURCES: [&str; 9] = [
    "data-src",
    "data-original",
    "data-lazy-src",
    "data-full-src",
    "data-original-src",
    "data-actualsrc",
    "data-hi-res-src",
    "data-url",
    "data-lazy",
];
const LAZY_SETS: [&str; 3] = ["data-srcset", "data-lazy-srcset", "data-original-set"];

/// The best address of an `img`.
pub(super) fn source(dom: &Dom, base: &Url, image: NodeId) -> Option<Url> {
    if is_tiny(dom, image) {
        return None;
    }
    let lazy = LAZY_SOURCES.iter().find_map(|name| usable(base, dom.attribute(image, name)?));
    lazy.or_else(|| LAZY_SETS.iter().find_map(|name| largest(base, dom.attribute(image, name)?)))
        .or_else(|| usable(base, dom.attribute(image, "src")?))
        .or_else(|| largest(base, dom.attribute(image, "srcset")?))
        .or_else(|| picture_source(dom, base, image))
}

/// The best address that the `picture` around an `img` names.
fn picture_source(dom: &Dom, base: &Url, image: NodeId) -> Option<Url> {
    let picture = dom.parent(image).filter(|&parent| dom.tag(parent) == Tag::Picture)?;
    dom.children(picture).filter(|&id| dom.tag(id) == Tag::Source).find_map(|id| {
        let set = dom.attribute(id, "srcset").or_else(|| dom.attribute(id, "data-srcset"))?;
        largest(base, set)
    })
}

fn usable(base: &Url, source: &str) -> Option<Url> {
    let url = resolve_file(base, source)?;
    (!is_placeholder(&url)).then_some(url)
}

/// The candidate with the largest width or density of a `srcset`.
fn largest(base: &Url, set: &str) -> Option<Url> {
    let mut best: Option<(f64, Url)> = None;
    for candidate in candidates(set) {
        let mut words = candidate.split_ascii_whitespace();
        let Some(url) = words.next().and_then(|source| usable(base, source)) else { continue };
        let size =
            words.next().and_then(|size| size.trim_end_matches(['w', 'x', 'h']).parse().ok()).unwrap_or(1.0);
        if best.as_ref().is_none_or(|(other, _)| size > *other) {
            best = Some((size, url));
        }
    }
    best.map(|(_, url)| url)
}

/// Candidates are separated by a comma and white space; commas within addresses have none behind them.
fn candidates(set: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut start = 0;
    for (index, _) in set.match_indices(',') {
        let after = set[index + 1..].chars().next();
        let described = set[start..index].trim().contains(char::is_whitespace);
        if after.is_none_or(char::is_whitespace) || described {
            parts.push(set[start..index].trim());
            start = index + 1;
        }
    }
    parts.push(set[start..].trim());
    parts.retain(|part| !part.is_empty());
    parts
}

/// Whether an address names a picture that only keeps a place.
fn is_placeholder(url: &Url) -> bool {
    let name = url.path().rsplit('/').next().unwrap_or_default().to_ascii_lowercase();
    let stem = name.split('.').next().unwrap_or_default();
    matches!(
        stem,
        "blank"
            | "spacer"
            | "pixel"
            | "placeholder"
            | "transparent"
            | "loading"
            | "loader"
            | "lazy"
            | "grey"
            | "gray"
            | "1x1"
            | "empty"
            | "clear"
            | "dot"
            | "trans"
            | "spinner"
    ) || stem.starts_with("placeholder-")
        || stem.ends_with("-placeholder")
}

/// Tracking pixels and spacers.
fn is_tiny(dom: &Dom, image: NodeId) -> bool {
    let size = |name| {
        dom.attribute(image, name).and_then(|value| value.trim().trim_end_matches("px").parse::<u32>().ok())
    };
    size("width").is_some_and(|width| width <= 2) || size("height").is_some_and(|height| height <= 2)
}

/// Whether the picture stands for a character.
pub(super) fn is_emoji(dom: &Dom, image: NodeId) -> bool {
    any_class(dom, image, |class| matches!(class, "emoji" | "wp-smiley" | "emojione" | "twemoji" | "smiley"))
}

#[cfg(test)]
mod tests;
