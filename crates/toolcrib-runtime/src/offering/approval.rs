//! When a person has to agree to a call: the tool's own rule, the organization's patterns, and what taint demands.
//!
//! The strictest voice wins: deny before ask before allow. Nothing that a model or a page says takes part in it, and
//! what an [`Approver`] adds can only tighten.

use std::fmt;

use async_trait::async_trait;
use serde_json::Value;

use crate::nearest::nearest;
use crate::policy::Circumstances;
use crate::registry::RegisteredTool;
use crate::tool::definition::Approval;

mod pattern;
mod request;

pub use pattern::{Pattern, PointerPattern};
pub use request::{ApprovalAnswer, ApprovalRequest};

/// What stands between a call and its execution, from the loosest to the strictest.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum ApprovalVerdict {
    /// Nobody has to be asked.
    Allow,
    /// A person has to agree.
    Ask(Why),
    /// The call must not run, whoever agrees.
    Deny(Why),
}

/// Why a call is held or denied.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Why {
    /// The tool's definition asks before every call.
    EveryCall,
    /// The conversation has seen untrusted content, and the tool asks or acts.
    Untrusted,
    /// A rule of the organization says so: its words.
    Rule(String),
}

/// One rule of the organization.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApprovalRule {
    /// Which tools, by id or function name.
    pub tools: Pattern,
    /// Which arguments; without it the rule holds for every call of these tools.
    pub argument: Option<ArgumentRule>,
    /// What the rule says.
    pub answer: RuleAnswer,
}

/// What the arguments of a call have to look like for a rule to hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArgumentRule {
    /// Where in the arguments.
    pub at: PointerPattern,
    /// The text of the value; values other than text are compared as compact JSON.
    pub value: Pattern,
}

/// What a rule says of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RuleAnswer {
    /// Nobody has to be asked, though the tool would.
    Allow,
    /// A person has to agree.
    Ask,
    /// The call must not run.
    Deny,
}

/// What a conversation that has seen untrusted content may still do with tools that act.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum AfterUntrusted {
    /// A person is asked.
    #[default]
    Ask,
    /// Such calls are refused.
    Refuse,
    /// Nothing changes.
    Allow,
}

/// The installation's rules about approval.
#[derive(Debug, Clone, Default)]
pub struct ApprovalPolicy {
    /// The organization's rules, in no order: the strictest that matches wins.
    pub rules: Vec<ApprovalRule>,
    /// What tainted conversations may do.
    pub after_untrusted: AfterUntrusted,
}

/// A second opinion on every call, by code of the embedder. To add one, implement this and hand it to the run's
/// services; it sees a call after all gates, and its verdict counts only where it is stricter.
#[async_trait]
pub trait Approver: Send + Sync {
    /// What this says of the call. `arguments` fit the tool's schema.
    async fn review(&self, tool: &RegisteredTool, arguments: &Value, now: &Circumstances) -> ApprovalVerdict;
}

/// The verdict of definition, rules and labels over one call.
pub(super) fn judge(tool: &RegisteredTool, arguments: &Value, now: &Circumstances) -> ApprovalVerdict {
    let policy = &now.policy.approval;
    let mut allowed = false;
    let mut strictest = ApprovalVerdict::Allow;
    for rule in policy.rules.iter().filter(|rule| rule.holds(tool, arguments)) {
        let verdict = match rule.answer {
            RuleAnswer::Allow => {
                allowed = true;
                continue;
            }
            RuleAnswer::Ask => ApprovalVerdict::Ask(Why::Rule(rule.to_string())),
            RuleAnswer::Deny => ApprovalVerdict::Deny(Why::Rule(rule.to_string())),
        };
        strictest = strictest.max(verdict);
    }
    if strictest == ApprovalVerdict::Allow && !allowed {
        strictest = by_definition(tool, now, policy.after_untrusted);
    }
    let agreed = now.approved_tools.contains(tool.id());
    if agreed && matches!(strictest, ApprovalVerdict::Ask(_)) { ApprovalVerdict::Allow } else { strictest }
}

/// What the tool itself asks for, and what its effects ask for once untrusted content was seen.
fn by_definition(
    tool: &RegisteredTool,
    now: &Circumstances,
    after_untrusted: AfterUntrusted,
) -> ApprovalVerdict {
    let definition = &tool.definition;
    let hints = definition.annotations;
    let acts = hints.destructive || (hints.open_world && !hints.read_only);
    let tainted = now.labels.untrusted && (acts || definition.approval == Approval::AfterUntrusted);
    match after_untrusted {
        AfterUntrusted::Refuse if tainted => ApprovalVerdict::Deny(Why::Untrusted),
        AfterUntrusted::Ask if tainted => ApprovalVerdict::Ask(Why::Untrusted),
        _ if definition.approval == Approval::Always => ApprovalVerdict::Ask(Why::EveryCall),
        _ => ApprovalVerdict::Allow,
    }
}

impl ApprovalRule {
    /// Allowing needs every value at the place to match, letter case included; asking and denying are content with
    /// one, in any letter case. Either way a rule errs on the safe side.
    fn holds(&self, tool: &RegisteredTool, arguments: &Value) -> bool {
        let allows = self.answer == RuleAnswer::Allow;
        let named = |name: &str| self.tools.matches(name, !allows);
        if !named(tool.id()) && !named(&tool.definition.function.name) {
            return false;
        }
        let Some(rule) = &self.argument else { return true };
        let values = rule.at.values(arguments);
        let mut matches = values.iter().map(|value| match value {
            Value::String(text) => rule.value.matches(text, !allows),
            other => rule.value.matches(&other.to_string(), !allows),
        });
        if allows { !values.is_empty() && matches.all(|one| one) } else { matches.any(|one| one) }
    }
}

impl RuleAnswer {
    /// The names in configuration.
    pub const NAMES: [(&'static str, Self); 3] =
        [("allow", Self::Allow), ("ask", Self::Ask), ("deny", Self::Deny)];

    /// The answer with this name.
    ///
    /// # Errors
    /// What was probably meant, when anything was.
    pub fn parse(name: &str) -> Result<Self, Option<&'static str>> {
        let found = Self::NAMES.into_iter().find(|(known, _)| *known == name);
        found.map(|(_, answer)| answer).ok_or_else(|| nearest(name, Self::NAMES.map(|(known, _)| known)))
    }

    fn name(self) -> &'static str {
        Self::NAMES.into_iter().find(|(_, answer)| *answer == self).map_or("", |(name, _)| name)
    }
}

impl AfterUntrusted {
    /// The names in configuration.
    pub const NAMES: [(&'static str, Self); 3] =
        [("ask", Self::Ask), ("refuse", Self::Refuse), ("allow", Self::Allow)];
}

impl fmt::Display for ApprovalRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.answer.name(), self.tools)?;
        match &self.argument {
            Some(rule) => write!(f, " where {} is {}", rule.at, rule.value),
            None => Ok(()),
        }
    }
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::EveryCall => f.write_str("the tool asks before every call"),
            Self::Untrusted => f.write_str(
                "this conversation has read text by strangers, and the tool can act on the outside",
            ),
            Self::Rule(rule) => write!(f, "a rule of the organization says: {rule}"),
        }
    }
}

#[cfg(test)]
mod tests;
