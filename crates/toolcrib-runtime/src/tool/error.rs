//! How a call ends when it does not succeed.

/// A call that was blocked by policy, or failed. Neither text ever carries a secret.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ToolError {
    /// Policy forbids this call. The model reads the reason; the trace says BLOCKED.
    #[error("blocked: {reason}")]
    Blocked {
        /// Why, in words that the model and the user may read.
        reason: String,
    },
    /// The call failed. The trace says ERROR.
    #[error("failed: {for_operator}")]
    Failed {
        /// What the model reads after "Tool execution failed: ".
        for_model: String,
        /// What the operator finds in the log.
        for_operator: String,
        /// Whether the same call may succeed later.
        retryable: bool,
        /// What the call cost all the same, in millionths of a credit.
        cost: i64,
    },
}

impl ToolError {
    /// A policy block.
    pub fn blocked(reason: impl Into<String>) -> Self {
        Self::Blocked { reason: reason.into() }
    }

    /// A failure that the model and the operator may read in the same words.
    pub fn failed(message: impl Into<String>) -> Self {
        let message = message.into();
        Self::Failed { for_model: message.clone(), for_operator: message, retryable: false, cost: 0 }
    }
}
