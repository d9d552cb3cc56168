//! Schema.org data that a page carries as JSON-LD.
//!
//! Invariant: at most [`MAX_SCRIPTS`] scripts of [`MAX_SCRIPT_BYTES`] bytes are read, and no deeper than
//! [`MAX_JSON_DEPTH`]; what is not JSON after small repairs is ignored.

use serde_json::{Map, Value};

use crate::extract::dom::parse::parse;
use crate::extract::dom::{Dom, NodeId, Tag};

const MAX_SCRIPTS: usize = 20;
const MAX_SCRIPT_BYTES: usize = 256 * 1024;
const MAX_JSON_DEPTH: usize = 32;

type Object = Map<String, Value>;

/// The described things, in order of appearance.
#[derive(Debug, Default)]
pub(in crate::extract) struct StructuredData {
    things: Vec<Object>,
}

/// What a page offers for sale.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::extract) struct Product {
    pub(in crate::extract) name: String,
    pub(in crate::extract) description: Option<String>,
    pub(in crate::extract) price: Option<String>,
    pub(in crate::extract) currency: Option<String>,
}

impl StructuredData {
    /// Reads the scripts of a page.
    pub(in crate::extract) fn read(dom: &Dom, order: &[NodeId]) -> Self {
        let mut data = Self::default();
        let scripts = order
            .iter()
            .copied()
            .filter(|&id| dom.tag(id) == Tag::Script)
            .filter(|&id| {
                dom.attribute(id, "type").is_some_and(|kind| {
                    kind.split(';')
                        .next()
                        .unwrap_or_default()
                        .trim()
                        .eq_ignore_ascii_case("application/ld+json")
                })
            })
            .take(MAX_SCRIPTS);
        for script in scripts {
            let text = dom.raw_text(script);
            if text.len() > MAX_SCRIPT_BYTES {
                continue;
            }
            if let Some(value) = lenient_json(&text) {
                data.collect(value);
            }
        }
        data
    }

    /// Takes every object with a type out of `value`, those outside before those inside.
    fn collect(&mut self, value: Value) {
        let mut waiting = std::collections::VecDeque::from([(value, 0_usize)]);
        while let Some((value, depth)) = waiting.pop_front() {
            if depth > MAX_JSON_DEPTH || self.things.len() > 2_000 {
                continue;
            }
            match value {
                Value::Array(values) => waiting.extend(values.into_iter().map(|value| (value, depth + 1))),
                Value::Object(object) => {
                    for (key, inner) in &object {
                        let nested = matches!(inner, Value::Array(_) | Value::Object(_));
                        if nested
                            && matches!(
                                key.as_str(),
                                "@graph"
                                    | "mainEntity"
                                    | "mainEntityOfPage"
                                    | "itemListElement"
                                    | "item"
                                    | "hasPart"
                            )
                        {
                            waiting.push_back((inner.clone(), depth + 1));
                        }
                    }
                    if object.contains_key("@type") {
                        self.things.push(object);
                    }
                }
                _ => {}
            }
        }
    }

    /// The thing that the page is about: an article or the like, else the page itself.
    fn subject(&self) -> Option<&Object> {
        self.things
            .iter()
            .find(|thing| rank(thing) == 0)
            .or_else(|| self.things.iter().find(|thing| rank(thing) == 1))
    }

    pub(in crate::extract) fn title(&self) -> Option<String> {
        let subject = self.subject()?;
        text_of(subject.get("headline")).or_else(|| text_of(subject.get("name")))
    }

    /// A text property of the subject.
    pub(in crate::extract) fn text(&self, key: &str) -> Option<String> {
        text_of(self.subject()?.get(key))
    }

    pub(in crate::extract) fn authors(&self) -> Vec<String> {
        let Some(subject) = self.subject() else { return Vec::new() };
        let Some(author) = subject.get("author").or_else(|| subject.get("creator")) else {
            return Vec::new();
        };
        match author {
            Value::Array(authors) => authors.iter().filter_map(name_of).collect(),
            author => name_of(author).into_iter().collect(),
        }
    }

    pub(in crate::extract) fn site_name(&self) -> Option<String> {
        let publisher = self.subject().and_then(|subject| subject.get("publisher")).and_then(name_of);
        publisher.or_else(|| {
            self.things
                .iter()
                .find(|thing| has_type(thing, "WebSite"))
                .and_then(|site| text_of(site.get("name")))
        })
    }

    /// The longest text that the data holds as the page's content, as it stands.
    pub(in crate::extract) fn article_body(&self) -> Option<String> {
        self.things
            .iter()
            .filter_map(|thing| {
                ["articleBody", "text", "recipeInstructions"].iter().find_map(|key| thing.get(*key))
            })
            .filter_map(body_of)
            .max_by_key(String::len)
            .filter(|body| !body.trim().is_empty())
    }

