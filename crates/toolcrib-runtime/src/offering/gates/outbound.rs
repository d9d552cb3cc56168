//! Does the conversation's outbound restriction admit what the tool sends out?

use crate::offering::gate::{Gate, Subject};
use crate::offering::reason::Reason;
use crate::policy::OutboundRestriction;
use crate::tool::Outgoing;

pub(in crate::offering) const GATE: Gate = Gate {
    name: "outbound",
    passes_when: "the conversation's outbound restriction admits what the tool sends out",
    judge,
};

fn judge(subject: &Subject<'_>) -> Option<Reason> {
    let outgoing = subject.tool.implementation.as_ref().map_or(Outgoing::Nothing, |tool| tool.outgoing());
    let restriction = subject.request.outbound;
    // Which single links may be opened is decided per URL, by the tool.
    let withheld =
        restriction == OutboundRestriction::ConfiguredServices && outgoing == Outgoing::ModelChosenUrl;
    withheld.then_some(Reason::Outbound { restriction })
}
