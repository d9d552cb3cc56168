//! `read_web_page`: one page that the model chose, as Markdown with its metadata.
//!
//! What may be reached is decided by `toolcrib-egress` under the policy that [`settings`] derives from the
//! administrator's list and the provider's confidence; nothing that a page or a model says takes part in that. Nor can
//! a page make the model carry what it knows to a URL of its own making: such a URL does not stand in the conversation.
//! No text of an error holds an address or the query of a URL.
//!
//! # Limits and errors
//! - A URL has to stand in the user's messages, in a search result or in a page that was read before, unless an
//!   administrator sets `addressPolicy` to `any`. Where an allowed URL redirects to is read, too.
//! - A page is fetched once per run and kept for 15 minutes; the parts of a long page come from the same copy.
//! - Loopback, private, link-local and other addresses that are not public are blocked, after every redirect anew.
//!   Private hosts of the setting are read for providers of HIGH confidence or trusted ones, and then the conversation
//!   stays with such providers.
//! - Five redirects are followed, never from https to http. User names and passwords in a URL are refused.
//! - Statuses 4xx and 5xx, pages without content and documents that are no text are errors that say what to do.
//!
//! # Example
//! ```sh
//! toolcrib call read_web_page '{"url": "https://example.com", "include_outline": true}'
//! ```

use std::sync::Arc;

use async_trait::async_trait;
use jiff::Timestamp;
use serde::Deserialize;
use serde_json::Value;
use toolcrib_egress::{Egress, Policy, Zone};
use toolcrib_runtime::confidence::Confidence;
use toolcrib_runtime::tool::{
    Display, FieldTexts, Origin, Outgoing, SettingProblem, Settings, Source, Tool, ToolContext, ToolError,
    ToolOutput,
};
use toolcrib_web::{Document, PageRequest, fetch_document};
use url::Url;

use super::arguments;

mod answer;
mod cache;
mod failure;
mod settings;
#[cfg(test)]
mod tests;
mod texts;

use answer::{Answer, Wanted};
use cache::{Key, PageCache};
use settings::PageSettings;

/// The implementation behind `read_web_page`.
pub struct ReadWebPage {
    egress: Egress,
    cache: PageCache,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    url: String,
    offset: Option<usize>,
    max_characters: Option<usize>,
    include_links: Option<bool>,
    include_outline: Option<bool>,
}

/// A page and when it was fetched.
#[derive(Debug, Clone)]
struct Page {
    document: Arc<Document>,
    retrieved_at: Timestamp,
}

impl ReadWebPage {
    /// A reader that fetches through `egress` and remembers the pages of running runs.
    pub fn new(egress: Egress) -> Self {
        Self { egress, cache: PageCache::default() }
    }
}

#[async_trait]
impl Tool for ReadWebPage {
    fn implementation_key(&self) -> &'static str {
        "read_web_page"
    }

    fn display(&self, locale: &str) -> Display {
        texts::display(locale)
    }

    fn setting_texts(&self, field: &str, locale: &str) -> Option<FieldTexts> {
        texts::setting(field, locale)
    }

    fn outgoing(&self) -> Outgoing {
        Outgoing::ModelChosenUrl
    }

    fn validate_settings(&self, settings: &Settings) -> Vec<SettingProblem> {
        settings::problems(settings)
    }

    async fn call(&self, arguments: Value, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        let arguments: Arguments = arguments::read(arguments)?;
        let url = arguments.url.trim();
        settings::check_provenance(url, context)?;
        let settings = PageSettings::read(context)?;
        let page = self.page(url, &settings, context).await?;
        let wanted = Wanted {
            url: url.to_owned(),
            offset: arguments.offset.unwrap_or(0),
            characters: arguments.max_characters.unwrap_or(usize::MAX).min(settings.content_characters),
            links: arguments.include_links.unwrap_or(false),
            outline: arguments.include_outline.unwrap_or(false),
            room: context.result_characters_left,
        };
        let Answer { value, truncation } = answer::answer(&page, &wanted)?;
        let mut output = ToolOutput::json(value);
        output.sources.push(source(&page.document));
        output.untrusted = true;
        output.truncation = truncation;
        if page.document.zone == Some(Zone::Private) {
            output.required_confidence = Confidence::High;
        }
        Ok(output)
    }
}

