//! Marks what stands around the content: navigation, banners, footers, boxes.
//!
//! Invariant: an element that holds most of the page's prose is never marked for its name alone.

use super::dom::{Dom, Marks, NodeId, Tag};
use super::hidden::is_dialog;
use super::main_content::is_article_body;
use super::page::{Page, Weights};
use super::words::{Purposes, any_class};

/// Prose that makes an article one that comments can belong to.
const ARTICLE_PROSE: u32 = 400;

/// Marks elements that are around the content for certain, or probably.
pub(super) fn mark(page: &mut Page) {
    let weights = page.weigh(Marks::DEAD.union(Marks::HIDDEN));
    let main_heading = main_heading(page, &weights);
    let articles: Vec<NodeId> = page
        .order
        .iter()
        .copied()
        .filter(|&id| page.dom.tag(id) == Tag::Article || is_article_body(&page.dom, id))
        .filter(|&id| weights.prose(id) >= ARTICLE_PROSE)
        .collect();
    let verdicts: Vec<(NodeId, Marks)> = page
        .order
        .iter()
        .filter(|&&id| page.dom.element(id).is_some())
        .filter_map(|&id| Some((id, judge(page, &weights, main_heading, &articles, id)?)))
        .collect();
    for (id, marks) in verdicts {
        page.dom.mark(id, marks);
    }
}

/// The heading that names the page: the only `h1`, or the one with the most text after it.
pub(super) fn main_heading(page: &Page, weights: &Weights) -> Option<NodeId> {
    let mut headings = page
        .order
        .iter()
        .copied()
        .filter(|&id| page.dom.tag(id) == Tag::H1 && !weights.is_skipped(id) && weights.text(id) > 0);
    let first = headings.next()?;
    // The first `h1` of many pages is the name of the site, in its header.
    let in_site_header = page
        .dom
        .ancestors(first)
        .any(|id| page.dom.tag(id) == Tag::Header || page.dom.attribute(id, "role") == Some("banner"))
        && !page.dom.ancestors(first).any(|id| matches!(page.dom.tag(id), Tag::Main | Tag::Article));
    if in_site_header { headings.next().or(Some(first)) } else { Some(first) }
}

fn judge(
    page: &Page,
    weights: &Weights,
    main_heading: Option<NodeId>,
    articles: &[NodeId],
    id: NodeId,
) -> Option<Marks> {
    let dom = &page.dom;
    let tag = dom.tag(id);
    if matches!(tag, Tag::Html | Tag::Body | Tag::Main | Tag::Head) || weights.is_skipped(id) {
        return None;
    }
    let purposes = page.purposes(id);
    if is_dialog(page, id) {
        return Some(Marks::AROUND);
    }
    let holds_heading = main_heading
        .is_some_and(|heading| heading == id || dom.ancestors(heading).any(|ancestor| ancestor == id));
    if purposes.intersects(Purposes::CONSENT) && !holds_heading && tag != Tag::Article && tag != Tag::A {
        return Some(Marks::AROUND);
    }
    if !holds_heading
        && purposes.intersects(Purposes::COMMENTS)
        && stands_by_article(page, weights, articles, id)
    {
        return Some(Marks::DOUBTFUL);
    }
    if holds_heading || holds_most(weights, page.body, id) {
        return None;
    }
    judge_tag(page, weights, id, tag)
        .or_else(|| judge_role(dom.attribute(id, "role")?))
        .or_else(|| judge_purposes(page, weights, id, tag, purposes))
}

/// Whether an article of some length stands beside or around an element. Its comments can be longer than it
/// is, and still are not what the page is about; in a thread without an article they are.
fn stands_by_article(page: &Page, weights: &Weights, articles: &[NodeId], id: NodeId) -> bool {
    let contains = |outer: NodeId, inner: NodeId| page.dom.ancestors(inner).any(|ancestor| ancestor == outer);
    articles.iter().any(|&article| {
        let own = if contains(article, id) {
            weights.prose(article).saturating_sub(weights.prose(id))
        } else {
            weights.prose(article)
        };
        article != id && !contains(id, article) && own >= ARTICLE_PROSE
    })
}

/// Whether more than a third of the page's prose stands in here.
fn holds_most(weights: &Weights, body: NodeId, id: NodeId) -> bool {
    let all = weights.prose(body);
    all > 0 && u64::from(weights.prose(id)) * 100 > u64::from(all) * 35
}

fn judge_tag(page: &Page, weights: &Weights, id: NodeId, tag: Tag) -> Option<Marks> {
    let dom = &page.dom;
    let inside = |wanted: &[Tag]| dom.ancestors(id).any(|ancestor| wanted.contains(&dom.tag(ancestor)));
    match tag {
        Tag::Footer if inside(&[Tag::Blockquote, Tag::Figure]) => None,
        Tag::Footer if inside(&[Tag::Article, Tag::Main]) => Some(Marks::DOUBTFUL),
        Tag::Nav | Tag::Menu | Tag::Footer => Some(Marks::AROUND),
        Tag::Header if inside(&[Tag::Main, Tag::Article, Tag::Section]) => None,
        Tag::Header => (weights.prose(id) < 200).then_some(Marks::AROUND),
        Tag::Aside if page.purposes(id).intersects(Purposes::NOTE) && !weights.is_mostly_links(id, 50) => {
            None
        }
        Tag::Aside => Some(Marks::DOUBTFUL),
        Tag::Form => (!holds_text(weights, id)).then_some(Marks::AROUND),
        _ => None,
    }
}

