//! A parsed page in the order in which it is read, and the weight of its parts.
//!
//! Invariant: every figure is computed in one pass over the nodes, whatever their number and depth.

use url::Url;

use super::dom::{Dom, Marks, NodeId, Tag};
use super::words::{Purposes, purposes};

/// The tree with everything that later steps look up again and again.
#[derive(Debug)]
pub(super) struct Page {
    pub(super) dom: Dom,
    /// Every attached node in document order.
    pub(super) order: Vec<NodeId>,
    /// The body, or the root of a page without one.
    pub(super) body: NodeId,
    /// What relative links resolve against.
    pub(super) base: Url,
    /// The purposes that class and id name, along the arena.
    purposes: Vec<Purposes>,
    /// The length of text nodes along the arena, white space not counted.
    lengths: Vec<u32>,
}

impl Page {
    pub(super) fn new(dom: Dom, base: Url) -> Self {
        let order: Vec<NodeId> = dom.descendants(Dom::root()).collect();
        let body = order.iter().copied().find(|&id| dom.tag(id) == Tag::Body).unwrap_or(Dom::root());
        let mut all_purposes = vec![Purposes::NONE; dom.len()];
        let mut lengths = vec![0; dom.len()];
        for &id in &order {
            match dom.text(id) {
                Some(text) => lengths[id.index()] = length(text),
                None => all_purposes[id.index()] = purposes(&dom, id),
            }
        }
        Self { dom, order, body, base, purposes: all_purposes, lengths }
    }

    pub(super) fn purposes(&self, id: NodeId) -> Purposes {
        self.purposes.get(id.index()).copied().unwrap_or(Purposes::NONE)
    }

    pub(super) fn length(&self, id: NodeId) -> u32 {
        self.lengths.get(id.index()).copied().unwrap_or(0)
    }

    /// Whether the node or one of its parents carries one of `marks`.
    pub(super) fn is_excluded(&self, id: NodeId, marks: Marks) -> bool {
        self.dom.marks(id).intersects(marks)
            || self.dom.ancestors(id).any(|ancestor| self.dom.marks(ancestor).intersects(marks))
    }

    /// Weighs everything that carries none of `excluded`.
    pub(super) fn weigh(&self, excluded: Marks) -> Weights {
        let size = self.dom.len();
        let mut weights = Weights {
            text: vec![0; size],
            links: vec![0; size],
            prose: vec![0; size],
            skipped: vec![false; size],
        };
        // The block that a node's text belongs to, and whether it is link text.
        let mut block_of: Vec<NodeId> = vec![Dom::root(); size];
        let mut in_link = vec![false; size];
        for &id in &self.order {
            let index = id.index();
            let parent = self.dom.parent(id).unwrap_or(Dom::root());
            let skipped = weights.skipped[parent.index()] || self.dom.marks(id).intersects(excluded);
            weights.skipped[index] = skipped;
            let tag = self.dom.tag(id);
            in_link[index] = in_link[parent.index()] || tag == Tag::A;
            block_of[index] = if tag.is_block() { id } else { block_of[parent.index()] };
            if !skipped && self.length(id) > 0 {
                let block = block_of[index].index();
                weights.text[block] += self.length(id);
                if in_link[index] {
                    weights.links[block] += self.length(id);
                }
            }
        }
        for &id in &self.order {
            let index = id.index();
            weights.prose[index] = prose_of(self.dom.tag(id), weights.text[index], weights.links[index]);
        }
        for &id in self.order.iter().rev() {
            if let Some(parent) = self.dom.parent(id) {
                let (from, to) = (id.index(), parent.index());
                weights.text[to] += weights.text[from];
                weights.links[to] += weights.links[from];
                weights.prose[to] += weights.prose[from];
            }
        }
        weights
    }
}

/// How much of the text of one block counts as prose: links do not, and short scraps count little.
fn prose_of(tag: Tag, text: u32, links: u32) -> u32 {
    if links * 2 > text {
        return 0;
    }
    let plain = text - links;
    match tag {
        Tag::P | Tag::Pre | Tag::Blockquote => plain,
        _ if plain < 25 => plain / 4,
        _ => plain,
    }
}

/// Figures along the arena, each for a node with everything below it.
#[derive(Debug)]
pub(super) struct Weights {
    text: Vec<u32>,
    links: Vec<u32>,
    prose: Vec<u32>,
    skipped: Vec<bool>,
}

impl Weights {
    /// The length of the text.
    pub(super) fn text(&self, id: NodeId) -> u32 {
        self.text[id.index()]
    }

    /// The length of the text within links.
    pub(super) fn links(&self, id: NodeId) -> u32 {
        self.links[id.index()]
    }

    /// The length of text that reads as sentences rather than as labels.
    pub(super) fn prose(&self, id: NodeId) -> u32 {
        self.prose[id.index()]
    }

    /// Whether the node was left out of the weighing.
    pub(super) fn is_skipped(&self, id: NodeId) -> bool {
        self.skipped[id.index()]
    }

    /// Whether more than `percent` of the text is link text.
    pub(super) fn is_mostly_links(&self, id: NodeId, percent: u32) -> bool {
        u64::from(self.links(id)) * 100 > u64::from(self.text(id)) * u64::from(percent)
    }
}

/// How much a text says: characters without white space, those of scripts without word spaces twice.
pub(super) fn length(text: &str) -> u32 {
    text.chars()
        .map(|character| match character {
            ' ' | '\n' | '\t' | '\r' => 0,
            '\u{1100}'..='\u{11FF}' | '\u{2E80}'..='\u{D7FF}' | '\u{F900}'..='\u{FAFF}' => 2,
            _ => u32::from(!character.is_whitespace()),
        })
        .sum()
}
