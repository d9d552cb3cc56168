//! Says for each tool and each gate whether it passes, and if not why and who can change it.

use super::Offering;
use super::gate::GATES;
use super::reason::Reason;
use crate::registry::RegisteredTool;

/// Everything about one tool in one offering.
pub struct Explanation<'a> {
    /// The tool.
    pub tool: &'a RegisteredTool,
    /// Whether it is offered.
    pub offered: bool,
    /// The verdict of every gate, in order.
    pub verdicts: Vec<GateVerdict<'a>>,
}

/// What one gate says about one tool.
pub struct GateVerdict<'a> {
    /// The gate's name.
    pub gate: &'static str,
    /// What the gate asks for.
    pub passes_when: &'static str,
    /// Why the tool is withheld; `None` when it passes.
    pub reason: Option<&'a Reason>,
}

impl Explanation<'_> {
    /// The first reason in the order of the gates.
    pub fn headline(&self) -> Option<&Reason> {
        self.verdicts.iter().find_map(|verdict| verdict.reason)
    }
}

impl Offering {
    /// The explanation of every tool of the catalog, by id.
    pub fn explain(&self) -> impl Iterator<Item = Explanation<'_>> {
        let tools = self.catalog.tools().iter().enumerate();
        tools.map(|(index, tool)| {
            let reasons = self.withheld.of(index);
            let verdicts = GATES.iter().enumerate().map(|(position, gate)| GateVerdict {
                gate: gate.name,
                passes_when: gate.passes_when,
                reason: reasons.iter().find(|(at, _)| *at == position).map(|(_, reason)| reason),
            });
            Explanation { tool, offered: reasons.is_empty(), verdicts: verdicts.collect() }
        })
    }
}
