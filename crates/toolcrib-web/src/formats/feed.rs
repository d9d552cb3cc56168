//! RSS and Atom feeds as lists of entries, and other XML unchanged.
//!
//! Invariant: no document type is read, no entity but the predefined ones is expanded, nothing is fetched.

use quick_xml::Reader;
use quick_xml::events::{BytesRef, BytesStart, Event};
use url::Url;

use crate::document::{Document, Heading, Link, Route};
use crate::extract::fragment;
use crate::formats::{html, text};

/// Entries that are read.
const MAX_ENTRIES: usize = 200;
/// Elements within each other that are followed.
const MAX_DEPTH: usize = 64;

/// A feed while it is read.
#[derive(Debug, Default)]
struct Feed {
    about: Entry,
    language: Option<String>,
    entries: Vec<Entry>,
}

/// An entry, or what a feed says about itself.
#[derive(Debug, Default)]
struct Entry {
    title: String,
    link: String,
    summary: String,
    content: String,
    author: String,
    date: String,
    updated: String,
}

/// XML as a document: a feed as its entries, XHTML as a page, everything else as it stands.
pub(crate) fn read(source: &str, url: &Url) -> Document {
    match root_name(source).as_deref() {
        Some("html") => html::read(source, url),
        Some("rss" | "feed" | "rdf") => match parse(source) {
            Some(feed) => document(&feed, url),
            None => text::read(source, url),
        },
        _ => text::read(source, url),
    }
}

/// The lower-case local name of the first element.
fn root_name(source: &str) -> Option<String> {
    let mut reader = Reader::from_str(source);
    reader.config_mut().check_end_names = false;
    for _ in 0..1_000 {
        match reader.read_event() {
            Ok(Event::Start(element) | Event::Empty(element)) => {
                return Some(local_name(&element).to_ascii_lowercase());
            }
            Ok(Event::Eof) | Err(_) => return None,
            Ok(_) => {}
        }
    }
    None
}

fn local_name(element: &BytesStart<'_>) -> String {
    element.local_name().as_ref().to_owned()
}

fn prefix(element: &BytesStart<'_>) -> String {
    element.name().prefix().map(|prefix| prefix.as_ref().to_owned()).unwrap_or_default()
}

/// Reads as far as the XML is well-formed; `None` when nothing could be read.
fn parse(source: &str) -> Option<Feed> {
    let mut reader = Reader::from_str(source);
    reader.config_mut().check_end_names = false;
    let mut feed = Feed::default();
    // The names of the open elements, and the text of the innermost field.
    let mut path: Vec<String> = Vec::new();
    let mut field = String::new();
    // Depth at which inline XHTML content began.
    let mut markup: Option<usize> = None;
    loop {
        match reader.read_event() {
            Ok(Event::Start(element)) => {
                let name = field_name(&element);
                if path.len() >= MAX_DEPTH {
                    break;
                }
                if markup.is_some() {
                    open_markup(&mut field, &element);
                } else {
                    field.clear();
                    if is_xhtml(&element) {
                        markup = Some(path.len());
                    }
                    begin(&mut feed, &name, &element);
                }
                path.push(name);
            }
            Ok(Event::Empty(element)) => {
                if markup.is_some() {
                    open_markup(&mut field, &element);
                } else {
                    begin(&mut feed, &field_name(&element), &element);
                }
            }
            Ok(Event::End(_)) => {
                let Some(name) = path.pop() else { break };
                if markup.is_some_and(|depth| path.len() > depth) {
                    field.extend(["</", &name, ">"]);
                    continue;
                }
                markup = None;
                end(&mut feed, &name, path.last().map_or("", String::as_str), &std::mem::take(&mut field));
                if feed.entries.len() > MAX_ENTRIES {
                    break;
                }
            }
            Ok(Event::Text(piece)) => push_text(&mut field, &piece, markup.is_some()),
            Ok(Event::CData(piece)) => push_text(&mut field, &piece, markup.is_some()),
            Ok(Event::GeneralRef(reference)) => {
                push_text(&mut field, &resolve_reference(&reference), markup.is_some());
            }
            Ok(Event::Eof) | Err(_) => break,
            Ok(_) => {}
        }
    }
    feed.entries.truncate(MAX_ENTRIES);
    let found = !feed.entries.is_empty() || !feed.about.title.is_empty();
    found.then_some(feed)
}

/// The name that decides what an element is for; names of foreign vocabularies keep their prefix.
fn field_name(element: &BytesStart<'_>) -> String {
    let local = local_name(element).to_ascii_lowercase();
    match prefix(element).as_str() {
        "" | "atom" | "rss" | "a" => local,
        "rdf" | "dc" | "content" => format!("{}:{local}", prefix(element)),
        other => format!("{other}:{local}"),
    }
}

fn is_xhtml(element: &BytesStart<'_>) -> bool {
    attribute(element, "type").is_some_and(|kind| kind == "xhtml")
}

fn attribute(element: &BytesStart<'_>, name: &str) -> Option<String> {
    let attribute = element.try_get_attribute(name).ok().flatten()?;
    let raw = attribute.value.clone().into_owned();
    Some(quick_xml::escape::unescape(&raw).map(std::borrow::Cow::into_owned).unwrap_or(raw))
}

/// Writes a tag of inline XHTML.
fn open_markup(field: &mut String, element: &BytesStart<'_>) {
    field.push('<');
    field.push_str(&local_name(element));
    for name in ["href", "src", "alt", "class", "start", "colspan", "rowspan"] {
        if let Some(value) = attribute(element, name) {
            field.extend([" ", name, "=\"", &quick_xml::escape::escape(&value), "\""]);
        }
    }
    field.push('>');
}

