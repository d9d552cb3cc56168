//! A line of text that grows piece by piece, with white space folded as a browser folds it.
//!
//! Invariant: a space is written only between two pieces of text, so that markup never encloses one; `\n`
//! stands for a line break that the page asks for.

use super::escape::{escape_line_start, push_escaped};

/// Text under construction.
#[derive(Debug, Default)]
pub(in crate::extract) struct Line {
    text: String,
    /// White space came before the first piece.
    starts_with_space: bool,
    /// White space came after the last piece.
    ends_with_space: bool,
    /// Brackets are to be escaped: the text becomes that of a link.
    brackets: bool,
}

impl Line {
    pub(super) fn new(brackets: bool) -> Self {
        Self { brackets, ..Self::default() }
    }

    /// A line whose content may go where this one's goes.
    pub(super) fn inner(&self) -> Self {
        Self::new(self.brackets)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    pub(super) fn escapes_brackets(&self) -> bool {
        self.brackets
    }

    pub(super) fn space(&mut self) {
        if self.text.is_empty() {
            self.starts_with_space = true;
        } else {
            self.ends_with_space = true;
        }
    }

    /// A break that the page asks for.
    pub(super) fn break_line(&mut self) {
        self.ends_with_space = false;
        if !self.text.is_empty() && !self.text.ends_with("\n\n") {
            self.text.push('\n');
        }
    }

    /// A break between blocks that stand in a line.
    pub(super) fn break_block(&mut self) {
        self.ends_with_space = false;
        if !self.text.is_empty() && !self.text.ends_with('\n') {
            self.text.push('\n');
        }
    }

    fn write_space(&mut self) {
        if self.ends_with_space && !self.text.is_empty() && !self.text.ends_with('\n') {
            self.text.push(' ');
        }
        self.ends_with_space = false;
    }

    /// Plain text of the page.
    pub(super) fn push_text(&mut self, text: &str) {
        let mut rest = text;
        while let Some((before, tex, display, after)) = split_formula(rest) {
            self.push_plain(before);
            self.push_markup(&super::super::math::Math::delimited(tex, display));
            rest = after;
        }
        self.push_plain(rest);
    }

    fn push_plain(&mut self, text: &str) {
        let is_space = |character: char| character.is_whitespace() || character == '\u{200B}';
        for (index, word) in text.split(is_space).enumerate() {
            if index > 0 {
                self.space();
            }
            let word = word.trim_matches(['\u{AD}', '\u{FEFF}', '\u{0}']);
            if !word.is_empty() {
                self.write_space();
                if word.contains('\u{AD}') {
                    push_escaped(&mut self.text, &word.replace('\u{AD}', ""), self.brackets);
                } else {
                    push_escaped(&mut self.text, word, self.brackets);
                }
            }
        }
    }

    /// A finished piece of Markdown.
    pub(super) fn push_markup(&mut self, markup: &str) {
        if !markup.is_empty() {
            self.write_space();
            // `!` before a bracket would turn a link into a picture.
            if markup.starts_with('[') && self.text.ends_with('!') {
                self.text.insert(self.text.len() - 1, '\\');
            }
            self.text.push_str(markup);
        }
    }

    /// Another line between two markers; its white space goes outside them.
    pub(super) fn push_wrapped(&mut self, inner: &Self, open: &str, close: &str) {
        if inner.starts_with_space || (inner.is_empty() && inner.ends_with_space) {
            self.space();
        }
        let text = inner.text.trim();
        if !text.is_empty() {
            self.push_markup(&format!("{open}{}{close}", text.replace("\n\n", "\n")));
            if inner.ends_with_space {
                self.space();
            }
        }
    }

    /// The text on one line.
    pub(in crate::extract) fn single(&self) -> String {
        super::super::dom::fold_white_space(&self.text)
    }

    /// The text for a table cell: breaks as `<br>`, pipes escaped.
    pub(in crate::extract) fn cell(&self) -> String {
        let lines: Vec<&str> = self.text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
        let joined = lines.join("<br>");
        let mut out = String::with_capacity(joined.len());
        let mut previous = None;
        for character in joined.chars() {
            if character == '|' && previous != Some('\\') {
                out.push('\\');
            }
            out.push(character);
            previous = Some(character);
        }
        out
    }

    /// The text as paragraphs: two breaks part paragraphs, one becomes a hard line break.
    pub(super) fn paragraphs(&self) -> Vec<String> {
        self.text
            .split("\n\n")
            .map(|paragraph| {
                let lines: Vec<String> = paragraph
                    .lines()
                    .map(str::trim)
                    .filter(|line| !line.is_empty())
                    .map(escape_line_start)
                    .collect();
                lines.join("  \n")
            })
            .filter(|paragraph| !paragraph.is_empty())
            .collect()
    }
}

/// The first formula between `\(` and `\)` or `\[` and `\]`, with the text before and after it.
fn split_formula(text: &str) -> Option<(&str, &str, bool, &str)> {
    if !text.contains('\\') {
        return None;
    }
    let inline = text.find("\\(").map(|at| (at, "\\)", false));
    let display = text.find("\\[").map(|at| (at, "\\]", true));
    let (start, close, display) = [inline, display].into_iter().flatten().min_by_key(|(at, ..)| *at)?;
    let end = start + 2 + text[start + 2..].find(close)?;
    let tex = text[start + 2..end].trim();
    let plausible = !tex.is_empty() && tex.len() < 2_000 && !tex.contains("\\(");
    plausible.then(|| (&text[..start], tex, display, &text[end + 2..]))
}
