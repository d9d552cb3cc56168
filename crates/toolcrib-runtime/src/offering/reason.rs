//! Why a gate withholds a tool: the code, the words, what is needed, and who can change it.

use std::fmt;
use std::sync::Arc;

use crate::caller::{Component, credits};
use crate::confidence::Confidence;
use crate::policy::OutboundRestriction;
use crate::tool::SettingProblem;

/// One reason why a tool is withheld.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reason {
    /// Tools are switched off for the installation or the component.
    ToolsOff {
        /// The component.
        component: Component,
    },
    /// Nothing is registered under the definition's implementation key.
    NoImplementation {
        /// The key.
        key: String,
    },
    /// The definition does not admit the component.
    Component {
        /// The component.
        component: Component,
    },
    /// The organization disabled the tool.
    DisabledByOrganization,
    /// The implementation says that it cannot run.
    NotEnabled,
    /// Settings are missing or wrong.
    NotConfigured {
        /// What is wrong.
        problems: Arc<[SettingProblem]>,
    },
    /// The tool keeps things, and the conversation is temporary.
    TemporaryChat,
    /// The plan does not grant the capability.
    Plan {
        /// The capability.
        capability: String,
    },
    /// The user switched the capability off.
    Preference {
        /// The capability.
        capability: String,
    },
    /// The tool was not chosen.
    NotSelected,
    /// The model cannot call functions.
    Model {
        /// The model.
        model: String,
    },
    /// The provider is not trusted enough.
    Confidence {
        /// The provider's level.
        has: Confidence,
        /// The tool's minimum.
        needs: Confidence,
    },
    /// The conversation restricts outgoing data.
    Outbound {
        /// The restriction.
        restriction: OutboundRestriction,
    },
    /// The workspace does not have the tool's maximum cost.
    OutOfCredits {
        /// What can be held, in millionths.
        free: i64,
        /// What the call can cost, in millionths.
        needs: i64,
    },
    /// The workspace has the cost, but running work holds it.
    HeldByRunningWork {
        /// What is held, in millionths.
        held: i64,
        /// What the call can cost, in millionths.
        needs: i64,
    },
    /// The client declared a tool of this name.
    NameTakenByClient {
        /// The name.
        name: String,
    },
}

/// Who can change that a tool is withheld.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Who {
    /// The user, in this request or in the preferences.
    User,
    /// An administrator of the installation.
    Administrator,
    /// The organization, through managed configuration.
    Organization,
    /// The author of the tool or of the client program.
    Developer,
}

