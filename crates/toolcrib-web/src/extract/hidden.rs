//! Marks what is never content, and what a reader of the page would not see.
//!
//! Invariant: hiding that only reflects the state of the page at load (an open consent dialog, a closed
//! `details`, a tab that is not chosen, an application that has not started) does not lose content.

use super::dom::{Dom, Marks, NodeId, Tag};
use super::page::Page;
use super::style::{HidingRules, hiding};
use super::words::{Purposes, any_class};

/// Marks dead and hidden elements.
pub(super) fn mark(page: &mut Page) {
    let rules = HidingRules::read(&page.dom);
    mark_dead(page);
    mark_noscript(page);
    mark_hidden_by(page, is_hidden_by_markup);
    mark_hidden_by(page, |page, id| rules.hide(&page.dom, id) && !is_tab(page, id));
    mark_hidden_by(page, is_hidden_by_class);
    mark_hidden_by(page, |page, id| {
        page.dom.attribute(id, "aria-hidden").is_some_and(|value| value.eq_ignore_ascii_case("true"))
            || page.dom.has_attribute(id, "inert")
    });
}

/// Marks the elements that `is_hidden` names, unless that would leave next to nothing.
fn mark_hidden_by(page: &mut Page, is_hidden: impl Fn(&Page, NodeId) -> bool) {
    let candidates: Vec<NodeId> = page
        .order
        .iter()
        .copied()
        .filter(|&id| page.dom.element(id).is_some() && !is_root(page.dom.tag(id)))
        .filter(|&id| is_hidden(page, id) && !holds_math(&page.dom, id))
        .collect();
    if candidates.is_empty() {
        return;
    }
    let before = visible_text(page);
    for &id in &candidates {
        page.dom.mark(id, Marks::HIDDEN);
    }
    if u64::from(visible_text(page)) * 5 < u64::from(before) {
        for &id in &candidates {
            page.dom.unmark(id, Marks::HIDDEN);
        }
    }
}

/// The text outside hidden elements, dialogs and consent banners.
fn visible_text(page: &Page) -> u32 {
    let mut skipped = vec![false; page.dom.len()];
    let mut total = 0;
    for &id in &page.order {
        let above = page.dom.parent(id).is_some_and(|parent| skipped[parent.index()]);
        let skip = above
            || page.dom.marks(id).intersects(Marks::DEAD.union(Marks::HIDDEN))
            || is_dialog(page, id)
            || (page.purposes(id).intersects(Purposes::CONSENT) && !is_root(page.dom.tag(id)));
        skipped[id.index()] = skip;
        if !skip {
            total += page.length(id);
        }
    }
    total
}

fn is_root(tag: Tag) -> bool {
    matches!(tag, Tag::Html | Tag::Body | Tag::Main)
}

pub(super) fn is_dialog(page: &Page, id: NodeId) -> bool {
    page.dom.tag(id) == Tag::Dialog
        || page.dom.attribute(id, "role").is_some_and(|role| matches!(role, "dialog" | "alertdialog"))
        || page.dom.attribute(id, "aria-modal").is_some_and(|value| value == "true")
}

fn mark_dead(page: &mut Page) {
    for index in 0..page.order.len() {
        let id = page.order[index];
        if is_dead(&page.dom, id) {
            page.dom.mark(id, Marks::DEAD);
        }
    }
}

fn is_dead(dom: &Dom, id: NodeId) -> bool {
    match dom.tag(id) {
        Tag::Script => {
            !dom.attribute(id, "type").is_some_and(|kind| kind.trim_start().starts_with("math/tex"))
        }
        Tag::Style
        | Tag::Template
        | Tag::Title
        | Tag::Select
        | Tag::Textarea
        | Tag::Input
        | Tag::Button
        | Tag::Datalist
        | Tag::Option
        | Tag::Optgroup
        | Tag::Progress
        | Tag::Meter
        | Tag::Canvas
        | Tag::Svg
        | Tag::Noembed
        | Tag::Applet
        | Tag::Rp
        | Tag::Rt
        | Tag::Map
        | Tag::Search => dom.tag(id) != Tag::Button || !is_heading_toggle(dom, id),
        Tag::Object | Tag::Embed => dom.first_child(id).is_none(),
        _ => false,
    }
}

