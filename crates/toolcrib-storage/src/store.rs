//! What a store can do: one trait per kind of record, and [`Store`], which is all of them.
//!
//! A method that changes something is done, and durable as far as its backend promises, when it returns. When it
//! fails, nothing of it was done; when its caller stops waiting, it is done whole or not at all. Ids and times are
//! given by the caller. Whoever asks for conversations, runs and traces names the owner, and what belongs to another is not found.
//!
//! To add a backend, implement these traits and run the `conformance` suite (feature `testing`) on it.

use std::collections::BTreeSet;

use async_trait::async_trait;
use jiff::Timestamp;
use toolcrib_runtime::confidence::Confidence;
use toolcrib_runtime::journal::{Journal, Trace};
use toolcrib_runtime::labels::Labels;
use toolcrib_runtime::labels::fingerprint::Fingerprint;
use toolcrib_runtime::offering::approval::ApprovalAnswer;

use crate::record::{
    Answered, ApiKey, ApprovalFilter, ApprovalRecord, CallRecord, Conversation, ConversationMessage,
    Installation, KeyHash, KeyLookup, NewConversation, NewKey, Owner, Role, RunFilter, RunRecord, WaitingRun,
};

mod page;

pub use page::{Listing, Page};

/// Everything that is remembered.
#[async_trait]
pub trait Store:
    AccountStore + KeyStore + ConversationStore + RunStore + ApprovalStore + LabelStore + Journal
{
    /// Writes what is still in memory and closes the store; every later use fails with [`StoreProblem::Closed`].
    async fn close(&self);
}

/// The installation, its tenants and their members.
#[async_trait]
pub trait AccountStore: Send + Sync {
    /// What this store belongs to.
    async fn installation(&self) -> Result<Installation, StoreError>;

    /// Adds a tenant. Fails with [`StoreProblem::Duplicate`] when the id is taken.
    async fn add_workspace(&self, id: &str, name: &str, at: Timestamp) -> Result<(), StoreError>;

    /// Adds a user, who is a member of no workspace yet. Fails with [`StoreProblem::Duplicate`] when the id is taken.
    async fn add_user(&self, id: &str, name: &str, at: Timestamp) -> Result<(), StoreError>;

    /// Makes a user a member of a workspace, or changes the role of one who is. Fails with
    /// [`StoreProblem::Missing`] when there is no such user or workspace.
    async fn set_role(&self, member: &Owner, role: Role) -> Result<(), StoreError>;

    /// The user's role in the workspace; `None` for whoever is not a member.
    async fn role(&self, member: &Owner) -> Result<Option<Role>, StoreError>;
}

/// API keys.
#[async_trait]
pub trait KeyStore: Send + Sync {
    /// Stores a key. Fails with [`StoreProblem::Duplicate`] when id or hash is taken, and with
    /// [`StoreProblem::Missing`] when its owner is not a member of the workspace.
    async fn insert_key(&self, key: NewKey) -> Result<(), StoreError>;

    /// What the key of this hash is worth at `now`.
    async fn find_key(&self, hash: &KeyHash, now: Timestamp) -> Result<KeyLookup, StoreError>;

    /// The keys of a workspace, newest first, those that are of no use any more included.
    async fn keys(&self, workspace_id: &str) -> Result<Vec<ApiKey>, StoreError>;

    /// Revokes a key of the workspace and returns it; `None` when the workspace has no such key. A key that was
    /// revoked before keeps its time.
    async fn revoke_key(
        &self,
        workspace_id: &str,
        key_id: &str,
        at: Timestamp,
    ) -> Result<Option<ApiKey>, StoreError>;

    /// Notes that a key was used. Never waits and never fails: it is written down at most once a minute for each
    /// key, and a crash may lose the last minute's.
    fn touch_key(&self, key_id: &str, at: Timestamp);

    /// How many keys of all workspaces can be used at `now`.
    async fn count_keys(&self, now: Timestamp) -> Result<u64, StoreError>;
}

/// Conversations and their messages.
#[async_trait]
pub trait ConversationStore: Send + Sync {
    /// Stores an empty conversation. Fails with [`StoreProblem::Duplicate`] when the id is taken, and with
    /// [`StoreProblem::Missing`] when its owner is not a member of the workspace.
    async fn create_conversation(&self, conversation: NewConversation) -> Result<(), StoreError>;

    /// One conversation.
    async fn conversation(&self, owner: &Owner, id: &str) -> Result<Option<Conversation>, StoreError>;

    /// The owner's conversations, those with the latest news first.
    async fn conversations(&self, owner: &Owner, page: &Page) -> Result<Listing<Conversation>, StoreError>;

    /// The messages of a conversation in order; `None` when there is no such conversation.
    async fn messages(&self, owner: &Owner, id: &str)
    -> Result<Option<Vec<ConversationMessage>>, StoreError>;

    /// Gives a conversation another title; `false` when there is no such conversation.
    async fn rename_conversation(&self, owner: &Owner, id: &str, title: &str) -> Result<bool, StoreError>;

    /// Deletes a conversation with its messages, runs, traces and approvals; `false` when there is no such
    /// conversation. By what protected text is recognized stays: the text may be anywhere by now.
    async fn delete_conversation(&self, owner: &Owner, id: &str) -> Result<bool, StoreError>;
}

/// Runs and the traces of their calls. They are written through [`Journal`].
#[async_trait]
pub trait RunStore: Send + Sync {
    /// One run.
    async fn run(&self, owner: &Owner, id: &str) -> Result<Option<RunRecord>, StoreError>;

