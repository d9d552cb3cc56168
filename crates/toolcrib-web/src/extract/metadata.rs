//! What a page says about itself, from the best source for each field.
//!
//! Invariant: the precedence of the sources is the order in which they are chained here; no field is longer
//! than [`MAX_FIELD_CHARACTERS`].

use url::Url;

use super::dom::{Dom, NodeId, Tag, fold_white_space};
use super::page::Page;
use crate::document::Metadata;

pub(super) mod json_ld;

use json_ld::StructuredData;

/// Characters that a field may have.
const MAX_FIELD_CHARACTERS: usize = 1_000;
/// Names that a page's author list may have.
const MAX_AUTHORS: usize = 10;
/// `meta` elements that are read.
const MAX_META: usize = 2_000;

/// Reads the metadata of a page.
pub(super) fn read(page: &Page, data: &StructuredData, url: &Url) -> Metadata {
    let source = Source::new(&page.dom, &page.order);
    let title = data
        .title()
        .or_else(|| source.meta(&["og:title"]))
        .or_else(|| source.meta(&["citation_title"]))
        .or_else(|| source.meta(&["dc.title", "dcterms.title", "dc:title"]))
        .or_else(|| source.property("headline"))
        .or_else(|| source.first_heading())
        .or_else(|| source.meta(&["twitter:title"]))
        .or_else(|| source.title());
    let description = data
        .text("description")
        .or_else(|| source.meta(&["og:description"]))
        .or_else(|| source.meta(&["dc.description", "dcterms.description", "dc:description"]))
        .or_else(|| source.meta(&["description"]))
        .or_else(|| source.meta(&["twitter:description"]));
    let published = data
        .text("datePublished")
        .or_else(|| source.meta(&["article:published_time", "og:published_time"]))
        .or_else(|| source.meta(&["citation_publication_date", "citation_date", "citation_online_date"]))
        .or_else(|| {
            source.meta(&["dc.date.issued", "dcterms.issued", "dcterms.created", "dc.date", "dc:date"])
        })
        .or_else(|| source.property("datePublished"))
        .or_else(|| source.meta(&["date", "pubdate", "publishdate", "publish_date", "parsely-pub-date"]))
        .or_else(|| source.time());
    let modified = data
        .text("dateModified")
        .or_else(|| source.meta(&["article:modified_time", "og:updated_time"]))
        .or_else(|| source.meta(&["dcterms.modified", "dc.date.modified"]))
        .or_else(|| source.property("dateModified"))
        .or_else(|| source.meta(&["last-modified", "lastmod", "revised"]));
    let language = source
        .language()
        .or_else(|| data.text("inLanguage"))
        .or_else(|| source.meta(&["og:locale"]))
        .or_else(|| source.meta(&["dc.language", "dcterms.language", "dc:language"]))
        .or_else(|| source.meta(&["content-language", "language"]))
        .map(|tag| tag.replace('_', "-"))
        .filter(|tag| tag.len() <= 35 && tag.chars().all(|c| c.is_ascii_alphanumeric() || c == '-'));
    let site_name = source
        .meta(&["og:site_name"])
        .or_else(|| data.site_name())
        .or_else(|| source.meta(&["application-name", "apple-mobile-web-app-title"]));
    let canonical = source
        .canonical()
        .or_else(|| source.meta(&["og:url"]))
        .and_then(|address| url.join(&address).ok())
        .filter(|address| matches!(address.scheme(), "http" | "https"));
    Metadata {
        title: title.as_deref().and_then(clean),
        description: description.as_deref().and_then(clean),
        authors: authors(data, &source),
        language: language.as_deref().and_then(clean),
        published: published.as_deref().and_then(clean),
        modified: modified.as_deref().and_then(clean),
        site_name: site_name.as_deref().and_then(clean),
        canonical,
        media_type: None,
    }
}

/// Folds white space and cuts to the limit; `None` when nothing is left.
fn clean(value: &str) -> Option<String> {
    let folded = fold_white_space(value);
    let end = folded.char_indices().nth(MAX_FIELD_CHARACTERS).map_or(folded.len(), |(index, _)| index);
    (!folded.is_empty()).then(|| folded[..end].to_owned())
}

/// The names of the first source that has any.
fn authors(data: &StructuredData, source: &Source<'_>) -> Vec<String> {
    [
        data.authors(),
        source.metas(&["citation_author", "citation_authors"]),
        source.metas(&["dc.creator", "dcterms.creator", "dc:creator", "dc.creator.personalname"]),
        source.metas(&["author", "parsely-author", "sailthru.author", "byl"]),
        source.metas(&["article:author", "og:article:author"]),
        source.properties("author"),
    ]
    .into_iter()
    .map(|values| names(&values))
    .find(|names| !names.is_empty())
    .unwrap_or_default()
}

