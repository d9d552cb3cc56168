//! Who asks: workspace, user, plan, preferences and component, as plain data.

use std::borrow::Borrow;
use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use crate::nearest::nearest;

#[cfg(test)]
mod tests;

/// Everything about the caller that decides which tools are offered.
#[derive(Debug, Clone)]
pub struct Caller {
    /// The tenant.
    pub workspace_id: String,
    /// The person or program that asks.
    pub user_id: String,
    /// Where the run happens.
    pub component: Component,
    /// What the workspace's plan grants, as sold.
    pub grants: Grants,
    /// Capabilities that the user switched off.
    pub switched_off: BTreeSet<String>,
    /// What the workspace can still spend.
    pub credits: Credits,
    /// The language of the caller as a BCP 47 tag, for `Accept-Language` and texts for people.
    pub locale: String,
}

/// The capabilities that a plan grants.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Grants {
    /// Every capability, those of tools added later included.
    Everything,
    /// Only these capabilities.
    Only(BTreeSet<String>),
}

/// What a workspace can spend, in millionths of a credit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Credits {
    /// No limit.
    Unlimited,
    /// A balance, part of which running work may hold.
    Balance {
        /// What can be held now.
        free: i64,
        /// What running work holds.
        held: i64,
    },
}

/// Where a run happens: a door of the installation, or an assistant.
///
/// Only [`Components`] can make one from a name, so that every component exists.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Component(Arc<str>);

/// The components that exist: the doors, and the assistants of this installation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Components {
    /// Doors and assistants, by id. Whoever names a component gets a share of the one here: thousands of definitions
    /// that name it are judged by one place in memory.
    known: BTreeSet<Component>,
}

/// A name that no component has.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no component {name:?}; there are {known}{}", or_nearest(self.nearest.as_deref()))]
pub struct UnknownComponent {
    /// The name as it was written.
    pub name: String,
    /// Every id, separated by commas.
    pub known: String,
    /// The id that was probably meant.
    pub nearest: Option<String>,
}

/// An id that no assistant may have.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{id:?} cannot be the id of an assistant: {}", AssistantIdError::ALLOWED)]
pub struct AssistantIdError {
    /// The id as it was written.
    pub id: String,
}

impl Component {
    /// The chat of the web page.
    pub const CHAT: &'static str = "chat";
    /// The HTTP API.
    pub const API: &'static str = "api";
    /// The MCP server.
    pub const MCP: &'static str = "mcp";
    /// The command line.
    pub const CLI: &'static str = "cli";
    /// How the id of every assistant ends, and of nothing else.
    pub const ASSISTANT_ENDING: &'static str = "_assistant";

    /// The component of the HTTP API.
    pub fn api() -> Self {
        Self(Arc::from(Self::API))
    }

    /// The id.
    pub fn id(&self) -> &str {
        &self.0
    }

    /// True for an assistant, false for a door.
    pub fn is_assistant(&self) -> bool {
        self.0.ends_with(Self::ASSISTANT_ENDING)
    }
}

