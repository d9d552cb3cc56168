//! Reads the arguments and settings of a call into a tool's own types.
//!
//! Both fit their schemas already; what fails here is what a schema cannot say, and a message about it holds no value
//! of a secret setting or a sensitive argument.

use serde::de::DeserializeOwned;
use serde_json::Value;

use super::schema;
use crate::tool::{SettingProblem, Settings, ToolError};

/// The arguments as `T`. `accepted` is the schema that `T` has by itself.
pub(super) fn arguments<T: DeserializeOwned>(
    mut value: Value,
    accepted: &Value,
    sensitive: &[&str],
) -> Result<T, ToolError> {
    schema::leave_out_nulls(&mut value, accepted);
    serde_path_to_error::deserialize(value).map_err(|error| {
        let place = Place::of(&error);
        let hidden = place.field.as_deref().is_some_and(|field| sensitive.contains(&field))
            || (place.field.is_none() && !sensitive.is_empty());
        let what = match &place.path {
            Some(path) => format!("the argument {path}"),
            None => "the arguments as a whole".to_owned(),
        };
        let cause = if hidden { "not a usable value".to_owned() } else { error.inner().to_string() };
        ToolError::Failed {
            for_model: format!("{what} cannot be used ({cause}): repeat the call with another value"),
            for_operator: format!("reading arguments that the schema accepts: {what}: {cause}"),
            retryable: false,
            cost: 0,
        }
    })
}

/// The settings as `T`.
pub(super) fn settings<T: DeserializeOwned>(settings: &Settings) -> Result<T, SettingProblem> {
    serde_path_to_error::deserialize(Value::Object(settings.exposed())).map_err(|error| {
        let place = Place::of(&error);
        let hidden = match &place.field {
            Some(field) => settings.is_secret(field),
            None => settings.has_secrets(),
        };
        let cause = if hidden { "not a usable value".to_owned() } else { error.inner().to_string() };
        SettingProblem { field: place.field, message: format!("cannot be read by the tool: {cause}") }
    })
}

/// How a call ends whose settings cannot be read.
pub(super) fn unusable(problem: &SettingProblem) -> ToolError {
    let field = problem.field.as_deref().map(|field| format!("the setting {field:?} "));
    ToolError::Failed {
        for_model:
            "this tool is not configured correctly: tell the user that an administrator has to check its \
                    settings"
                .to_owned(),
        for_operator: format!(
            "{}{}",
            field.as_deref().unwrap_or("the settings as a whole "),
            problem.message
        ),
        retryable: false,
        cost: 0,
    }
}

/// Where an error is.
struct Place {
    /// The path within the value, quoted; `None` for the whole.
    path: Option<String>,
    /// The first step of the path.
    field: Option<String>,
}

impl Place {
    fn of(error: &serde_path_to_error::Error<serde_json::Error>) -> Self {
        let field = match error.path().iter().next() {
            Some(serde_path_to_error::Segment::Map { key }) => Some(key.clone()),
            _ => None,
        };
        Self { path: field.is_some().then(|| format!("{:?}", error.path().to_string())), field }
    }
}
