//! Does the tool keep things in a conversation that must leave nothing behind?

use crate::offering::gate::{Gate, Subject};
use crate::offering::reason::Reason;

pub(in crate::offering) const GATE: Gate = Gate {
    name: "temporary",
    passes_when: "the tool keeps nothing, or the conversation is not temporary",
    judge,
};

fn judge(subject: &Subject<'_>) -> Option<Reason> {
    let withheld = subject.tool.definition.contextual && subject.request.temporary;
    withheld.then_some(Reason::TemporaryChat)
}
