//! Admission: the only way to a value that the executor accepts.
//!
//! The gates are asked anew about the one called tool, with circumstances read at the moment of the call, and again
//! after a person has agreed.

use std::sync::Arc;

use serde_json::Value;

use super::Offering;
use super::approval::{self, ApprovalVerdict, Why};
use super::gate::{self, Subject};
use crate::caller::Caller;
use crate::executor::arguments::{Arguments, BadArguments};
use crate::executor::sensitive::Sensitive;
use crate::message::ToolCall;
use crate::policy::{Circumstances, OutboundRestriction, SettingsState};
use crate::registry::RegisteredTool;
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
    /// The conversation's outbound restriction, as read at admission.
    pub outbound: OutboundRestriction,
    /// The arguments, read and repaired, or why they do not fit.
    pub(crate) arguments: Result<Arguments, BadArguments>,
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

/// What became of a call that the model made.
#[derive(Debug)]
pub enum Admission {
    /// It may run.
    Admitted(Admitted<AdmittedCall>),
    /// It must not run; the model reads why.
    Refused(Refusal),
    /// It waits for a person.
    Held(HeldCall),
}

/// A call that a person has to agree to.
#[derive(Debug)]
pub struct HeldCall {
    /// The call.
    pub call: ToolCall,
    /// The arguments exactly as the tool will get them.
    pub arguments: Value,
    /// Why it is held.
    pub why: Why,
}

/// A call that passed every gate, with what approval says of it so far.
#[derive(Debug)]
pub struct Proposal {
    call: AdmittedCall,
    verdict: ApprovalVerdict,
}

impl Proposal {
    /// The tool and the arguments that a second opinion judges; `None` when the arguments do not fit the tool, so that
    /// nothing will run.
    pub fn subject(&self) -> Option<(&RegisteredTool, &Value)> {
        self.call.arguments.as_ref().ok().map(|arguments| (&*self.call.tool, &arguments.given))
    }

    /// The same with a further verdict, which counts where it is stricter.
    #[must_use]
    pub fn tightened_by(mut self, verdict: ApprovalVerdict) -> Self {
        self.verdict = self.verdict.max(verdict);
        self
    }

    /// The same after a person has agreed: what asks is answered, what denies still does.
    #[must_use]
    pub fn agreed(mut self) -> Self {
        if matches!(self.verdict, ApprovalVerdict::Ask(_)) {
            self.verdict = ApprovalVerdict::Allow;
        }
        self
    }

    /// What becomes of the call.
    pub fn decide(self) -> Admission {
        let name = &self.call.call.name;
        match (self.verdict, &self.call.arguments) {
            (ApprovalVerdict::Allow, _) | (_, Err(_)) => Admission::Admitted(Admitted { value: self.call }),
            (ApprovalVerdict::Deny(why), Ok(_)) => Admission::Refused(Refusal {
                for_model: format!(
                    "The tool {name:?} may not be called like this: {why}. Do not try to reach the same in another \
                     way; tell the user what you wanted to do."
                ),
                code: Some("denied_by_rule"),
            }),
            (ApprovalVerdict::Ask(why), Ok(arguments)) => {
                let arguments = arguments.given.clone();
                Admission::Held(HeldCall { call: self.call.call, arguments, why })
            }
        }
    }
}

impl HeldCall {
    /// What the model reads where nobody can be asked.
    pub fn refused(&self) -> Refusal {
        let for_model = format!(
            "The tool {:?} needs the approval of a person for this call ({}), and nobody can be asked here. Tell the \
             user what you wanted to do.",
            self.call.name, self.why
        );
        Refusal { for_model, code: Some("requires_approval") }
    }
}

impl Offering {
    /// Admits one call, holds it for a person, or refuses it: [`Self::propose`] without a second opinion.
    pub fn admit(&self, call: ToolCall, now: &Circumstances) -> Admission {
        self.propose(call, now).map_or_else(Admission::Refused, Proposal::decide)
    }

    /// Admits a call that a person has agreed to, by every gate and rule as they are now.
    ///
    /// # Errors
    /// A gate withholds the tool by now, or a rule denies the call.
    pub fn admit_agreed(
        &self,
        call: ToolCall,
        now: &Circumstances,
    ) -> Result<Admitted<AdmittedCall>, Refusal> {
        match self.propose(call, now)?.agreed().decide() {
            Admission::Admitted(admitted) => Ok(admitted),
            Admission::Refused(refusal) => Err(refusal),
            Admission::Held(held) => Err(held.refused()),
        }
    }

    /// Asks every gate anew about one call and reads its arguments. Nothing runs by this.
    ///
    /// # Errors
    /// The tool was not offered in this run, or a gate withholds it by now.
    pub fn propose(&self, call: ToolCall, now: &Circumstances) -> Result<Proposal, Refusal> {
        let Some(tool) = self.offered_by_name(&call.name) else {
            return Err(Refusal { for_model: self.not_offered(&call.name), code: None });
        };
        let mut request = self.request.clone();
        request.outbound = request.outbound.max(now.labels.outbound);
        let subject =
            Subject { tool, caller: &now.caller, request: &request, policy: &now.policy, model: &self.model };
        if let Some((_, reason)) = gate::reasons(&subject).next() {
            let for_model = format!(
                "The tool {:?} is not available now: {reason}. Go on without it, and tell the user what is missing.",
                call.name
            );
            return Err(Refusal { for_model, code: Some(reason.code()) });
        }
        let Some(implementation) = tool.implementation.clone() else {
            return Err(Refusal { for_model: self.not_offered(&call.name), code: Some("no_implementation") });
        };
        let settings = match now.policy.settings.get(tool.id()) {
            Some(SettingsState::Ready(settings)) => Arc::clone(settings),
            Some(SettingsState::NotConfigured(_)) | None => Arc::default(),
        };
        let sensitive = Sensitive::of(tool);
        let arguments = tool.arguments.read(&call.arguments, &|name| sensitive.contains(name));
        let verdict = match &arguments {
            Ok(arguments) => approval::judge(tool, &arguments.given, now),
            Err(_) => ApprovalVerdict::Allow,
        };
        let call = AdmittedCall {
            call,
            tool: Arc::clone(tool),
            implementation,
            settings,
            caller: Arc::clone(&now.caller),
            outbound: request.outbound,
            arguments,
        };
        Ok(Proposal { call, verdict })
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
        format!(
            "There is no tool named {name:?}. Available tools: {listed}{more}.{hint} Use one of them, or tell the user \
             what cannot be done here."
        )
    }
}
