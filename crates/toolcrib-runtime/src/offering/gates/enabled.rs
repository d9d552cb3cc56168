//! Can the implementation run, and are its settings complete and valid?

use crate::offering::gate::{Gate, Subject};
use crate::offering::reason::Reason;
use crate::policy::SettingsState;

pub(in crate::offering) const GATE: Gate = Gate {
    name: "enabled",
    passes_when: "the implementation can run, and its settings are complete and valid",
    judge,
};

fn judge(subject: &Subject<'_>) -> Option<Reason> {
    let enabled = subject.tool.implementation.as_ref().is_none_or(|tool| tool.is_enabled());
    if !enabled {
        return Some(Reason::NotEnabled);
    }
    match subject.policy.settings.get(subject.tool.id()) {
        Some(SettingsState::NotConfigured(problems)) => {
            Some(Reason::NotConfigured { problems: problems.clone() })
        }
        Some(SettingsState::Ready(_)) | None => None,
    }
}
