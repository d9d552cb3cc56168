//! Writes a part of the page as GitHub-flavored Markdown, straight from the tree.
//!
//! Invariant: every text node that carries no excluded mark is written exactly once, in order, except notes,
//! which stand at the end; recursion is bounded by the depth of the tree, and quotes and lists nest at most
//! [`MAX_NESTING`] levels.

use std::collections::HashSet;

use url::Url;

use super::dom::{Dom, Marks, NodeId, Tag};
use super::footnotes::Footnotes;
use super::page::Page;
use super::{code, math, tables};
use crate::document::{Document, Heading, Link};

pub(super) mod escape;
mod flow;
mod inline;
mod lists;

pub(super) use inline::Line;

/// Quotes and lists within each other; what is deeper is written at this level.
const MAX_NESTING: usize = 12;
/// Markdown after which the rest of a page is left out.
const MAX_BYTES: usize = 12 * 1024 * 1024;

/// The Markdown of a part of a page, and what was met while writing it.
#[derive(Debug, Default)]
pub(super) struct Rendered {
    pub(super) markdown: String,
    pub(super) links: Vec<Link>,
    pub(super) outline: Vec<Heading>,
}

/// Writes what stands below `root` and carries none of `excluded`. `lead` is a heading that is written first.
pub(super) fn render(page: &Page, root: NodeId, excluded: Marks, lead: Option<NodeId>) -> Rendered {
    let mut writer = Writer::new(page, root, excluded);
    let mut blocks = Vec::new();
    if let Some(heading) = lead {
        writer.block(heading, &mut blocks);
    }
    if page.dom.tag(root).is_block() && !matches!(page.dom.tag(root), Tag::Body | Tag::Html) {
        writer.block(root, &mut blocks);
    } else {
        writer.children(root, &mut blocks);
    }
    writer.notes(&mut blocks);
    Rendered { markdown: join(&blocks), links: writer.links, outline: writer.outline }
}

/// What a block is, as far as its neighbors care.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Paragraph,
    List,
    Other,
}

/// A finished block without line breaks at its ends.
#[derive(Debug)]
pub(super) struct Block {
    pub(super) text: String,
    pub(super) kind: Kind,
}

/// Joins blocks by blank lines; list items that follow each other stay together.
fn join(blocks: &[Block]) -> String {
    let mut out = String::with_capacity(blocks.iter().map(|block| block.text.len() + 2).sum());
    let mut previous = None;
    for block in blocks {
        if previous.is_some() {
            out.push_str(if previous == Some(Kind::List) && block.kind == Kind::List {
                "\n"
            } else {
                "\n\n"
            });
        }
        out.push_str(&block.text);
        previous = Some(block.kind);
    }
    out
}

/// Puts `first` before the first line and `rest` before the others; empty lines stay empty.
fn indent(text: &str, first: &str, rest: &str) -> String {
    let mut out = String::with_capacity(text.len() + first.len() + text.len() / 16);
    for (index, line) in text.split('\n').enumerate() {
        if index > 0 {
            out.push('\n');
        }
        match (index, line.is_empty()) {
            (0, _) => out.push_str(first),
            (_, true) => out.push_str(rest.trim_end()),
            _ => out.push_str(rest),
        }
        out.push_str(line);
    }
    out
}

/// The state of writing one part of a page.
pub(super) struct Writer<'page> {
    page: &'page Page,
    excluded: Marks,
    /// Along the arena: whether a block stands somewhere below.
    holds_block: Vec<bool>,
    footnotes: Footnotes,
    writing_notes: bool,
    nesting: usize,
    bytes: usize,
    strong: bool,
    emphasis: bool,
    links: Vec<Link>,
    linked: HashSet<Url>,
    pictures: HashSet<String>,
    outline: Vec<Heading>,
}

impl<'page> Writer<'page> {
    fn new(page: &'page Page, root: NodeId, excluded: Marks) -> Self {
        let mut holds_block = vec![false; page.dom.len()];
        for &id in page.order.iter().rev() {
            let tag = page.dom.tag(id);
            let here = tag.is_block() && !page.dom.marks(id).intersects(excluded);
            if let Some(parent) = page.dom.parent(id)
                && (here || holds_block[id.index()])
            {
                holds_block[parent.index()] = true;
            }
        }
        Self {
            page,
            excluded,
            holds_block,
            footnotes: Footnotes::find(page, root, excluded),
            writing_notes: false,
            nesting: 0,
            bytes: 0,
            strong: false,
            emphasis: false,
            links: Vec::new(),
            linked: HashSet::new(),
            pictures: HashSet::new(),
            outline: Vec::new(),
        }
    }

