//! Admission: the only way to a value that the executor accepts.
//!
//! The gates are asked anew about the one called tool, with circumstances read at the moment of the call.

use std::sync::Arc;

use super::Offering;
use super::gate::{self, Subject};
use crate::caller::Caller;
use crate::message::ToolCall;
use crate::policy::{Circumstances, SettingsState};
use crate::registry::RegisteredTool;
use crate::tool::definition::Approval;
use crate::tool::{Settings, Tool};

/// Names that a refusal lists.
const LISTED_NAMES: usize = 30;
/// Characters that a refusal repeats of a name that does not exist.
const LISTED_CHARACTERS: usize = 100;

/// Proof that a value passed admission. Only this module can make one.
#[derive(Debug)]
pub struct Admitted<T> {
    value: T,
}

/// A call with everything that it may run with.
pub struct AdmittedCall {
    /// The call.
    pub call: ToolCall,
    /// The tool.
    pub tool: Arc<RegisteredTool>,
    /// The code behind it.
    pub implementation: Arc<dyn Tool>,
    /// Its settings, as read at admission.
    pub settings: Arc<Settings>,
    /// The caller, as read at admission.
    pub caller: Arc<Caller>,
}

/// Why a call was not admitted, in words for the model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// The text that the model reads as the call's result.
    pub for_model: String,
    /// The headline reason code; `None` when no offered tool has the name.
    pub code: Option<&'static str>,
}

impl std::fmt::Debug for AdmittedCall {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("AdmittedCall")
            .field("tool", &self.tool.id())
            .field("call_id", &self.call.id)
            .finish_non_exhaustive()
    }
}

impl<T> Admitted<T> {
    /// The admitted value.
    pub fn into_inner(self) -> T {
        self.value
    }

    /// The admitted value.
    pub fn get(&self) -> &T {
        &self.value
    }
}

/// A call that a person has to agree to is refused where nobody can be asked.
fn needs_approval(approval: Approval, now: &Circumstances) -> bool {
    match approval {
        Approval::Never => false,
        Approval::Always => true,
        Approval::AfterUntrusted => now.untrusted_seen,
    }
}

impl Offering {
    /// Admits one call, or refuses it.
    ///
    /// # Errors
    /// The tool was not offered in this run, or a gate withholds it by now.
    pub fn admit(&self, call: ToolCall, now: &Circumstances) -> Result<Admitted<AdmittedCall>, Refusal> {
        let Some(tool) = self.offered_by_name(&call.name) else {
            return Err(Refusal { for_model: self.not_offered(&call.name), code: None });
        };
        let mut request = self.request.clone();
        request.outbound = request.outbound.max(now.outbound);
        let subject =
            Subject { tool, caller: &now.caller, request: &request, policy: &now.policy, model: &self.model };
        if let Some((_, reason)) = gate::judge(&subject).into_iter().next() {
            let for_model = format!("The tool {:?} is not available now: {reason}.", call.name);
            return Err(Refusal { for_model, code: Some(reason.code()) });
        }
        if needs_approval(tool.definition.approval, now) {
            let for_model = format!(
                "The tool {:?} needs the approval of a person for this call, and nobody can be asked here. Tell the \
                 user what you wanted to do.",
                call.name
            );
            return Err(Refusal { for_model, code: Some("requires_approval") });
        }
        let Some(implementation) = tool.implementation.clone() else {
            return Err(Refusal { for_model: self.not_offered(&call.name), code: Some("no_implementation") });
        };
        let settings = match now.policy.settings.get(tool.id()) {
            Some(SettingsState::Ready(settings)) => Arc::clone(settings),
            Some(SettingsState::NotConfigured(_)) | None => Arc::default(),
        };
        let value = AdmittedCall {
            call,
            tool: Arc::clone(tool),
            implementation,
            settings,
            caller: Arc::clone(&now.caller),
        };
        Ok(Admitted { value })
    }

    /// What a model reads that called a tool which it was not offered.
    fn not_offered(&self, name: &str) -> String {
        let names: Vec<_> = self.offered().map(|tool| tool.definition.function.name.as_str()).collect();
        if names.is_empty() {
            return format!(
                "There is no tool named {name:?}, and no tools are available here. Answer without tools."
            );
        }
        let near = crate::nearest::nearest(name, names.iter().copied());
        let hint = near.map(|near| format!(" Did you mean {near:?}?")).unwrap_or_default();
        let listed = names.iter().take(LISTED_NAMES).copied().collect::<Vec<_>>().join(", ");
        let more = names.len().saturating_sub(LISTED_NAMES);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let name: String = name.chars().take(LISTED_CHARACTERS).collect();
        format!("There is no tool named {name:?}. Available tools: {listed}{more}.{hint}")
    }
}
