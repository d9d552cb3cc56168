//! Runs admitted calls, and nothing else: hold, journal, deadline, cap, frame, settle, trace.
//!
//! [`Executor::execute`] takes [`Admitted`] calls only, and an admission and its hold are durable before its call runs.

use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use serde_json::Value;
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;

use crate::clock::Clock;
use crate::confidence::Confidence;
use crate::journal::{Journal, JournalError, Trace, TraceStatus};
use crate::ledger::{Hold, Ledger, LedgerError};
use crate::links::Links;
use crate::message::ToolCall;
use crate::model::ModelIdentity;
use crate::offering::{Admitted, AdmittedCall, Refusal};
use crate::registry::RegisteredTool;
use crate::run::Limits;
use crate::tool::{Content, Progress, ToolContext, ToolError, ToolOutput};

pub(crate) mod arguments;
pub(crate) mod cap;
pub(crate) mod frame;
pub(crate) mod sensitive;

pub use sensitive::MASK;

use arguments::Arguments;
use sensitive::{Sensitive, parse_or_text};

#[cfg(test)]
mod tests;

/// Runs admitted calls.
#[derive(Clone)]
pub struct Executor {
    journal: Arc<dyn Journal>,
    ledger: Arc<dyn Ledger>,
    clock: Arc<dyn Clock>,
}

/// What came of a call: its record, and what the model reads.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    /// The record, as it is in the journal.
    pub trace: Trace,
    /// The result as the model reads it: capped, and framed when strangers wrote it.
    pub for_model: String,
}

/// The run that a call belongs to, and what is left of its limits.
#[derive(Clone)]
pub struct CallScope {
    /// The run's id.
    pub run_id: String,
    /// The conversation, when there is one.
    pub conversation_id: Option<String>,
    /// The position of the call in its run, from 1.
    pub order: u32,
    /// The round, from 1.
    pub round: u32,
    /// The limits of the run.
    pub limits: Limits,
    /// Unicode scalar values of result that the run can still take.
    pub result_characters_left: usize,
    /// The confidence of the provider that will read the result.
    pub confidence: Confidence,
    /// That provider instance is listed as trusted.
    pub provider_trusted: bool,
    /// Cancelled when the run is.
    pub cancellation: CancellationToken,
    /// Takes progress reports.
    pub progress: Progress,
    /// The URLs that the conversation knows.
    pub links: Arc<Links>,
    /// When the run has to end, by the clock's elapsed time; `None` without such a limit.
    pub run_ends: Option<Duration>,
}

impl CallScope {
    /// The scope of a single call, the first of a run of its own, within the usual limits, for a provider that reads
    /// the result. The URL that it may fetch is taken to be chosen by a person.
    pub fn single(run_id: impl Into<String>, reader: &ModelIdentity) -> Self {
        let limits = Limits::default();
        Self {
            run_id: run_id.into(),
            conversation_id: None,
            order: 1,
            round: 1,
            result_characters_left: limits.result_characters,
            limits,
            confidence: reader.confidence,
            provider_trusted: reader.trusted,
            cancellation: CancellationToken::new(),
            progress: Progress::ignored(),
            links: Arc::new(Links::Any),
            run_ends: None,
        }
    }
}

/// How the implementation ended.
enum Ending {
    Output(ToolOutput),
    Failed(ToolError),
    TimedOut(Duration),
    Panicked,
    Cancelled,
}

impl Executor {
    /// An executor that writes to this journal and charges to this ledger.
    pub fn new(journal: Arc<dyn Journal>, ledger: Arc<dyn Ledger>, clock: Arc<dyn Clock>) -> Self {
        Self { journal, ledger, clock }
    }

