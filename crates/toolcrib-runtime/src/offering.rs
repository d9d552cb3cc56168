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
    request: OfferRequest,
    model: ModelStanding,
    withheld: Withheld,
    specs: Arc<[Arc<ToolSpec>]>,
}

/// Why tools are withheld, by their position in the catalog.
///
/// The reasons of all tools stand in one list, and a tool knows where its own end: an offered tool takes no memory
/// beyond that, and nothing is allocated for it.
struct Withheld {
    /// Reasons with the position of their gate, tool after tool, each tool's in the order of the gates.
    reasons: Vec<(usize, Reason)>,
    /// Where the reasons of each tool end.
    ends: Vec<usize>,
}

/// Decides which tools a model may call.
pub fn offer(
    catalog: &Arc<Catalog>,
    caller: &Caller,
    request: OfferRequest,
    policy: &Policy,
    model: ModelStanding,
) -> Offering {
    let tools = catalog.tools();
    // Room for one reason each: a list that grows is copied, and costs more than asking the gates.
    let mut withheld =
        Withheld { reasons: Vec::with_capacity(tools.len()), ends: Vec::with_capacity(tools.len()) };
    let mut specs = Vec::with_capacity(tools.len());
    for tool in tools {
        let before = withheld.reasons.len();
        let subject = gate::Subject { tool, caller, request: &request, policy, model: &model };
        withheld.reasons.extend(gate::reasons(&subject));
        withheld.ends.push(withheld.reasons.len());
        if withheld.reasons.len() == before {
            specs.push(Arc::clone(&tool.spec));
        }
    }
    Offering { catalog: Arc::clone(catalog), request, model, withheld, specs: specs.into() }
}

impl Withheld {
    /// Why the tool at this position of the catalog is withheld; nothing when it is offered.
    fn of(&self, index: usize) -> &[(usize, Reason)] {
        let start = index.checked_sub(1).and_then(|before| self.ends.get(before)).copied().unwrap_or(0);
        let end = self.ends.get(index).copied().unwrap_or(start);
        self.reasons.get(start..end).unwrap_or_default()
    }
}

impl Offering {
    /// The offered tools as a model sees them, by id.
    pub fn specs(&self) -> &Arc<[Arc<ToolSpec>]> {
        &self.specs
    }

    /// The offered tools, by id.
    pub fn offered(&self) -> impl Iterator<Item = &Arc<RegisteredTool>> {
        let tools = self.catalog.tools().iter().enumerate();
        tools.filter(|(index, _)| self.withheld.of(*index).is_empty()).map(|(_, tool)| tool)
    }

    /// The offered tool whose function has this name.
    pub fn offered_by_name(&self, name: &str) -> Option<&Arc<RegisteredTool>> {
        let index = self.catalog.index_by_function_name(name)?;
        if self.withheld.of(index).is_empty() { self.catalog.tools().get(index) } else { None }
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
        let subject = gate::Subject { tool, caller, request: &request, policy, model: &self.model };
        gate::judge(&subject).iter().all(|(_, reason)| matches!(reason, Reason::Model { .. }))
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
