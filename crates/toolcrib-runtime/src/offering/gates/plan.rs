//! Does the plan, as it was sold, grant the capability?

use crate::offering::gate::{Gate, Subject};
use crate::offering::reason::Reason;

pub(in crate::offering) const GATE: Gate =
    Gate { name: "plan", passes_when: "the plan grants the capability", judge };

fn judge(subject: &Subject<'_>) -> Option<Reason> {
    let capability = &subject.tool.definition.capability;
    let granted = subject.caller.grants.contains(capability);
    (!granted).then(|| Reason::Plan { capability: capability.clone() })
}
