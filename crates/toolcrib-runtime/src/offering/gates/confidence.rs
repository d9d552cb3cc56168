//! Is the provider trusted enough for the tool? (An instance listed as trusted does not pass this by that.)

use crate::confidence::Confidence;
use crate::offering::gate::{Gate, Subject};
use crate::offering::reason::Reason;

pub(in crate::offering) const GATE: Gate = Gate {
    name: "confidence",
    passes_when: "the provider's confidence is at least the tool's minimum",
    judge,
};

fn judge(subject: &Subject<'_>) -> Option<Reason> {
    let set = subject.policy.minimum_confidence.get(subject.tool.id()).copied();
    let needs = set.or(subject.tool.definition.minimum_confidence).unwrap_or_default();
    let has = subject.model.identity.confidence;
    (needs != Confidence::None && has < needs).then_some(Reason::Confidence { has, needs })
}
