//! Has the client declared a tool of the same name itself?

use crate::offering::gate::{Gate, Subject};
use crate::offering::reason::Reason;

pub(in crate::offering) const GATE: Gate =
    Gate { name: "name", passes_when: "the client declared no tool of this name", judge };

fn judge(subject: &Subject<'_>) -> Option<Reason> {
    let name = &subject.tool.definition.function.name;
    subject.request.client_tools.contains(name).then(|| Reason::NameTakenByClient { name: name.clone() })
}
