//! Calls that wait for a person, and their answers.

pub(super) mod answer;
pub(super) mod list;
pub(super) mod show;

use serde_json::{Map, Value, json};
use toolcrib_storage::record::{ApprovalRecord, ApprovalState};

use crate::api::shapes;

fn shape(record: &ApprovalRecord) -> Map<String, Value> {
    let mut object = shapes::approval_request(&record.request);
    let (state, answer, at) = match &record.state {
        ApprovalState::Waiting => ("waiting", Value::Null, None),
        ApprovalState::Answered { answer, at } => ("answered", json!(answer.name()), Some(*at)),
        ApprovalState::Closed => ("closed", Value::Null, None),
    };
    object.insert("state".to_owned(), json!(state));
    object.insert("answer".to_owned(), answer);
    object.insert("answered_at".to_owned(), json!(at.map(|at| at.to_string())));
    object
}
