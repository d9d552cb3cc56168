//! The settings of `read_web_page`, and what may be fetched as follows from them and from the conversation.
//!
//! A URL that the conversation does not know is fetched only where an administrator said `any` and the conversation
//! restricts nothing.
//! Private hosts can be read only when an administrator listed them and the provider that will see the page is of
//! HIGH confidence or listed as trusted.

use std::time::Duration;

use toolcrib_egress::{HostList, HostListProblem, Policy};
use toolcrib_runtime::confidence::Confidence;
use toolcrib_runtime::policy::OutboundRestriction;
use toolcrib_runtime::tool::{SettingProblem, Settings, ToolContext, ToolError};

const TIME: &str = "timeoutSeconds";
const CHARACTERS: &str = "maxContentCharacters";
const HOSTS: &str = "allowedPrivateHosts";
const ADDRESSES: &str = "addressPolicy";

/// The address policy that leaves every URL to the model.
const ANY_ADDRESS: &str = "any";

const DEFAULT_SECONDS: u64 = 60;
const DEFAULT_CHARACTERS: u64 = 30_000;

/// What one call goes by.
pub(super) struct PageSettings {
    pub(super) time: Duration,
    pub(super) content_characters: usize,
    pub(super) policy: Policy,
}

/// What is wrong with the settings beyond their types: each invalid entry of the list.
pub(super) fn problems(settings: &Settings) -> Vec<SettingProblem> {
    match hosts(settings) {
        Ok(_) => Vec::new(),
        Err(problems) => {
            problems.iter().map(|problem| SettingProblem::field(HOSTS, problem.to_string())).collect()
        }
    }
}

fn hosts(settings: &Settings) -> Result<HostList, Vec<HostListProblem>> {
    settings.text(HOSTS).map_or_else(|| Ok(HostList::default()), HostList::parse)
}

impl PageSettings {
    /// The settings of this call.
    pub(super) fn read(context: &ToolContext) -> Result<Self, ToolError> {
        let settings = &context.settings;
        let hosts = hosts(settings).map_err(|problems| ToolError::Failed {
            for_model:
                "reading web pages is not configured correctly: tell the user that an administrator has to \
                        check the settings of this tool"
                    .to_owned(),
            for_operator: format!("{HOSTS} has {} invalid entries", problems.len()),
            retryable: false,
            cost: 0,
        })?;
        let may_read_private = context.confidence == Confidence::High || context.provider_trusted;
        let policy = if hosts.is_empty() || !may_read_private {
            Policy::Public
        } else {
            Policy::PublicAndHosts(hosts)
        };
        let characters = settings.unsigned(CHARACTERS).unwrap_or(DEFAULT_CHARACTERS);
        Ok(Self {
            time: Duration::from_secs(settings.unsigned(TIME).unwrap_or(DEFAULT_SECONDS)),
            content_characters: usize::try_from(characters).unwrap_or(usize::MAX),
            policy,
        })
    }
}

/// Refuses a URL that this conversation may not open. The text repeats nothing of the URL.
pub(super) fn check_provenance(url: &str, context: &ToolContext) -> Result<(), ToolError> {
    let known_only = context.settings.text(ADDRESSES) != Some(ANY_ADDRESS);
    match context.outbound {
        OutboundRestriction::ConfiguredServices => Err(ToolError::blocked(
            "This conversation opens no URLs, it only uses the services that are configured. Answer with what you \
             have, and tell the user that the page was not read.",
        )),
        OutboundRestriction::Unrestricted if !known_only => Ok(()),
        OutboundRestriction::Unrestricted | OutboundRestriction::LinksFromChat => {
            if context.links.contain(url) {
                return Ok(());
            }
            Err(ToolError::blocked(
                "This URL was not opened, because it does not stand in this conversation. Use a URL exactly as it \
                 stands in the user's messages, in a search result or in a page that was read before; do not change, \
                 complete or guess it. If there is none, ask the user for the link.",
            ))
        }
    }
}
