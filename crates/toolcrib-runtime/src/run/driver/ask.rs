//! One request to the model, its events passed on as they come.

use futures_util::StreamExt as _;

use super::{Driver, Stop};
use crate::message::{AssistantMessage, AssistantPart, Usage};
use crate::model::{FinishReason, ModelEvent, ModelRequest};
use crate::run::event::RunEvent;

/// The longest answer of one round that is kept, in bytes; a model that goes on is cut off there.
const LARGEST_ANSWER: usize = 8 * 1024 * 1024;

/// One answer of the model, as far as it has come.
pub(super) struct RoundAnswer {
    pub(super) message: AssistantMessage,
    pub(super) has_text: bool,
    pub(super) finish: FinishReason,
    pub(super) usage: Usage,
}

impl Driver {
    /// Asks the model and takes its whole answer.
    pub(super) async fn ask(&mut self, request: ModelRequest) -> Result<RoundAnswer, Stop> {
        let mut stream = self.model.ask(request).await.map_err(Stop::Model)?;
        self.open = RoundAnswer::default();
        let mut client_positions: Vec<usize> = Vec::new();
        let mut bytes = 0;
        while let Some(event) = stream.next().await {
            let event = event.map_err(Stop::Model)?;
            bytes += size(&event);
            if bytes > LARGEST_ANSWER {
                tracing::warn!(run = self.run_id, bytes, "the model's answer is cut: it has no end");
                self.open.message.parts.retain(|part| !matches!(part, AssistantPart::Call(_)));
                self.open.finish = FinishReason::Length;
                break;
            }
            match event {
                ModelEvent::Text(delta) if delta.is_empty() => {}
                ModelEvent::Text(delta) => {
                    if !self.open.has_text && self.text_shown {
                        self.emit(RunEvent::Text("\n\n".to_owned())).await;
                    }
                    self.text_shown = true;
                    self.open.has_text = true;
                    self.open.message.push_text(&delta);
                    self.emit(RunEvent::Text(delta)).await;
                }
                ModelEvent::Reasoning(delta) => {
                    self.open.message.push_reasoning(&delta);
                    self.emit(RunEvent::Reasoning(delta)).await;
                }
                ModelEvent::CallProgress { position, id, name, arguments_delta } => {
                    // A call in the final round is dropped: the client must not begin with it.
                    if self.offering.is_client_tool(&name) && self.machine.incomplete().is_none() {
                        let known = client_positions.iter().position(|known| *known == position);
                        let position = known.unwrap_or_else(|| {
                            client_positions.push(position);
                            client_positions.len() - 1
                        });
                        self.emit(RunEvent::ClientCallProgress { position, id, name, arguments_delta }).await;
                    }
                }
                ModelEvent::Call(call) => self.open.message.parts.push(AssistantPart::Call(call)),
                ModelEvent::Opaque(fields) => self.open.message.opaque.extend(fields),
                ModelEvent::Usage(usage) => self.open.usage = usage,
                ModelEvent::Finished(reason) => self.open.finish = reason,
            }
        }
        Ok(std::mem::take(&mut self.open))
    }
}

impl Default for RoundAnswer {
    fn default() -> Self {
        Self {
            message: AssistantMessage::default(),
            has_text: false,
            finish: FinishReason::Stop,
            usage: Usage::default(),
        }
    }
}

/// What an event adds to the answer that is kept, in bytes.
fn size(event: &ModelEvent) -> usize {
    match event {
        ModelEvent::Text(text) | ModelEvent::Reasoning(text) => text.len(),
        ModelEvent::CallProgress { arguments_delta, .. } => arguments_delta.len(),
        ModelEvent::Call(call) => call.name.len() + call.id.len(),
        ModelEvent::Opaque(_) | ModelEvent::Usage(_) | ModelEvent::Finished(_) => 0,
    }
}