    /// Runs one admitted call to its end and records it.
    ///
    /// # Errors
    /// The journal or the ledger cannot be written; the call has then not run, or its result must not be used.
    pub async fn execute(
        &self,
        admitted: Admitted<AdmittedCall>,
        scope: &CallScope,
    ) -> Result<Outcome, JournalError> {
        let mut call = admitted.into_inner();
        let mut trace = self.begin(&call.tool, &call.call, scope);
        let began = self.clock.elapsed();
        let arguments = std::mem::replace(&mut call.arguments, Ok(Arguments::none()));
        match arguments {
            Err(bad) => {
                let for_model =
                    format!("Not executed. {bad}\nCorrect the arguments and call the tool again.");
                fail(&mut trace, TraceStatus::Error, bad.0, for_model);
            }
            Ok(arguments) => self.carry_out(&call, arguments, &mut trace, scope).await?,
        }
        self.record(trace, began, result_limit(&call.tool, scope), scope).await
    }

    /// Records a call that was refused at admission. Nothing runs.
    ///
    /// # Errors
    /// The journal cannot be written.
    pub async fn refuse(
        &self,
        tool: Option<&RegisteredTool>,
        call: &ToolCall,
        refusal: Refusal,
        scope: &CallScope,
    ) -> Result<Outcome, JournalError> {
        let mut trace = self.open_trace(tool, call, scope);
        fail(&mut trace, TraceStatus::Blocked, refusal.for_model.clone(), refusal.for_model);
        let limit = scope.limits.one_result.min(scope.result_characters_left);
        self.record(trace, self.clock.elapsed(), limit, scope).await
    }

    /// The record of a call before anything came of it, for a call that waits.
    pub fn open_trace(&self, tool: Option<&RegisteredTool>, call: &ToolCall, scope: &CallScope) -> Trace {
        match tool {
            Some(tool) => self.begin(tool, call, scope),
            None => unknown_tool(call, scope, self.clock.now()),
        }
    }

    /// Closes what a stopped run has left open: its calls become CANCELLED, and what they held is given back.
    ///
    /// # Errors
    /// The journal or the ledger cannot be written.
    pub async fn close_open_calls(&self, run_id: &str) -> Result<(), JournalError> {
        self.journal.close_open_calls(run_id, self.clock.now()).await?;
        let released = self.ledger.release(run_id).await;
        released.map_err(|error| JournalError { what: "the release of credits", cause: error.to_string() })
    }

    /// Holds, journals, runs and settles.
    async fn carry_out(
        &self,
        call: &AdmittedCall,
        arguments: Arguments,
        trace: &mut Trace,
        scope: &CallScope,
    ) -> Result<(), JournalError> {
        trace.arguments = Sensitive::of(&call.tool).mask(&arguments.given);
        trace.repairs = arguments.repairs;
        let maximum = call.tool.definition.cost.maximum;
        let hold = Hold {
            caller: &call.caller,
            run_id: &scope.run_id,
            order: scope.order,
            tool_id: call.tool.id(),
            maximum,
        };
        if maximum > 0
            && let Err(error) = self.ledger.hold(&hold).await
        {
            let reason = match error {
                LedgerError::OutOfCredits => "there are not enough credits left for this call",
                LedgerError::HeldByRunningWork => {
                    "the credits for this call are held by work that is still running"
                }
                LedgerError::Unwritable(cause) => {
                    return Err(JournalError { what: "a hold of credits", cause });
                }
            };
            let for_model =
                format!("Not executed: {reason}. Go on without it, and tell the user what is missing.");
            fail(trace, TraceStatus::Blocked, reason.to_owned(), for_model);
            return Ok(());
        }
        self.journal.admit_call(&scope.run_id, trace).await?;
        let ending = self.run(call, arguments.value, scope).await;
        trace.executed = true;
        finish(trace, &call.tool, ending, scope);
        // What was held is the most that can be charged.
        trace.cost = trace.cost.clamp(0, maximum);
        if maximum > 0 {
            let settled = self.ledger.settle(&scope.run_id, scope.order, trace.cost).await;
            settled.map_err(|error| JournalError { what: "a settlement", cause: error.to_string() })?;
        }
        Ok(())
    }

