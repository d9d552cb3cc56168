//! The result of `read_web_page` as the model reads it.
//!
//! The written JSON never has more characters than the call may return: the content gives way, then links and
//! outline; what is missing is said in the result. Empty fields are left out.

use serde::Serialize;
use serde_json::Value;
use toolcrib_runtime::tool::ToolError;
use toolcrib_web::{Document, Excerpt, Status};

use super::Page;

/// Links and headings of one result.
const LISTED: usize = 200;
/// Attempts to fit the content into the room that is left, each with a smaller part.
const ATTEMPTS: usize = 8;
/// The smallest part of a page that is worth returning.
const LEAST_CHARACTERS: usize = 200;

/// What a call asks for.
pub(super) struct Wanted {
    pub(super) url: String,
    pub(super) offset: usize,
    pub(super) characters: usize,
    pub(super) links: bool,
    pub(super) outline: bool,
    /// Characters that the written result may have.
    pub(super) room: usize,
}

/// The result, and what it leaves out in words.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) value: Value,
    pub(super) truncation: Option<String>,
}

#[derive(Serialize)]
struct Written<'p> {
    url: &'p str,
    final_url: &'p str,
    status: &'static str,
    retrieved_at: String,
    content: Content<'p>,
    metadata: Metadata<'p>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    links: Vec<Link<'p>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    outline: Vec<Heading<'p>>,
}

#[derive(Serialize)]
struct Content<'p> {
    text: &'p str,
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<&'p str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<&'p str>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    authors: &'p [String],
}

#[derive(Serialize)]
struct Metadata<'p> {
    #[serde(skip_serializing_if = "Option::is_none")]
    language: Option<&'p str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    published_time: Option<&'p str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    modified_time: Option<&'p str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    media_type: Option<&'p str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    site_name: Option<&'p str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<String>,
    total_characters: usize,
    returned_characters: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_offset: Option<usize>,
}

#[derive(Serialize)]
struct Link<'p> {
    text: &'p str,
    url: &'p str,
}

#[derive(Serialize)]
struct Heading<'p> {
    level: u8,
    text: &'p str,
}

/// A text that says something.
fn filled(text: Option<&String>) -> Option<&str> {
    text.map(String::as_str).filter(|text| !text.trim().is_empty())
}

/// The part of the page that is wanted and fits.
pub(super) fn answer(page: &Page, wanted: &Wanted) -> Result<Answer, ToolError> {
    let document = &page.document;
    let total = document.markdown.chars().count();
    if wanted.offset > 0 && wanted.offset >= total {
        return Err(ToolError::failed(format!(
            "the offset {} is behind the end of the page, which has {total} characters: everything was returned \
             before",
            wanted.offset
        )));
    }
    let mut characters = wanted.characters.min(wanted.room);
    let mut listed = LISTED;
    for _ in 0..ATTEMPTS {
        let excerpt = document.excerpt(wanted.offset, characters);
        let value = write(page, wanted, &excerpt, listed)?;
        let written = value.to_string().chars().count();
        if written <= wanted.room {
            return Ok(Answer { value, truncation: truncation(&excerpt) });
        }
        let overshoot = written - wanted.room;
        // Cutting at a paragraph loses a little more; an overshoot that escapes caused shrinks with the content.
        let smaller = excerpt.text.chars().count().saturating_sub(overshoot + overshoot / 4 + 64);
        if smaller >= LEAST_CHARACTERS {
            characters = smaller;
        } else {
            characters = characters.min(LEAST_CHARACTERS);
            listed /= 4;
        }
    }
    Err(ToolError::failed(format!(
        "the results of this run are used up: {} characters are left, too few for a part of this page. Answer with \
         what you have",
        wanted.room
    )))
}

fn write(page: &Page, wanted: &Wanted, excerpt: &Excerpt, listed: usize) -> Result<Value, ToolError> {
    let document = &page.document;
    let found = &document.metadata;
    let links: Vec<_> = document
        .links
        .iter()
        .filter(|_| wanted.links)
        .take(listed)
        .map(|link| Link { text: &link.text, url: link.url.as_str() })
        .collect();
    let outline: Vec<_> = document
        .outline
        .iter()
        .filter(|_| wanted.outline)
        .take(listed)
        .map(|heading| Heading { level: heading.level, text: &heading.text })
        .collect();
    let written = Written {
        url: &wanted.url,
        final_url: document.final_url.as_str(),
        status: status(document, excerpt).as_str(),
        retrieved_at: page.retrieved_at.strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
        content: Content {
            text: &excerpt.text,
            title: filled(found.title.as_ref()),
            description: filled(found.description.as_ref()),
            authors: &found.authors,
        },
        metadata: Metadata {
            language: filled(found.language.as_ref()),
            published_time: filled(found.published.as_ref()),
            modified_time: filled(found.modified.as_ref()),
            media_type: filled(found.media_type.as_ref()),
            site_name: filled(found.site_name.as_ref()),
            warnings: warnings(document, wanted, excerpt, links.len(), outline.len()),
            total_characters: excerpt.total_characters,
            returned_characters: excerpt.returned_characters,
            next_offset: excerpt.next_offset,
        },
        links,
        outline,
    };
    serde_json::to_value(written)
        .map_err(|error| ToolError::failed(format!("writing the page as JSON failed: {error}")))
}

fn status(document: &Document, excerpt: &Excerpt) -> Status {
    match document.status {
        Status::Complete if excerpt.truncated => Status::Partial,
        status => status,
    }
}

fn warnings(
    document: &Document,
    wanted: &Wanted,
    excerpt: &Excerpt,
    links: usize,
    outline: usize,
) -> Vec<String> {
    let mut warnings: Vec<_> = document.warnings.iter().map(ToString::to_string).collect();
    warnings.extend(truncation(excerpt));
    let left_out = |wanted: bool, all: usize, listed: usize, what: &str| {
        (wanted && all > listed).then(|| format!("{} further {what} are left out", all - listed))
    };
    warnings.extend(left_out(wanted.links, document.links.len(), links, "links"));
    warnings.extend(left_out(wanted.outline, document.outline.len(), outline, "headings"));
    warnings
}

fn truncation(excerpt: &Excerpt) -> Option<String> {
    let next = excerpt.next_offset?;
    let total = excerpt.total_characters;
    Some(format!(
        "the content goes on: {} of {total} characters follow, continue with offset {next}",
        total - next
    ))
}