/// A button that is the label of a section, as in an accordion.
fn is_heading_toggle(dom: &Dom, id: NodeId) -> bool {
    dom.ancestors(id).take(2).any(|parent| {
        dom.tag(parent).heading_level().is_some() || matches!(dom.tag(parent), Tag::Dt | Tag::Summary)
    })
}

/// Hidden by an attribute or an inline style.
fn is_hidden_by_markup(page: &Page, id: NodeId) -> bool {
    let dom = &page.dom;
    let by_attribute = dom.attribute(id, "hidden").is_some_and(|value| value != "until-found");
    let by_style = dom.attribute(id, "style").and_then(hiding) == Some(true);
    (by_attribute || by_style) && !is_tab(page, id)
}

/// A panel that another choice of the reader would show.
fn is_tab(page: &Page, id: NodeId) -> bool {
    let dom = &page.dom;
    dom.attribute(id, "role") == Some("tabpanel")
        || dom.has_attribute(id, "aria-labelledby")
            && page.dom.parent(id).is_some_and(|parent| page.purposes(parent).intersects(Purposes::TAB))
        || page.purposes(id).intersects(Purposes::TAB)
        || dom.ancestors(id).take(1).any(|parent| {
            dom.tag(parent) == Tag::Details || any_class(dom, parent, |class| class.contains("tabs"))
        })
}

/// Hidden by a class that frameworks define for it, and not shown again on wider screens.
fn is_hidden_by_class(page: &Page, id: NodeId) -> bool {
    let purposes = page.purposes(id);
    purposes.intersects(Purposes::HIDDEN)
        && !purposes.intersects(Purposes::SHOWN)
        && !is_tab(page, id)
        && any_class(&page.dom, id, |class| {
            matches!(
                class,
                "hidden"
                    | "hide"
                    | "invisible"
                    | "d-none"
                    | "is-hidden"
                    | "u-hidden"
                    | "display-none"
                    | "sr-only"
                    | "visually-hidden"
                    | "visuallyhidden"
                    | "screen-reader-text"
                    | "screen-reader"
                    | "offscreen"
                    | "nodisplay"
            )
        })
}

/// Formulas often stand in a hidden element beside a picture of them.
fn holds_math(dom: &Dom, id: NodeId) -> bool {
    dom.tag(id) == Tag::Math || dom.children(id).any(|child| dom.tag(child) == Tag::Math)
}

/// Hides `noscript`, unless it holds the content, or pictures that are to load later.
fn mark_noscript(page: &mut Page) {
    let weights = page.weigh(Marks::DEAD);
    let all: Vec<NodeId> =
        page.order.iter().copied().filter(|&id| page.dom.tag(id) == Tag::Noscript).collect();
    let within: u32 = all.iter().map(|&id| weights.text(id)).sum();
    let outside = weights.text(page.body).saturating_sub(within);
    let is_content = within >= 100 && u64::from(within) > u64::from(outside) * 2;
    for id in all {
        let holds_picture = weights.text(id) == 0 && page.dom.find(id, Tag::Img).is_some();
        let shows = holds_picture || (is_content && weights.prose(id) >= 50);
        if !shows {
            page.dom.mark(id, Marks::HIDDEN);
        }
    }
    if is_content {
        hide_shell(page);
    }
}

/// Where `noscript` is the content, the rest is an application's empty shell.
fn hide_shell(page: &mut Page) {
    let weights = page.weigh(Marks::DEAD.union(Marks::HIDDEN));
    let shells: Vec<NodeId> = page
        .dom
        .children(page.body)
        .filter(|&id| page.dom.tag(id) != Tag::Noscript && page.dom.find(id, Tag::Noscript).is_none())
        .filter(|&id| weights.text(id) < 200)
        .collect();
    for id in shells {
        page.dom.mark(id, Marks::HIDDEN);
    }
}
