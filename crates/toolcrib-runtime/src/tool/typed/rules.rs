//! What a definition says beside names, texts and schemas.

use std::time::Duration;

use crate::confidence::Confidence;
use crate::tool::Outgoing;
use crate::tool::definition::{Annotations, Approval, Concurrency, Cost, Visibility};

/// What a tool may do, what it costs and when it needs consent. Write `Rules { …, ..Rules::default() }`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rules {
    /// In which components the tool may be offered; `None` for all.
    pub visible_in: Option<Visibility>,
    /// The key by which plans and preferences grant the tool; `None` for its id.
    pub capability: Option<String>,
    /// Reads or writes what outlives the conversation; withheld in temporary ones.
    pub contextual: bool,
    /// Hints about the tool's effects.
    pub annotations: Annotations,
    /// Whether the tool may run beside other calls of the same round.
    pub concurrency: Concurrency,
    /// How long one call may take, in whole seconds; `None` leaves it to the run's limits.
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
    /// What the tool sends out of the installation.
    pub outgoing: Outgoing,
    /// Arguments whose values never appear in traces or logs.
    pub sensitive_arguments: Vec<&'static str>,
    /// Whether providers should enforce the schema of the arguments where they can: then every property is required,
    /// and those that may be left out may be null.
    pub strict: bool,
}

impl Rules {
    /// Rules of a tool that changes nothing and may run beside others.
    pub fn read_only() -> Self {
        Self {
            annotations: Annotations { read_only: true, ..Annotations::default() },
            concurrency: Concurrency::Parallel,
            ..Self::default()
        }
    }
}

impl Default for Rules {
    /// Offered everywhere, sequential, free, strict, without special needs.
    fn default() -> Self {
        Self {
            visible_in: None,
            capability: None,
            contextual: false,
            annotations: Annotations::default(),
            concurrency: Concurrency::default(),
            timeout: None,
            max_result_characters: None,
            cost: Cost::default(),
            approval: Approval::default(),
            returns_untrusted_content: false,
            minimum_confidence: None,
            outgoing: Outgoing::Nothing,
            sensitive_arguments: Vec::new(),
            strict: true,
        }
    }
}
