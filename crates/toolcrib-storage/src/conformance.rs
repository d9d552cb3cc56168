//! What every backend must do: the suite that a store passes before it may be used.
//!
//! Each case gets a store of its own, freshly made, and says in its name what must hold. A case asserts what a caller
//! of the traits would notice, and nothing about how a backend keeps it.

use std::error::Error;
use std::pin::Pin;
use std::sync::Arc;

use crate::store::Store;

mod accounts;
mod approvals;
mod conversations;
mod keys;
mod labels;
mod runs;
mod sample;
mod traces;

/// How a case ends: an unexpected error of the store, or a failed assertion, which panics.
pub type Outcome = Result<(), Box<dyn Error + Send + Sync>>;

/// A case that is being tried.
pub type Trial = Pin<Box<dyn Future<Output = Outcome> + Send>>;

/// A case of the suite.
#[derive(Debug, Clone, Copy)]
pub struct Case {
    /// What must hold.
    pub name: &'static str,
    /// Tries whether it does, on an empty store.
    pub run: fn(Arc<dyn Store>) -> Trial,
}

macro_rules! cases {
    ($($module:ident :: $name:ident),* $(,)?) => {
        /// Every case.
        pub const CASES: &[Case] = &[$(Case {
            name: concat!(stringify!($module), "::", stringify!($name)),
            run: |store| Box::pin(async move { $module::$name(&*store).await }),
        }),*];
    };
}

cases![
    accounts::a_new_store_has_one_workspace_and_one_administrator,
    accounts::ids_are_taken_once,
    accounts::a_role_needs_a_user_and_a_workspace,
    accounts::a_closed_store_says_so,
    keys::a_key_is_found_by_its_hash,
    keys::revoked_expired_and_unknown_keys_are_told_apart,
    keys::revoking_is_for_the_workspace_of_the_key,
    keys::a_key_needs_a_member_and_a_new_hash,
    keys::the_last_use_is_shown_at_once,
    conversations::a_conversation_is_stored_renamed_and_deleted,
    conversations::a_foreign_conversation_is_not_found,
    conversations::lists_are_paged_with_the_latest_news_first,
    conversations::a_conversation_needs_a_member_and_a_new_id,
    runs::messages_come_back_as_they_were,
    runs::a_run_appears_with_the_users_messages_and_its_end_in_one_piece,
    runs::a_run_without_conversation_keeps_no_messages,
    runs::what_a_round_said_is_there_when_the_next_begins,
    runs::a_run_in_a_foreign_conversation_is_refused_whole,
    runs::a_run_ends_once,
    runs::runs_are_filtered_and_paged,
    runs::a_foreign_run_is_not_found,
    runs::deleting_a_conversation_deletes_what_happened_in_it,
    traces::every_field_of_a_trace_comes_back,
    traces::an_outcome_replaces_its_admission,
    traces::open_calls_of_a_stopped_run_are_cancelled,
    traces::nothing_is_admitted_after_the_end,
    traces::traces_of_a_conversation_stand_in_order,
    approvals::a_pause_shows_the_run_its_calls_and_its_questions_together,
    approvals::the_first_answer_counts,
    approvals::every_answer_comes_back_as_it_was,
    approvals::an_answer_that_is_late_finds_the_approval_expired,
    approvals::what_expires_completes_runs,
    approvals::a_run_goes_on_once,
    approvals::a_run_may_wait_more_than_once,
    approvals::the_end_of_a_run_closes_what_waits,
    approvals::what_is_allowed_for_a_conversation_is_remembered_there,
    approvals::approvals_are_filtered_and_paged,
    approvals::what_belongs_to_another_is_not_found,
    approvals::deleting_a_conversation_deletes_what_waits_in_it,
    labels::the_demands_of_a_conversation_only_rise,
    labels::a_result_demands_from_the_moment_it_is_there,
    labels::people_tighten_their_own_conversations,
    labels::protected_text_is_recognized_in_its_workspace,
    labels::protected_text_is_recognized_after_its_conversation_is_gone,
];
