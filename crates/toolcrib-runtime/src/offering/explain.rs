//! Says for each tool and each gate whether it passes, and if not why and who can change it.

use super::Offering;
use super::gate::{self, GATES};
use super::reason::Reason;
use crate::registry::RegisteredTool;

/// Everything about one tool in one offering.
pub struct Explanation<'a> {
    /// The tool.
    pub tool: &'a RegisteredTool,
    /// Whether it is offered.
    pub offered: bool,
    /// The verdict of every gate, in order.
    pub verdicts: Vec<GateVerdict>,
}

/// What one gate says about one tool.
pub struct GateVerdict {
    /// The gate's name.
    pub gate: &'static str,
    /// What the gate asks for.
    pub passes_when: &'static str,
    /// Why the tool is withheld; `None` when it passes.
    pub reason: Option<Reason>,
}

impl Explanation<'_> {
    /// The first reason in the order of the gates.
    pub fn headline(&self) -> Option<&Reason> {
        self.verdicts.iter().find_map(|verdict| verdict.reason.as_ref())
    }
}

impl Offering {
    /// The explanation of every tool of the catalog, by id.
    pub fn explain(&self) -> impl Iterator<Item = Explanation<'_>> {
        self.catalog.tools().iter().map(|tool| {
            let subject = self.subject(tool);
            let mut reasons = gate::reasons(&subject).peekable();
            let offered = reasons.peek().is_none();
            let verdicts = GATES.iter().enumerate().map(|(position, gate)| GateVerdict {
                gate: gate.name,
                passes_when: gate.passes_when,
                reason: reasons.next_if(|(at, _)| *at == position).map(|(_, reason)| reason),
            });
            Explanation { tool, offered, verdicts: verdicts.collect() }
        })
    }
}
