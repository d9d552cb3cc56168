//! The state of one run: decides what comes next, and does no I/O.
//!
//! The order of use is: [`Machine::request`], the model's answer to [`Machine::answered`]; for its calls, one after
//! the other, [`Machine::plan`] and [`Machine::count`]; then [`Machine::end_round`] with all their results, and again.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::message::{AssistantMessage, AssistantPart, Message, Part, ToolCall, ToolResult, Usage};
use crate::model::{FinishReason, ModelRequest, ResponseFormat, Sampling, ToolChoice, ToolSpec};

use crate::offering::Offering;

use super::event::Incomplete;
use super::history;
use super::limits::Limits;
use super::repeat::{Repeats, Repetition};
use super::round::OpenRound;

/// The tools of a request.
type Tools = Arc<[Arc<ToolSpec>]>;

/// One run.
#[derive(Debug)]
pub struct Machine {
    request: ModelRequest,
    limits: Limits,
    /// The conversation as it was before the run: what is behind it in `request.messages` was added by the run.
    given: usize,
    /// What is behind this in `request.messages` has not been taken to be recorded yet.
    taken: usize,
    rounds: u32,
    calls: u32,
    result_characters: usize,
    repeats: Repeats,
    usage: Usage,
    visible_text: String,
    closing: Option<Incomplete>,
    spent: i64,
}

/// A machine without its limits and tools, which are read anew when it goes on.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct SavedMachine {
    messages: Vec<Message>,
    tool_choice: ToolChoice,
    parallel_calls: bool,
    sampling: Sampling,
    response_format: Option<ResponseFormat>,
    native_tools: Vec<Value>,
    extra: Map<String, Value>,
    given: usize,
    taken: usize,
    rounds: u32,
    calls: u32,
    result_characters: usize,
    repeats: Repeats,
    usage: Usage,
    visible_text: String,
    closing: Option<Incomplete>,
    spent: i64,
}

/// What comes after a model's answer.
#[derive(Debug, PartialEq)]
pub enum Step {
    /// Run these calls, then end the round. Calls of the client's own tools stand apart.
    Calls {
        /// Calls of our tools, in the order in which the model made them.
        ours: Vec<ToolCall>,
        /// Calls that the client has to run.
        clients: Vec<ToolCall>,
    },
    /// The run is done.
    Done {
        /// Why the answer ended.
        finish: FinishReason,
    },
    /// The model said nothing at all.
    Empty,
}

/// What to do with one call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Plan {
    /// Admit and execute it.
    Execute {
        /// The position of the call in its run, from 1.
        order: u32,
        /// Unicode scalar values of result that the run can still take.
        result_characters_left: usize,
    },
    /// Do not run it; the model reads this instead of a result.
    Answer(String),
}

impl Machine {
    /// A run over these messages, within these limits. `instructions` are appended to the caller's system text.
    pub fn new(mut request: ModelRequest, instructions: Option<String>, limits: Limits) -> Self {
        request.messages = history::repair(request.messages);
        if let Some(instructions) = instructions {
            append_to_system(&mut request.messages, &instructions);
        }
        let given = request.messages.len();
        Self {
            request,
            limits,
            given,
            taken: given,
            rounds: 0,
            calls: 0,
            result_characters: 0,
            repeats: Repeats::default(),
            usage: Usage::default(),
            visible_text: String::new(),
            closing: None,
            spent: 0,
        }
    }

    /// Puts text into the system prompt before the first request.
    pub fn add_to_system(&mut self, text: &str) {
        let before = self.request.messages.len();
        append_to_system(&mut self.request.messages, text);
        let added = self.request.messages.len() - before;
        self.given += added;
        self.taken += added;
    }

    /// Unicode scalar values of result that the run can still take.
    pub fn result_characters_left(&self) -> usize {
        self.limits.result_characters.saturating_sub(self.result_characters)
    }

    /// The tools that the client declared itself.
    pub(super) fn client_tools(&self, offering: &Offering) -> Vec<ToolSpec> {
        let clients = self.request.tools.iter().filter(|tool| offering.is_client_tool(&tool.name));
        clients.map(|tool| (**tool).clone()).collect()
    }

    /// The conversation as the model sees it now.
    pub fn messages(&self) -> &[Message] {
        &self.request.messages
    }

    /// The conversation as it was before the run.
    pub fn given(&self) -> &[Message] {
        self.request.messages.get(..self.given).unwrap_or_default()
    }

