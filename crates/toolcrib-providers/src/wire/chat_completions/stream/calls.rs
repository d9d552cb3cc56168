//! Puts calls together from deltas, whatever a host makes of indices and ids.
//!
//! A call keeps its position, id and name from the moment at which they are known. Ids are unique within an answer;
//! where a host repeats one, its own form stands in the call's opaque fields.

use std::collections::HashMap;

use serde_json::{Map, Value};
use toolcrib_runtime::message::ToolCall;
use toolcrib_runtime::model::ModelEvent;

use super::decode::merge_unknown;
use crate::wire::chat_completions::WIRE_ID_FIELD;
use crate::wire::chat_completions::types::mix;

/// The calls of one answer.
#[derive(Debug)]
pub(super) struct Calls {
    seed: u64,
    open: Vec<OpenCall>,
    /// The call that each index stands for now.
    by_index: HashMap<u64, usize>,
}

#[derive(Debug, Default)]
struct OpenCall {
    /// The id as the host wrote it; empty while unknown.
    wire_id: String,
    /// The id under which the call was announced; empty before.
    id: String,
    name: String,
    arguments: String,
    /// How much of the arguments was passed on.
    passed_on: usize,
    opaque: Map<String, Value>,
}

/// One element of `tool_calls`, with everything that means "absent" taken as absent.
struct Delta<'a> {
    index: Option<u64>,
    id: &'a str,
    name: &'a str,
    arguments: Option<Arguments<'a>>,
    fields: &'a Map<String, Value>,
}

enum Arguments<'a> {
    Piece(&'a str),
    /// A whole JSON value where a string belongs.
    Whole(String),
}

impl Calls {
    pub(super) fn new(seed: u64) -> Self {
        Self { seed, open: Vec::new(), by_index: HashMap::new() }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.open.is_empty()
    }

    /// Takes the elements of one `tool_calls` array. In a complete message every element is a call of its own.
    pub(super) fn take(&mut self, elements: &[Value], is_complete: bool, events: &mut Vec<ModelEvent>) {
        for (place, element) in elements.iter().enumerate() {
            let Some(delta) = Delta::of(element) else { continue };
            let known = if is_complete { None } else { self.find(&delta, place, elements.len()) };
            let position = known.unwrap_or_else(|| {
                self.open.push(OpenCall::default());
                self.open.len() - 1
            });
            if let Some(index) = delta.index {
                self.by_index.insert(index, position);
            }
            self.open[position].grow(&delta);
            self.announce(position, events);
        }
    }

    /// The calls, complete as far as the host sent them. Calls that never got a name are dropped.
    pub(super) fn complete(&mut self) -> Vec<ToolCall> {
        for position in 0..self.open.len() {
            self.assign_id(position);
        }
        let named = self.open.drain(..).filter(|call| !call.name.is_empty());
        named.map(OpenCall::into_call).collect()
    }

    /// The call that the delta belongs to, or `None` when it opens a new one.
    fn find(&self, delta: &Delta<'_>, place: usize, places: usize) -> Option<usize> {
        let position = match delta.index {
            Some(index) => self.by_index.get(&index).copied().or_else(|| self.without_index(delta)),
            None => self.by_id(delta).or_else(|| self.by_place(delta, place, places)),
        }?;
        (!self.open[position].is_followed_by(delta)).then_some(position)
    }

    fn by_id(&self, delta: &Delta<'_>) -> Option<usize> {
        if delta.id.is_empty() {
            return None;
        }
        self.open.iter().rposition(|call| call.wire_id == delta.id)
    }

    /// A host that starts to send indices after a call was opened without one.
    fn without_index(&self, delta: &Delta<'_>) -> Option<usize> {
        self.by_id(delta).filter(|position| !self.by_index.values().any(|known| known == position))
    }

    fn by_place(&self, delta: &Delta<'_>, place: usize, places: usize) -> Option<usize> {
        if !delta.id.is_empty() {
            return self.open.iter().rposition(|call| call.wire_id.is_empty() || delta.name.is_empty());
        }
        if places > 1 {
            return (place < self.open.len()).then_some(place);
        }
        let mut growing = self.open.iter().enumerate().filter(|(_, call)| !call.has_whole_arguments());
        match (growing.next(), growing.next()) {
            (Some((only, _)), None) => Some(only),
            _ => self.open.len().checked_sub(1),
        }
    }

    fn announce(&mut self, position: usize, events: &mut Vec<ModelEvent>) {
        if self.open[position].name.is_empty() {
            return;
        }
        let is_new = self.open[position].id.is_empty();
        self.assign_id(position);
        let call = &mut self.open[position];
        if !is_new && call.passed_on == call.arguments.len() {
            return;
        }
        let arguments_delta = call.arguments[call.passed_on..].to_owned();
        call.passed_on = call.arguments.len();
        events.push(ModelEvent::CallProgress {
            position,
            id: call.id.clone(),
            name: call.name.clone(),
            arguments_delta,
        });
    }

