//! Was the tool chosen, in this request or by the defaults of the component?

use crate::offering::Selection;
use crate::offering::gate::{Gate, Subject};
use crate::offering::reason::Reason;

pub(in crate::offering) const GATE: Gate = Gate {
    name: "selection",
    passes_when: "the tool was chosen in this request, or is on by default here",
    judge,
};

fn judge(subject: &Subject<'_>) -> Option<Reason> {
    let id = subject.tool.id();
    let chosen = match &subject.request.selection {
        Selection::Nothing => false,
        Selection::Only(ids) => ids.contains(id),
        Selection::Default => {
            let defaults = subject.policy.default_tools.get(subject.caller.component.id());
            defaults.is_none_or(|ids| ids.contains(id))
        }
    };
    (!chosen).then_some(Reason::NotSelected)
}