    /// The request of the next round.
    pub fn request(&mut self) -> ModelRequest {
        self.rounds += 1;
        let mut request = self.request.clone();
        if let Some(reason) = &self.closing {
            request.tools = [].into();
            request.native_tools.clear();
            request.tool_choice = ToolChoice::Auto;
            request.messages.push(Message::User(vec![Part::Text(reason.ask_for_answer())]));
        } else if self.rounds > 1
            && matches!(request.tool_choice, ToolChoice::Required | ToolChoice::Named(_))
        {
            // A forced call was made in the first round; forcing it again would never end.
            request.tool_choice = ToolChoice::Auto;
        }
        request
    }

    /// Goes on without tools, for a model that cannot take them. False when there were none, or a tool is demanded.
    pub fn withdraw_tools(&mut self) -> bool {
        let demanded = matches!(self.request.tool_choice, ToolChoice::Required | ToolChoice::Named(_));
        if demanded || self.request.tools.is_empty() {
            return false;
        }
        self.request.tools = [].into();
        self.rounds -= 1;
        true
    }

    /// Takes a complete answer of the model. `is_clients` tells which tools the client runs itself.
    pub fn answered(
        &mut self,
        answer: AssistantMessage,
        finish: FinishReason,
        usage: Usage,
        is_clients: impl Fn(&str) -> bool,
    ) -> Step {
        self.usage += usage;
        self.show(&answer.text());
        let calls: Vec<ToolCall> = answer.calls().cloned().collect();
        if self.closing.is_some() || calls.is_empty() {
            return self.last_answer(answer, finish);
        }
        self.request.messages.push(Message::Assistant(answer));
        let (clients, ours) = calls.into_iter().partition(|call| is_clients(&call.name));
        Step::Calls { ours, clients }
    }

    /// An answer without calls, or one whose calls no longer count.
    fn last_answer(&mut self, mut answer: AssistantMessage, finish: FinishReason) -> Step {
        answer.parts.retain(|part| !matches!(part, AssistantPart::Call(_)));
        let silent = answer.text().trim().is_empty();
        if silent && self.closing.is_some() && !self.visible_text.is_empty() {
            // What was said in earlier rounds is the answer.
            return Step::Done { finish: FinishReason::Length };
        }
        if silent && finish != FinishReason::Length && finish != FinishReason::ContentFilter {
            return Step::Empty;
        }
        if finish == FinishReason::Length && self.closing.is_none() {
            self.closing = Some(Incomplete::OutputCut);
        }
        self.request.messages.push(Message::Assistant(answer));
        let finish = if finish == FinishReason::ToolCalls { FinishReason::Stop } else { finish };
        Step::Done { finish }
    }

    /// Decides about the next call of the round.
    pub fn plan(&mut self, call: &ToolCall) -> Plan {
        if self.closing.is_none() {
            if self.calls >= self.limits.calls {
                self.closing = Some(Incomplete::Calls { limit: self.limits.calls });
            } else if self.result_characters >= self.limits.result_characters {
                self.closing = Some(Incomplete::ResultCharacters { limit: self.limits.result_characters });
            } else {
                self.closing = self.out_of_credits();
            }
        }
        if let Some(reason) = &self.closing {
            return Plan::Answer(reason.instead_of_result());
        }
        match self.repeats.judge(&call.name, &call.arguments) {
            Repetition::Fresh => {}
            Repetition::Pointless => {
                let text = "This call was made before with the same arguments and gave the same result. It was not \
                            made again: use the earlier result, or try something else.";
                return Plan::Answer(text.to_owned());
            }
            Repetition::Hopeless => {
                let reason = Incomplete::Repetition { tool: call.name.clone() };
                let text = reason.instead_of_result();
                self.closing = Some(reason);
                return Plan::Answer(text);
            }
        }
        self.calls += 1;
        let left = self.limits.result_characters - self.result_characters;
        Plan::Execute { order: self.calls, result_characters_left: left }
    }

    /// Counts what the model will read as the result of a call, and what the call cost.
    pub fn count(&mut self, call: &ToolCall, text: &str, executed: bool, cost: i64) {
        self.result_characters += text.chars().count();
        self.spent = self.spent.saturating_add(cost);
        if executed {
            self.repeats.record(&call.name, &call.arguments, text);
        }
    }

    /// Ends a round with the results of its calls, in the order of the calls.
    pub fn end_round(&mut self, results: impl IntoIterator<Item = ToolResult>) {
        self.request.messages.extend(results.into_iter().map(Message::ToolResult));
        if self.closing.is_some() {
            return;
        }
        if self.rounds >= self.limits.rounds {
            self.closing = Some(Incomplete::Rounds { limit: self.limits.rounds });
        } else if self.calls >= self.limits.calls {
            self.closing = Some(Incomplete::Calls { limit: self.limits.calls });
        } else if self.result_characters >= self.limits.result_characters {
            self.closing = Some(Incomplete::ResultCharacters { limit: self.limits.result_characters });
        } else {
            self.closing = self.out_of_credits();
        }
    }

