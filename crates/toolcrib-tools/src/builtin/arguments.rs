//! Reads the arguments of a call into a tool's own type.
//!
//! The executor has checked them against the definition's schema; a failure here means that definition and
//! implementation disagree.

use serde::de::DeserializeOwned;
use serde_json::Value;
use toolcrib_runtime::tool::ToolError;

/// The arguments as `T`.
pub(crate) fn read<T: DeserializeOwned>(arguments: Value) -> Result<T, ToolError> {
    serde_json::from_value(arguments).map_err(|error| ToolError::Failed {
        for_model: format!(
            "the arguments do not fit this tool ({error}): repeat the call with its parameters"
        ),
        for_operator: format!("reading arguments that the definition accepts: {error}"),
        retryable: false,
        cost: 0,
    })
}