    fn assign_id(&mut self, position: usize) {
        if !self.open[position].id.is_empty() {
            return;
        }
        let wire_id = self.open[position].wire_id.clone();
        let is_taken = |id: &str| self.open.iter().any(|call| call.id == id);
        let id = if wire_id.is_empty() {
            generated_id(self.seed, position)
        } else if is_taken(&wire_id) {
            let free = (2..).map(|number: u32| format!("{wire_id}_{number}"));
            free.into_iter().find(|id| !is_taken(id)).unwrap_or_else(|| generated_id(self.seed, position))
        } else {
            wire_id.clone()
        };
        self.open[position].id = id;
    }
}

impl OpenCall {
    fn grow(&mut self, delta: &Delta<'_>) {
        if self.wire_id.is_empty() {
            delta.id.clone_into(&mut self.wire_id);
        }
        if self.name.is_empty() {
            delta.name.clone_into(&mut self.name);
        }
        match &delta.arguments {
            None => {}
            Some(Arguments::Piece(piece)) => self.arguments.push_str(piece),
            // A host that repeats everything in each chunk repeats the same value.
            Some(Arguments::Whole(whole)) if self.arguments == *whole => {}
            Some(Arguments::Whole(whole)) => self.arguments.push_str(whole),
        }
        merge_unknown(&mut self.opaque, delta.fields, &["index", "id", "type", "function"]);
        if let Some(function) = delta.fields.get("function").and_then(Value::as_object) {
            let mut own = Map::new();
            merge_unknown(&mut own, function, &["name", "arguments"]);
            if !own.is_empty() {
                let own = Map::from_iter([("function".to_owned(), Value::Object(own))]);
                merge_unknown(&mut self.opaque, &own, &[]);
            }
        }
    }

    /// Whether the delta, which points at this call, in truth opens the next one.
    fn is_followed_by(&self, delta: &Delta<'_>) -> bool {
        let renamed = !delta.name.is_empty() && !self.name.is_empty() && delta.name != self.name;
        let brings_arguments = match &delta.arguments {
            None => false,
            Some(Arguments::Piece(piece)) => !piece.trim().is_empty(),
            Some(Arguments::Whole(whole)) => self.arguments != *whole,
        };
        let other_id = !delta.id.is_empty() && !self.wire_id.is_empty() && delta.id != self.wire_id;
        if other_id {
            // An id that merely changes comes in the middle of the arguments, or without a name.
            let starts = !delta.name.is_empty() && (self.arguments.trim().is_empty() || renamed);
            return starts || (self.has_whole_arguments() && (brings_arguments || !delta.name.is_empty()));
        }
        if renamed {
            return true;
        }
        let same_id = !delta.id.is_empty() && delta.id == self.wire_id;
        !same_id && !delta.name.is_empty() && brings_arguments && self.has_whole_arguments()
    }

    fn has_whole_arguments(&self) -> bool {
        let text = self.arguments.trim_end();
        let may_end = text.ends_with(['}', ']', '"']);
        may_end && serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok()
    }

    fn into_call(mut self) -> ToolCall {
        // The host gets its own id back, though it was not unique or came after the call was announced.
        if !self.wire_id.is_empty() && self.wire_id != self.id {
            self.opaque.insert(WIRE_ID_FIELD.to_owned(), self.wire_id.into());
        }
        let arguments = normal_arguments(self.arguments);
        ToolCall { id: self.id, name: self.name, arguments, opaque: self.opaque }
    }
}

impl<'a> Delta<'a> {
    fn of(element: &'a Value) -> Option<Self> {
        let fields = element.as_object()?;
        let function = fields.get("function").and_then(Value::as_object);
        let index =
            fields.get("index").and_then(|index| index.as_u64().or_else(|| index.as_str()?.parse().ok()));
        let arguments = function.and_then(|function| match function.get("arguments")? {
            Value::Null => None,
            Value::String(piece) => Some(Arguments::Piece(piece)),
            whole => Some(Arguments::Whole(whole.to_string())),
        });
        let text = |value: Option<&'a Value>| value.and_then(Value::as_str).unwrap_or_default();
        let name = text(function.and_then(|function| function.get("name"))).trim();
        Some(Self { index, id: text(fields.get("id")), name, arguments, fields })
    }
}

/// Nothing means no arguments, and an object written as JSON text within JSON is taken out of it.
fn normal_arguments(arguments: String) -> String {
    let trimmed = arguments.trim();
    if trimmed.is_empty() || trimmed == "null" {
        return "{}".to_owned();
    }
    if trimmed.starts_with('"')
        && let Ok(inner) = serde_json::from_str::<String>(trimmed)
    {
        if inner.trim().is_empty() {
            return "{}".to_owned();
        }
        if serde_json::from_str::<Map<String, Value>>(&inner).is_ok() {
            return inner;
        }
    }
    arguments
}

fn generated_id(seed: u64, position: usize) -> String {
    let first = mix(seed ^ mix(position as u64));
    format!("call_{first:016x}{:016x}", mix(first ^ seed.rotate_left(32)))
}
