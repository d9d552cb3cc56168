//! `[policy]`: what the installation allows.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use serde::Deserialize;
use toolcrib_runtime::caller::Components;
use toolcrib_runtime::confidence::{Confidence, ConfidenceScheme};
use toolcrib_runtime::offering::approval::{
    AfterUntrusted, ApprovalPolicy, ApprovalRule, ArgumentRule, Pattern, PointerPattern, RuleAnswer,
};
use toolcrib_runtime::policy::OutboundRestriction;

use super::ConfigError;

/// What the installation allows.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct PolicySection {
    /// Components in which tools are switched off; `*` stands for all.
    pub tools_off: BTreeSet<String>,
    /// Tools that nobody may use, by id.
    pub disabled_tools: BTreeSet<String>,
    /// Minimum provider confidence by tool id, for example `HIGH`.
    pub minimum_confidence: BTreeMap<String, String>,
    /// Tools on by default, by component.
    pub default_tools: BTreeMap<String, BTreeSet<String>>,
    /// How providers without a level of their own are trusted.
    pub confidence_scheme: Option<String>,
    /// How far conversations restrict outgoing data at least: `unrestricted`, `links_from_chat` or
    /// `configured_services`.
    pub outbound: Option<String>,
    /// Models may make several calls in one round. Without it a request says that they must not.
    pub parallel_tool_calls: bool,
    /// When a person has to agree to a call, beyond what the tools themselves ask.
    pub approval: Vec<ApprovalSection>,
    /// What a conversation that has read text by strangers may do with tools that act: `ask`, `refuse` or `allow`.
    pub after_untrusted: Option<String>,
}

/// One rule about calls, in `[[policy.approval]]`. Deny goes before ask, and ask before allow.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ApprovalSection {
    /// Tools by id or function name; `*` and `?` stand for any characters.
    pub tools: String,
    /// Where in the arguments the rule looks, as a JSON pointer in which `*` stands for every step.
    pub argument: Option<String>,
    /// What the value there has to be; `*` and `?` stand for any characters.
    pub value: Option<String>,
    /// `allow`, `ask` or `deny`.
    pub answer: String,
}

impl PolicySection {
    /// The scheme, `trust_all` when none is named.
    pub fn scheme(&self) -> ConfidenceScheme {
        self.confidence_scheme.as_deref().and_then(ConfidenceScheme::parse).unwrap_or_default()
    }

    /// Minimum confidence by tool id. A value that is no level counts as HIGH, the safe side, and is logged.
    pub fn minimums(&self) -> HashMap<String, Confidence> {
        let levels = self.minimum_confidence.iter().map(|(tool, name)| {
            let level = Confidence::parse(name).unwrap_or_else(|| {
                tracing::error!(
                    tool,
                    value = name,
                    "not a confidence level; the tool needs HIGH until it is mended"
                );
                Confidence::High
            });
            (tool.clone(), level)
        });
        levels.collect()
    }

    /// Checks the names of components, once it is known which there are: assistants are files of their own.
    ///
    /// # Errors
    /// The first name that no component has, with those that there are and the nearest.
    pub fn check_components(&self, components: &Components) -> Result<(), ConfigError> {
        let off = self.tools_off.iter().filter(|id| *id != "*").map(|id| ("policy.tools_off", id));
        let defaults = self.default_tools.keys().map(|id| ("policy.default_tools", id));
        for (place, id) in off.chain(defaults) {
            if let Err(unknown) = components.parse(id) {
                return Err(ConfigError::Value { place: place.to_owned(), message: unknown.to_string() });
            }
        }
        Ok(())
    }

    /// How far every conversation restricts outgoing data at least.
    pub fn outbound(&self) -> OutboundRestriction {
        self.outbound.as_deref().and_then(OutboundRestriction::parse).unwrap_or_default()
    }

    /// When a person has to agree to a call.
    pub fn approval_policy(&self) -> ApprovalPolicy {
        let after = self.after_untrusted.as_deref().unwrap_or_default();
        let after = AfterUntrusted::NAMES.into_iter().find(|(name, _)| *name == after);
        ApprovalPolicy {
            rules: self.approval.iter().filter_map(|section| section.rule().ok()).collect(),
            after_untrusted: after.map_or_else(AfterUntrusted::default, |(_, after)| after),
        }
    }

    fn validate_approval(&self) -> Result<(), ConfigError> {
        for (index, section) in self.approval.iter().enumerate() {
            section.rule().map_err(|(key, message)| ConfigError::Value {
                place: format!("policy.approval[{index}].{key}"),
                message,
            })?;
        }
        known(
            "policy.after_untrusted",
            self.after_untrusted.as_deref(),
            &AfterUntrusted::NAMES.map(|(name, _)| name),
        )?;
        known("policy.outbound", self.outbound.as_deref(), &OutboundRestriction::NAMES.map(|(name, _)| name))
    }

    pub(super) fn validate(&self) -> Result<(), ConfigError> {
        self.validate_approval()?;
        if let Some(name) = &self.confidence_scheme
            && ConfidenceScheme::parse(name).is_none()
        {
            let known: Vec<_> = ConfidenceScheme::NAMES.iter().map(|(name, _)| *name).collect();
            return Err(ConfigError::Value {
                place: "policy.confidence_scheme".to_owned(),
                message: format!("{name:?} is no scheme; known: {}", known.join(", ")),
            });
        }
        Ok(())
    }
}

impl ApprovalSection {
    /// The rule, or which key is wrong and what is allowed there.
    fn rule(&self) -> Result<ApprovalRule, (&'static str, String)> {
        if self.tools.is_empty() {
            return Err(("tools", "required: a tool's id or a pattern such as `files_*`".to_owned()));
        }
        let answer = RuleAnswer::parse(&self.answer).map_err(|nearest| {
            let hint = nearest.map(|nearest| format!("; did you mean `{nearest}`?")).unwrap_or_default();
            ("answer", format!("{:?} is no answer; allow, ask and deny are{hint}", self.answer))
        })?;
        let argument = match (&self.argument, &self.value) {
            (None, None) => None,
            (Some(at), Some(value)) => {
                let at = PointerPattern::new(at.as_str())
                    .ok_or_else(|| ("argument", format!("{at:?} is no JSON pointer; `/to/*` is one")))?;
                Some(ArgumentRule { at, value: Pattern::new(value.as_str()) })
            }
            (Some(_), None) => {
                return Err(("value", "required beside `argument`; `*` is any value".to_owned()));
            }
            (None, Some(_)) => {
                return Err(("argument", "required beside `value`, for example `/url`".to_owned()));
            }
        };
        Ok(ApprovalRule { tools: Pattern::new(self.tools.as_str()), argument, answer })
    }
}

fn known(place: &str, found: Option<&str>, names: &[&str]) -> Result<(), ConfigError> {
    let Some(found) = found.filter(|found| !names.contains(found)) else { return Ok(()) };
    let near = toolcrib_runtime::nearest::nearest(found, names.iter().copied());
    let hint = near.map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
    Err(ConfigError::Value {
        place: place.to_owned(),
        message: format!("{found:?} is not known here; there are {}{hint}", names.join(", ")),
    })
}
