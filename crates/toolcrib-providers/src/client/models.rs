//! Reads a provider's list of models in the shapes in which hosts give it.
//!
//! Entries without a name are passed over; the order is the host's, each name once.

use serde_json::Value;
use toolcrib_runtime::model::ModelError;

use crate::wire::problem::{ErrorSource, looks_like_html};

/// The largest list in bytes.
pub(super) const LARGEST_LIST: usize = 16 * 1024 * 1024;

pub(super) fn read(body: &[u8], source: &ErrorSource) -> Result<Vec<String>, ModelError> {
    let Ok(value) = serde_json::from_slice::<Value>(body) else {
        let is_page = looks_like_html(body);
        let not_json = || source.bad_response("answered with a list of models that is not JSON", body);
        return Err(if is_page { source.web_page(body) } else { not_json() });
    };
    if value.get("error").is_some_and(|error| !error.is_null()) {
        return Err(source.reported(&value));
    }
    let list = match &value {
        Value::Array(_) => Some(&value),
        _ => ["data", "models"].iter().find_map(|field| value.get(*field)),
    };
    let entries = match list {
        Some(Value::Array(entries)) => entries.as_slice(),
        // Ollama without a single model says `null`.
        Some(Value::Null) => &[],
        _ => return Err(source.bad_response("answered with a list of models of an unknown form", body)),
    };
    let mut names: Vec<String> = Vec::new();
    for entry in entries {
        let name = entry
            .as_str()
            .or_else(|| ["id", "name", "model"].iter().find_map(|key| entry.get(*key)?.as_str()));
        if let Some(name) = name.filter(|name| !name.is_empty() && !names.iter().any(|known| known == name)) {
            names.push(name.to_owned());
        }
    }
    Ok(names)
}

#[cfg(test)]
mod tests {
    use toolcrib_runtime::model::ModelErrorKind;

    use super::*;

    #[test]
    fn lists_are_read_in_all_shapes() {
        let source = ErrorSource::new("host", Vec::new());
        let check = |body: &str, expected: &[&str]| {
            assert_eq!(read(body.as_bytes(), &source).unwrap(), expected, "{body}");
        };
        check(r#"{"object":"list","data":[{"id":"a"},{"id":"b","object":"model"},{"id":"a"}]}"#, &["a", "b"]);
        check(r#"{"data":null}"#, &[]);
        check(r#"{"models":[{"name":"a"},{"model":"b"},{}, 7]}"#, &["a", "b"]);
        check(r#"[{"id":"a"},"b"]"#, &["a", "b"]);
        let kind = |body: &str| read(body.as_bytes(), &source).unwrap_err().kind;
        assert_eq!(kind("<html></html>"), ModelErrorKind::BadResponse);
        assert_eq!(kind("{}"), ModelErrorKind::BadResponse);
        assert_eq!(
            kind(r#"{"error":{"message":"no","type":"invalid_api_key"}}"#),
            ModelErrorKind::Unauthorized
        );
    }
}