    fn out_of_credits(&self) -> Option<Incomplete> {
        let limit = self.limits.credits?;
        (self.spent >= limit).then_some(Incomplete::Credits { limit })
    }

    /// Keeps what was shown of an answer that broke off. Its calls are dropped: they may be incomplete.
    pub fn broke_off(&mut self, mut answer: AssistantMessage, usage: Usage) {
        self.usage += usage;
        answer.parts.retain(|part| !matches!(part, AssistantPart::Call(_)));
        let text = answer.text();
        if !text.is_empty() {
            self.show(&text);
            self.request.messages.push(Message::Assistant(answer));
        }
    }

    fn show(&mut self, text: &str) {
        if !text.is_empty() && !self.visible_text.is_empty() {
            self.visible_text.push_str("\n\n");
        }
        self.visible_text.push_str(text);
    }

    /// Marks the run as ended by its time limit.
    pub fn out_of_time(&mut self) {
        self.closing = Some(Incomplete::Time { limit: self.limits.run_time });
    }

    /// Why the answer is incomplete, when it is.
    pub fn incomplete(&self) -> Option<&Incomplete> {
        self.closing.as_ref()
    }

    /// The text that the user has seen so far, rounds separated by a blank line.
    pub fn visible_text(&self) -> &str {
        &self.visible_text
    }

    /// Gives every call of a round that broke off a result, so that the conversation can go on.
    pub(super) fn close_round(&mut self, round: &OpenRound) {
        self.request.messages.extend(round.results().map(Message::ToolResult));
        let open = self.request.messages.split_off(self.taken.min(self.request.messages.len()));
        self.request.messages.extend(history::repair(open));
    }

    /// What the run has added to the conversation since this was last asked.
    pub fn take_added(&mut self) -> Vec<Message> {
        let added = self.request.messages.get(self.taken..).unwrap_or_default().to_vec();
        self.taken = self.request.messages.len();
        added
    }

    /// The machine as it can be kept.
    pub(super) fn save(&self) -> SavedMachine {
        let request = self.request.clone();
        SavedMachine {
            messages: request.messages,
            tool_choice: request.tool_choice,
            parallel_calls: request.parallel_calls,
            sampling: request.sampling,
            response_format: request.response_format,
            native_tools: request.native_tools,
            extra: request.extra,
            given: self.given,
            taken: self.taken,
            rounds: self.rounds,
            calls: self.calls,
            result_characters: self.result_characters,
            repeats: self.repeats.clone(),
            usage: self.usage,
            visible_text: self.visible_text.clone(),
            closing: self.closing.clone(),
            spent: self.spent,
        }
    }

    /// A machine that goes on where it was saved, with tools and limits as they are now.
    pub(super) fn restore(saved: SavedMachine, tools: Tools, limits: Limits) -> Self {
        let request = ModelRequest {
            messages: saved.messages,
            tools,
            tool_choice: saved.tool_choice,
            parallel_calls: saved.parallel_calls,
            sampling: saved.sampling,
            response_format: saved.response_format,
            native_tools: saved.native_tools,
            extra: saved.extra,
        };
        Self {
            request,
            limits,
            given: saved.given,
            taken: saved.taken,
            rounds: saved.rounds,
            calls: saved.calls,
            result_characters: saved.result_characters,
            repeats: saved.repeats,
            usage: saved.usage,
            visible_text: saved.visible_text,
            closing: saved.closing,
            spent: saved.spent,
        }
    }

    /// What the run has added to the conversation.
    pub fn added(&self) -> &[Message] {
        self.request.messages.get(self.given..).unwrap_or_default()
    }

    /// Tokens of all rounds so far.
    pub fn usage(&self) -> Usage {
        self.usage
    }

    /// How many rounds there were.
    pub fn rounds(&self) -> u32 {
        self.rounds
    }
}

impl SavedMachine {
    pub(super) fn visible_text(&self) -> &str {
        &self.visible_text
    }

    pub(super) fn usage(&self) -> Usage {
        self.usage
    }

    pub(super) fn rounds(&self) -> u32 {
        self.rounds
    }

    /// What has not been recorded yet, every call with a result.
    pub(super) fn open_messages(&self, round: &OpenRound) -> Vec<Message> {
        let mut open = self.messages.get(self.taken..).unwrap_or_default().to_vec();
        open.extend(round.results().map(Message::ToolResult));
        history::repair(open)
    }
}

fn append_to_system(messages: &mut Vec<Message>, instructions: &str) {
    match messages.iter_mut().take_while(|message| matches!(message, Message::System(_))).last() {
        Some(Message::System(text)) => {
            text.push_str("\n\n");
            text.push_str(instructions);
        }
        _ => messages.insert(0, Message::System(instructions.to_owned())),
    }
}