/// Whether a form wraps content, as some frameworks do with the whole page.
fn holds_text(weights: &Weights, id: NodeId) -> bool {
    weights.prose(id) > 400
}

fn judge_role(role: &str) -> Option<Marks> {
    match role {
        "navigation" | "banner" | "contentinfo" | "search" | "menu" | "menubar" | "toolbar" | "tablist"
        | "tooltip" | "alert" | "status" => Some(Marks::AROUND),
        "complementary" => Some(Marks::DOUBTFUL),
        _ => None,
    }
}

fn judge_purposes(page: &Page, weights: &Weights, id: NodeId, tag: Tag, purposes: Purposes) -> Option<Marks> {
    let dom = &page.dom;
    if matches!(tag, Tag::Article | Tag::Tbody | Tag::Tr | Tag::Img | Tag::Figure | Tag::Pre | Tag::Code)
        || tag.heading_level().is_some()
    {
        return None;
    }
    // A paragraph of prose within content keeps its place whatever it is called.
    let prose = weights.prose(id);
    if tag == Tag::P && prose > 200 && !purposes.intersects(Purposes::PROMOTION.union(Purposes::ADVERT)) {
        return None;
    }
    if purposes.intersects(Purposes::AROUND) {
        // `overlay`, `dropdown` and `menu` also name parts of content; those with prose stay in doubt.
        return Some(if prose > 600 { Marks::DOUBTFUL } else { Marks::AROUND });
    }
    if purposes.intersects(Purposes::DOUBTFUL) {
        return Some(Marks::DOUBTFUL);
    }
    let label = any_class(dom, id, |class| {
        matches!(class, "mw-editsection" | "noprint" | "catlinks" | "mw-jump-link")
    });
    label.then_some(Marks::AROUND)
}

/// Marks lists and boxes of links among the content under `root`, and headings that they leave behind.
pub(super) fn prune_link_boxes(page: &mut Page, root: NodeId, excluded: Marks) {
    let weights = page.weigh(excluded);
    let total = weights.text(root).max(1);
    let mut marked = Vec::new();
    let mut current = page.dom.first_child(root);
    while let Some(id) = current {
        let skip = weights.is_skipped(id) || is_link_box(page, &weights, total, id);
        if skip && !weights.is_skipped(id) {
            marked.push(id);
        }
        current = if skip { page.dom.following_outside(id, root) } else { page.dom.following(id, root) };
    }
    for id in marked {
        page.dom.mark(id, Marks::DOUBTFUL);
        if let Some(heading) = lonely_heading(&page.dom, id) {
            page.dom.mark(heading, Marks::DOUBTFUL);
        }
    }
}

/// A small block that is mostly links, several of them.
fn is_link_box(page: &Page, weights: &Weights, total: u32, id: NodeId) -> bool {
    let tag = page.dom.tag(id);
    let is_box = matches!(
        tag,
        Tag::Ul | Tag::Ol | Tag::Div | Tag::Section | Tag::Table | Tag::Dl | Tag::P | Tag::Aside
    );
    let text = weights.text(id);
    if !is_box || text == 0 || u64::from(text) * 100 > u64::from(total) * 25 {
        return false;
    }
    if !weights.is_mostly_links(id, if tag == Tag::P { 90 } else { 70 }) || weights.prose(id) > 80 {
        return false;
    }
    // A heading, a picture or code under a link is content that happens to be linked.
    let mut links = 0;
    for below in page.dom.descendants(id) {
        match page.dom.tag(below) {
            Tag::A => links += 1,
            Tag::Pre | Tag::Code | Tag::Figure | Tag::H1 => return false,
            _ => {}
        }
    }
    links >= if tag == Tag::P { 3 } else { 2 }
}

/// The heading right before a marked box, when nothing else stands between them and after the box.
fn lonely_heading(dom: &Dom, id: NodeId) -> Option<NodeId> {
    let is_blank = |id: NodeId| dom.text(id).is_some_and(|text| text.trim().is_empty());
    let mut previous = dom.previous(id);
    while let Some(node) = previous.filter(|&node| is_blank(node)) {
        previous = dom.previous(node);
    }
    let heading = previous.filter(|&node| dom.tag(node).heading_level().is_some_and(|level| level > 1))?;
    let level = dom.tag(heading).heading_level()?;
    let mut next = dom.next(id);
    while let Some(node) = next.filter(|&node| is_blank(node)) {
        next = dom.next(node);
    }
    let ends = next.is_none_or(|node| dom.tag(node).heading_level().is_some_and(|other| other <= level));
    ends.then_some(heading)
}
