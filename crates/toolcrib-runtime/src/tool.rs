//! What can be called: the definition of a tool, and the trait that its implementation fulfills.
//!
//! To add a tool, implement [`typed::TypedTool`], from which its definition follows; or implement [`Tool`] itself and
//! pair it with a definition whose `implementationKey` names it. A tool is only ever called by the executor, on an admitted call, with arguments that its definition's schema accepts.

use async_trait::async_trait;
use serde_json::Value;

use crate::message::Message;

mod context;
pub mod definition;
mod display;
mod error;
mod output;
mod settings;
mod source;
pub mod typed;

pub use context::{Progress, ToolContext};
pub(crate) use display::look_up;
pub use display::{Display, FieldTexts, language};
pub use error::ToolError;
pub use output::{Content, LibraryItem, Origin, Source, ToolOutput};
pub use settings::{SettingProblem, SettingValue, Settings};
pub use source::{ToolListing, ToolSource};

/// An implementation behind an `implementationKey`.
#[async_trait]
pub trait Tool: Send + Sync {
    /// The key by which definitions name this implementation.
    fn implementation_key(&self) -> &str;

    /// Name, description and icon for people, in the language of a BCP 47 tag; in English when the implementation does
    /// not speak that language. [`language`] reads a tag.
    fn display(&self, locale: &str) -> Display;

    /// Label and help of a field of the settings, in the same way; `None` leaves them to the definition.
    fn setting_texts(&self, field: &str, locale: &str) -> Option<FieldTexts> {
        let _ = (field, locale);
        None
    }

    /// Whether the implementation can run at all (a feature compiled in, a device present).
    fn is_enabled(&self) -> bool {
        true
    }

    /// What the tool sends out of the installation.
    fn outgoing(&self) -> Outgoing {
        Outgoing::Nothing
    }

    /// Arguments whose values never appear in traces or logs, beside those that the definition names.
    fn sensitive_arguments(&self) -> &[&str] {
        &[]
    }

    /// Checks beyond types and required fields. `settings` already fit the definition's schema.
    fn validate_settings(&self, settings: &Settings) -> Vec<SettingProblem> {
        let _ = settings;
        Vec::new()
    }

    /// Policy text for the system prompt, beside the definition's own, given the message being answered.
    fn instructions(&self, message: Option<&Message>) -> Option<String> {
        let _ = message;
        None
    }

    /// Runs one admitted call. `arguments` is an object that the definition's schema accepts.
    async fn call(&self, arguments: Value, context: &ToolContext) -> Result<ToolOutput, ToolError>;
}

/// The kind of data that a tool sends out, judged by the conversation's outbound restriction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outgoing {
    /// Nothing leaves the installation.
    Nothing,
    /// Data goes to a service that an administrator configured.
    ConfiguredService,
    /// A URL that the model chose is fetched.
    ModelChosenUrl,
}
