//! What a page is after reading: Markdown with its metadata.
//!
//! Invariant: a document says how it was won ([`Route`]) and what is doubtful about it ([`Warning`]).

use std::fmt;

use toolcrib_egress::Zone;
use url::Url;

mod excerpt;

pub use excerpt::{Excerpt, TRUNCATION_MARKER};

/// Characters below which a document counts as partial.
pub const LITTLE_CONTENT_CHARACTERS: usize = 500;

/// A page as a clean document.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Document {
    /// The address that the content came from, after redirects.
    pub final_url: Url,
    /// The HTTP status; `None` when the bytes were not fetched by this crate.
    pub status_code: Option<u16>,
    /// Where the page came from; `None` when the bytes were not fetched by this crate.
    pub zone: Option<Zone>,
    /// Whether all of it is here.
    pub status: Status,
    /// The content: GFM for pages and feeds, the text unchanged for text formats.
    pub markdown: String,
    /// What the page says about itself.
    pub metadata: Metadata,
    /// Links within the content in order, each address once, at most [`Document::MAX_LINKS`].
    pub links: Vec<Link>,
    /// Headings of level 1 to 3 within the content, at most [`Document::MAX_HEADINGS`].
    pub outline: Vec<Heading>,
    /// What is doubtful, each once.
    pub warnings: Vec<Warning>,
    /// How the content was found.
    pub route: Route,
}

impl Document {
    /// Links that a document lists.
    pub const MAX_LINKS: usize = 500;
    /// Headings that an outline lists.
    pub const MAX_HEADINGS: usize = 200;

    /// A document that holds `markdown` and nothing else yet; the status follows from the length.
    pub(crate) fn new(final_url: Url, markdown: String, route: Route) -> Self {
        let mut document = Self {
            final_url,
            status_code: None,
            zone: None,
            status: Status::Complete,
            markdown,
            metadata: Metadata::default(),
            links: Vec::new(),
            outline: Vec::new(),
            warnings: Vec::new(),
            route,
        };
        let characters =
            document.markdown.chars().filter(|character| !character.is_whitespace()).take(1).count();
        if characters == 0 {
            document.status = Status::Empty;
            document.warn(Warning::NothingStatic);
        } else if document.markdown.chars().take(LITTLE_CONTENT_CHARACTERS).count()
            < LITTLE_CONTENT_CHARACTERS
        {
            document.status = Status::Partial;
            document.warn(Warning::LittleContent);
        }
        document
    }

    /// Adds a warning once.
    pub(crate) fn warn(&mut self, warning: Warning) {
        if !self.warnings.contains(&warning) {
            self.warnings.push(warning);
        }
    }

    /// Notes that the source broke off before its end.
    pub(crate) fn mark_truncated(&mut self) {
        self.warn(Warning::TruncatedByFetchLimit);
        if self.status == Status::Complete {
            self.status = Status::Partial;
        }
    }
}

/// Whether a document holds all that its page has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// All of it.
    Complete,
    /// Under [`LITTLE_CONTENT_CHARACTERS`] characters, or the source broke off.
    Partial,
    /// No text was found.
    Empty,
}

impl Status {
    /// The lower-case word for this status.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Complete => "complete",
            Self::Partial => "partial",
            Self::Empty => "empty",
        }
    }
}

impl fmt::Display for Status {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

/// What a page says about itself. Text fields have at most 1,000 characters.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Metadata {
    /// The title, without white space at its ends.
    pub title: Option<String>,
    /// A summary by the page's author.
    pub description: Option<String>,
    /// Names of people or organizations, at most 10, never addresses.
    pub authors: Vec<String>,
    /// A language tag (BCP 47) as the page gives it, such as `de` or `pt-BR`.
    pub language: Option<String>,
    /// When it was published, as the page writes it (mostly ISO 8601).
    pub published: Option<String>,
    /// When it was last changed, as the page writes it.
    pub modified: Option<String>,
    /// The name of the site.
    pub site_name: Option<String>,
    /// The address that the page itself calls its own.
    pub canonical: Option<Url>,
    /// The media type of the source without parameters, such as `text/html`.
    pub media_type: Option<String>,
}

/// A link within the content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Link {
    /// What the page shows for it.
    pub text: String,
    /// The absolute address.
    pub url: Url,
}

/// A heading within the content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Heading {
    /// 1 to 6.
    pub level: u8,
    /// The text without markup.
    pub text: String,
}

/// What is doubtful about a document. The display form is a sentence for people.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Warning {
    /// The source holds no text.
    NothingStatic,
    /// Very little text was found.
    LittleContent,
    /// The body was longer than a limit, or broke off.
    TruncatedByFetchLimit,
    /// The main content could not be told apart with certainty.
    LenientExtraction,
    /// Nothing declared the character encoding.
    DecodedByGuess,
}

impl fmt::Display for Warning {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::NothingStatic => {
                "no static content was found: the page may need scripts, a sign-in or cookies"
            }
            Self::LittleContent => "the page holds very little text",
            Self::TruncatedByFetchLimit => "the page was longer than what may be fetched, or its transfer broke off",
            Self::LenientExtraction => {
                "the main content could not be told apart with certainty: navigation and other parts may be included"
            }
            Self::DecodedByGuess => "the page does not declare its character encoding: it was guessed",
        })
    }
}

/// How the content was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Route {
    /// An element that names itself the content (`main`, `article`, `itemprop=articleBody`, known classes).
    Structure,
    /// The element with the most prose.
    Scored,
    /// The whole body without what is certainly around the content.
    LenientBody,
    /// The whole body.
    WholeBody,
    /// JSON-LD in the page.
    StructuredData,
    /// The state that a script framework left in the page.
    FrameworkState,
    /// The page's own description, when it has no other text.
    Description,
    /// Entries of a feed.
    Feed,
    /// A text format, unchanged.
    Text,
}

impl Route {
    /// A short word for logs and measurements.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Structure => "structure",
            Self::Scored => "scored",
            Self::LenientBody => "lenient_body",
            Self::WholeBody => "whole_body",
            Self::StructuredData => "structured_data",
            Self::FrameworkState => "framework_state",
            Self::Description => "description",
            Self::Feed => "feed",
            Self::Text => "text",
        }
    }
}
