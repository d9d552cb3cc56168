//! Traces, as they are kept: columns for what is searched, and JSON with a format number for the rest.
//!
//! A change of this JSON needs a new format number, and the old one stays readable.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use toolcrib_runtime::journal::Trace;
use toolcrib_runtime::tool::{LibraryItem, Source};

use super::run::StoredSource;

/// The format that is written. Format 1 had no `library_items`.
pub(crate) const FORMAT: i64 = 2;

/// Stored content cannot be written or understood.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ContentError {
    /// It is not the JSON that it should be.
    #[error("its content is not valid: {0}")]
    Json(#[from] serde_json::Error),

    /// A later version of the program wrote it.
    #[error("its content has format {found}, and this program knows formats up to {known}")]
    Format {
        /// The format of the content.
        found: i64,
        /// The newest one that is known.
        known: i64,
    },

    /// A column holds a value that no version writes.
    #[error("its {column} `{value}` is unknown")]
    Value {
        /// The column.
        column: &'static str,
        /// What is in it.
        value: String,
    },
}

/// The part of a trace that is kept as JSON.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct TraceBody {
    arguments: Value,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    repairs: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    result_text: Option<String>,
    /// JSON within a string, so that a result of `null` is not mistaken for none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    result_json: Option<String>,
    result_characters: usize,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    truncation: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    sources: Vec<StoredSource>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    library_items: Vec<StoredItem>,
}

/// Something in the user's library.
#[derive(Debug, Serialize, Deserialize)]
struct StoredItem {
    id: String,
    media_type: String,
    title: String,
}

impl TraceBody {
    /// The JSON of the part of `trace` that has no column, in [`FORMAT`].
    pub(crate) fn encode(trace: &Trace) -> Result<String, ContentError> {
        encode_json(&Self {
            arguments: trace.arguments.clone(),
            repairs: trace.repairs.clone(),
            result_text: trace.result_text.clone(),
            result_json: trace.result_json.as_ref().map(Value::to_string),
            result_characters: trace.result_characters,
            truncation: trace.truncation.clone(),
            sources: trace.sources.iter().map(StoredSource::from).collect(),
            library_items: trace.library_items.iter().map(StoredItem::from).collect(),
        })
    }

    /// The body of stored JSON.
    pub(crate) fn decode(format: i64, json: &str) -> Result<Self, ContentError> {
        match format {
            1 | FORMAT => decode_json(json),
            found => Err(ContentError::Format { found, known: FORMAT }),
        }
    }

    /// Puts the parts that were kept as JSON into `trace`.
    pub(crate) fn restore(self, trace: &mut Trace) -> Result<(), ContentError> {
        trace.arguments = self.arguments;
        trace.repairs = self.repairs;
        trace.result_text = self.result_text;
        trace.result_json = self.result_json.as_deref().map(decode_json).transpose()?;
        trace.result_characters = self.result_characters;
        trace.truncation = self.truncation;
        trace.sources = self.sources.into_iter().map(Source::from).collect();
        trace.library_items = self.library_items.into_iter().map(LibraryItem::from).collect();
        Ok(())
    }
}

impl From<&LibraryItem> for StoredItem {
    fn from(item: &LibraryItem) -> Self {
        Self { id: item.id.clone(), media_type: item.media_type.clone(), title: item.title.clone() }
    }
}

impl From<StoredItem> for LibraryItem {
    fn from(stored: StoredItem) -> Self {
        Self { id: stored.id, media_type: stored.media_type, title: stored.title }
    }
}

/// The JSON of a list of sources.
pub(crate) fn encode_sources(sources: &[Source]) -> Result<String, ContentError> {
    encode_json(&sources.iter().map(StoredSource::from).collect::<Vec<_>>())
}

/// The sources of stored JSON.
pub(crate) fn decode_sources(json: &str) -> Result<Vec<Source>, ContentError> {
    let stored: Vec<StoredSource> = decode_json(json)?;
    Ok(stored.into_iter().map(Source::from).collect())
}

/// Writes JSON.
pub(crate) fn encode_json<T: Serialize>(value: &T) -> Result<String, ContentError> {
    Ok(serde_json::to_string(value)?)
}

/// Reads JSON as deep as it was written: the usual limit of depth would count what a record wraps around a value
/// that was itself just within it.
pub(crate) fn decode_json<T: DeserializeOwned>(json: &str) -> Result<T, ContentError> {
    let mut reader = serde_json::Deserializer::from_str(json);
    reader.disable_recursion_limit();
    let value = T::deserialize(&mut reader)?;
    reader.end()?;
    Ok(value)
}