    pub(super) fn dom(&self) -> &'page Dom {
        &self.page.dom
    }

    /// The marks of what is left out.
    pub(super) fn excluded(&self) -> Marks {
        self.excluded
    }

    /// Whether a block stands somewhere below.
    pub(super) fn holds_block(&self, id: NodeId) -> bool {
        self.holds_block[id.index()]
    }

    fn is_excluded(&self, id: NodeId) -> bool {
        self.dom().marks(id).intersects(self.excluded)
    }

    /// Writes the children of `parent` as blocks.
    pub(super) fn children(&mut self, parent: NodeId, out: &mut Vec<Block>) {
        let mut line = Line::new(false);
        for child in self.dom().children(parent) {
            self.flow(child, &mut line, out);
        }
        self.flush(&mut line, out);
    }

    /// Ends the paragraph that `line` holds.
    fn flush(&mut self, line: &mut Line, out: &mut Vec<Block>) {
        let finished = std::mem::replace(line, Line::new(false));
        for text in finished.paragraphs() {
            self.push(Block { text, kind: Kind::Paragraph }, out);
        }
    }

    pub(super) fn push(&mut self, block: Block, out: &mut Vec<Block>) {
        if block.text.is_empty() || self.bytes > MAX_BYTES {
            return;
        }
        self.bytes += block.text.len();
        out.push(block);
    }

    pub(super) fn other(&mut self, text: String, out: &mut Vec<Block>) {
        self.push(Block { text, kind: Kind::Other }, out);
    }

    /// Writes a node into the running line, or as blocks between lines.
    fn flow(&mut self, id: NodeId, line: &mut Line, out: &mut Vec<Block>) {
        if self.is_excluded(id) || (self.footnotes.is_note(id) && !self.writing_notes) {
            return;
        }
        let tag = self.dom().tag(id);
        if let Some(math::Math::Formula { tex, display: true }) = math::read(self.dom(), id) {
            self.flush(line, out);
            self.push(Block { text: math::Math::delimited(&tex, true), kind: Kind::Paragraph }, out);
        } else if tag.is_block() || (tag == Tag::Code && self.is_code_block(id)) {
            self.flush(line, out);
            self.block(id, out);
        } else if self.holds_block[id.index()] && !matches!(tag, Tag::Math | Tag::MjxContainer) {
            if tag == Tag::A {
                self.note_link(id);
            }
            for child in self.dom().children(id) {
                self.flow(child, line, out);
            }
        } else {
            self.inline(id, line);
        }
    }

    /// A `code` element that shows several lines.
    fn is_code_block(&self, id: NodeId) -> bool {
        self.dom().find(id, Tag::Br).is_some() || self.holds_block[id.index()]
    }

    /// Writes a block element.
    fn block(&mut self, id: NodeId, out: &mut Vec<Block>) {
        let tag = self.dom().tag(id);
        if let Some(level) = tag.heading_level() {
            return self.heading(id, level, out);
        }
        match tag {
            Tag::Ul | Tag::Ol | Tag::Menu | Tag::Dir => self.list(id, out),
            Tag::Li => self.item_alone(id, out),
            Tag::Dl => self.definitions(id, out),
            Tag::Blockquote => self.quote(id, out),
            Tag::Pre | Tag::Listing | Tag::Xmp | Tag::Plaintext | Tag::Code => {
                if let Some(block) = code::code_block(self.dom(), id) {
                    self.other(block.fenced(), out);
                }
            }
            Tag::Table => tables::write(self, id, out),
            Tag::Hr => self.other("---".to_owned(), out),
            Tag::Summary | Tag::Legend if !self.holds_block[id.index()] => {
                let text = self.line_of(id).single();
                if !text.is_empty() {
                    self.push(
                        Block { text: format!("**{}**", text.replace("**", "")), kind: Kind::Paragraph },
                        out,
                    );
                }
            }
            Tag::Figcaption if !self.holds_block[id.index()] => {
                let text = self.line_of(id).single();
                if !text.is_empty() {
                    self.push(Block { text: escape::escape_line_start(&text), kind: Kind::Paragraph }, out);
                }
            }
            _ => self.children(id, out),
        }
    }

    fn heading(&mut self, id: NodeId, level: u8, out: &mut Vec<Block>) {
        let was_strong = std::mem::replace(&mut self.strong, true);
        let text = self.line_of(id).single();
        self.strong = was_strong;
        if text.is_empty() {
            return;
        }
        if level <= 3 && self.outline.len() < Document::MAX_HEADINGS {
            let plain = self.plain_text(id);
            if !plain.is_empty() {
                self.outline.push(Heading { level, text: plain });
            }
        }
        self.other(format!("{} {text}", "#".repeat(usize::from(level))), out);
    }

    /// The text of an element without markup and without what is left out.
    fn plain_text(&self, root: NodeId) -> String {
        let mut text = String::new();
        let mut current = self.dom().first_child(root);
        while let Some(id) = current {
            let skip = self.is_excluded(id) || self.is_furniture(id);
            if let Some(piece) = self.dom().text(id).filter(|_| !skip) {
                text.push_str(piece);
            }
            current =
                if skip { self.dom().following_outside(id, root) } else { self.dom().following(id, root) };
        }
        super::dom::fold_white_space(&text)
    }

    fn quote(&mut self, id: NodeId, out: &mut Vec<Block>) {
        if self.nesting >= MAX_NESTING {
            return self.children(id, out);
        }
        let mut inner = Vec::new();
        self.nesting += 1;
        self.children(id, &mut inner);
        self.nesting -= 1;
        if !inner.is_empty() {
            self.other(indent(&join(&inner), "> ", "> "), out);
        }
    }

    /// Writes the notes that were referred to.
    fn notes(&mut self, out: &mut Vec<Block>) {
        self.writing_notes = true;
        for (label, id) in std::mem::take(&mut self.footnotes.notes) {
            let mut inner = Vec::new();
            self.children(id, &mut inner);
            if !inner.is_empty() {
                let text = indent(&join(&inner), &format!("[^{label}]: "), "    ");
                self.other(text, out);
            }
        }
    }
}

#[cfg(test)]
mod tests;