impl Reason {
    /// The reason code that programs see.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::ToolsOff { .. } => "tools_off",
            Self::NoImplementation { .. } => "no_implementation",
            Self::Component { .. } => "component",
            Self::DisabledByOrganization => "disabled_by_organization",
            Self::NotEnabled => "not_enabled",
            Self::NotConfigured { .. } => "not_configured",
            Self::TemporaryChat => "temporary_chat",
            Self::Plan { .. } => "plan",
            Self::Preference { .. } => "preference",
            Self::NotSelected => "not_selected",
            Self::Model { .. } => "model",
            Self::Confidence { .. } => "confidence",
            Self::Outbound { .. } => "outbound",
            Self::OutOfCredits { .. } => "out_of_credits",
            Self::HeldByRunningWork { .. } => "held_by_running_work",
            Self::NameTakenByClient { .. } => "name_taken_by_client",
        }
    }

    /// What the caller has, where the gate asks for something else.
    pub fn has(&self) -> String {
        match self {
            Self::ToolsOff { component } => format!("tools switched off for {component}"),
            Self::NoImplementation { .. } => "a definition alone".to_owned(),
            Self::Component { component } => component.to_string(),
            Self::DisabledByOrganization => "a disabled tool".to_owned(),
            Self::NotEnabled => "an installation in which it cannot run".to_owned(),
            Self::NotConfigured { problems } => problem_list(problems),
            Self::TemporaryChat => "a temporary conversation".to_owned(),
            Self::Plan { capability } => format!("a plan without {capability}"),
            Self::Preference { capability } => format!("{capability} switched off"),
            Self::NotSelected => "a choice of tools without this one".to_owned(),
            Self::Model { model } => format!("{model}, which cannot call functions"),
            Self::Confidence { has, .. } => has.to_string(),
            Self::Outbound { restriction } => restriction.name().to_owned(),
            Self::OutOfCredits { free, .. } => format!("{} credits", credits(*free)),
            Self::HeldByRunningWork { held, .. } => {
                format!("{} credits, which running work holds", credits(*held))
            }
            Self::NameTakenByClient { name } => format!("a tool named {name:?} of the client's own"),
        }
    }

    /// What the caller would need for the gate to let the tool through.
    pub fn needs(&self) -> String {
        match self {
            Self::ToolsOff { component } => format!("tools switched on for {component}"),
            Self::NoImplementation { key } => format!("an implementation registered under {key:?}"),
            Self::Component { .. } => "a component that the definition admits".to_owned(),
            Self::DisabledByOrganization => "the tool taken off the list of disabled tools".to_owned(),
            Self::NotEnabled => "an installation that has what the implementation runs on".to_owned(),
            Self::NotConfigured { problems } => {
                let mut fields: Vec<_> =
                    problems.iter().filter_map(|problem| problem.field.as_deref()).collect();
                fields.dedup();
                if fields.is_empty() {
                    "complete and valid settings".to_owned()
                } else {
                    format!("valid values for {}", fields.join(", "))
                }
            }
            Self::TemporaryChat => "a conversation that is kept".to_owned(),
            Self::Plan { capability } => format!("a plan that grants {capability}"),
            Self::Preference { capability } => format!("{capability} switched on"),
            Self::NotSelected => "the tool chosen, or among the defaults".to_owned(),
            Self::Model { .. } => "a model that calls functions".to_owned(),
            Self::Confidence { needs, .. } => format!("{needs} or more"),
            Self::Outbound { .. } => {
                OutboundRestriction::LinksFromChat.name().to_owned() + " or less restriction"
            }
            Self::OutOfCredits { needs, .. } => format!("{} credits", credits(*needs)),
            Self::HeldByRunningWork { needs, .. } => {
                format!("{} credits that nothing holds", credits(*needs))
            }
            Self::NameTakenByClient { name } => format!("no tool named {name:?} of the client's own"),
        }
    }

    /// Who can change it.
    pub const fn who(&self) -> Who {
        match self {
            Self::TemporaryChat
            | Self::Preference { .. }
            | Self::NotSelected
            | Self::Model { .. }
            | Self::HeldByRunningWork { .. }
            | Self::Outbound { .. } => Who::User,
            Self::ToolsOff { .. }
            | Self::NotEnabled
            | Self::NotConfigured { .. }
            | Self::Plan { .. }
            | Self::Confidence { .. }
            | Self::OutOfCredits { .. } => Who::Administrator,
            Self::DisabledByOrganization => Who::Organization,
            Self::NoImplementation { .. } | Self::Component { .. } | Self::NameTakenByClient { .. } => {
                Who::Developer
            }
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ToolsOff { component } => write!(f, "tools are switched off for {component}"),
            Self::NoImplementation { key } => write!(f, "no implementation is registered under {key:?}"),
            Self::Component { component } => write!(f, "the tool is not meant for {component}"),
            Self::DisabledByOrganization => f.write_str("the organization has disabled the tool"),
            Self::NotEnabled => f.write_str("the tool cannot run in this installation"),
            Self::NotConfigured { problems } => {
                write!(f, "the tool is not configured: {}", problem_list(problems))
            }
            Self::TemporaryChat => f.write_str("the tool keeps things, and this conversation is temporary"),
            Self::Plan { capability } => write!(f, "the plan does not grant {capability}"),
            Self::Preference { capability } => {
                write!(f, "{capability} is switched off in the user's preferences")
            }
            Self::NotSelected => f.write_str("the tool was not selected"),
            Self::Model { model } => write!(f, "the model {model} cannot call functions"),
            Self::Confidence { has, needs } => {
                write!(f, "the provider's confidence is {has}, and the tool needs {needs}")
            }
            Self::Outbound { restriction } => match restriction {
                OutboundRestriction::ConfiguredServices => {
                    f.write_str("this conversation only uses configured services")
                }
                OutboundRestriction::LinksFromChat | OutboundRestriction::Unrestricted => {
                    f.write_str("this conversation only opens links from the chat")
                }
            },
            Self::OutOfCredits { free, needs } => {
                write!(f, "a call can cost {} credits, and {} are left", credits(*needs), credits(*free))
            }
            Self::HeldByRunningWork { held, needs } => {
                write!(
                    f,
                    "a call can cost {} credits, and running work holds {}",
                    credits(*needs),
                    credits(*held)
                )
            }
            Self::NameTakenByClient { name } => write!(f, "the client declared a tool named {name:?} itself"),
        }
    }
}

impl Who {
    /// The name in explanations.
    pub const fn name(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Administrator => "administrator",
            Self::Organization => "organization",
            Self::Developer => "developer",
        }
    }
}

fn problem_list(problems: &[SettingProblem]) -> String {
    let listed = problems
        .iter()
        .map(|problem| format!("{}: {}", problem.field.as_deref().unwrap_or("settings"), problem.message));
    listed.collect::<Vec<_>>().join("; ")
}
