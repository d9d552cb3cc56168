//! Are tools switched on for the installation and the component?

use crate::offering::gate::{Gate, Subject};
use crate::offering::reason::Reason;

pub(in crate::offering) const GATE: Gate = Gate {
    name: "tools",
    passes_when: "tools are switched on for the installation and this component",
    judge,
};

fn judge(subject: &Subject<'_>) -> Option<Reason> {
    let component = subject.caller.component.id();
    let off = &subject.policy.tools_off;
    (off.contains("*") || off.contains(component))
        .then(|| Reason::ToolsOff { component: subject.caller.component.clone() })
}
