//! Runs admitted calls, and nothing else: arguments, deadline, cap, trace.
//!
//! [`Executor::execute`] takes [`Admitted`] calls only, and an admission is in the journal before its call runs.

use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use serde_json::Value;
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;

use crate::clock::Clock;
use crate::confidence::Confidence;
use crate::journal::{Journal, JournalError, Trace, TraceStatus};
use crate::message::ToolCall;
use crate::offering::{Admitted, AdmittedCall, Refusal};
use crate::registry::RegisteredTool;
use crate::run::Limits;
use crate::tool::{Content, Progress, ToolContext, ToolError, ToolOutput};

pub(crate) mod arguments;
mod cap;

/// What stands in traces instead of a sensitive value.
pub const MASK: &str = "*****";

/// Runs admitted calls.
#[derive(Clone)]
pub struct Executor {
    journal: Arc<dyn Journal>,
    clock: Arc<dyn Clock>,
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
    /// An executor that writes to this journal.
    pub fn new(journal: Arc<dyn Journal>, clock: Arc<dyn Clock>) -> Self {
        Self { journal, clock }
    }

    /// Runs one admitted call to its end and records it. The trace's `result_text` is what the model reads.
    ///
    /// # Errors
    /// The journal cannot be written; the call has then not run, or its result must not be used.
    pub async fn execute(
        &self,
        admitted: Admitted<AdmittedCall>,
        scope: &CallScope,
    ) -> Result<Trace, JournalError> {
        let call = admitted.into_inner();
        let sensitive = Sensitive(&call.tool);
        let mut trace = self.begin(&call.tool, &call.call, scope);
        let began = self.clock.elapsed();
        let arguments = call.tool.arguments.read(&call.call.arguments, &|name| sensitive.contains(name));
        match arguments {
            Err(bad) => fail(&mut trace, TraceStatus::Error, bad.0.clone(), bad.0),
            Ok(arguments) => {
                trace.arguments = sensitive.mask(&arguments.given);
                trace.repairs = arguments.repairs;
                self.journal.admit_call(&scope.run_id, &trace).await?;
                let ending = self.run(&call, arguments.value, scope).await;
                trace.executed = true;
                finish(&mut trace, &call.tool, ending, scope);
            }
        }
        cap_result(&mut trace, result_limit(&call.tool, scope));
        trace.duration_ms = millis(self.clock.elapsed().saturating_sub(began));
        self.journal.record_trace(&scope.run_id, &trace).await?;
        Ok(trace)
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
    ) -> Result<Trace, JournalError> {
        let mut trace = match tool {
            Some(tool) => self.begin(tool, call, scope),
            None => unknown_tool(call, scope, self.clock.now()),
        };
        fail(&mut trace, TraceStatus::Blocked, refusal.for_model.clone(), refusal.for_model);
        cap_result(&mut trace, scope.limits.one_result.min(scope.result_characters_left));
        self.journal.record_trace(&scope.run_id, &trace).await?;
        Ok(trace)
    }

    fn begin(&self, tool: &RegisteredTool, call: &ToolCall, scope: &CallScope) -> Trace {
        let sensitive = Sensitive(tool);
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
            time_left: limit,
            result_characters_left: result_limit(&call.tool, scope),
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
        Ending::Failed(ToolError::Failed { for_model, for_operator, .. }) => {
            tracing::warn!(tool = tool.id(), call = trace.call_id, error = for_operator, "a tool failed");
            fail(trace, TraceStatus::Error, for_model.clone(), failed(&for_model));
        }
        Ending::TimedOut(limit) => {
            let message = format!("the call took longer than {} and was stopped", seconds(limit));
            fail(trace, TraceStatus::Error, message.clone(), failed(&message));
        }
        Ending::Panicked => {
            tracing::error!(tool = tool.id(), call = trace.call_id, "a tool panicked");
            let message = "an internal error in the tool".to_owned();
            fail(trace, TraceStatus::Error, message.clone(), failed(&message));
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
    let own = tool.definition.max_result_characters.unwrap_or(scope.limits.one_result);
    own.min(scope.result_characters_left)
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
        started_at: now,
        duration_ms: 0,
    }
}

/// The arguments of a tool whose values never appear in traces.
struct Sensitive<'a>(&'a RegisteredTool);

impl Sensitive<'_> {
    fn contains(&self, name: &str) -> bool {
        let by_implementation =
            self.0.implementation.as_ref().is_some_and(|tool| tool.sensitive_arguments().contains(&name));
        by_implementation || self.0.definition.sensitive_arguments.iter().any(|sensitive| sensitive == name)
    }

    fn any(&self) -> bool {
        let by_implementation =
            self.0.implementation.as_ref().is_some_and(|tool| !tool.sensitive_arguments().is_empty());
        by_implementation || !self.0.definition.sensitive_arguments.is_empty()
    }

    fn mask(&self, arguments: &Value) -> Value {
        let mut masked = arguments.clone();
        for (name, value) in masked.as_object_mut().into_iter().flatten() {
            if self.contains(name) {
                *value = Value::from(MASK);
            }
        }
        masked
    }

    /// Arguments that have not been read yet: text that is no object could hold a sensitive value anywhere.
    fn mask_text(&self, text: &str) -> Value {
        match parse_or_text(text) {
            object @ Value::Object(_) => self.mask(&object),
            _ if self.any() => Value::from(MASK),
            other => other,
        }
    }
}

impl RegisteredTool {
    /// The arguments of a call as traces and logs may show them.
    pub fn masked_arguments(&self, arguments: &str) -> Value {
        Sensitive(self).mask_text(arguments)
    }
}

fn parse_or_text(text: &str) -> Value {
    if text.trim().is_empty() {
        return Value::Object(serde_json::Map::new());
    }
    serde_json::from_str(text).unwrap_or_else(|_| Value::from(text))
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
