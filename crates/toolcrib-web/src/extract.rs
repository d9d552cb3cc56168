//! The main content of an HTML page, as Markdown.
//!
//! One tree serves all steps: expand what stands elsewhere in the source, mark what is dead, hidden or around
//! the content, choose the element that holds the content, write it. Invariant: a page with text never gives
//! nothing: each step that finds too little hands over to a more lenient one, and the result says which it was.

use url::Url;

use crate::document::{Heading, Link, Metadata, Route};

mod boilerplate;
mod code;
mod dom;
mod footnotes;
mod hidden;
mod images;
mod links;
mod main_content;
mod markdown;
mod math;
mod metadata;
mod page;
mod prepare;
mod state;
mod style;
mod tables;
mod words;

use dom::{Marks, NodeId};
use markdown::{Rendered, render};
use metadata::json_ld::{Product, StructuredData};
use page::{Page, length};
use state::Part;

/// Text below which other sources than the tree are looked at.
const LITTLE_TEXT: u32 = 250;

const HIDDEN: Marks = Marks::DEAD.union(Marks::HIDDEN);
const LENIENT: Marks = HIDDEN.union(Marks::AROUND);
const STRICT: Marks = LENIENT.union(Marks::DOUBTFUL);

/// What was won from a page.
#[derive(Debug)]
pub(crate) struct Extracted {
    pub(crate) markdown: String,
    pub(crate) links: Vec<Link>,
    pub(crate) outline: Vec<Heading>,
    pub(crate) metadata: Metadata,
    pub(crate) route: Route,
    /// The main content could not be told apart with certainty.
    pub(crate) lenient: bool,
}

/// Reads a page. `url` is its address after redirects.
pub(crate) fn extract(html: &str, url: &Url) -> Extracted {
    let mut dom = dom::parse::parse(html);
    let base = prepare::base_address(&dom, url);
    prepare::expand(&mut dom);
    let mut page = Page::new(dom, base);
    let data = StructuredData::read(&page.dom, &page.order);
    let metadata = metadata::read(&page, &data, url);
    hidden::mark(&mut page);
    boilerplate::mark(&mut page);
    let (mut rendered, mut route) = from_tree(&mut page);
    if let Some((other, other_route)) = from_elsewhere(&page, &data, &metadata, length(&rendered.markdown)) {
        rendered = other;
        route = other_route;
    }
    if let Some(product) = data.product() {
        add_product(&mut rendered.markdown, &product);
    }
    if rendered.markdown.trim().is_empty()
        && let Some(description) = &metadata.description
    {
        rendered.markdown.clone_from(description);
        route = Route::Description;
    }
    let lenient = matches!(route, Route::LenientBody | Route::WholeBody | Route::Description);
    Extracted {
        markdown: rendered.markdown,
        links: rendered.links,
        outline: rendered.outline,
        metadata,
        route,
        lenient,
    }
}

/// A piece of HTML as Markdown, without looking for a main part in it.
pub(crate) fn fragment(html: &str, base: &Url) -> String {
    let mut dom = dom::parse::parse(html);
    prepare::expand(&mut dom);
    let mut page = Page::new(dom, base.clone());
    hidden::mark(&mut page);
    render(&page, page.body, HIDDEN, None).markdown
}

/// The content by the strictest step that finds enough.
fn from_tree(page: &mut Page) -> (Rendered, Route) {
    let choice = main_content::choose(page, STRICT);
    boilerplate::prune_link_boxes(page, choice.root, STRICT);
    let strict = page.weigh(STRICT);
    let lenient = page.weigh(LENIENT);
    let found = strict.prose(choice.root);
    let possible = lenient.prose(page.body);
    let too_little = found < LITTLE_TEXT && possible > 200 && possible > found * 2;
    if strict.text(choice.root) > 0 && !too_little {
        let lead = lead_heading(page, choice.root);
        let route = if choice.by_structure { Route::Structure } else { Route::Scored };
        let rendered = render(page, choice.root, STRICT, lead);
        if !rendered.markdown.is_empty() {
            return (rendered, route);
        }
    }
    for (excluded, route) in
        [(LENIENT, Route::LenientBody), (HIDDEN, Route::WholeBody), (Marks::DEAD, Route::WholeBody)]
    {
        let rendered = render(page, page.body, excluded, None);
        if !rendered.markdown.is_empty() {
            return (rendered, route);
        }
    }
    (Rendered::default(), Route::WholeBody)
}

