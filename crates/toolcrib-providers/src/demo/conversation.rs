//! What the demo model looks at in a conversation: the last question, and what was done about it since.

use serde_json::{Map, Value};
use toolcrib_runtime::message::{Message, ToolCall, ToolResult};

use super::intent::Wish;

/// What the model says about itself before anything else.
const INTRODUCTION: &str = "I am Toolcrib's demo model: a small rule-based program, not a language model.";

/// The last question and everything since.
pub(super) struct Turn<'a> {
    pub(super) question: String,
    /// The results since the question, each with its call.
    pub(super) results: Vec<(&'a ToolCall, &'a ToolResult)>,
    /// How many calls the whole conversation holds.
    pub(super) calls_so_far: usize,
    calls: Vec<&'a ToolCall>,
    is_introduced: bool,
}

impl<'a> Turn<'a> {
    pub(super) fn of(messages: &'a [Message]) -> Self {
        let asked = messages.iter().rposition(|message| matches!(message, Message::User(_)));
        let question = asked.map(|asked| messages[asked].text()).unwrap_or_default();
        let since = &messages[asked.map_or(0, |asked| asked + 1)..];
        let mut calls = Vec::new();
        let mut results = Vec::new();
        let mut round: Vec<&ToolCall> = Vec::new();
        for message in since {
            match message {
                Message::Assistant(answer) => {
                    round = answer.calls().collect();
                    calls.extend(round.iter().copied());
                }
                Message::ToolResult(result) => {
                    let call = round.iter().find(|call| call.id == result.call_id);
                    results.extend(call.map(|call| (*call, result)));
                }
                Message::System(_) | Message::User(_) => {}
            }
        }
        let all_calls = messages.iter().map(|message| match message {
            Message::Assistant(answer) => answer.calls().count(),
            _ => 0,
        });
        Self {
            question,
            results,
            calls_so_far: all_calls.sum(),
            calls,
            is_introduced: messages.iter().any(|message| matches!(message, Message::Assistant(_))),
        }
    }

    /// Whether the wish was already turned into a call since the question.
    pub(super) fn has_called(&self, wish: &Wish) -> bool {
        self.calls.iter().any(|call| call.name == wish.tool && same_object(&call.arguments, &wish.arguments))
    }

    /// The text, introduced when it is the first answer of the conversation.
    pub(super) fn introduced(&self, text: String) -> String {
        if self.is_introduced { text } else { format!("{INTRODUCTION} {text}") }
    }
}

/// Arguments may have been repaired or reordered on the way: the values that were asked for must be there.
fn same_object(arguments: &str, wanted: &Map<String, Value>) -> bool {
    let Ok(found) = serde_json::from_str::<Map<String, Value>>(arguments) else { return false };
    wanted.iter().all(|(name, value)| found.get(name) == Some(value))
}
