//! Has the organization disabled the tool?

use crate::offering::gate::{Gate, Subject};
use crate::offering::reason::Reason;

pub(in crate::offering) const GATE: Gate =
    Gate { name: "organization", passes_when: "the organization has not disabled the tool", judge };

fn judge(subject: &Subject<'_>) -> Option<Reason> {
    subject.policy.disabled.contains(subject.tool.id()).then_some(Reason::DisabledByOrganization)
}
