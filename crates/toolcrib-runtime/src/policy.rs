//! What the installation allows: switches, minimum confidence, defaults and settings of tools, as one snapshot.
//!
//! A snapshot is computed when configuration changes, never per request.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use async_trait::async_trait;

use crate::caller::Caller;
use crate::confidence::Confidence;
use crate::tool::{SettingProblem, Settings};

/// The installation's rules at one moment.
#[derive(Debug, Clone, Default)]
pub struct Policy {
    /// Components in which tools are switched off altogether; `*` stands for all.
    pub tools_off: HashSet<String>,
    /// Tools that the organization disabled, by id.
    pub disabled: HashSet<String>,
    /// Minimum confidence by tool id, set by the organization or an administrator.
    pub minimum_confidence: HashMap<String, Confidence>,
    /// Tools on by default, by component; a component without an entry has every tool on.
    pub default_tools: HashMap<String, HashSet<String>>,
    /// The settings of each tool that has any, or why it is not configured; a tool without an entry needs none.
    pub settings: HashMap<String, SettingsState>,
}

/// Whether a tool's settings are complete and valid.
#[derive(Debug, Clone)]
pub enum SettingsState {
    /// Usable.
    Ready(Arc<Settings>),
    /// The tool is withheld.
    NotConfigured(Arc<[SettingProblem]>),
}

/// How far outgoing data is restricted in a conversation. It only tightens.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum OutboundRestriction {
    /// Everything that policy allows.
    #[default]
    Unrestricted,
    /// Only URLs that stand in the chat may be fetched.
    LinksFromChat,
    /// No URL that the model chose may be fetched.
    ConfiguredServices,
}

impl OutboundRestriction {
    /// The name in configuration and explanations.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Unrestricted => "unrestricted",
            Self::LinksFromChat => "links_from_chat",
            Self::ConfiguredServices => "configured_services",
        }
    }
}

/// What admission judges by: read anew before every call.
#[derive(Debug, Clone)]
pub struct Circumstances {
    /// The caller with plan, preferences and credits as they are now.
    pub caller: Arc<Caller>,
    /// The installation's rules as they are now.
    pub policy: Arc<Policy>,
    /// The conversation's outbound restriction as it is now.
    pub outbound: OutboundRestriction,
    /// The run has read content by people whom the user does not know.
    pub untrusted_seen: bool,
}

/// Reads the circumstances of a run at the moment of the question.
#[async_trait]
pub trait CircumstancesReader: Send + Sync {
    /// What holds now. An error means that nothing may be admitted.
    async fn read(&self) -> Result<Circumstances, CircumstancesError>;
}

/// The circumstances could not be read.
#[derive(Debug, thiserror::Error)]
#[error("reading the caller's circumstances: {0}")]
pub struct CircumstancesError(pub String);

/// Circumstances that never change, for runs whose caller is not stored anywhere.
#[async_trait]
impl CircumstancesReader for Circumstances {
    async fn read(&self) -> Result<Circumstances, CircumstancesError> {
        Ok(self.clone())
    }
}
