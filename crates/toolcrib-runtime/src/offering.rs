//! Which tools a model may call in one run, and for every tool why or why not.
//!
//! [`offer`] is pure and total: it asks every gate about every tool and keeps every verdict. Nothing is offered, and
//! nothing admitted, that a gate withholds; no component skips a gate.

use std::collections::HashSet;
use std::fmt::Write as _;
use std::sync::Arc;

use crate::caller::Caller;
use crate::executor::frame::FRAME_RULE;
use crate::message::Message;
use crate::model::{ModelCapabilities, ModelIdentity, ToolSpec};
use crate::policy::{Circumstances, OutboundRestriction, Policy};
use crate::registry::{Catalog, RegisteredTool};

mod admit;
pub mod approval;
mod explain;
mod gate;
mod gates;
mod reason;
#[cfg(test)]
mod tests;

pub use admit::{Admission, Admitted, AdmittedCall, HeldCall, Proposal, Refusal};
pub use explain::{Explanation, GateVerdict};
pub use gate::GATES;
use gate::Subject;
pub use reason::{Reason, Who};

/// What the request says about tools.
#[derive(Debug, Clone, Default)]
pub struct OfferRequest {
    /// Which tools were chosen.
    pub selection: Selection,
    /// The conversation leaves nothing behind.
    pub temporary: bool,
    /// The names of tools that the client declared itself.
    pub client_tools: HashSet<String>,
    /// How far the conversation's outgoing data is restricted.
    pub outbound: OutboundRestriction,
}

/// Which tools were chosen.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Selection {
    /// What the component has on by default.
    #[default]
    Default,
    /// No tool.
    Nothing,
    /// These tools, by id.
    Only(HashSet<String>),
}

/// The model that will be asked.
#[derive(Debug, Clone)]
pub struct ModelStanding {
    /// Which model, and how far its provider is trusted.
    pub identity: ModelIdentity,
    /// What it can do.
    pub capabilities: ModelCapabilities,
}

/// The tools of one run with every verdict. It does not change while the run lasts.
pub struct Offering {
    catalog: Arc<Catalog>,
    /// What the gates were asked by: the reasons are told from it when somebody wants to know.
    caller: Arc<Caller>,
    policy: Arc<Policy>,
    request: OfferRequest,
    model: ModelStanding,
    /// The verdicts over each tool, by its position in the catalog.
    withheld: Vec<gate::Withheld>,
    specs: Arc<[Arc<ToolSpec>]>,
}

/// Decides which tools a model may call.
pub fn offer(
    catalog: &Arc<Catalog>,
    caller: &Arc<Caller>,
    request: OfferRequest,
    policy: &Arc<Policy>,
    model: ModelStanding,
) -> Offering {
    let tools = catalog.tools();
    let mut withheld = Vec::with_capacity(tools.len());
    let mut specs = Vec::with_capacity(tools.len());
    for tool in tools {
        let verdicts = gate::verdicts(&Subject { tool, caller, request: &request, policy, model: &model });
        if verdicts.is_offered() {
            specs.push(Arc::clone(&tool.spec));
        }
        withheld.push(verdicts);
    }
    let (catalog, caller, policy) = (Arc::clone(catalog), Arc::clone(caller), Arc::clone(policy));
    Offering { catalog, caller, policy, request, model, withheld, specs: specs.into() }
}

impl Offering {
    /// The offered tools as a model sees them, by id.
    pub fn specs(&self) -> &Arc<[Arc<ToolSpec>]> {
        &self.specs
    }

    /// The offered tools, by id.
    pub fn offered(&self) -> impl Iterator<Item = &Arc<RegisteredTool>> {
        let tools = self.catalog.tools().iter().zip(&self.withheld);
        tools.filter(|(_, verdicts)| verdicts.is_offered()).map(|(tool, _)| tool)
    }

    /// The offered tool whose function has this name.
    pub fn offered_by_name(&self, name: &str) -> Option<&Arc<RegisteredTool>> {
        let index = self.catalog.index_by_function_name(name)?;
        self.catalog
            .tools()
            .get(index)
            .filter(|_| self.withheld.get(index).is_some_and(|one| one.is_offered()))
    }

    /// The tool whose function has this name, offered or not.
    pub fn known_by_name(&self, name: &str) -> Option<&Arc<RegisteredTool>> {
        self.catalog.by_function_name(name)
    }

    /// Whether the client declared a tool of this name itself.
    pub fn is_client_tool(&self, name: &str) -> bool {
        self.request.client_tools.contains(name)
    }

    /// Whether the conversation leaves nothing behind.
    pub fn is_temporary(&self) -> bool {
        self.request.temporary
    }

    /// Whether context that belongs to a tool may be gathered: every gate lets the tool through by now, but for the
    /// model's ability to call functions.
    pub(crate) fn lets_context_through(&self, tool_id: &str, now: &Circumstances) -> bool {
        let Some(tool) = self.catalog.by_id(tool_id) else { return false };
        let mut request = self.request.clone();
        request.outbound = request.outbound.max(now.labels.outbound);
        let (caller, policy) = (&now.caller, &now.policy);
        let subject = Subject { tool, caller, request: &request, policy, model: &self.model };
        gate::reasons(&subject).all(|(_, reason)| matches!(reason, Reason::Model { .. }))
    }

    /// What the gates looked at when they were asked about a tool.
    fn subject<'a>(&'a self, tool: &'a RegisteredTool) -> Subject<'a> {
        Subject {
            tool,
            caller: &self.caller,
            request: &self.request,
            policy: &self.policy,
            model: &self.model,
        }
    }

    /// The model that the offering was made for.
    pub fn model(&self) -> &ModelStanding {
        &self.model
    }

    /// The policy texts of the offered tools, for the system prompt; `None` when there are none.
    pub fn instructions(&self, answering: Option<&Message>) -> Option<String> {
        let mut text = String::new();
        for tool in self.offered() {
            let own = tool
                .implementation
                .as_ref()
                .and_then(|implementation| implementation.instructions(answering));
            let parts = [tool.definition.system_prompt_instructions.as_deref(), own.as_deref()];
            let parts: Vec<_> =
                parts.into_iter().flatten().map(str::trim).filter(|part| !part.is_empty()).collect();
            if !parts.is_empty() {
                let _ = write!(text, "\n\n## {}\n{}", tool.definition.function.name, parts.join("\n"));
            }
        }
        if self.offered().any(|tool| tool.definition.returns_untrusted_content) {
            let _ = write!(text, "\n\n## Text by strangers\n{FRAME_RULE}");
        }
        (!text.is_empty()).then(|| format!("# Tool policies{text}"))
    }
}
