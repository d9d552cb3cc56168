//! The ordered list of gates. The first that withholds a tool gives the headline reason.

use super::gates;
use super::reason::Reason;
use super::{ModelStanding, OfferRequest};
use crate::caller::Caller;
use crate::policy::Policy;
use crate::registry::RegisteredTool;

/// One reason for which a tool may be withheld.
pub struct Gate {
    /// The gate's name in explanations.
    pub name: &'static str,
    /// What the gate asks for, in one sentence.
    pub passes_when: &'static str,
    pub(super) judge: fn(&Subject<'_>) -> Option<Reason>,
}

/// What a gate looks at.
pub(super) struct Subject<'a> {
    pub(super) tool: &'a RegisteredTool,
    pub(super) caller: &'a Caller,
    pub(super) request: &'a OfferRequest,
    pub(super) policy: &'a Policy,
    pub(super) model: &'a ModelStanding,
}

/// Every gate, in order.
pub const GATES: [Gate; 14] = [
    gates::tools::GATE,
    gates::definition::GATE,
    gates::component::GATE,
    gates::organization::GATE,
    gates::enabled::GATE,
    gates::temporary::GATE,
    gates::plan::GATE,
    gates::preference::GATE,
    gates::selection::GATE,
    gates::model::GATE,
    gates::confidence::GATE,
    gates::outbound::GATE,
    gates::credits::GATE,
    gates::name::GATE,
];

/// Which gates withhold a tool: one bit each, in their order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Withheld(u16);

const _: () = assert!(GATES.len() <= 16, "a gate without a bit could not withhold anything");

impl Withheld {
    pub(super) fn is_offered(self) -> bool {
        self.0 == 0
    }
}

/// The verdict of every gate.
pub(super) fn verdicts(subject: &Subject<'_>) -> Withheld {
    let bits = GATES.iter().enumerate().fold(0, |bits, (index, gate)| {
        if (gate.judge)(subject).is_some() { bits | 1 << index } else { bits }
    });
    Withheld(bits)
}

/// Asks every gate. The reasons come with the position of their gate; none means that the tool is offered.
pub(super) fn reasons<'s>(subject: &'s Subject<'s>) -> impl Iterator<Item = (usize, Reason)> + 's {
    let verdicts = GATES.iter().enumerate();
    verdicts.filter_map(|(index, gate)| (gate.judge)(subject).map(|reason| (index, reason)))
}
