//! Does the definition admit the component?

use crate::offering::gate::{Gate, Subject};
use crate::offering::reason::Reason;

pub(in crate::offering) const GATE: Gate =
    Gate { name: "component", passes_when: "the definition admits this component", judge };

fn judge(subject: &Subject<'_>) -> Option<Reason> {
    let component = &subject.caller.component;
    let admitted = subject.tool.definition.visible_in.admits(component);
    (!admitted).then(|| Reason::Component { component: component.clone() })
}
