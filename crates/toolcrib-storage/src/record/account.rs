//! The installation, its tenants and its users.
//!
//! A store always has the workspace [`DEFAULT_WORKSPACE`] with the administrator [`ADMINISTRATOR`]: both exist from
//! the first start.

use jiff::Timestamp;

/// The id of the workspace that exists from the first start.
pub const DEFAULT_WORKSPACE: &str = "default";

/// The id of the user who administers the installation from the first start.
pub const ADMINISTRATOR: &str = "administrator";

/// What this store belongs to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Installation {
    /// The installation's id, given at the first start and never changed.
    pub id: String,
    /// The version of the database's schema.
    pub schema_version: i64,
    /// When the store was created.
    pub created_at: Timestamp,
}

/// Whose record it is: a user within a workspace.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Owner {
    /// The tenant.
    pub workspace_id: String,
    /// The user.
    pub user_id: String,
}

/// What a user may do in a workspace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// Everything, ownership included.
    Owner,
    /// Manages members, plans and settings.
    Administrator,
    /// Uses the workspace.
    Member,
}

impl Owner {
    /// The user `user_id` in the workspace `workspace_id`.
    pub fn new(workspace_id: impl Into<String>, user_id: impl Into<String>) -> Self {
        Self { workspace_id: workspace_id.into(), user_id: user_id.into() }
    }

    /// The administrator who exists from the first start, in the workspace that does.
    pub fn first() -> Self {
        Self::new(DEFAULT_WORKSPACE, ADMINISTRATOR)
    }
}

impl Role {
    /// Every role with its stored name.
    pub const ALL: [(Self, &'static str); 3] =
        [(Self::Owner, "owner"), (Self::Administrator, "admin"), (Self::Member, "member")];

    /// The stored name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Owner => "owner",
            Self::Administrator => "admin",
            Self::Member => "member",
        }
    }
}
