//! How tools are written in Rust: typed arguments, typed settings, and a definition that follows from the types.
//!
//! What a model is sent and what [`TypedTool::call`] receives come from the same type, so that they cannot differ.
//! [`Typed`] erases the types: it is the [`Tool`] that catalogs hold, and it derives the definition file, which goes
//! through the same reader and the same checks as one that was written by hand.
//!
//! # A whole tool
//! ```
//! use serde::Deserialize;
//! use toolcrib_runtime::registry::Catalog;
//! use toolcrib_runtime::tool::typed::{JsonSchema, NoSettings, Rules, TypedTool, schemars};
//! use toolcrib_runtime::tool::{Display, Tool, ToolContext, ToolError, language};
//!
//! struct CountLetters;
//!
//! #[derive(Deserialize, JsonSchema)]
//! struct Arguments {
//!     /// The text whose letters are counted, for example "strawberry".
//!     text: String,
//!     /// Count only this letter, for example "r". null counts all of them.
//!     letter: Option<char>,
//! }
//!
//! impl TypedTool for CountLetters {
//!     type Arguments = Arguments;
//!     type Settings = NoSettings;
//!     type Output = String;
//!
//!     const KEY: &'static str = "count_letters";
//!     const DESCRIPTION: &'static str =
//!         "Counts the letters of a text. Use it whenever the number of letters matters: you cannot see letters.";
//!
//!     fn display(&self, locale: &str) -> Display {
//!         match language(locale).as_str() {
//!             "de" => Display::new("🔤", "Buchstaben zählen", "Zählt die Buchstaben eines Textes."),
//!             _ => Display::new("🔤", "Count letters", "Counts the letters of a text."),
//!         }
//!     }
//!
//!     fn rules(&self) -> Rules {
//!         Rules::read_only()
//!     }
//!
//!     async fn call(
//!         &self,
//!         arguments: Arguments,
//!         _settings: NoSettings,
//!         _context: &ToolContext,
//!     ) -> Result<String, ToolError> {
//!         let counts = |c: &char| arguments.letter.map_or(c.is_alphabetic(), |letter| letter == *c);
//!         match arguments.text.chars().filter(counts).count() {
//!             0 => Err(ToolError::failed("the text holds none of these letters: give another text")),
//!             count => Ok(format!("{count} letters")),
//!         }
//!     }
//! }
//!
//! let tool = CountLetters.into_tool();
//! let components = toolcrib_runtime::caller::Components::default();
//! let (catalog, problems) = Catalog::build(&[tool.definition()], &[std::sync::Arc::new(tool)], &components);
//! assert_eq!(problems, []);
//! let parameters = &catalog.by_id("count_letters").unwrap().definition.function.parameters;
//! assert_eq!(parameters["properties"]["letter"]["type"], serde_json::json!(["string", "null"]));
//! assert_eq!(parameters["required"], serde_json::json!(["text", "letter"]));
//! ```
//!
//! # What becomes of the types
//! Doc comments become descriptions, so write them for the model, with an example value. An `Option` and a field with
//! `#[serde(default)]` may be left out; in a strict schema, which requires every property, null stands for that. Enums
//! without data become `enum`. Settings are flat: text, numbers and booleans; a [`Secret`] is kept in the secret store.

use async_trait::async_trait;
pub use schemars::{self, JsonSchema};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::{
    Display, FieldTexts, Outgoing, SettingProblem, Settings, Tool, ToolContext, ToolError, ToolOutput,
};
use crate::message::Message;
use crate::registry::DefinitionFile;

mod definition;
mod output;
mod read;
mod rules;
mod schema;
mod secret;
#[cfg(test)]
mod tests;

pub use output::{IntoToolOutput, Json};
pub use rules::Rules;
pub use secret::Secret;