/// The heading of the page when it stands outside the chosen element.
fn lead_heading(page: &Page, root: NodeId) -> Option<NodeId> {
    let weights = page.weigh(HIDDEN);
    let heading = boilerplate::main_heading(page, &weights)?;
    let within = page.dom.ancestors(heading).any(|ancestor| ancestor == root) || heading == root;
    let has_own = page
        .dom
        .descendants(root)
        .any(|id| page.dom.tag(id).heading_level() == Some(1) && !page.is_excluded(id, STRICT));
    let usable = !within && !has_own && !page.is_excluded(heading, LENIENT) && weights.text(heading) < 300;
    usable.then_some(heading)
}

/// The content from structured data or a framework's state, when the tree holds much less.
fn from_elsewhere(
    page: &Page,
    data: &StructuredData,
    metadata: &Metadata,
    found: u32,
) -> Option<(Rendered, Route)> {
    let body = data.article_body().filter(|body| {
        let size = length(body);
        (found < LITTLE_TEXT && size > found + found / 2) || (size > 500 && size > found * 3)
    });
    if let Some(body) = body {
        let text = if body.contains("</") { fragment(&body, &page.base) } else { paragraphs(&body) };
        return Some((with_title(metadata.title.as_deref(), &text), Route::StructuredData));
    }
    if found >= LITTLE_TEXT {
        return None;
    }
    let parts = state::read(&page.dom, &page.order);
    let mut title = metadata.title.clone();
    let mut blocks = Vec::new();
    for part in &parts {
        match part {
            Part::Title(text) if blocks.is_empty() => title = Some(text.clone()),
            Part::Title(text) => blocks.push(format!("## {text}")),
            Part::Html(html) => blocks.push(fragment(html, &page.base)),
            Part::Text(text) => blocks.push(paragraphs(text)),
        }
    }
    let text = blocks.join("\n\n");
    (length(&text) > found.saturating_mul(2))
        .then(|| (with_title(title.as_deref(), &text), Route::FrameworkState))
}

fn with_title(title: Option<&str>, text: &str) -> Rendered {
    let mut rendered = Rendered::default();
    match title {
        Some(title) if !text.starts_with("# ") => {
            rendered.outline.push(Heading { level: 1, text: title.to_owned() });
            rendered.markdown = format!("# {title}\n\n{text}");
        }
        _ => text.clone_into(&mut rendered.markdown),
    }
    rendered
}

/// Plain text with its paragraphs apart.
fn paragraphs(text: &str) -> String {
    let text = text.replace("\r\n", "\n");
    let separator = if text.contains("\n\n") { "\n\n" } else { "\n" };
    let parts: Vec<&str> = text.split(separator).map(str::trim).filter(|part| !part.is_empty()).collect();
    parts.join("\n\n")
}

/// Adds what structured data says about a product and the page does not show.
fn add_product(markdown: &mut String, product: &Product) {
    let known = |markdown: &str, text: &str| {
        let start: String = text.chars().take(60).collect();
        dom::fold_white_space(markdown).contains(dom::fold_white_space(&start).as_str())
    };
    if !known(markdown, &product.name) {
        *markdown = format!("# {}\n\n{markdown}", product.name);
    }
    let mut added = Vec::new();
    if let Some(description) = product.description.as_deref().filter(|text| !known(markdown, text)) {
        added.push(paragraphs(description));
    }
    if let Some(price) = &product.price {
        let digits = |text: &str| text.chars().filter(char::is_ascii_digit).collect::<String>();
        let whole = price.split('.').next().unwrap_or(price);
        if !digits(markdown).contains(&digits(whole)) {
            added.push(
                format!("Price: {price} {}", product.currency.as_deref().unwrap_or_default())
                    .trim()
                    .to_owned(),
            );
        }
    }
    for text in added {
        markdown.truncate(markdown.trim_end().len());
        if !markdown.is_empty() {
            markdown.push_str("\n\n");
        }
        markdown.push_str(&text);
    }
}
