//! Who asks: workspace, user, plan, preferences and component, as plain data.

use std::collections::BTreeSet;
use std::fmt;

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

/// Where a run happens.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Component(String);

impl Component {
    /// The chat of the web page.
    pub const CHAT: &'static str = "chat";
    /// The HTTP API.
    pub const API: &'static str = "api";
    /// The MCP server.
    pub const MCP: &'static str = "mcp";
    /// The command line.
    pub const CLI: &'static str = "cli";

    /// Every component that exists: the doors, then the assistants.
    pub const KNOWN: [&'static str; 17] = [
        Self::CHAT,
        Self::API,
        Self::MCP,
        Self::CLI,
        "translation_assistant",
        "text_summarizer_assistant",
        "grammar_spelling_assistant",
        "rewrite_assistant",
        "email_assistant",
        "agenda_assistant",
        "coding_assistant",
        "legal_check_assistant",
        "synonyms_assistant",
        "job_posting_assistant",
        "my_tasks_assistant",
        "icon_finder_assistant",
        "prompt_optimizer_assistant",
    ];

    /// The component with this id, when it exists.
    pub fn parse(id: &str) -> Option<Self> {
        Self::KNOWN.contains(&id).then(|| Self(id.to_owned()))
    }

    /// The component of the HTTP API.
    pub fn api() -> Self {
        Self(Self::API.to_owned())
    }

    /// The id.
    pub fn id(&self) -> &str {
        &self.0
    }

    /// True for an assistant, false for a door.
    pub fn is_assistant(&self) -> bool {
        self.0.ends_with("_assistant")
    }
}

impl fmt::Display for Component {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Grants {
    /// Whether the capability is granted.
    pub fn contains(&self, capability: &str) -> bool {
        match self {
            Self::Everything => true,
            Self::Only(capabilities) => capabilities.contains(capability),
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
