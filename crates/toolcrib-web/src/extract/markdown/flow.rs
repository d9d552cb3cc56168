//! Elements within a line: stress, links, code, pictures, formulas, references.
//!
//! Invariant: whatever stands within a line stays within it; blocks that a page puts there become breaks.

use super::super::dom::{NodeId, Tag};
use super::super::math::{self, Math};
use super::super::words::{any_class, for_each_word};
use super::super::{footnotes, images, links};
use super::escape::inline_code;
use super::{Line, Writer};
use crate::document::{Document, Link};

impl Writer<'_> {
    /// All that stands below an element as one line.
    pub(in crate::extract) fn line_of(&mut self, id: NodeId) -> Line {
        let mut line = Line::new(false);
        self.inline_children(id, &mut line);
        line
    }

    fn inline_children(&mut self, id: NodeId, line: &mut Line) {
        for child in self.dom().children(id) {
            self.inline(child, line);
        }
    }

    /// Writes a node into a line.
    pub(super) fn inline(&mut self, id: NodeId, line: &mut Line) {
        if self.is_excluded(id) || (self.footnotes.is_note(id) && !self.writing_notes) {
            return;
        }
        if let Some(text) = self.dom().text(id) {
            return line.push_text(text);
        }
        match math::read(self.dom(), id) {
            Some(Math::Formula { tex, display }) => return line.push_markup(&Math::delimited(&tex, display)),
            Some(Math::Copy) => return,
            None => {}
        }
        let tag = self.dom().tag(id);
        match tag {
            Tag::Br => line.break_line(),
            Tag::Wbr | Tag::Script => {}
            Tag::Strong | Tag::B => self.stressed(id, line, true),
            Tag::Em | Tag::I | Tag::Cite | Tag::Var => self.stressed(id, line, false),
            Tag::Del | Tag::S | Tag::Strike => self.wrapped(id, line, "~~", "~~"),
            Tag::Q => self.wrapped(id, line, "“", "”"),
            Tag::Code | Tag::Kbd | Tag::Samp | Tag::Tt => self.inline_code(id, line),
            Tag::Pre | Tag::Listing | Tag::Xmp => {
                line.break_block();
                self.inline_code(id, line);
                line.break_block();
            }
            Tag::Sup | Tag::Sub => self.raised_or_lowered(id, line, tag == Tag::Sup),
            Tag::A => self.link(id, line),
            Tag::Img => self.picture(id, line),
            Tag::Noscript => self.noscript(id, line),
            Tag::Iframe | Tag::Video | Tag::Audio => self.embedded(id, line),
            _ if tag.is_block() => {
                if !self.is_furniture(id) {
                    line.break_block();
                    self.inline_children(id, line);
                    line.break_block();
                }
            }
            _ if self.is_furniture(id) => {}
            _ => self.inline_children(id, line),
        }
    }

    fn wrapped(&mut self, id: NodeId, line: &mut Line, open: &str, close: &str) {
        let mut inner = line.inner();
        self.inline_children(id, &mut inner);
        line.push_wrapped(&inner, open, close);
    }

    /// Stress within the same stress adds nothing.
    fn stressed(&mut self, id: NodeId, line: &mut Line, strong: bool) {
        if self.is_furniture(id) {
            return;
        }
        let state = if strong { &mut self.strong } else { &mut self.emphasis };
        if std::mem::replace(state, true) {
            return self.inline_children(id, line);
        }
        let marker = if strong { "**" } else { "*" };
        self.wrapped(id, line, marker, marker);
        if strong {
            self.strong = false;
        } else {
            self.emphasis = false;
        }
    }

    fn inline_code(&mut self, id: NodeId, line: &mut Line) {
        let raw = self.dom().raw_text(id);
        let text = super::super::dom::fold_white_space(&raw);
        if raw.starts_with(char::is_whitespace) {
            line.space();
        }
        if !text.is_empty() {
            line.push_markup(&inline_code(&text));
            if raw.ends_with(char::is_whitespace) {
                line.space();
            }
        }
    }

    /// `10^6` and `H2O`: raised figures get a caret, letters such as those of `1st` do not.
    fn raised_or_lowered(&mut self, id: NodeId, line: &mut Line, raised: bool) {
        let text = self.dom().folded_text(id);
        let is_figure = text.chars().all(|c| c.is_ascii_digit() || matches!(c, '+' | '-' | '−' | '.'));
        let after_text = !line.is_empty();
        if raised && is_figure && after_text && !text.is_empty() && self.dom().find(id, Tag::A).is_none() {
            return line.push_markup(&format!("^{text}"));
        }
        self.inline_children(id, line);
    }

    fn link(&mut self, id: NodeId, line: &mut Line) {
        if let Some(label) = self.footnotes.label_of_link(id) {
            let reference = format!("[^{label}]");
            return line.push_markup(&reference);
        }
        if self.is_furniture(id) {
            return;
        }
        let url = self.dom().attribute(id, "href").and_then(|href| links::resolve(&self.page.base, href));
        let Some(url) = url.filter(|_| !line.escapes_brackets()) else {
            return self.inline_children(id, line);
        };
        let mut inner = Line::new(true);
        self.inline_children(id, &mut inner);
        if inner.is_empty() {
            line.push_wrapped(&inner, "", "");
            return;
        }
        self.note_link(id);
        line.push_wrapped(&inner, "[", &format!("]({})", links::destination(&url)));
    }

    /// Adds a link to the list of links.
    pub(super) fn note_link(&mut self, id: NodeId) {
        let Some(url) =
            self.dom().attribute(id, "href").and_then(|href| links::resolve(&self.page.base, href))
        else {
            return;
        };
        if self.links.len() >= Document::MAX_LINKS || !matches!(url.scheme(), "http" | "https") {
            return;
        }
        let mut text = self.plain_text(id);
        if text.is_empty() {
            let picture = self.dom().find(id, Tag::Img);
            let alt = picture.and_then(|picture| self.dom().attribute(picture, "alt"));
            alt.unwrap_or_default().trim().clone_into(&mut text);
        }
        if self.linked.insert(url.clone()) {
            self.links.push(Link { text, url });
        }
    }

    fn picture(&mut self, id: NodeId, line: &mut Line) {
        let alt = super::super::dom::fold_white_space(self.dom().attribute(id, "alt").unwrap_or_default());
        if images::is_emoji(self.dom(), id) {
            return line.push_text(&alt);
        }
        let Some(url) = images::source(self.dom(), &self.page.base, id) else { return };
        let destination = links::destination(&url);
        if self.pictures.insert(destination.clone()) {
            let mut label = String::new();
            super::escape::push_escaped(&mut label, &alt, true);
            line.push_markup(&format!("![{label}]({destination})"));
        }
    }

    /// Pictures in `noscript` stand in for one before them that loads later.
    fn noscript(&mut self, id: NodeId, line: &mut Line) {
        let twin = std::iter::successors(self.dom().previous(id), |&previous| self.dom().previous(previous))
            .take(4)
            .find_map(|previous| match self.dom().tag(previous) {
                Tag::Img => Some(previous),
                Tag::None => None,
                _ => self.dom().find(previous, Tag::Img),
            });
        let has_source = twin.is_some_and(|twin| images::source(self.dom(), &self.page.base, twin).is_some());
        let only_picture = self.dom().find(id, Tag::Img).is_some() && self.dom().folded_text(id).is_empty();
        if !(has_source && only_picture) {
            self.inline_children(id, line);
        }
    }

    /// A player or an embedded page that names itself becomes a link.
    fn embedded(&mut self, id: NodeId, line: &mut Line) {
        let dom = self.dom();
        let source = ["src", "data-src"].iter().find_map(|name| dom.attribute(id, name)).or_else(|| {
            dom.children(id)
                .filter(|&child| dom.tag(child) == Tag::Source)
                .find_map(|child| dom.attribute(child, "src"))
        });
        let title =
            dom.attribute(id, "title").or_else(|| dom.attribute(id, "aria-label")).unwrap_or_default().trim();
        let label = match (title, dom.tag(id)) {
            ("", Tag::Video) => "Video",
            ("", Tag::Audio) => "Audio",
            (title, _) => title,
        };
        let Some(url) = source.and_then(|source| links::resolve_file(&self.page.base, source)) else {
            return;
        };
        if !label.is_empty() {
            let mut text = String::new();
            super::escape::push_escaped(&mut text, label, true);
            line.push_markup(&format!("[{text}]({})", links::destination(&url)));
        }
    }

    /// Permalinks, edit marks, links back from notes, copy buttons.
    pub(super) fn is_furniture(&self, id: NodeId) -> bool {
        let dom = self.dom();
        if dom.element(id).is_none() {
            return false;
        }
        if footnotes::is_back_link(self.page, id) {
            return true;
        }
        let named = any_class(dom, id, |class| {
            matches!(
                class,
                "headerlink"
                    | "header-anchor"
                    | "heading-anchor"
                    | "anchor-link"
                    | "anchorjs-link"
                    | "hash-link"
                    | "permalink"
                    | "heading-link"
                    | "direct-link"
                    | "mw-editsection"
                    | "mw-cite-backlink"
                    | "edit-link"
                    | "copy-btn"
                    | "copy-button"
                    | "btn-copy"
                    | "copybtn"
                    | "edit-page-link"
                    | "octicon-link"
            )
        });
        if named && dom.tag(id) != Tag::A {
            return true;
        }
        if dom.tag(id) != Tag::A {
            return false;
        }
        let text = dom.folded_text(id);
        let is_mark =
            text.is_empty() || text.chars().count() <= 2 && text.chars().all(|c| !c.is_alphanumeric());
        let within_page = dom.attribute(id, "href").is_some_and(|href| href.contains('#'));
        if named {
            // Some systems put the whole heading into its permalink.
            return is_mark || is_permalink_word(&text);
        }
        let in_heading =
            dom.ancestors(id).take(3).any(|ancestor| dom.tag(ancestor).heading_level().is_some());
        let is_edit = in_heading && is_edit_word(&text);
        let has_picture = dom.find(id, Tag::Img).is_some();
        is_edit
            || (within_page && is_mark && in_heading && !has_picture)
            || (within_page && matches!(text.as_str(), "#" | "¶" | "🔗"))
    }
}

fn is_permalink_word(text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    matches!(lower.as_str(), "permalink" | "link" | "anchor" | "copy" | "edit" | "copy link")
        || lower.starts_with("direct link to")
        || lower.starts_with("permalink")
        || lower.starts_with("link to this")
        || lower.starts_with("edit this")
}

fn is_edit_word(text: &str) -> bool {
    let mut words = 0;
    let mut edit = false;
    for_each_word(text, |word| {
        words += 1;
        edit |= matches!(word, "edit" | "bearbeiten" | "modifier" | "editar" | "modifica");
    });
    edit && words <= 2
}