    /// The product that the page is about.
    pub(in crate::extract) fn product(&self) -> Option<Product> {
        let mut products =
            self.things.iter().filter(|thing| has_type(thing, "Product") || has_type(thing, "ProductGroup"));
        let product = products.next()?;
        if products.next().is_some() {
            return None;
        }
        let offers = match product.get("offers") {
            Some(Value::Array(offers)) => offers.first(),
            other => other,
        };
        let offer = |key: &str| text_of(offers.and_then(|offers| offers.get(key)));
        Some(Product {
            name: text_of(product.get("name"))?,
            description: text_of(product.get("description")),
            price: offer("price").or_else(|| offer("lowPrice")),
            currency: offer("priceCurrency"),
        })
    }
}

/// 0 for things that a page can be about, 1 for the page as such, 2 for what stands beside it.
fn rank(thing: &Object) -> u8 {
    let types = match thing.get("@type") {
        Some(Value::String(one)) => vec![one.as_str()],
        Some(Value::Array(many)) => many.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    types.iter().map(|name| rank_of_type(name.rsplit(['/', ':']).next().unwrap_or(name))).min().unwrap_or(2)
}

fn rank_of_type(name: &str) -> u8 {
    match name {
        "WebPage" | "ItemPage" | "AboutPage" | "ContactPage" | "CollectionPage" | "FAQPage" | "QAPage"
        | "ProfilePage" | "MedicalWebPage" | "SearchResultsPage" => 1,
        "Product"
        | "ProductGroup"
        | "Recipe"
        | "HowTo"
        | "Question"
        | "Event"
        | "JobPosting"
        | "Course"
        | "Book"
        | "Movie"
        | "VideoObject"
        | "SoftwareApplication"
        | "SoftwareSourceCode"
        | "Dataset"
        | "Report"
        | "PodcastEpisode"
        | "CreativeWork"
        | "LocalBusiness"
        | "Service" => 0,
        other if other.ends_with("Article") || other.ends_with("Posting") => 0,
        _ => 2,
    }
}

fn has_type(thing: &Object, wanted: &str) -> bool {
    let is = |name: &str| name.rsplit(['/', ':']).next() == Some(wanted);
    match thing.get("@type") {
        Some(Value::String(one)) => is(one),
        Some(Value::Array(many)) => many.iter().filter_map(Value::as_str).any(is),
        _ => false,
    }
}

/// A text or number as plain text; the first of several.
fn text_of(value: Option<&Value>) -> Option<String> {
    let text = match value? {
        Value::String(text) => plain(text),
        Value::Number(number) => number.to_string(),
        Value::Array(values) => return text_of(values.first()),
        Value::Object(object) => return text_of(object.get("@value").or_else(|| object.get("name"))),
        _ => return None,
    };
    (!text.trim().is_empty()).then_some(text)
}

fn name_of(value: &Value) -> Option<String> {
    match value {
        Value::Object(object) => text_of(object.get("name")),
        value => text_of(Some(value)),
    }
}

/// A body as text or HTML; steps of instructions become lines.
fn body_of(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Array(steps) => {
            let lines: Vec<String> = steps
                .iter()
                .filter_map(|step| match step {
                    Value::Object(object) => text_of(object.get("text").or_else(|| object.get("name"))),
                    step => text_of(Some(step)),
                })
                .collect();
            (!lines.is_empty()).then(|| lines.join("\n\n"))
        }
        _ => None,
    }
}

/// Text without the markup and entities that some systems leave in it.
fn plain(text: &str) -> String {
    if text.contains(['<', '&']) { parse(text).raw_text(Dom::root()) } else { text.to_owned() }
}

/// JSON as pages write it: comments around it, single quotes, trailing commas, raw line breaks in strings.
pub(in crate::extract) fn lenient_json(text: &str) -> Option<Value> {
    let trimmed = text
        .trim()
        .trim_start_matches("<!--")
        .trim_start_matches("//<![CDATA[")
        .trim_start_matches("<![CDATA[")
        .trim_end_matches("-->")
        .trim_end_matches("//]]>")
        .trim_end_matches("]]>")
        .trim()
        .trim_end_matches(';');
    serde_json::from_str(trimmed).ok().or_else(|| serde_json::from_str(&repaired(trimmed)).ok())
}

/// Rewrites the faults that [`lenient_json`] names.
fn repaired(text: &str) -> String {
    let mut fixed = String::with_capacity(text.len() + 16);
    let mut quote = None;
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        match (quote, character) {
            (Some(_), '\\') => match characters.next() {
                Some('\'') => fixed.push('\''),
                Some(next) => fixed.extend(['\\', next]),
                None => {}
            },
            (Some(open), character) if character == open => {
                fixed.push('"');
                quote = None;
            }
            (Some(_), '"') => fixed.push_str("\\\""),
            (Some(_), '\n') => fixed.push_str("\\n"),
            (Some(_), '\t') => fixed.push_str("\\t"),
            (Some(_), character) if character.is_control() => {}
            (None, '"' | '\'') => {
                fixed.push('"');
                quote = Some(character);
            }
            (None, ']' | '}') => {
                let end = fixed.trim_end();
                if end.ends_with(',') {
                    fixed.truncate(end.len() - 1);
                }
                fixed.push(character);
            }
            (_, character) => fixed.push(character),
        }
    }
    fixed
}
