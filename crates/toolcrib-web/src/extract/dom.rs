//! The page as a tree of nodes in one arena.
//!
//! Invariant: every walk offered here follows links and uses no call stack, so no page can overflow it.

use std::num::NonZeroU32;

use html5ever::Attribute;
use html5ever::tendril::StrTendril;

pub(super) mod parse;
pub(super) mod source_limits;
pub(super) mod tag;

pub(super) use tag::Tag;

/// The address of a node within its [`Dom`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct NodeId(NonZeroU32);

impl NodeId {
    fn from_index(index: usize) -> Self {
        Self(NonZeroU32::MIN.saturating_add(u32::try_from(index).unwrap_or(u32::MAX - 1)))
    }

    /// The position of this node in arrays that run along the arena.
    pub(super) fn index(self) -> usize {
        self.0.get() as usize - 1
    }
}

/// What a node is.
#[derive(Debug)]
pub(super) enum Data {
    /// The root, or the root of a template's contents.
    Fragment,
    /// An element.
    Element(Element),
    /// Character data.
    Text(StrTendril),
}

/// A tag with its attributes.
#[derive(Debug)]
pub(super) struct Element {
    pub(super) tag: Tag,
    pub(super) attributes: Vec<Attribute>,
    /// The contents of a `<template>`, which are no children of it.
    pub(super) template: Option<NodeId>,
}

/// Why a node is left out; a node may carry several marks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Marks(u8);

impl Marks {
    pub(super) const NONE: Self = Self(0);
    /// Never content: scripts, styles, form controls.
    pub(super) const DEAD: Self = Self(1);
    /// Hidden from a reader.
    pub(super) const HIDDEN: Self = Self(2);
    /// Certainly around the content: consent banners, page footers, site navigation.
    pub(super) const AROUND: Self = Self(4);
    /// Probably around the content.
    pub(super) const DOUBTFUL: Self = Self(8);

    pub(super) const fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    pub(super) const fn intersects(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }
}

#[derive(Debug)]
struct Node {
    parent: Option<NodeId>,
    previous: Option<NodeId>,
    next: Option<NodeId>,
    first_child: Option<NodeId>,
    last_child: Option<NodeId>,
    depth: u16,
    marks: Marks,
    data: Data,
}

/// The tree.
#[derive(Debug)]
pub(super) struct Dom {
    nodes: Vec<Node>,
}

impl Dom {
    /// A tree that holds nothing but its root.
    pub(super) fn new() -> Self {
        let mut dom = Self { nodes: Vec::new() };
        dom.create(Data::Fragment);
        dom
    }

    pub(super) fn root() -> NodeId {
        NodeId(NonZeroU32::MIN)
    }

    /// How many nodes there are, attached or not.
    pub(super) fn len(&self) -> usize {
        self.nodes.len()
    }

    pub(super) fn create(&mut self, data: Data) -> NodeId {
        let id = NodeId::from_index(self.nodes.len());
        self.nodes.push(Node {
            parent: None,
            previous: None,
            next: None,
            first_child: None,
            last_child: None,
            depth: 0,
            marks: Marks::NONE,
            data,
        });
        id
    }

    pub(super) fn create_element(&mut self, tag: Tag) -> NodeId {
        self.create(Data::Element(Element { tag, attributes: Vec::new(), template: None }))
    }

    pub(super) fn create_text(&mut self, text: &str) -> NodeId {
        self.create(Data::Text(StrTendril::from(text)))
    }

    fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id.index()]
    }

    fn node_mut(&mut self, id: NodeId) -> &mut Node {
        &mut self.nodes[id.index()]
    }

    pub(super) fn parent(&self, id: NodeId) -> Option<NodeId> {
        self.node(id).parent
    }

    pub(super) fn next(&self, id: NodeId) -> Option<NodeId> {
        self.node(id).next
    }

    pub(super) fn previous(&self, id: NodeId) -> Option<NodeId> {
        self.node(id).previous
    }

    pub(super) fn first_child(&self, id: NodeId) -> Option<NodeId> {
        self.node(id).first_child
    }

    pub(super) fn last_child(&self, id: NodeId) -> Option<NodeId> {
        self.node(id).last_child
    }

    /// How deep the node stood when it was attached.
    pub(super) fn depth(&self, id: NodeId) -> u16 {
        self.node(id).depth
    }

    pub(super) fn set_depth(&mut self, id: NodeId, depth: u16) {
        self.node_mut(id).depth = depth;
    }

    pub(super) fn element(&self, id: NodeId) -> Option<&Element> {
        match &self.node(id).data {
            Data::Element(element) => Some(element),
            _ => None,
        }
    }

    pub(super) fn element_mut(&mut self, id: NodeId) -> Option<&mut Element> {
        match &mut self.node_mut(id).data {
            Data::Element(element) => Some(element),
            _ => None,
        }
    }

    /// The tag of an element; `Tag::None` for everything else.
    pub(super) fn tag(&self, id: NodeId) -> Tag {
        self.element(id).map_or(Tag::None, |element| element.tag)
    }

    pub(super) fn text(&self, id: NodeId) -> Option<&StrTendril> {
        match &self.node(id).data {
            Data::Text(text) => Some(text),
            _ => None,
        }
    }

    pub(super) fn text_mut(&mut self, id: NodeId) -> Option<&mut StrTendril> {
        match &mut self.node_mut(id).data {
            Data::Text(text) => Some(text),
            _ => None,
        }
    }

    pub(super) fn attribute(&self, id: NodeId, name: &str) -> Option<&str> {
        let element = self.element(id)?;
        element.attributes.iter().find(|attribute| *attribute.name.local == *name).map(|a| &*a.value)
    }

    pub(super) fn has_attribute(&self, id: NodeId, name: &str) -> bool {
        self.attribute(id, name).is_some()
    }

    pub(super) fn marks(&self, id: NodeId) -> Marks {
        self.node(id).marks
    }

    pub(super) fn mark(&mut self, id: NodeId, marks: Marks) {
        let node = self.node_mut(id);
        node.marks = node.marks.union(marks);
    }

    pub(super) fn unmark(&mut self, id: NodeId, marks: Marks) {
        let node = self.node_mut(id);
        node.marks = Marks(node.marks.0 & !marks.0);
    }

    /// Makes `child`, which stands nowhere, the last child of `parent`.
    pub(super) fn append(&mut self, parent: NodeId, child: NodeId) {
        let depth = self.node(parent).depth.saturating_add(1);
        let last = self.node(parent).last_child;
        let node = self.node_mut(child);
        node.parent = Some(parent);
        node.previous = last;
        node.next = None;
        node.depth = depth;
        match last {
            Some(last) => self.node_mut(last).next = Some(child),
            None => self.node_mut(parent).first_child = Some(child),
        }
        self.node_mut(parent).last_child = Some(child);
    }

    /// Puts `new`, which stands nowhere, right before `sibling`.
    pub(super) fn insert_before(&mut self, sibling: NodeId, new: NodeId) {
        let (parent, previous) = (self.node(sibling).parent, self.node(sibling).previous);
        let depth = self.node(sibling).depth;
        let node = self.node_mut(new);
        node.parent = parent;
        node.previous = previous;
        node.next = Some(sibling);
        node.depth = depth;
        self.node_mut(sibling).previous = Some(new);
        match (previous, parent) {
            (Some(previous), _) => self.node_mut(previous).next = Some(new),
            (None, Some(parent)) => self.node_mut(parent).first_child = Some(new),
            (None, None) => {}
        }
    }

    /// Takes a node, with what is below it, out of the tree.
    pub(super) fn detach(&mut self, id: NodeId) {
        let (parent, previous, next) = {
            let node = self.node(id);
            (node.parent, node.previous, node.next)
        };
        match (previous, parent) {
            (Some(previous), _) => self.node_mut(previous).next = next,
            (None, Some(parent)) => self.node_mut(parent).first_child = next,
            (None, None) => {}
        }
        match (next, parent) {
            (Some(next), _) => self.node_mut(next).previous = previous,
            (None, Some(parent)) => self.node_mut(parent).last_child = previous,
            (None, None) => {}
        }
        let node = self.node_mut(id);
        node.parent = None;
        node.previous = None;
        node.next = None;
    }

    /// Moves all children of `from` to the end of `to`.
    pub(super) fn move_children(&mut self, from: NodeId, to: NodeId) {
        while let Some(child) = self.first_child(from) {
            self.detach(child);
            self.append(to, child);
        }
    }

    /// Takes all nodes of another tree over and says where `root` of that tree stands now.
    pub(super) fn adopt(&mut self, other: Self, root: NodeId) -> NodeId {
        let offset = self.nodes.len();
        let moved = |id: NodeId| NodeId::from_index(id.index() + offset);
        for mut node in other.nodes {
            node.parent = node.parent.map(moved);
            node.previous = node.previous.map(moved);
            node.next = node.next.map(moved);
            node.first_child = node.first_child.map(moved);
            node.last_child = node.last_child.map(moved);
            if let Data::Element(element) = &mut node.data {
                element.template = element.template.map(moved);
            }
            self.nodes.push(node);
        }
        moved(root)
    }

    /// The node that follows in document order within `root`.
    pub(super) fn following(&self, id: NodeId, root: NodeId) -> Option<NodeId> {
        self.first_child(id).or_else(|| self.following_outside(id, root))
    }

    /// The node that follows in document order within `root`, leaving out what is below `id`.
    pub(super) fn following_outside(&self, id: NodeId, root: NodeId) -> Option<NodeId> {
        let mut current = id;
        loop {
            if current == root {
                return None;
            }
            if let Some(next) = self.next(current) {
                return Some(next);
            }
            current = self.parent(current)?;
        }
    }

    pub(super) fn children(&self, id: NodeId) -> impl Iterator<Item = NodeId> + '_ {
        std::iter::successors(self.first_child(id), |&child| self.next(child))
    }

    /// Everything below `root` in document order, without `root`.
    pub(super) fn descendants(&self, root: NodeId) -> impl Iterator<Item = NodeId> + '_ {
        std::iter::successors(self.first_child(root), move |&id| self.following(id, root))
    }

    /// The parents of a node, nearest first.
    pub(super) fn ancestors(&self, id: NodeId) -> impl Iterator<Item = NodeId> + '_ {
        std::iter::successors(self.parent(id), |&ancestor| self.parent(ancestor))
    }

    /// The first element with this tag below `root`.
    pub(super) fn find(&self, root: NodeId, tag: Tag) -> Option<NodeId> {
        self.descendants(root).find(|&id| self.tag(id) == tag)
    }

    /// Every character below `root`, as it stands.
    pub(super) fn raw_text(&self, root: NodeId) -> String {
        let mut text = String::new();
        if let Some(own) = self.text(root) {
            text.push_str(own);
        }
        for id in self.descendants(root) {
            if let Some(piece) = self.text(id) {
                text.push_str(piece);
            }
        }
        text
    }

    /// The text below `root` with runs of white space folded into one space.
    pub(super) fn folded_text(&self, root: NodeId) -> String {
        fold_white_space(&self.raw_text(root))
    }
}

/// Runs of white space become one space; none stays at the ends.
pub(super) fn fold_white_space(text: &str) -> String {
    let mut folded = String::with_capacity(text.len());
    for word in text.split_whitespace() {
        if !folded.is_empty() {
            folded.push(' ');
        }
        folded.push_str(word);
    }
    folded
}
