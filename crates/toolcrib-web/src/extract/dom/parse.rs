//! HTML text to [`Dom`] by html5ever, with scripting off and within bounds.
//!
//! Invariant: the tree never gets deeper than about [`MAX_DEPTH`] elements nor larger than [`MAX_NODES`]
//! nodes and [`MAX_STORED_ATTRIBUTES`] attributes, whatever the source; the work stays linear in its length.

use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::collections::HashMap;

use html5ever::interface::{ElemName, ElementFlags, NodeOrText, QuirksMode, TreeSink};
use html5ever::tendril::StrTendril;
use html5ever::tokenizer::{
    BufferQueue, Tag as TagToken, TagKind, Token, TokenSink, TokenSinkResult, Tokenizer, TokenizerOpts,
};
use html5ever::tree_builder::{TreeBuilder, TreeBuilderOpts};
use html5ever::{Attribute, LocalName, Namespace, QualName, TokenizerResult};

use super::source_limits::without_excess_attributes;
use super::{Data, Dom, Element, NodeId, Tag};

/// Elements deeper than this are flattened into their parents; real pages stay under 100.
pub(in crate::extract) const MAX_DEPTH: u16 = 256;
/// Nodes after which the rest of the page is left out.
pub(in crate::extract) const MAX_NODES: usize = 500_000;
/// Attributes after which elements are kept without theirs.
pub(in crate::extract) const MAX_STORED_ATTRIBUTES: usize = 1_000_000;
/// How far the estimate of the depth may be wrong before only attached nodes count.
const DEPTH_TOLERANCE: u16 = 32;

/// Parses a page or a fragment of one.
pub(in crate::extract) fn parse(source: &str) -> Dom {
    let options =
        TreeBuilderOpts { scripting_enabled: false, drop_doctype: true, ..TreeBuilderOpts::default() };
    let source = without_excess_attributes(source);
    let builder = TreeBuilder::new(Sink::new(), options);
    let tokenizer = Tokenizer::new(Limiter::new(builder), TokenizerOpts::default());
    let input = BufferQueue::default();
    input.push_back(StrTendril::from(&*source));
    while !matches!(tokenizer.feed(&input), TokenizerResult::Done) {}
    tokenizer.end();
    tokenizer.sink.builder.sink.finish()
}

/// Stands between tokenizer and tree builder, and holds tokens back that would break a bound.
///
/// The builder walks its stack of open elements for many tags, so an unbounded stack would be quadratic.
struct Limiter {
    builder: TreeBuilder<NodeId, Sink>,
    /// Per name, how many start tags were passed on without their end tag.
    open: RefCell<HashMap<LocalName, u32>>,
    /// Per name, how many start tags were held back without their end tag.
    held_back: RefCell<HashMap<LocalName, u32>>,
    strict: Cell<bool>,
}

impl Limiter {
    fn new(builder: TreeBuilder<NodeId, Sink>) -> Self {
        Self { builder, open: RefCell::default(), held_back: RefCell::default(), strict: Cell::new(false) }
    }

    /// Whether a tag may reach the builder.
    fn admit(&self, tag: &TagToken) -> bool {
        if Tag::of(&tag.name).is_void_or_raw() {
            return true;
        }
        let depth = &self.builder.sink.open_depth;
        if depth.get() > MAX_DEPTH + DEPTH_TOLERANCE {
            self.strict.set(true);
        }
        match tag.kind {
            TagKind::StartTag if depth.get() >= MAX_DEPTH => {
                *self.held_back.borrow_mut().entry(tag.name.clone()).or_default() += 1;
                false
            }
            TagKind::StartTag => {
                *self.open.borrow_mut().entry(tag.name.clone()).or_default() += 1;
                true
            }
            TagKind::EndTag if take_one(&self.held_back, &tag.name) => false,
            TagKind::EndTag => {
                if take_one(&self.open, &tag.name) && !self.strict.get() {
                    depth.set(depth.get().saturating_sub(1));
                }
                true
            }
        }
    }
}

/// Counts one down; false when there is none.
fn take_one(counts: &RefCell<HashMap<LocalName, u32>>, name: &LocalName) -> bool {
    match counts.borrow_mut().get_mut(name) {
        Some(count) if *count > 0 => {
            *count -= 1;
            true
        }
        _ => false,
    }
}

impl TokenSink for Limiter {
    type Handle = NodeId;

    fn process_token(&self, token: Token, line_number: u64) -> TokenSinkResult<NodeId> {
        let admitted = match &token {
            Token::EOFToken => true,
            Token::CommentToken(_) | Token::ParseError(_) => return TokenSinkResult::Continue,
            _ if self.builder.sink.dom.borrow().len() >= MAX_NODES => false,
            Token::TagToken(tag) => self.admit(tag),
            _ => true,
        };
        if admitted { self.builder.process_token(token, line_number) } else { TokenSinkResult::Continue }
    }

    fn end(&self) {
        self.builder.end();
    }

    fn adjusted_current_node_present_but_not_in_html_namespace(&self) -> bool {
        self.builder.adjusted_current_node_present_but_not_in_html_namespace()
    }
}

/// Receives what the tree builder decides.
struct Sink {
    dom: RefCell<Dom>,
    names: RefCell<Vec<Option<QualName>>>,
    comment: NodeId,
    /// The depth of the element that is open now, as far as it can be told.
    open_depth: Cell<u16>,
    stored_attributes: Cell<usize>,
}

/// An element name that does not borrow from the tree.
#[derive(Debug)]
struct OwnedName(Option<QualName>);

impl ElemName for OwnedName {
    fn ns(&self) -> &Namespace {
        static EMPTY: Namespace = html5ever::ns!();
        self.0.as_ref().map_or(&EMPTY, |name| &name.ns)
    }

