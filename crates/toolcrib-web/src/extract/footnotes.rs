//! Which links are footnote references, and what they refer to.
//!
//! Invariant: a reference has a definition and the other way round; everything else stays an ordinary link.

use std::collections::HashMap;

use super::dom::{Marks, NodeId, Tag};
use super::page::Page;
use super::words::any_class;

/// The footnotes of a page.
#[derive(Debug, Default)]
pub(super) struct Footnotes {
    labels_of_links: HashMap<NodeId, String>,
    labels_of_notes: HashMap<NodeId, String>,
    /// Notes in the order of their first reference.
    pub(super) notes: Vec<(String, NodeId)>,
}

impl Footnotes {
    /// Finds the references below `root`.
    pub(super) fn find(page: &Page, root: NodeId, excluded: Marks) -> Self {
        let dom = &page.dom;
        let references: Vec<(NodeId, &str)> = dom
            .descendants(root)
            .filter(|&id| dom.tag(id) == Tag::A)
            .filter_map(|id| Some((id, dom.attribute(id, "href")?.strip_prefix('#')?)))
            .filter(|(id, target)| !target.is_empty() && looks_like_reference(page, *id))
            .collect();
        let mut found = Self::default();
        if references.is_empty() {
            return found;
        }
        let mut by_id: HashMap<&str, NodeId> = HashMap::new();
        for &id in &page.order {
            if let Some(name) = dom.attribute(id, "id") {
                by_id.entry(name).or_insert(id);
            }
        }
        for (link, target) in references {
            let Some(&note) = by_id.get(target).or_else(|| by_id.get(&*decoded(target))) else { continue };
            let note = dom
                .ancestors(note)
                .find(|_| dom.tag(note) == Tag::A || dom.tag(note) == Tag::Span)
                .filter(|&item| matches!(dom.tag(item), Tag::Li | Tag::P | Tag::Dd))
                .unwrap_or(note);
            let within_note = dom.ancestors(link).any(|ancestor| ancestor == note);
            if within_note
                || !is_note(page, note, link)
                || page.is_excluded(note, Marks::DEAD)
                || page.is_excluded(link, excluded)
            {
                continue;
            }
            let label = match found.labels_of_notes.get(&note) {
                Some(label) => label.clone(),
                None => found.add(page, link, note),
            };
            found.labels_of_links.insert(link, label);
        }
        found
    }

    /// Gives a note its label: the number that the page shows, when it is free.
    fn add(&mut self, page: &Page, link: NodeId, note: NodeId) -> String {
        let shown = page.dom.folded_text(link);
        let shown = shown.trim_matches(|c: char| !c.is_alphanumeric()).to_owned();
        let is_free = |label: &str| !self.notes.iter().any(|(other, _)| other == label);
        let usable =
            !shown.is_empty() && shown.len() <= 8 && shown.chars().all(|c| c.is_ascii_alphanumeric());
        let label = if usable && is_free(&shown) {
            shown
        } else {
            let mut number = self.notes.len() + 1;
            while !is_free(&number.to_string()) {
                number += 1;
            }
            number.to_string()
        };
        self.labels_of_notes.insert(note, label.clone());
        self.notes.push((label.clone(), note));
        label
    }

    /// The label of a link that is a reference.
    pub(super) fn label_of_link(&self, id: NodeId) -> Option<&str> {
        self.labels_of_links.get(&id).map(String::as_str)
    }

    /// Whether the element is a note, which stands at the end instead.
    pub(super) fn is_note(&self, id: NodeId) -> bool {
        self.labels_of_notes.contains_key(&id)
    }
}

/// Percent escapes of a fragment resolved.
fn decoded(fragment: &str) -> String {
    if !fragment.contains('%') {
        return fragment.to_owned();
    }
    let bytes = fragment.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut index = 0;
    while index < bytes.len() {
        let hex = fragment.get(index + 1..index + 3).and_then(|hex| u8::from_str_radix(hex, 16).ok());
        if let Some(byte) = hex.filter(|_| bytes[index] == b'%') {
            out.push(byte);
            index += 3;
        } else {
            out.push(bytes[index]);
            index += 1;
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

/// A short raised mark, or a link that says that it refers to a note.
fn looks_like_reference(page: &Page, id: NodeId) -> bool {
    let dom = &page.dom;
    if is_back_link(page, id) {
        return false;
    }
    let declared = dom.attribute(id, "role") == Some("doc-noteref")
        || dom.attribute(id, "epub:type").is_some_and(|kind| kind.contains("noteref"))
        || dom.attribute(id, "rel") == Some("footnote")
        || dom.has_attribute(id, "data-footnote-ref")
        || any_class(dom, id, |class| class.contains("footnote") || class.contains("noteref"));
    if declared {
        return true;
    }
    let text = dom.folded_text(id);
    let bare = text.trim_matches(['[', ']', '(', ')', '^']);
    let mark = (1..=4).contains(&bare.chars().count())
        && (bare.chars().all(|c| c.is_ascii_digit())
            || bare.chars().all(|c| matches!(c, '*' | '†' | '‡' | '§'))
            || bare.len() == 1);
    let raised = dom.ancestors(id).take(2).chain(dom.children(id)).any(|near| dom.tag(near) == Tag::Sup);
    mark && (raised || text.starts_with('['))
}

/// Whether the target of a reference is a note: it links back, or is named one.
fn is_note(page: &Page, note: NodeId, link: NodeId) -> bool {
    let dom = &page.dom;
    if !matches!(
        dom.tag(note),
        Tag::Li
            | Tag::P
            | Tag::Div
            | Tag::Aside
            | Tag::Dd
            | Tag::Dt
            | Tag::Span
            | Tag::Section
            | Tag::Tr
            | Tag::Td
    ) {
        return false;
    }
    let named = |id: NodeId| {
        dom.attribute(id, "role")
            .is_some_and(|role| role.starts_with("doc-endnote") || role == "doc-footnote")
            || any_class(dom, id, |class| {
                class.contains("footnote")
                    || class.contains("endnote")
                    || class == "references"
                    || class == "reflist"
            })
    };
    if named(note) || dom.ancestors(note).take(4).any(named) {
        return true;
    }
    let back = std::iter::once(link)
        .chain(dom.ancestors(link).take(2))
        .filter_map(|id| dom.attribute(id, "id").or_else(|| dom.attribute(id, "name")))
        .collect::<Vec<_>>();
    dom.descendants(note).any(|below| {
        dom.attribute(below, "href")
            .and_then(|href| href.strip_prefix('#'))
            .is_some_and(|target| back.contains(&target))
    })
}

/// A link from a note back to where it is referred to.
pub(super) fn is_back_link(page: &Page, id: NodeId) -> bool {
    let dom = &page.dom;
    if dom.tag(id) != Tag::A {
        return false;
    }
    let declared = dom.attribute(id, "role") == Some("doc-backlink")
        || dom.has_attribute(id, "data-footnote-backref")
        || any_class(dom, id, |class| {
            matches!(
                class,
                "reversefootnote"
                    | "footnote-backref"
                    | "footnote-back"
                    | "footnote-return"
                    | "fn-backref"
                    | "backlink"
            )
        });
    if declared {
        return true;
    }
    if !dom.attribute(id, "href").is_some_and(|href| href.starts_with('#')) {
        return false;
    }
    let text = dom.folded_text(id);
    !text.is_empty()
        && text
            .chars()
            .all(|c| matches!(c, '↩' | '↑' | '↵' | '⏎' | '⤴' | '^' | '\u{FE0E}' | '\u{FE0F}' | '⬆' | '↲'))
}
