//! The definition file of a tool: what the model and the administrator see, as JSON (schema version 1).
//!
//! Property names are read in any letter case. A definition is either read whole, or every problem in it is
//! reported at once; it never takes other definitions down with it.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::{Map, Value};

use crate::caller::{Component, Components};
use crate::confidence::Confidence;

mod compatible;
mod lint;
mod parameters;
mod problem;
mod read;
mod reader;
mod schema;
mod settings_schema;
mod strict;
mod subschemas;
#[cfg(test)]
mod tests;

pub use compatible::{Incompatibility, incompatibilities};
pub use lint::lint;
pub use problem::{Problem, Severity};
pub use schema::schema;
pub use settings_schema::{SettingField, SettingType, SettingsSchema};
pub use strict::{StrictObstacle, strict_obstacles};

/// The schema versions that can be read.
pub const SUPPORTED_SCHEMA_VERSIONS: [u64; 1] = [1];

/// A tool as its definition file describes it.
#[derive(Debug, Clone)]
pub struct Definition {
    /// The tool's id: `[a-z][a-z0-9_]{0,63}`.
    pub id: String,
    /// Names the implementation.
    pub implementation_key: String,
    /// In which components the tool may be offered.
    pub visible_in: Visibility,
    /// What an administrator can set.
    pub settings_schema: SettingsSchema,
    /// Policy text for the system prompt while the tool is offered.
    pub system_prompt_instructions: Option<String>,
    /// What the model sees.
    pub function: Function,
    /// The key by which plans and preferences grant the tool; by default its id, or the capability of the built-in
    /// tool that it replaces.
    pub capability: String,
    /// Whether the file names the capability itself.
    pub capability_is_given: bool,
    /// Reads or writes what outlives the conversation; withheld in temporary ones.
    pub contextual: bool,
    /// Hints about the tool's effects, as MCP defines them.
    pub annotations: Annotations,
    /// Whether the tool may run beside other calls of the same round.
    pub concurrency: Concurrency,
    /// How long one call may take; `None` leaves it to the run's limits.
    pub timeout: Option<Duration>,
    /// The most Unicode scalar values of one result; `None` leaves it to the run's limits.
    pub max_result_characters: Option<usize>,
    /// What a call costs.
    pub cost: Cost,
    /// When a person has to agree to a call.
    pub approval: Approval,
    /// Results were written by people whom the user does not know.
    pub returns_untrusted_content: bool,
    /// The confidence that a provider needs to be offered the tool.
    pub minimum_confidence: Option<Confidence>,
    /// Arguments whose values never appear in traces or logs.
    pub sensitive_arguments: Vec<String>,
    /// The id of a built-in tool that this definition replaces.
    pub replaces: Option<String>,
    /// Where the implementation comes from, for tools without Rust.
    pub source: Option<Map<String, Value>>,
    /// Texts for people by locale, for tools without Rust.
    pub display: BTreeMap<String, LocalizedDisplay>,
}

/// What the model sees of a tool.
#[derive(Debug, Clone, PartialEq)]
pub struct Function {
    /// The function name: 1 to 64 of `[A-Za-z0-9_-]`.
    pub name: String,
    /// What the tool does, written for the model.
    pub description: String,
    /// Whether providers should enforce the schema where they can.
    pub strict: bool,
    /// JSON Schema (draft 2020-12) of the arguments object.
    pub parameters: Value,
}

/// In which components a tool may be offered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Visibility {
    /// In every component that is not an assistant, unless a list says otherwise.
    pub chat: bool,
    /// In every assistant, unless a list says otherwise.
    pub assistants: bool,
    /// Only in these, when there are any.
    pub allowed: Vec<Component>,
    /// Never in these.
    pub denied: Vec<Component>,
}

/// Hints about a tool's effects (MCP `ToolAnnotations`).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Annotations {
    /// Changes nothing.
    pub read_only: bool,
    /// May destroy something.
    pub destructive: bool,
    /// A repeated call has no further effect.
    pub idempotent: bool,
    /// Deals with an open world of things outside the installation.
    pub open_world: bool,
}

/// Whether calls of a tool may overlap.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Concurrency {
    /// One call after the other.
    #[default]
    Sequential,
    /// Beside other parallel calls of the same round.
    Parallel,
}

/// What a call costs, in millionths of a credit.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Cost {
    /// A fixed price per call.
    pub per_call: i64,
    /// Prices by rate key and unit.
    pub rates: Vec<Rate>,
    /// The most that one call can cost; held before it runs.
    pub maximum: i64,
}

/// The price of one unit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rate {
    /// The rate's key.
    pub key: String,
    /// The unit: `call`, `token`, `image`, `second`, `character` or `page`.
    pub unit: String,
    /// The price of one unit, in millionths of a credit.
    pub price: i64,
}

/// When a person has to agree to a call.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Approval {
    /// Never.
    #[default]
    Never,
    /// Before every call.
    Always,
    /// Once the run has seen untrusted content.
    AfterUntrusted,
}

/// Texts for people in one locale.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LocalizedDisplay {
    /// The tool's name.
    pub name: Option<String>,
    /// One sentence on what it does.
    pub description: Option<String>,
    /// One emoji or the name of an icon.
    pub icon: Option<String>,
    /// Labels of settings fields.
    pub field_labels: BTreeMap<String, String>,
}

impl Definition {
    /// Reads a definition file. `file` names it in problems; `components` are those that it may name.
    ///
    /// # Errors
    /// Every problem in the text, each with its place, what was found and what is allowed.
    pub fn read(text: &str, file: &str, components: &Components) -> Result<Self, Vec<Problem>> {
        read::definition(text, file, components)
    }
}

impl Visibility {
    /// Whether a tool may be offered in the component.
    ///
    /// Either list replaces the two flags: an empty allow list then means every component, and the deny list
    /// always wins.
    pub fn admits(&self, component: &Component) -> bool {
        if self.allowed.is_empty() && self.denied.is_empty() {
            return if component.is_assistant() { self.assistants } else { self.chat };
        }
        (self.allowed.is_empty() || self.allowed.contains(component)) && !self.denied.contains(component)
    }
}
