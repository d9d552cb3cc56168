//! Watches a run that goes on by itself, to its end or to the next question.

use std::time::Duration;

use futures_util::StreamExt as _;
use http::Method;
use serde_json::{Value, json};
use toolcrib_server::client::{ClientError, Connection};

use crate::commands::encoded;

/// The pause before a run that has not begun to go on is looked at again.
const AGAIN: Duration = Duration::from_millis(150);

/// Hands every event of the run to `take`; ends with the one that ends the run, or lets it wait again.
///
/// # Errors
/// No connection, no such run, or what `take` says.
pub(crate) async fn follow(
    connection: &Connection,
    run_id: &str,
    mut take: impl FnMut(&Value) -> Result<(), ClientError>,
) -> Result<(), ClientError> {
    let path = format!("/api/v1/runs/{}/events", encoded(run_id));
    loop {
        let mut events = connection.send(Method::GET, &path, &[], None).await?.events();
        while let Some(event) = events.next().await {
            let event = event?;
            match event["type"].as_str() {
                // It is about to go on.
                Some("waiting" | "running") => break,
                Some("finished" | "failed" | "paused") => return take(&event),
                _ => take(&event)?,
            }
        }
        tokio::time::sleep(AGAIN).await;
    }
}

/// Answers an approval; returns what the server says of it.
///
/// # Errors
/// No connection, or a refusal: the approval has its answer, say.
pub(crate) async fn answer(connection: &Connection, id: &str, answer: &Value) -> Result<Value, ClientError> {
    let path = format!("/api/v1/approvals/{}", encoded(id));
    connection.json(Method::POST, &path, Some(answer)).await
}

/// The answer that lets a call run this once.
pub(crate) fn allow_once() -> Value {
    json!({"answer": "allow_once"})
}