    fn local_name(&self) -> &LocalName {
        static EMPTY: LocalName = html5ever::local_name!("");
        self.0.as_ref().map_or(&EMPTY, |name| &name.local)
    }
}

impl Sink {
    fn new() -> Self {
        let mut dom = Dom::new();
        let comment = dom.create(Data::Fragment);
        Self {
            dom: RefCell::new(dom),
            names: RefCell::new(vec![None, None]),
            comment,
            open_depth: Cell::new(0),
            stored_attributes: Cell::new(0),
        }
    }

    fn create(&self, name: Option<QualName>, data: Data) -> NodeId {
        self.names.borrow_mut().push(name);
        self.dom.borrow_mut().create(data)
    }

    fn append_text(&self, parent: NodeId, text: StrTendril) {
        let mut dom = self.dom.borrow_mut();
        self.open_depth.set(dom.depth(parent));
        if let Some(last) = dom.last_child(parent)
            && let Some(existing) = dom.text_mut(last)
        {
            existing.push_tendril(&text);
            return;
        }
        let id = dom.create(Data::Text(text));
        self.names.borrow_mut().push(None);
        dom.append(parent, id);
    }
}

impl TreeSink for Sink {
    type Handle = NodeId;
    type Output = Dom;
    type ElemName<'a> = OwnedName;

    fn finish(self) -> Dom {
        self.dom.into_inner()
    }

    fn parse_error(&self, _message: Cow<'static, str>) {}

    fn get_document(&self) -> NodeId {
        Dom::root()
    }

    fn elem_name<'a>(&'a self, target: &'a NodeId) -> OwnedName {
        OwnedName(self.names.borrow().get(target.index()).cloned().flatten())
    }

    fn create_element(&self, name: QualName, mut attributes: Vec<Attribute>, flags: ElementFlags) -> NodeId {
        let stored = self.stored_attributes.get() + attributes.len();
        if stored > MAX_STORED_ATTRIBUTES {
            attributes = Vec::new();
        } else {
            self.stored_attributes.set(stored);
        }
        let tag = Tag::of(&name.local);
        let id = self.create(Some(name), Data::Element(Element { tag, attributes, template: None }));
        if flags.template {
            let contents = self.create(None, Data::Fragment);
            if let Some(element) = self.dom.borrow_mut().element_mut(id) {
                element.template = Some(contents);
            }
        }
        id
    }

    fn create_comment(&self, _text: StrTendril) -> NodeId {
        self.comment
    }

    fn create_pi(&self, _target: StrTendril, _data: StrTendril) -> NodeId {
        self.comment
    }

    fn append(&self, parent: &NodeId, child: NodeOrText<NodeId>) {
        match child {
            NodeOrText::AppendNode(node) if node == self.comment => {}
            NodeOrText::AppendNode(node) => {
                let mut dom = self.dom.borrow_mut();
                dom.append(*parent, node);
                let depth = dom.depth(node);
                if !dom.tag(node).is_void_or_raw() {
                    self.open_depth.set(depth);
                }
                if let Some(contents) = dom.element(node).and_then(|element| element.template) {
                    dom.set_depth(contents, depth);
                }
            }
            NodeOrText::AppendText(text) => self.append_text(*parent, text),
        }
    }

    fn append_based_on_parent_node(
        &self,
        element: &NodeId,
        previous_element: &NodeId,
        child: NodeOrText<NodeId>,
    ) {
        let has_parent = self.dom.borrow().parent(*element).is_some();
        if has_parent {
            self.append_before_sibling(element, child);
        } else {
            self.append(previous_element, child);
        }
    }

    fn append_doctype_to_document(&self, _: StrTendril, _: StrTendril, _: StrTendril) {}

    fn get_template_contents(&self, target: &NodeId) -> NodeId {
        self.dom.borrow().element(*target).and_then(|element| element.template).unwrap_or(*target)
    }

    fn same_node(&self, x: &NodeId, y: &NodeId) -> bool {
        x == y
    }

    fn set_quirks_mode(&self, _mode: QuirksMode) {}

    fn append_before_sibling(&self, sibling: &NodeId, new: NodeOrText<NodeId>) {
        let mut dom = self.dom.borrow_mut();
        match new {
            NodeOrText::AppendNode(node) if node == self.comment => {}
            NodeOrText::AppendNode(node) => {
                dom.detach(node);
                dom.insert_before(*sibling, node);
                let depth = dom.depth(node);
                self.open_depth.set(self.open_depth.get().max(depth));
            }
            NodeOrText::AppendText(text) => {
                if let Some(previous) = dom.previous(*sibling)
                    && let Some(existing) = dom.text_mut(previous)
                {
                    existing.push_tendril(&text);
                    return;
                }
                self.names.borrow_mut().push(None);
                let id = dom.create(Data::Text(text));
                dom.insert_before(*sibling, id);
            }
        }
    }

    fn add_attrs_if_missing(&self, target: &NodeId, attributes: Vec<Attribute>) {
        if let Some(element) = self.dom.borrow_mut().element_mut(*target) {
            for attribute in attributes {
                if element.attributes.len() >= super::source_limits::MAX_ATTRIBUTES as usize {
                    break;
                }
                if !element.attributes.iter().any(|existing| existing.name == attribute.name) {
                    element.attributes.push(attribute);
                }
            }
        }
    }

    fn remove_from_parent(&self, target: &NodeId) {
        self.dom.borrow_mut().detach(*target);
    }

    fn reparent_children(&self, node: &NodeId, new_parent: &NodeId) {
        self.dom.borrow_mut().move_children(*node, *new_parent);
    }
}