    /// The owner's runs, the latest first.
    async fn runs(
        &self,
        owner: &Owner,
        filter: &RunFilter,
        page: &Page,
    ) -> Result<Listing<RunRecord>, StoreError>;

    /// The traces of a run in call order; `None` when there is no such run.
    async fn run_traces(&self, owner: &Owner, run_id: &str) -> Result<Option<Vec<Trace>>, StoreError>;

    /// The traces of a conversation's runs, the earliest run first; `None` when there is no such conversation.
    async fn conversation_traces(
        &self,
        owner: &Owner,
        conversation_id: &str,
    ) -> Result<Option<Vec<CallRecord>>, StoreError>;
}

/// Calls that wait for people. They are asked through [`Journal::pause_run`].
#[async_trait]
pub trait ApprovalStore: Send + Sync {
    /// One approval.
    async fn approval(&self, owner: &Owner, id: &str) -> Result<Option<ApprovalRecord>, StoreError>;

    /// The owner's approvals, newest first.
    async fn approvals(
        &self,
        owner: &Owner,
        filter: &ApprovalFilter,
        page: &Page,
    ) -> Result<Listing<ApprovalRecord>, StoreError>;

    /// Answers an approval. Only the first answer counts. One that allows the tool for the conversation is also
    /// remembered for it. An approval whose time was over at `at` is first answered as expired.
    async fn answer_approval(
        &self,
        owner: &Owner,
        id: &str,
        answer: &ApprovalAnswer,
        at: Timestamp,
    ) -> Result<Answered, StoreError>;

    /// Answers every approval whose time is over as expired, and returns the ids of the runs of which no approval
    /// waits any more by that. Runs that an answer too late had found to be so are among them, each once.
    async fn expire_approvals(&self, now: Timestamp) -> Result<Vec<String>, StoreError>;

    /// The ids of the waiting runs of which no approval waits: they are to be carried on.
    async fn complete_runs(&self) -> Result<Vec<String>, StoreError>;

    /// A run of any owner, as long as it waits.
    async fn waiting_run(&self, run_id: &str) -> Result<Option<WaitingRun>, StoreError>;

    /// The runs of a conversation that wait, the earliest first.
    async fn waiting_runs_of(&self, conversation_id: &str) -> Result<Vec<WaitingRun>, StoreError>;

    /// The ids of the tools that may be called in the conversation without asking.
    async fn approved_tools(&self, conversation_id: &str) -> Result<BTreeSet<String>, StoreError>;
}

/// What content demands, of conversations and of protected text wherever it turns up.
#[async_trait]
pub trait LabelStore: Send + Sync {
    /// What a conversation of any owner demands; nothing when there is no such conversation.
    async fn labels(&self, conversation_id: &str) -> Result<Labels, StoreError>;

    /// Raises what a conversation demands, and never lowers it; `false` when there is no such conversation.
    async fn tighten(&self, owner: &Owner, conversation_id: &str, labels: Labels)
    -> Result<bool, StoreError>;

    /// Whether the workspace may have protected text; only then its requests have to be looked at. Costs nothing.
    async fn protects_anything(&self, workspace_id: &str) -> Result<bool, StoreError>;

    /// The highest confidence that protected text with any of these fingerprints demands in the workspace; NONE when
    /// none is known. Costs nothing as long as the workspace has no protected text.
    async fn recognize(
        &self,
        workspace_id: &str,
        fingerprints: &BTreeSet<Fingerprint>,
    ) -> Result<Confidence, StoreError>;
}

/// The store could not do what was asked, and did nothing of it.
#[derive(Debug, thiserror::Error)]
#[error("{attempt}: {problem}")]
pub struct StoreError {
    /// What was attempted, for example `storing a conversation`.
    pub attempt: &'static str,
    /// Why it could not be done.
    pub problem: StoreProblem,
}

/// Why a store cannot do something. The texts are for the operator.
#[derive(Debug, thiserror::Error)]
pub enum StoreProblem {
    /// There is no room left.
    #[error("the disk is full, or the size limit of the database is reached; make room and try again")]
    DiskFull,

    /// Another program keeps the database locked.
    #[error("the database is locked by another program; close whatever else has the file open")]
    Locked,

    /// The database may be read only.
    #[error("the database cannot be written to; check the permissions of its file and folder")]
    ReadOnly,

    /// The database is damaged.
    #[error("the database is damaged ({cause}); stop the program and restore the data folder from a backup")]
    Damaged {
        /// What the database says.
        cause: String,
    },

    /// An id, or the hash of a key, is taken.
    #[error("there is already one with this id")]
    Duplicate,

    /// Something that must exist does not, or belongs to another.
    #[error("there is no such {what}")]
    Missing {
        /// What is missing.
        what: &'static str,
    },

    /// The run, or the call, has already ended.
    #[error("the {what} has already ended")]
    Ended {
        /// What has ended.
        what: &'static str,
    },

    /// A record cannot be understood, or not be written down.
    #[error("{what} cannot be read: {cause}")]
    Content {
        /// Which record.
        what: String,
        /// What is wrong with it.
        cause: String,
    },

    /// A page was asked for after a place that no listing named.
    #[error("`{after}` is not a place in this list; use the `next` of an earlier page")]
    UnknownPlace {
        /// What was given.
        after: String,
    },

    /// The store was closed.
    #[error("the store is closed")]
    Closed,

    /// Anything else.
    #[error("the database failed: {cause}")]
    Backend {
        /// What the database says.
        cause: String,
    },
}