fn push_text(field: &mut String, text: &str, markup: bool) {
    if markup {
        field.push_str(&quick_xml::escape::escape(text));
    } else {
        field.push_str(text);
    }
}

/// A predefined entity or a character; anything else stays as it is written.
fn resolve_reference(reference: &BytesRef<'_>) -> String {
    if let Ok(Some(character)) = reference.resolve_char_ref() {
        return character.to_string();
    }
    let name = String::from(&**reference);
    match name.as_str() {
        "amp" => "&".to_owned(),
        "lt" => "<".to_owned(),
        "gt" => ">".to_owned(),
        "quot" => "\"".to_owned(),
        "apos" => "'".to_owned(),
        "nbsp" => " ".to_owned(),
        _ => format!("&{name};"),
    }
}

fn begin(feed: &mut Feed, name: &str, element: &BytesStart<'_>) {
    match name {
        "item" | "entry" => feed.entries.push(Entry::default()),
        "feed" => feed.language = attribute(element, "xml:lang"),
        "link" => {
            let relation = attribute(element, "rel").unwrap_or_else(|| "alternate".to_owned());
            if let Some(href) = attribute(element, "href")
                && relation == "alternate"
            {
                let entry = feed.entries.last_mut().unwrap_or(&mut feed.about);
                if entry.link.is_empty() {
                    entry.link = href;
                }
            }
        }
        _ => {}
    }
}

fn end(feed: &mut Feed, name: &str, parent: &str, value: &str) {
    let value = value.trim();
    if value.is_empty() || matches!(parent, "image" | "textinput" | "source") {
        return;
    }
    let about_feed = matches!(parent, "channel" | "feed") && feed.entries.is_empty()
        || (matches!(parent, "channel" | "feed") && !matches!(name, "item" | "entry"));
    if name == "language" && about_feed {
        feed.language = Some(value.to_owned());
        return;
    }
    let entry = if about_feed { &mut feed.about } else { feed.entries.last_mut().unwrap_or(&mut feed.about) };
    let slot = match (name, parent) {
        ("title", _) => &mut entry.title,
        ("link", _) => &mut entry.link,
        ("guid" | "id", _) if entry.link.is_empty() && value.starts_with("http") => &mut entry.link,
        ("description" | "summary" | "subtitle" | "media:description", _) => &mut entry.summary,
        ("content:encoded" | "content", _) => &mut entry.content,
        ("name", "author") | ("dc:creator" | "author", _) => &mut entry.author,
        ("pubdate" | "published" | "dc:date" | "issued", _) => &mut entry.date,
        ("updated" | "modified" | "lastbuilddate", _) => &mut entry.updated,
        _ => return,
    };
    if slot.is_empty() {
        value.clone_into(slot);
    }
}

/// The feed as Markdown: a heading, and each entry under a heading of its own.
fn document(feed: &Feed, url: &Url) -> Document {
    let base = url.join(&feed.about.link).unwrap_or_else(|_| url.clone());
    let mut blocks = Vec::new();
    let mut links = Vec::new();
    let mut outline = Vec::new();
    let title = plain(&feed.about.title, &base);
    if !title.is_empty() {
        blocks.push(format!("# {title}"));
        outline.push(Heading { level: 1, text: title.clone() });
    }
    if !feed.about.summary.is_empty() {
        blocks.push(fragment(&feed.about.summary, &base));
    }
    for entry in &feed.entries {
        let link = base.join(&entry.link).ok().filter(|_| !entry.link.is_empty());
        let mut title = plain(&entry.title, &base);
        if title.is_empty() {
            title = link.as_ref().map(|link| link.as_str().to_owned()).unwrap_or_default();
        }
        if outline.len() < Document::MAX_HEADINGS {
            outline.push(Heading { level: 2, text: title.clone() });
        }
        match link {
            Some(link) => {
                let label = title.replace('[', "\\[").replace(']', "\\]");
                blocks
                    .push(format!("## [{label}]({})", link.as_str().replace('(', "%28").replace(')', "%29")));
                if links.len() < Document::MAX_LINKS {
                    links.push(Link { text: title, url: link });
                }
            }
            None if !title.is_empty() => blocks.push(format!("## {title}")),
            None => {}
        }
        let date = if entry.date.is_empty() { &entry.updated } else { &entry.date };
        let author = plain(&entry.author, &base);
        let line: Vec<&str> =
            [date.as_str(), author.as_str()].into_iter().filter(|part| !part.is_empty()).collect();
        if !line.is_empty() {
            blocks.push(line.join(" · "));
        }
        let text = if entry.content.len() > entry.summary.len() { &entry.content } else { &entry.summary };
        blocks.push(fragment(text, &base));
    }
    blocks.retain(|block| !block.trim().is_empty());
    let mut document = Document::new(url.clone(), blocks.join("\n\n"), Route::Feed);
    document.links = links;
    document.outline = outline;
    let field = |text: &str| (!text.is_empty()).then(|| text.chars().take(1_000).collect::<String>());
    document.metadata.title = field(&title);
    document.metadata.description = field(&plain(&feed.about.summary, &base));
    document.metadata.language = feed.language.as_deref().and_then(field);
    document.metadata.published = field(&feed.about.date);
    document.metadata.modified = field(&feed.about.updated);
    document.metadata.authors = field(&plain(&feed.about.author, &base)).into_iter().collect();
    document
}

/// A field that may hold markup, on one line.
fn plain(text: &str, base: &Url) -> String {
    let text = if text.contains(['<', '&']) { fragment(text, base) } else { text.to_owned() };
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests;