    /// Caps and frames the result and writes the record.
    async fn record(
        &self,
        mut trace: Trace,
        began: Duration,
        limit: usize,
        scope: &CallScope,
    ) -> Result<Outcome, JournalError> {
        let frame_takes = if trace.untrusted { frame::FRAME_CHARACTERS } else { 0 };
        cap_result(&mut trace, limit.saturating_sub(frame_takes));
        trace.duration_ms = millis(self.clock.elapsed().saturating_sub(began));
        let text = trace.result_text.clone().unwrap_or_default();
        let for_model = if trace.untrusted { frame::frame(&text) } else { text };
        self.journal.record_trace(&scope.run_id, &trace).await?;
        Ok(Outcome { trace, for_model })
    }

    fn begin(&self, tool: &RegisteredTool, call: &ToolCall, scope: &CallScope) -> Trace {
        let sensitive = Sensitive::of(tool);
        Trace {
            tool_id: tool.id().to_owned(),
            display_name: tool.display.name.clone(),
            icon: tool.display.icon.clone(),
            arguments: sensitive.mask_text(&call.arguments),
            ..unknown_tool(call, scope, self.clock.now())
        }
    }

    async fn run(&self, call: &AdmittedCall, arguments: Value, scope: &CallScope) -> Ending {
        let limit =
            call.tool.definition.timeout.unwrap_or(scope.limits.call_time).min(scope.limits.call_time);
        let run_left = scope.run_ends.map(|end| end.saturating_sub(self.clock.elapsed()));
        let cancellation = scope.cancellation.child_token();
        let context = ToolContext {
            caller: Arc::clone(&call.caller),
            run_id: scope.run_id.clone(),
            conversation_id: scope.conversation_id.clone(),
            call_id: call.call.id.clone(),
            settings: Arc::clone(&call.settings),
            confidence: scope.confidence,
            provider_trusted: scope.provider_trusted,
            cancellation: cancellation.clone(),
            progress: scope.progress.clone(),
            clock: Arc::clone(&self.clock),
            time_left: run_left.map_or(limit, |left| left.min(limit)),
            result_characters_left: result_limit(&call.tool, scope),
            links: Arc::clone(&scope.links),
            outbound: call.outbound,
        };
        let implementation = Arc::clone(&call.implementation);
        // A task of its own contains panics, and a call that blocks its thread cannot hold up the run.
        let task = tokio::spawn(async move { implementation.call(arguments, &context).await });
        let mut task = AbortOnDropHandle::new(task);
        let ending = tokio::select! {
            biased;
            () = scope.cancellation.cancelled() => Ending::Cancelled,
            ended = &mut task => match ended {
                Ok(Ok(output)) => Ending::Output(output),
                Ok(Err(error)) => Ending::Failed(error),
                Err(_) => Ending::Panicked,
            },
            () = self.clock.sleep(limit) => Ending::TimedOut(limit),
        };
        cancellation.cancel();
        ending
    }
}

/// Writes the outcome into the trace.
fn finish(trace: &mut Trace, tool: &RegisteredTool, ending: Ending, scope: &CallScope) {
    let failed = |what: &str| format!("Tool execution failed: {what}");
    match ending {
        Ending::Output(output) => succeed(trace, tool, output, scope),
        Ending::Failed(ToolError::Blocked { reason }) => {
            fail(trace, TraceStatus::Blocked, reason.clone(), reason);
        }
        Ending::Failed(ToolError::Failed { for_model, for_operator, cost, .. }) => {
            trace.cost = cost;
            tracing::warn!(tool = tool.id(), call = trace.call_id, error = for_operator, "a tool failed");
            fail(trace, TraceStatus::Error, for_model.clone(), failed(&for_model));
        }
        Ending::TimedOut(limit) => {
            let message = format!("the call took longer than {} and was stopped", seconds(limit));
            let advice = "Ask for less at once, or go on without it.";
            fail(trace, TraceStatus::Error, message.clone(), failed(&format!("{message}. {advice}")));
        }
        Ending::Panicked => {
            tracing::error!(tool = tool.id(), call = trace.call_id, "a tool panicked");
            let message = "an internal error in the tool".to_owned();
            let advice = "Do not repeat the call; go on without it, and tell the user.";
            fail(trace, TraceStatus::Error, message.clone(), failed(&format!("{message}. {advice}")));
        }
        Ending::Cancelled => {
            let message = "the call was cancelled".to_owned();
            fail(trace, TraceStatus::Cancelled, message.clone(), failed(&message));
        }
    }
}

