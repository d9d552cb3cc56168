//! Says what a failed exchange means to whoever asked the model.
//!
//! The caller reads what happened; the endpoint's address and the system's words go to the operator.

use toolcrib_egress::OperatorError;
use toolcrib_runtime::model::{ModelError, ModelErrorKind};

use crate::wire::problem::ErrorSource;

/// A failure before the head of an answer came.
pub(super) fn of_exchange(source: &ErrorSource, failure: &OperatorError) -> ModelError {
    let (kind, what) = match failure {
        OperatorError::Unreachable { .. } => (ModelErrorKind::Unreachable, "cannot be reached"),
        OperatorError::Tls { .. } => (ModelErrorKind::Unreachable, "cannot be reached securely"),
        OperatorError::Cut { .. } => {
            (ModelErrorKind::Unreachable, "closed the connection before it answered")
        }
        OperatorError::Timeout { .. } => (ModelErrorKind::Timeout, "did not answer in time"),
        OperatorError::TooLarge { .. } => (ModelErrorKind::BadResponse, "sent an answer that is too large"),
        OperatorError::CrossOriginRedirect { .. } => (
            ModelErrorKind::BadResponse,
            "redirects to another address, which is not followed: check its base URL",
        ),
        OperatorError::BadResponse { .. } => (ModelErrorKind::BadResponse, "did not answer in HTTP"),
        _ => (ModelErrorKind::Unreachable, "could not be asked"),
    };
    source.error(kind, what).with_detail(source.redact(&failure.to_string()))
}

/// A failure while the answer was coming in.
pub(super) fn of_body(source: &ErrorSource, failure: &OperatorError) -> ModelError {
    let (kind, what) = match failure {
        OperatorError::Timeout { .. } => {
            (ModelErrorKind::Timeout, "stopped sending in the middle of its answer")
        }
        _ => (ModelErrorKind::Cut, "broke off in the middle of its answer"),
    };
    source.error(kind, what).with_detail(source.redact(&failure.to_string()))
}

/// Whether there was no connection, or it was lost before an answer, so that asking again is safe.
pub(super) fn is_connection_error(failure: &OperatorError) -> bool {
    match failure {
        OperatorError::Unreachable { .. } | OperatorError::Cut { .. } => true,
        OperatorError::Timeout { phase, .. } => *phase == "connecting",
        _ => false,
    }
}
