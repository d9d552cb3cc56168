//! What a typed tool may return.

use serde::Serialize;

use crate::tool::{ToolError, ToolOutput};

/// A value that can be the result of a call.
pub trait IntoToolOutput: Send {
    /// The result of the call.
    ///
    /// # Errors
    /// The value cannot be written as JSON.
    fn into_tool_output(self) -> Result<ToolOutput, ToolError>;
}

/// A value that the model reads as JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Json<T>(pub T);

impl IntoToolOutput for ToolOutput {
    fn into_tool_output(self) -> Result<ToolOutput, ToolError> {
        Ok(self)
    }
}

impl IntoToolOutput for String {
    fn into_tool_output(self) -> Result<ToolOutput, ToolError> {
        Ok(ToolOutput::text(self))
    }
}

impl IntoToolOutput for &'static str {
    fn into_tool_output(self) -> Result<ToolOutput, ToolError> {
        Ok(ToolOutput::text(self))
    }
}

impl<T: Serialize + Send> IntoToolOutput for Json<T> {
    fn into_tool_output(self) -> Result<ToolOutput, ToolError> {
        serde_json::to_value(self.0).map(ToolOutput::json).map_err(|error| ToolError::Failed {
            for_model: "the tool could not write its result: tell the user that it is broken".to_owned(),
            for_operator: format!("writing the result of a tool as JSON: {error}"),
            retryable: false,
            cost: 0,
        })
    }
}
