//! One model of a provider instance, behind the runtime's [`Model`] trait.
//!
//! A request is sent again only as long as nothing of its answer was seen: after a failure of the connection, after
//! a status that allows it, or once more without a field that the instance refused.

use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use http::Method;
use http::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderValue};
use serde_json::Value;
use tokio_util::sync::CancellationToken;
use toolcrib_egress::{OperatorRequest, OperatorResponse};
use toolcrib_runtime::model::{
    Model, ModelCapabilities, ModelError, ModelErrorKind, ModelIdentity, ModelRequest, ModelStream,
};

use super::answer::Answer;
use super::error::{is_connection_error, of_exchange};
use super::retry::{is_retryable, retry_after};
use super::{Provider, learned};
use crate::wire::chat_completions::{ChunkDecoder, encode_request, mix};

/// The most bytes of an error's body that are read.
const LARGEST_ERROR: usize = 256 * 1024;

pub(super) struct ChatModel {
    provider: Arc<Provider>,
    identity: ModelIdentity,
}

/// What became of sending a request, retries included.
enum Sent {
    Accepted(OperatorResponse),
    Refused { status: u16, body: Bytes, error: ModelError },
}

impl ChatModel {
    pub(super) fn new(provider: Arc<Provider>, identity: ModelIdentity) -> Self {
        Self { provider, identity }
    }

    fn encode(&self, request: &ModelRequest, adjustments: learned::Adjustments) -> Value {
        let profile = adjustments.apply(&self.provider.settings.profile);
        let streams = profile.streams_tool_calls || request.tools.is_empty();
        encode_request(request, &self.identity.model, &profile, streams)
    }

    async fn send(&self, body: &Value, seed: u64, cancel: &CancellationToken) -> Result<Sent, ModelError> {
        let provider = &self.provider;
        let mut request = OperatorRequest::new(Method::POST, "chat/completions");
        request.body = Bytes::from(body.to_string());
        request.headers = HeaderMap::from_iter([
            (CONTENT_TYPE, HeaderValue::from_static("application/json")),
            (ACCEPT, HeaderValue::from_static("text/event-stream, application/json")),
        ]);
        let mut attempt = 0;
        loop {
            attempt += 1;
            let (error, asked, sent) = match provider.chat.send(request.clone(), cancel).await {
                Err(failure) => {
                    let error = of_exchange(&provider.source, &failure);
                    if !is_connection_error(&failure) {
                        return Err(error);
                    }
                    (error, None, None)
                }
                Ok(response) if response.status.is_success() => return Ok(Sent::Accepted(response)),
                Ok(response) => {
                    let status = response.status.as_u16();
                    let asked = retry_after(&response.headers);
                    // What is too long or breaks off still says something by its status.
                    let body = response.collect(LARGEST_ERROR).await.unwrap_or_default();
                    let error = provider.source.refusal(status, asked, &body);
                    let is_final = error.kind == ModelErrorKind::QuotaExhausted || !is_retryable(status);
                    if is_final {
                        return Ok(Sent::Refused { status, body, error });
                    }
                    (error.clone(), asked, Some(Sent::Refused { status, body, error }))
                }
            };
            let random = mix(seed ^ u64::from(attempt));
            let Some(wait) = provider.settings.retry.wait(attempt, asked, random) else {
                return sent.ok_or(error);
            };
            let wait_ms = u64::try_from(wait.as_millis()).unwrap_or(u64::MAX);
            let provider_id = &self.identity.provider_id;
            tracing::debug!(provider = %provider_id, attempt, wait_ms, %error, "asking a provider again");
            tokio::time::sleep(wait).await;
        }
    }
}

#[async_trait]
impl Model for ChatModel {
    fn identity(&self) -> &ModelIdentity {
        &self.identity
    }

    fn capabilities(&self) -> ModelCapabilities {
        let profile = &self.provider.settings.profile;
        let takes_tools = self.provider.learned.takes_tools(&self.identity.model);
        ModelCapabilities { functions: profile.functions && takes_tools, images: profile.images }
    }

    async fn ask(&self, mut request: ModelRequest) -> Result<ModelStream, ModelError> {
        let provider = &self.provider;
        for (name, value) in &provider.settings.extra_parameters {
            request.extra.entry(name.clone()).or_insert_with(|| value.clone());
        }
        let cancel = CancellationToken::new();
        let guard = cancel.clone().drop_guard();
        let seed = provider.next_seed();
        let mut adjustments = provider.learned.adjustments();
        loop {
            let body = self.encode(&request, adjustments);
            match self.send(&body, seed, &cancel).await? {
                Sent::Accepted(response) => {
                    provider.learned.keep(adjustments);
                    let decoder = ChunkDecoder::new(Arc::clone(&provider.source), seed);
                    let model = self.identity.model.clone();
                    return Ok(
                        Answer::new(Arc::clone(provider), model, response, decoder, guard).into_stream()
                    );
                }
                Sent::Refused { error, .. } if error.kind == ModelErrorKind::ToolsUnsupported => {
                    provider.learned.note_without_tools(&self.identity.model);
                    return Err(error);
                }
                Sent::Refused { status, body: answer, error } => {
                    match adjustments.after_refusal(status, &answer, &body) {
                        Some(next) => adjustments = next,
                        None => return Err(error),
                    }
                }
            }
        }
    }
}