/// Nothing unbounded enters a model's context, errors and refusals included.
fn cap_result(trace: &mut Trace, limit: usize) {
    let text = trace.result_text.take().unwrap_or_default();
    let hint = "Ask for a smaller part, or continue from where it ends.";
    let capped = cap::cap(text, limit, hint);
    if capped.missing > 0 {
        trace.truncation = Some(format!("{} characters were cut off the end", capped.missing));
        // A cut text is no longer the JSON that it came from.
        trace.result_json = None;
    }
    trace.result_characters = capped.text.chars().count();
    trace.result_text = Some(capped.text);
}

fn succeed(trace: &mut Trace, tool: &RegisteredTool, output: ToolOutput, scope: &CallScope) {
    trace.status = TraceStatus::Success;
    trace.result_text = Some(output.content.to_model_text());
    // A result far above the cap is not kept a second time.
    trace.result_json = match output.content {
        Content::Json(value)
            if trace.result_text.as_ref().is_some_and(|text| text.len() <= scope.limits.one_result * 4) =>
        {
            Some(value)
        }
        Content::Json(_) | Content::Text(_) => None,
    };
    trace.truncation = output.truncation;
    trace.required_confidence = output.required_confidence;
    trace.untrusted = output.untrusted || tool.definition.returns_untrusted_content;
    trace.cost = output.cost.unwrap_or(tool.definition.cost.per_call);
    trace.library_items = output.library_items;
    trace.sources = output.sources;
    for source in &mut trace.sources {
        source.tool_call_id.get_or_insert_with(|| trace.call_id.clone());
    }
    tracing::debug!(tool = tool.id(), call = trace.call_id, "a tool succeeded");
}

fn fail(trace: &mut Trace, status: TraceStatus, status_message: String, for_model: String) {
    trace.status = status;
    trace.status_message = Some(status_message);
    trace.result_characters = for_model.chars().count();
    trace.result_text = Some(for_model);
}

fn result_limit(tool: &RegisteredTool, scope: &CallScope) -> usize {
    let own = tool.definition.max_result_characters.unwrap_or(usize::MAX);
    own.min(scope.limits.one_result).min(scope.result_characters_left)
}

fn unknown_tool(call: &ToolCall, scope: &CallScope, now: Timestamp) -> Trace {
    Trace {
        order: scope.order,
        round: scope.round,
        tool_id: call.name.clone(),
        display_name: call.name.clone(),
        icon: "❔".to_owned(),
        call_id: call.id.clone(),
        status: TraceStatus::Pending,
        executed: false,
        status_message: None,
        arguments: parse_or_text(&call.arguments),
        repairs: Vec::new(),
        result_text: None,
        result_json: None,
        result_characters: 0,
        truncation: None,
        sources: Vec::new(),
        required_confidence: Confidence::None,
        untrusted: false,
        cost: 0,
        library_items: Vec::new(),
        started_at: now,
        duration_ms: 0,
    }
}

fn seconds(duration: Duration) -> String {
    if duration.subsec_millis() == 0 {
        format!("{} s", duration.as_secs())
    } else {
        format!("{:.1} s", duration.as_secs_f64())
    }
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
