//! Can the workspace hold the tool's maximum cost now?

use crate::caller::Credits;
use crate::offering::gate::{Gate, Subject};
use crate::offering::reason::Reason;

pub(in crate::offering) const GATE: Gate =
    Gate { name: "credits", passes_when: "the workspace can hold the tool's maximum cost now", judge };

fn judge(subject: &Subject<'_>) -> Option<Reason> {
    let needs = subject.tool.definition.cost.maximum;
    let Credits::Balance { free, held } = subject.caller.credits else { return None };
    if needs <= free.max(0) {
        return None;
    }
    if needs <= free.saturating_add(held) {
        return Some(Reason::HeldByRunningWork { held, needs });
    }
    Some(Reason::OutOfCredits { free, needs })
}