impl ReadWebPage {
    /// The page, from the run's own cache or fetched.
    async fn page(
        &self,
        url: &str,
        settings: &PageSettings,
        context: &ToolContext,
    ) -> Result<Page, ToolError> {
        let key = Key::new(&context.run_id, url, &settings.policy);
        let now = context.clock.elapsed();
        if let Some(page) = key.as_ref().and_then(|key| self.cache.get(key, now)) {
            return Ok(page);
        }
        context.progress.report(&progress(url));
        let document = self.fetch(url, settings, context).await?;
        let page = Page { document: Arc::new(document), retrieved_at: context.clock.now() };
        if let Some(key) = key {
            self.cache.put(key, page.clone(), context.clock.elapsed());
        }
        Ok(page)
    }

    async fn fetch(
        &self,
        url: &str,
        settings: &PageSettings,
        context: &ToolContext,
    ) -> Result<Document, ToolError> {
        let language = accept_language(&context.caller.locale);
        let request = PageRequest {
            accept_language: language.as_deref(),
            timeout: Some(settings.time.min(context.time_left)),
            context: audit_context(context),
            ..PageRequest::new(url, &settings.policy)
        };
        let fetched = fetch_document(&self.egress, request, &context.cancellation).await;
        fetched.map_err(|error| failure::explain(&error, &settings.policy))
    }
}

/// "Reading example.org": the host alone, since paths and queries may say too much.
fn progress(url: &str) -> String {
    let host = Url::parse(url).ok().and_then(|url| url.host_str().map(str::to_owned));
    format!("Reading {}", host.as_deref().unwrap_or("a page"))
}

/// Who asked, for the audit log of the egress.
fn audit_context(context: &ToolContext) -> Vec<(String, String)> {
    let mut pairs = vec![
        ("tool".to_owned(), "read_web_page".to_owned()),
        ("workspace".to_owned(), context.caller.workspace_id.clone()),
        ("user".to_owned(), context.caller.user_id.clone()),
        ("run".to_owned(), context.run_id.clone()),
        ("call".to_owned(), context.call_id.clone()),
    ];
    pairs.extend(context.conversation_id.clone().map(|id| ("conversation".to_owned(), id)));
    pairs
}

/// `Accept-Language` (RFC 9110, section 12.5.4) for a BCP 47 tag, with its language and English as second choices.
fn accept_language(locale: &str) -> Option<String> {
    let tag = locale.trim().replace('_', "-");
    let is_tag = (2..=35).contains(&tag.len())
        && tag.split('-').all(|part| {
            (1..=8).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_alphanumeric())
        });
    if !is_tag {
        return None;
    }
    let language = tag.split('-').next().unwrap_or_default();
    let broader = (language != tag).then(|| format!(",{language};q=0.9"));
    let english = if language.eq_ignore_ascii_case("en") { "" } else { ",en;q=0.5" };
    Some(format!("{tag}{}{english}", broader.unwrap_or_default()))
}

/// The page as a source: its title, or its URL when it has none.
fn source(document: &Document) -> Source {
    let url = document.final_url.to_string();
    let title = document.metadata.title.clone().filter(|title| !title.trim().is_empty());
    Source { title: title.unwrap_or_else(|| url.clone()), url, origin: Origin::Tool, tool_call_id: None }
}

/// Whether the policy can reach more than the public Internet.
fn has_private_hosts(policy: &Policy) -> bool {
    matches!(policy, Policy::PublicAndHosts(_))
}
