//! Chooses the element that holds the main content.
//!
//! Invariant: structure that names the content wins when it holds enough of the page's prose; otherwise the
//! smallest element that holds nearly all of it does.

use super::dom::{Dom, Marks, NodeId, Tag};
use super::page::{Page, Weights};
use super::words::any_class;

/// What was chosen, and by what.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Choice {
    pub(super) root: NodeId,
    pub(super) by_structure: bool,
}

/// Chooses among elements that carry none of `excluded`.
pub(super) fn choose(page: &Page, excluded: Marks) -> Choice {
    let weights = page.weigh(excluded);
    let (start, by_structure) = match named(page, &weights) {
        Some(named) => (named, true),
        None => (page.body, false),
    };
    Choice { root: descend(page, &weights, start), by_structure }
}

/// The element that structure names as the content.
fn named(page: &Page, weights: &Weights) -> Option<NodeId> {
    let mut bodies = Vec::new();
    let mut mains = Vec::new();
    let mut articles = Vec::new();
    for &id in &page.order {
        if page.dom.element(id).is_none() || weights.is_skipped(id) || weights.text(id) == 0 {
            continue;
        }
        if is_article_body(&page.dom, id) {
            bodies.push(id);
        } else if page.dom.tag(id) == Tag::Main || page.dom.attribute(id, "role") == Some("main") {
            mains.push(id);
        } else if page.dom.tag(id) == Tag::Article {
            articles.push(id);
        }
    }
    let all = weights.prose(page.body);
    let enough = |id: NodeId, percent: u32| {
        weights.text(id) > 0 && u64::from(weights.prose(id)) * 100 >= u64::from(all) * u64::from(percent)
    };
    let heaviest =
        |ids: &[NodeId]| ids.iter().copied().max_by_key(|&id| (weights.prose(id), weights.text(id)));
    let body = heaviest(&bodies).filter(|&id| enough(id, 45) && weights.prose(id) > 250);
    let main = heaviest(&mains).filter(|&id| enough(id, 30));
    let article = article(page, weights, &articles).filter(|&id| enough(id, 40));
    // The smallest named element that still holds most of the larger one is the most precise.
    let larger = main.or(article).or(body)?;
    let mut chosen = larger;
    for inner in [article, body].into_iter().flatten() {
        let within = page.dom.ancestors(inner).any(|ancestor| ancestor == chosen);
        let keeps = u64::from(weights.prose(inner)) * 100 >= u64::from(weights.prose(chosen)) * 70;
        if within && keeps {
            chosen = inner;
        }
    }
    Some(chosen)
}

/// Containers that publishing systems use for the text of one article or document.
pub(super) fn is_article_body(dom: &Dom, id: NodeId) -> bool {
    if dom
        .attribute(id, "itemprop")
        .is_some_and(|value| value.split_ascii_whitespace().any(|p| p == "articleBody"))
    {
        return true;
    }
    if !matches!(dom.tag(id), Tag::Div | Tag::Section | Tag::Article | Tag::Main) {
        return false;
    }
    any_class(dom, id, |class| {
        matches!(
            class,
            "entry-content"
                | "post-content"
                | "article-content"
                | "article-body"
                | "article__body"
                | "articlebody"
                | "article__content"
                | "article-text"
                | "story-body"
                | "story-content"
                | "story-body__inner"
                | "post-body"
                | "post__content"
                | "post-text"
                | "entry__content"
                | "markdown-body"
                | "mw-parser-output"
                | "rst-content"
                | "theme-doc-markdown"
                | "md-content"
                | "td-post-content"
                | "single-content"
                | "content-body"
                | "node-body"
                | "field--name-body"
                | "body-text"
                | "news-content"
                | "artikel-text"
        )
    })
}

/// The one article of the page, or what holds all of them.
fn article(page: &Page, weights: &Weights, articles: &[NodeId]) -> Option<NodeId> {
    let best = articles.iter().copied().max_by_key(|&id| weights.prose(id))?;
    let outermost: Vec<NodeId> = articles
        .iter()
        .copied()
        .filter(|&id| !page.dom.ancestors(id).any(|ancestor| page.dom.tag(ancestor) == Tag::Article))
        .collect();
    let all: u64 = outermost.iter().map(|&id| u64::from(weights.prose(id))).sum();
    if u64::from(weights.prose(best)) * 100 >= all * 60 {
        return Some(best);
    }
    common_ancestor(&page.dom, &outermost)
}

/// The nearest element that holds all of `ids`.
fn common_ancestor(dom: &Dom, ids: &[NodeId]) -> Option<NodeId> {
    let (first, rest) = ids.split_first()?;
    let mut path: Vec<NodeId> = dom.ancestors(*first).collect();
    path.reverse();
    for &id in rest {
        let mut other: Vec<NodeId> = dom.ancestors(id).collect();
        other.reverse();
        let shared = path.iter().zip(&other).take_while(|(a, b)| a == b).count();
        path.truncate(shared);
    }
    path.last().copied()
}

/// Goes down while one child holds nearly all the prose and nothing of note stands beside it.
fn descend(page: &Page, weights: &Weights, start: NodeId) -> NodeId {
    let mut current = start;
    loop {
        let Some(child) = page
            .dom
            .children(current)
            .filter(|&id| page.dom.element(id).is_some() && !weights.is_skipped(id))
            .max_by_key(|&id| weights.prose(id))
        else {
            return current;
        };
        let tag = page.dom.tag(child);
        let container =
            matches!(tag, Tag::Div | Tag::Section | Tag::Article | Tag::Main | Tag::Form | Tag::Center);
        let holds = u64::from(weights.prose(child)) * 100 >= u64::from(weights.prose(current)) * 92;
        if !container || !holds || weights.prose(child) < 200 || has_content_beside(page, weights, child) {
            return current;
        }
        current = child;
    }
}

/// Whether a sibling is a heading, a picture with a caption, or other content than links.
fn has_content_beside(page: &Page, weights: &Weights, child: NodeId) -> bool {
    let Some(parent) = page.dom.parent(child) else { return false };
    page.dom.children(parent).any(|id| {
        if id == child || weights.is_skipped(id) {
            return false;
        }
        match page.dom.tag(id) {
            Tag::None => page.length(id) > 20,
            tag if tag.heading_level().is_some() => weights.text(id) > 0,
            Tag::Figure | Tag::Pre | Tag::Dl | Tag::Details | Tag::Blockquote => true,
            Tag::Table => weights.prose(id) > 20,
            Tag::P => weights.prose(id) > 30,
            Tag::Header | Tag::Hgroup => page.dom.find(id, Tag::H1).is_some(),
            _ => {
                weights.prose(id) > 60
                    || page
                        .dom
                        .descendants(id)
                        .any(|below| page.dom.tag(below) == Tag::H1 && weights.text(below) > 0)
            }
        }
    })
}
