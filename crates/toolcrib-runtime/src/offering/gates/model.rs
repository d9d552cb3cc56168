//! Can the model call functions?

use crate::offering::gate::{Gate, Subject};
use crate::offering::reason::Reason;

pub(in crate::offering) const GATE: Gate =
    Gate { name: "model", passes_when: "the model can call functions", judge };

fn judge(subject: &Subject<'_>) -> Option<Reason> {
    let able = subject.model.capabilities.functions;
    (!able).then(|| Reason::Model { model: subject.model.identity.full_name() })
}