/// Components are found by their ids: both are ordered and compared alike.
impl Borrow<str> for Component {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Component {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Components {
    /// The doors, in the order in which they are listed.
    pub const DOORS: [&'static str; 4] = [Component::CHAT, Component::API, Component::MCP, Component::CLI];

    /// The assistants that every installation has.
    pub const BUILT_IN_ASSISTANTS: [&'static str; 13] = [
        "agenda_assistant",
        "coding_assistant",
        "email_assistant",
        "grammar_spelling_assistant",
        "icon_finder_assistant",
        "job_posting_assistant",
        "legal_check_assistant",
        "my_tasks_assistant",
        "prompt_optimizer_assistant",
        "rewrite_assistant",
        "synonyms_assistant",
        "text_summarizer_assistant",
        "translation_assistant",
    ];

    /// Adds an assistant of this installation. One that is known already is no error.
    ///
    /// # Errors
    /// The id is not `[a-z][a-z0-9_]*_assistant`, or longer than 64 characters.
    pub fn add_assistant(&mut self, id: &str) -> Result<(), AssistantIdError> {
        if !is_assistant_id(id) {
            return Err(AssistantIdError { id: id.to_owned() });
        }
        self.known.insert(Component(Arc::from(id)));
        Ok(())
    }

    /// The component with this id.
    ///
    /// # Errors
    /// There is none; the error names those that there are, and the nearest.
    pub fn parse(&self, id: &str) -> Result<Component, UnknownComponent> {
        if let Some(component) = self.known.get(id) {
            return Ok(component.clone());
        }
        let near = nearest(id, self.ids()).map(str::to_owned);
        Err(UnknownComponent { name: id.to_owned(), known: self.listed(), nearest: near })
    }

    /// Every id: the doors, then the assistants in the order of their ids.
    pub fn ids(&self) -> impl Iterator<Item = &str> {
        let assistants = self.known.iter().filter(|component| component.is_assistant());
        Self::DOORS.into_iter().chain(assistants.map(Component::id))
    }

    /// Every id, separated by commas.
    pub fn listed(&self) -> String {
        self.ids().collect::<Vec<_>>().join(", ")
    }
}

/// The doors and the built-in assistants.
impl Default for Components {
    fn default() -> Self {
        let ids = Self::DOORS.into_iter().chain(Self::BUILT_IN_ASSISTANTS);
        Self { known: ids.map(|id| Component(Arc::from(id))).collect() }
    }
}

impl AssistantIdError {
    /// What an id has to be.
    pub const ALLOWED: &'static str = "an id is made of lower-case letters, digits and underscores, begins with a \
        letter, ends with _assistant and has at most 64 characters";
}

impl Caller {
    /// Whether the user switched the capability off, by whichever of its names.
    pub fn has_switched_off(&self, capability: &str) -> bool {
        names(&self.switched_off, capability)
    }
}

impl Grants {
    /// Whether the capability is granted, by whichever of its names.
    pub fn contains(&self, capability: &str) -> bool {
        match self {
            Self::Everything => true,
            Self::Only(capabilities) => names(capabilities, capability),
        }
    }
}

/// Millionths of a credit as a decimal number.
pub fn credits(millionths: i64) -> String {
    let sign = if millionths < 0 { "-" } else { "" };
    let (whole, rest) = (millionths.unsigned_abs() / 1_000_000, millionths.unsigned_abs() % 1_000_000);
    let digits = format!("{rest:06}");
    let fraction = digits.trim_end_matches('0');
    if fraction.is_empty() { format!("{sign}{whole}") } else { format!("{sign}{whole}.{fraction}") }
}

/// The one name of a capability that has several: `google_search` is `web_search`, and `web_scrap` is
/// `read_web_page`. Every other name is its own, those that no tool has yet included.
pub fn canonical_capability(name: &str) -> &str {
    OTHER_NAMES.iter().find(|(other, _)| *other == name).map_or(name, |&(_, own)| own)
}

/// The names that a capability is also known by, each with the one used here.
const OTHER_NAMES: [(&str, &str); 2] = [("google_search", "web_search"), ("web_scrap", "read_web_page")];

/// Whether the set has the capability, under whichever of its names: looked up, never walked
/// through, for an organisation may name thousands of tools and every gate of each tool asks.
fn names(capabilities: &BTreeSet<String>, capability: &str) -> bool {
    let own = canonical_capability(capability);
    capabilities.contains(own)
        || OTHER_NAMES.iter().any(|(other, of)| *of == own && capabilities.contains(*other))
}

fn is_assistant_id(id: &str) -> bool {
    let Some(stem) = id.strip_suffix(Component::ASSISTANT_ENDING) else { return false };
    let snake = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    id.len() <= 64 && stem.starts_with(|c: char| c.is_ascii_lowercase()) && stem.chars().all(snake)
}

fn or_nearest(nearest: Option<&str>) -> String {
    nearest.map(|nearest| format!("; did you mean {nearest:?}?")).unwrap_or_default()
}
