//! The built-in demo model: a small rule-based program that calls real tools.
//!
//! It answers when no provider is configured, so that everything but the language model can be seen working. It
//! reads no clock and draws no random number: the same request always gets the same answer.

use async_trait::async_trait;
use futures_util::stream::{self, StreamExt};
use serde_json::Map;
use toolcrib_runtime::confidence::Confidence;
use toolcrib_runtime::message::{Message, ToolCall, Usage};
use toolcrib_runtime::model::{
    FinishReason, Model, ModelCapabilities, ModelError, ModelEvent, ModelIdentity, ModelRequest, ModelStream,
};

mod conversation;
mod intent;
mod passages;
mod places;
mod reply;

use conversation::Turn;
use intent::Wish;

/// The most words in one event of text.
const WORDS_PER_EVENT: usize = 2;

/// Characters that a token stands for in the usage that is told.
const CHARACTERS_PER_TOKEN: usize = 4;

/// The model `toolcrib/demo`.
#[derive(Debug)]
pub struct DemoModel {
    identity: ModelIdentity,
}

/// What the model says and which tools it calls in one round.
#[derive(Debug, Default, PartialEq)]
struct Reply {
    text: String,
    calls: Vec<ToolCall>,
}

impl DemoModel {
    /// The id of the provider that the model belongs to.
    pub const PROVIDER_ID: &'static str = "toolcrib";

    /// The model's name at its provider.
    pub const NAME: &'static str = "demo";

    /// The model. Nothing that it reads leaves the program, so it is trusted with everything.
    pub fn new() -> Self {
        let identity = ModelIdentity {
            provider_id: Self::PROVIDER_ID.to_owned(),
            model: Self::NAME.to_owned(),
            confidence: Confidence::High,
            trusted: true,
        };
        Self { identity }
    }
}

impl Default for DemoModel {
    fn default() -> Self {
        Self::new()
    }
}

#[async_trait]
impl Model for DemoModel {
    fn identity(&self) -> &ModelIdentity {
        &self.identity
    }

    fn capabilities(&self) -> ModelCapabilities {
        ModelCapabilities { functions: true, images: false }
    }

    async fn ask(&self, request: ModelRequest) -> Result<ModelStream, ModelError> {
        let reply = reply(&request);
        let usage = usage(&request, &reply);
        let finish = if reply.calls.is_empty() { FinishReason::Stop } else { FinishReason::ToolCalls };
        let mut events: Vec<_> = pieces(&reply.text).map(ModelEvent::Text).collect();
        for (position, call) in reply.calls.into_iter().enumerate() {
            events.push(ModelEvent::CallProgress {
                position,
                id: call.id.clone(),
                name: call.name.clone(),
                arguments_delta: call.arguments.clone(),
            });
            events.push(ModelEvent::Call(call));
        }
        events.extend([ModelEvent::Usage(usage), ModelEvent::Finished(finish)]);
        Ok(stream::iter(events.into_iter().map(Ok)).boxed())
    }
}

fn reply(request: &ModelRequest) -> Reply {
    let turn = Turn::of(&request.messages);
    let wishes = intent::wishes(&turn.question, request);
    let open: Vec<_> = wishes.iter().filter(|wish| !turn.has_called(wish)).collect();
    let can_call = |wish: &&Wish| intent::is_offered(&wish.tool, request);
    let callable: Vec<_> = open.iter().copied().filter(can_call).collect();
    if !callable.is_empty() {
        let now = if request.parallel_calls { &callable[..] } else { &callable[..1] };
        return announce(&turn, now);
    }
    if !turn.results.is_empty() {
        return Reply { text: turn.introduced(reply::from_results(&turn)), calls: Vec::new() };
    }
    let text = match open.first() {
        Some(wish) => reply::without_tool(wish),
        None => reply::without_rule(request),
    };
    Reply { text: turn.introduced(text), calls: Vec::new() }
}

/// Says what is done now, and does it.
fn announce(turn: &Turn<'_>, wishes: &[&Wish]) -> Reply {
    let said: Vec<_> = wishes.iter().map(|wish| wish.announcement.as_str()).collect();
    let calls = wishes.iter().enumerate().map(|(number, wish)| ToolCall {
        id: format!("call_demo_{}", turn.calls_so_far + number + 1),
        name: wish.tool.clone(),
        arguments: serde_json::Value::Object(wish.arguments.clone()).to_string(),
        opaque: Map::new(),
    });
    Reply { text: turn.introduced(said.join(" ")), calls: calls.collect() }
}

fn pieces(text: &str) -> impl Iterator<Item = String> {
    let words: Vec<_> = text.split_inclusive(' ').collect();
    words.chunks(WORDS_PER_EVENT).map(<[_]>::concat).collect::<Vec<_>>().into_iter()
}

/// About what a language model would have counted.
fn usage(request: &ModelRequest, reply: &Reply) -> Usage {
    let of_message = |message: &Message| {
        let calls = match message {
            Message::Assistant(answer) => {
                answer.calls().map(|call| call.name.len() + call.arguments.len()).sum()
            }
            _ => 0,
        };
        message.text().len() + calls
    };
    let of_tools = request.tools.iter().map(|tool| {
        tool.name.len() + tool.description.as_ref().map_or(0, String::len) + tool.parameters.to_string().len()
    });
    let read: usize = request.messages.iter().map(of_message).chain(of_tools).sum();
    let calls: usize = reply.calls.iter().map(|call| call.name.len() + call.arguments.len()).sum();
    let tokens = |length: usize| u64::try_from(length.div_ceil(CHARACTERS_PER_TOKEN)).unwrap_or(u64::MAX);
    Usage { input_tokens: tokens(read), output_tokens: tokens(reply.text.len() + calls), ..Usage::default() }
}

#[cfg(test)]
mod tests;