/// A tool with types: what authors write.
pub trait TypedTool: Send + Sync + Sized + 'static {
    /// The arguments: a struct whose fields are the parameters.
    type Arguments: DeserializeOwned + JsonSchema + Send;
    /// The settings: a flat struct, or [`NoSettings`].
    type Settings: DeserializeOwned + JsonSchema + Send;
    /// The result: text, [`Json`] or a whole [`ToolOutput`].
    type Output: IntoToolOutput;

    /// Id, implementation key and function name in one: `[a-z][a-z0-9_]{0,63}`.
    const KEY: &'static str;

    /// What the tool does, when to use it and what it returns, for the model.
    const DESCRIPTION: &'static str;

    /// What models have to observe while the tool is offered: text for the system prompt.
    const POLICY: Option<&'static str> = None;

    /// Name, description and icon for people; see [`Tool::display`].
    fn display(&self, locale: &str) -> Display;

    /// Label and help of a field of the settings; see [`Tool::setting_texts`]. By default the field's title and its
    /// doc comment.
    fn setting_texts(&self, field: &str, locale: &str) -> Option<FieldTexts> {
        let _ = (field, locale);
        None
    }

    /// What the tool may do, what it costs and when it needs consent.
    fn rules(&self) -> Rules {
        Rules::default()
    }

    /// Whether the implementation can run at all; see [`Tool::is_enabled`].
    fn is_enabled(&self) -> bool {
        true
    }

    /// Checks of settings that their types cannot express.
    fn validate_settings(&self, settings: &Self::Settings) -> Vec<SettingProblem> {
        let _ = settings;
        Vec::new()
    }

    /// Policy text that depends on the message being answered; see [`Tool::instructions`].
    fn instructions(&self, message: Option<&Message>) -> Option<String> {
        let _ = message;
        None
    }

    /// Runs one admitted call. Written as `async fn call(…)`.
    fn call(
        &self,
        arguments: Self::Arguments,
        settings: Self::Settings,
        context: &ToolContext,
    ) -> impl Future<Output = Result<Self::Output, ToolError>> + Send;

    /// The tool as catalogs hold it.
    fn into_tool(self) -> Typed<Self> {
        Typed::new(self)
    }
}

/// The settings of a tool that has none.
#[derive(Debug, Clone, Copy, Default, Deserialize, JsonSchema)]
pub struct NoSettings {}

/// The arguments of a tool that takes none.
#[derive(Debug, Clone, Copy, Default, Deserialize, JsonSchema)]
pub struct NoArguments {}

/// A [`TypedTool`] without its types.
pub struct Typed<T> {
    tool: T,
    rules: Rules,
    /// The schema of the arguments as the type accepts them, before strictness requires every property.
    accepted: Value,
}

impl<T: TypedTool> Typed<T> {
    /// Erases the types of a tool.
    pub fn new(tool: T) -> Self {
        let rules = tool.rules();
        Self { tool, rules, accepted: schema::arguments::<T::Arguments>() }
    }

    /// The definition that follows from the types, as a file for [`crate::registry::Catalog::build`]. Whatever is wrong
    /// with it is reported there, like in a file that was written by hand.
    pub fn definition(&self) -> DefinitionFile {
        definition::derive::<T>(&self.rules, &self.accepted)
    }
}

#[async_trait]
impl<T: TypedTool> Tool for Typed<T> {
    fn implementation_key(&self) -> &'static str {
        T::KEY
    }

    fn display(&self, locale: &str) -> Display {
        self.tool.display(locale)
    }

    fn setting_texts(&self, field: &str, locale: &str) -> Option<FieldTexts> {
        self.tool.setting_texts(field, locale)
    }

    fn is_enabled(&self) -> bool {
        self.tool.is_enabled()
    }

    fn outgoing(&self) -> Outgoing {
        self.rules.outgoing
    }

    fn sensitive_arguments(&self) -> &[&str] {
        &self.rules.sensitive_arguments
    }

    fn validate_settings(&self, settings: &Settings) -> Vec<SettingProblem> {
        match read::settings(settings) {
            Ok(settings) => self.tool.validate_settings(&settings),
            Err(problem) => vec![problem],
        }
    }

    fn instructions(&self, message: Option<&Message>) -> Option<String> {
        self.tool.instructions(message)
    }

    async fn call(&self, arguments: Value, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        let settings = read::settings(&context.settings).map_err(|problem| read::unusable(&problem))?;
        let arguments = read::arguments(arguments, &self.accepted, &self.rules.sensitive_arguments)?;
        self.tool.call(arguments, settings, context).await?.into_tool_output()
    }
}
