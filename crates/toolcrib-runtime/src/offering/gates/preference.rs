//! Has the user switched the capability off?

use crate::offering::gate::{Gate, Subject};
use crate::offering::reason::Reason;

pub(in crate::offering) const GATE: Gate =
    Gate { name: "preference", passes_when: "the user has not switched the capability off", judge };

fn judge(subject: &Subject<'_>) -> Option<Reason> {
    let capability = &subject.tool.definition.capability;
    let off = subject.caller.has_switched_off(capability);
    off.then(|| Reason::Preference { capability: capability.clone() })
}
