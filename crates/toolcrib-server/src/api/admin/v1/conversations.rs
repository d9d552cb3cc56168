//! Conversations.

pub(super) mod list;
pub(super) mod show;
pub(super) mod traces;
