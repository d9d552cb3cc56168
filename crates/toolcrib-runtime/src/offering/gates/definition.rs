//! Does the definition have an implementation? (An invalid one never enters the catalog.)

use crate::offering::gate::{Gate, Subject};
use crate::offering::reason::Reason;

pub(in crate::offering) const GATE: Gate =
    Gate { name: "definition", passes_when: "the definition is valid and has an implementation", judge };

fn judge(subject: &Subject<'_>) -> Option<Reason> {
    let key = &subject.tool.definition.implementation_key;
    subject.tool.implementation.is_none().then(|| Reason::NoImplementation { key: key.clone() })
}
