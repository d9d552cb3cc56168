//! Brings into the tree what a browser would show from elsewhere in the same source.
//!
//! Invariant: nothing is fetched; what is brought in is bounded in count, nodes and depth.

use url::Url;

use super::dom::parse::{MAX_NODES, parse};
use super::dom::{Data, Dom, NodeId, Tag};

/// `iframe srcdoc` documents that are read.
const MAX_EMBEDDED_DOCUMENTS: usize = 32;
/// Deepest node that later passes meet; what stands deeper is folded to text.
const MAX_WALK_DEPTH: usize = 320;

/// The address against which relative links resolve: `<base href>` of the page, or the page's own.
pub(super) fn base_address(dom: &Dom, page: &Url) -> Url {
    dom.descendants(Dom::root())
        .filter(|&id| dom.tag(id) == Tag::Base)
        .find_map(|id| dom.attribute(id, "href"))
        .and_then(|href| page.join(href.trim()).ok())
        .filter(|base| matches!(base.scheme(), "http" | "https"))
        .unwrap_or_else(|| page.clone())
}

/// Expands declarative shadow roots, `iframe srcdoc` and framesets in place, and bounds the depth.
pub(super) fn expand(dom: &mut Dom) {
    expand_embedded_documents(dom);
    expand_framesets(dom);
    expand_shadow_roots(dom);
    bound_depth(dom);
}

fn expand_embedded_documents(dom: &mut Dom) {
    let mut read = 0;
    // Documents found inside embedded documents are read too: each pass looks one level deeper.
    for _ in 0..3 {
        let frames: Vec<(NodeId, String)> = dom
            .descendants(Dom::root())
            .filter(|&id| dom.tag(id) == Tag::Iframe)
            .filter_map(|id| Some((id, dom.attribute(id, "srcdoc")?.to_owned())))
            .filter(|(_, source)| !source.trim().is_empty())
            .collect();
        if frames.is_empty() {
            return;
        }
        for (frame, source) in frames {
            if read >= MAX_EMBEDDED_DOCUMENTS || dom.len() >= MAX_NODES {
                return;
            }
            read += 1;
            graft(dom, frame, &source);
        }
    }
}

/// Parses `source` and makes its body the content of `host`, which becomes a `div`.
fn graft(dom: &mut Dom, host: NodeId, source: &str) {
    let embedded = parse(source);
    let body = embedded.find(Dom::root(), Tag::Body).unwrap_or(Dom::root());
    let body = dom.adopt(embedded, body);
    while let Some(child) = dom.first_child(host) {
        dom.detach(child);
    }
    dom.move_children(body, host);
    if let Some(element) = dom.element_mut(host) {
        element.tag = Tag::Div;
        element.attributes.retain(|attribute| *attribute.name.local != *"srcdoc");
    }
}

fn expand_framesets(dom: &mut Dom) {
    let Some(frameset) = dom.find(Dom::root(), Tag::Frameset) else { return };
    let parts: Vec<NodeId> = dom.descendants(Dom::root()).collect();
    for id in parts {
        match dom.tag(id) {
            Tag::Frame => link_frame(dom, id),
            Tag::Noframes => {
                let source = dom.raw_text(id);
                graft(dom, id, &source);
            }
            _ => {}
        }
    }
    if let Some(element) = dom.element_mut(frameset) {
        element.tag = Tag::Div;
    }
}

/// Turns a `frame` into a paragraph that links to what it would show.
fn link_frame(dom: &mut Dom, frame: NodeId) {
    let Some(source) = dom.attribute(frame, "src").map(str::to_owned) else { return };
    let label = dom.attribute(frame, "title").or_else(|| dom.attribute(frame, "name")).unwrap_or(&source);
    let label = label.to_owned();
    let link = dom.create_element(Tag::A);
    let attributes = dom
        .element_mut(frame)
        .map(|element| {
            element.tag = Tag::P;
            std::mem::take(&mut element.attributes)
        })
        .unwrap_or_default();
    if let Some(element) = dom.element_mut(link) {
        element.attributes = attributes;
        for attribute in &mut element.attributes {
            if *attribute.name.local == *"src" {
                attribute.name.local = html5ever::local_name!("href");
            }
        }
    }
    let text = dom.create_text(&label);
    dom.append(link, text);
    dom.append(frame, link);
}

fn expand_shadow_roots(dom: &mut Dom) {
    // Contents of an expanded root may hold further hosts, so the list is taken anew after each pass.
    for _ in 0..8 {
        let templates: Vec<NodeId> = dom
            .descendants(Dom::root())
            .filter(|&id| dom.tag(id) == Tag::Template)
            .filter(|&id| dom.has_attribute(id, "shadowrootmode") || dom.has_attribute(id, "shadowroot"))
            .collect();
        if templates.is_empty() {
            return;
        }
        for template in templates {
            expand_shadow_root(dom, template);
        }
    }
}

/// Puts a shadow tree into its host, with the host's children in the slots that they belong to.
fn expand_shadow_root(dom: &mut Dom, template: NodeId) {
    let Some(host) = dom.parent(template) else { return };
    let Some(contents) = dom.element(template).and_then(|element| element.template) else { return };
    dom.detach(template);
    let light: Vec<NodeId> = dom.children(host).collect();
    for &child in &light {
        dom.detach(child);
    }
    let slots: Vec<NodeId> = dom.descendants(contents).filter(|&id| dom.tag(id) == Tag::Slot).collect();
    let mut waiting = light;
    for slot in slots {
        let name = dom.attribute(slot, "name").unwrap_or_default().to_owned();
        let (assigned, rest): (Vec<_>, Vec<_>) =
            waiting.into_iter().partition(|&child| dom.attribute(child, "slot").unwrap_or_default() == name);
        waiting = rest;
        let filled = assigned.iter().any(|&child| {
            dom.element(child).is_some() || dom.text(child).is_some_and(|text| !text.trim().is_empty())
        });
        if !filled {
            continue;
        }
        while let Some(fallback) = dom.first_child(slot) {
            dom.detach(fallback);
        }
        for child in assigned {
            dom.append(slot, child);
        }
    }
    dom.move_children(contents, host);
}

/// Replaces whatever stands deeper than later passes go by its text.
fn bound_depth(dom: &mut Dom) {
    let mut depth = 0_usize;
    let mut current = Dom::root();
    loop {
        if depth >= MAX_WALK_DEPTH && dom.first_child(current).is_some() {
            let text = dom.raw_text(current);
            while let Some(child) = dom.first_child(current) {
                dom.detach(child);
            }
            let text = dom.create(Data::Text(text.as_str().into()));
            dom.append(current, text);
        } else if let Some(child) = dom.first_child(current) {
            depth += 1;
            current = child;
            continue;
        }
        loop {
            if let Some(next) = dom.next(current) {
                current = next;
                break;
            }
            match dom.parent(current) {
                Some(parent) => current = parent,
                None => return,
            }
            depth -= 1;
        }
    }
}