/// Cleaned names, each once, without addresses.
fn names(values: &[String]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for value in values.iter().filter_map(|value| clean(value)) {
        let name = value.strip_prefix("By ").or_else(|| value.strip_prefix("by ")).unwrap_or(&value).trim();
        let is_address = name.contains("://") || name.starts_with("www.") || name.starts_with('/');
        let known = names.iter().any(|other| other.eq_ignore_ascii_case(name));
        if !name.is_empty() && !is_address && !known && names.len() < MAX_AUTHORS {
            names.push(name.to_owned());
        }
    }
    names
}

/// The elements that carry metadata, collected in one pass.
struct Source<'page> {
    dom: &'page Dom,
    metas: Vec<(String, &'page str)>,
    properties: Vec<(&'page str, NodeId)>,
    order: &'page [NodeId],
}

impl<'page> Source<'page> {
    fn new(dom: &'page Dom, order: &'page [NodeId]) -> Self {
        let mut metas = Vec::new();
        let mut properties = Vec::new();
        for &id in order {
            if dom.tag(id) == Tag::Meta && metas.len() < MAX_META {
                let content = dom.attribute(id, "content").unwrap_or_default().trim();
                for key in ["property", "name", "http-equiv"] {
                    if let Some(key) = dom.attribute(id, key).filter(|_| !content.is_empty()) {
                        metas.push((key.trim().to_ascii_lowercase(), content));
                    }
                }
            }
            if let Some(property) = dom.attribute(id, "itemprop")
                && properties.len() < MAX_META
            {
                properties.push((property, id));
            }
        }
        Self { dom, metas, properties, order }
    }

    /// The first value of the first of `keys` that the page has.
    fn meta(&self, keys: &[&str]) -> Option<String> {
        keys.iter().find_map(|key| {
            self.metas.iter().find(|(name, _)| name == key).map(|(_, content)| (*content).to_owned())
        })
    }

    fn metas(&self, keys: &[&str]) -> Vec<String> {
        self.metas
            .iter()
            .filter(|(name, _)| keys.contains(&name.as_str()))
            .map(|(_, content)| (*content).to_owned())
            .collect()
    }

    /// The value of a microdata property (<https://html.spec.whatwg.org/multipage/microdata.html#values>).
    fn properties(&self, name: &str) -> Vec<String> {
        self.properties
            .iter()
            .filter(|(property, _)| property.split_ascii_whitespace().any(|word| word == name))
            .map(|&(_, id)| {
                let inner = self
                    .properties
                    .iter()
                    .find(|&&(property, below)| {
                        property == "name" && self.dom.ancestors(below).any(|ancestor| ancestor == id)
                    })
                    .map_or(id, |&(_, below)| below);
                let attribute = |key| self.dom.attribute(inner, key).map(str::to_owned);
                attribute("content")
                    .or_else(|| attribute("datetime"))
                    .unwrap_or_else(|| self.dom.folded_text(inner))
            })
            .filter(|value| !value.trim().is_empty())
            .take(MAX_AUTHORS)
            .collect()
    }

    fn property(&self, name: &str) -> Option<String> {
        self.properties(name).into_iter().next()
    }

    fn elements(&self, tag: Tag) -> impl Iterator<Item = NodeId> + '_ {
        self.order.iter().copied().filter(move |&id| self.dom.tag(id) == tag)
    }

    fn first_heading(&self) -> Option<String> {
        self.elements(Tag::H1).map(|id| self.dom.folded_text(id)).find(|text| !text.is_empty())
    }

    fn title(&self) -> Option<String> {
        self.elements(Tag::Title)
            .filter(|&id| !self.dom.ancestors(id).any(|ancestor| self.dom.tag(ancestor) == Tag::Svg))
            .map(|id| self.dom.folded_text(id))
            .find(|text| !text.is_empty())
    }

    /// The time that an article marks as that of its publication.
    fn time(&self) -> Option<String> {
        let within_article = |id: NodeId| {
            self.dom.ancestors(id).any(|ancestor| matches!(self.dom.tag(ancestor), Tag::Article | Tag::Main))
        };
        self.elements(Tag::Time)
            .filter(|&id| self.dom.has_attribute(id, "pubdate") || within_article(id))
            .find_map(|id| self.dom.attribute(id, "datetime").map(str::to_owned))
    }

    fn language(&self) -> Option<String> {
        let html = self.elements(Tag::Html).next()?;
        let tag = self.dom.attribute(html, "lang").or_else(|| self.dom.attribute(html, "xml:lang"))?;
        (!tag.trim().is_empty()).then(|| tag.trim().to_owned())
    }

    fn canonical(&self) -> Option<String> {
        self.elements(Tag::Link)
            .filter(|&id| {
                self.dom.attribute(id, "rel").is_some_and(|rel| {
                    rel.split_ascii_whitespace().any(|word| word.eq_ignore_ascii_case("canonical"))
                })
            })
            .find_map(|id| self.dom.attribute(id, "href"))
            .map(|href| href.trim().to_owned())
            .filter(|href| !href.is_empty())
    }
}
