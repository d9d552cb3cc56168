//! Conversations.

pub(super) mod list;
pub(super) mod show;
