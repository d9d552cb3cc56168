//! A part of a document that fits a budget, cut where a reader would cut.
//!
//! Invariant: the texts of excerpts that follow each other by `next_offset` add up, without their markers, to
//! the whole; none is longer than its budget.

use super::Document;

/// Ends a text that goes on; it stands after a blank line and counts toward the budget.
pub const TRUNCATION_MARKER: &str = "[Page content truncated]";
/// The most that is put before the marker to set it apart.
const SEPARATOR: &str = "\n\n";

/// A part of a document. All figures count Unicode scalar values of [`Document::markdown`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Excerpt {
    /// The part, with [`TRUNCATION_MARKER`] at its end when more follows.
    pub text: String,
    /// How long the whole document is.
    pub total_characters: usize,
    /// How much of the document stands in `text`, the marker not counted.
    pub returned_characters: usize,
    /// Where to go on; `None` at the end.
    pub next_offset: Option<usize>,
    /// Whether more follows.
    pub truncated: bool,
}

impl Document {
    /// The part of the Markdown that begins at `offset_characters` and fits into `max_characters`.
    ///
    /// It ends at the last blank line, else at the last line break in the second half of what fits, else at a
    /// character. A budget too small for the marker and one character of text leaves the marker out; at least
    /// one character is returned while there is one and `max_characters` is not 0.
    pub fn excerpt(&self, offset_characters: usize, max_characters: usize) -> Excerpt {
        excerpt(&self.markdown, offset_characters, max_characters)
    }
}

fn excerpt(markdown: &str, offset: usize, budget: usize) -> Excerpt {
    let total_characters = markdown.chars().count();
    let offset = offset.min(total_characters);
    let rest = &markdown[byte_of(markdown, offset)..];
    let rest_characters = total_characters - offset;
    if rest_characters <= budget {
        return Excerpt {
            text: rest.to_owned(),
            total_characters,
            returned_characters: rest_characters,
            next_offset: None,
            truncated: false,
        };
    }
    let marker = SEPARATOR.len() + TRUNCATION_MARKER.len();
    let with_marker = budget > marker;
    let window = &rest[..byte_of(rest, if with_marker { budget - marker } else { budget })];
    let part = &window[..cut(window)];
    let returned_characters = part.chars().count();
    let mut text = part.to_owned();
    if with_marker {
        let line_breaks = if part.ends_with(SEPARATOR) { 2 } else { usize::from(part.ends_with('\n')) };
        text.push_str(&SEPARATOR[line_breaks..]);
        text.push_str(TRUNCATION_MARKER);
    }
    Excerpt {
        text,
        total_characters,
        returned_characters,
        next_offset: Some(offset + returned_characters),
        truncated: true,
    }
}

/// Where in `window` to cut, after the line breaks: never at its start, so that every excerpt gets further.
fn cut(window: &str) -> usize {
    if let Some(blank) = window.rfind("\n\n").filter(|&at| at > 0) {
        return blank + 2;
    }
    let middle = byte_of(window, window.chars().count() / 2);
    match window.rfind('\n') {
        Some(line) if line >= middle => line + 1,
        _ => window.len(),
    }
}

/// The byte at which character number `characters` begins, or the end.
fn byte_of(text: &str, characters: usize) -> usize {
    text.char_indices().nth(characters).map_or(text.len(), |(index, _)| index)
}

#[cfg(test)]
mod tests;
