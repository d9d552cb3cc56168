//! The calls of one round: admitted, executed and recorded, side by side where their tools allow it.

use std::sync::Arc;

use futures_util::{StreamExt, stream};

use super::{Driver, Stop};
use crate::executor::CallScope;
use crate::journal::{Trace, TraceStatus};
use crate::message::ToolCall;
use crate::run::event::RunEvent;
use crate::run::machine::Plan;
use crate::tool::Progress;
use crate::tool::definition::Concurrency;

impl Driver {
    /// Runs the calls of one round: in order, neighbors side by side where their tools allow it.
    pub(super) async fn calls(&mut self, calls: Vec<ToolCall>) -> Result<(), Stop> {
        let mut rest = calls.as_slice();
        while let Some(first) = rest.first() {
            let together = if self.is_parallel(first) {
                let run = rest.iter().take_while(|call| self.is_parallel(call)).count();
                run.min(self.run.limits.parallel_calls.max(1))
            } else {
                1
            };
            let (batch, after) = rest.split_at(together);
            self.batch(batch).await?;
            rest = after;
        }
        Ok(())
    }

    fn is_parallel(&self, call: &ToolCall) -> bool {
        let tool = self.run.offering.offered_by_name(&call.name);
        tool.is_some_and(|tool| tool.definition.concurrency == Concurrency::Parallel)
    }

    async fn batch(&mut self, calls: &[ToolCall]) -> Result<(), Stop> {
        let plans: Vec<Plan> = calls.iter().map(|call| self.machine.plan(call)).collect();
        let running = plans.iter().filter(|plan| matches!(plan, Plan::Execute { .. })).count().max(1);
        let outcomes: Vec<Option<Result<Trace, Stop>>> = {
            let this = &*self;
            let work = calls.iter().zip(&plans).map(|(call, plan)| async move {
                match plan {
                    Plan::Execute { order, result_characters_left } => {
                        // Calls side by side share what is left, so that together they stay within it.
                        Some(this.execute(call, *order, result_characters_left / running).await)
                    }
                    Plan::Answer(_) => None,
                }
            });
            // Collected first: a lazily mapped stream of borrowing futures is not `Send`.
            let work: Vec<_> = work.collect();
            stream::iter(work).buffered(running).collect().await
        };
        for ((call, plan), outcome) in calls.iter().zip(plans).zip(outcomes) {
            match (plan, outcome) {
                (_, Some(trace)) => self.take_trace(call, trace?),
                (Plan::Answer(text), None) => self.machine.record(call, text, true, false),
                (Plan::Execute { .. }, None) => {}
            }
        }
        Ok(())
    }

    /// Admits and executes one call.
    async fn execute(&self, call: &ToolCall, order: u32, characters: usize) -> Result<Trace, Stop> {
        let tool = self.run.offering.known_by_name(&call.name);
        self.emit(RunEvent::CallStarted {
            order,
            call_id: call.id.clone(),
            tool_id: tool.map_or(&call.name, |tool| &tool.definition.id).clone(),
            display_name: tool.map_or(&call.name, |tool| &tool.display.name).clone(),
            icon: tool.map_or("❔", |tool| &tool.display.icon).to_owned(),
            arguments: tool.map_or_else(
                || serde_json::Value::from(call.arguments.as_str()),
                |tool| tool.masked_arguments(&call.arguments),
            ),
        })
        .await;
        let scope = self.scope(call, order, characters);
        let mut now =
            self.services.circumstances.read().await.map_err(|error| Stop::Storage(error.to_string()))?;
        now.untrusted_seen |= self.untrusted_seen;
        let trace = match self.run.offering.admit(call.clone(), &now) {
            Ok(admitted) => self.services.executor.execute(admitted, &scope).await,
            Err(refusal) => self.services.executor.refuse(tool.map(Arc::as_ref), call, refusal, &scope).await,
        };
        let trace = trace.map_err(|error| Stop::Storage(error.to_string()))?;
        self.emit(RunEvent::CallEnded(Box::new(trace.clone()))).await;
        Ok(trace)
    }

    fn scope(&self, call: &ToolCall, order: u32, result_characters_left: usize) -> CallScope {
        let identity = self.run.model.identity();
        let (events, call_id) = (self.events.downgrade(), call.id.clone());
        CallScope {
            run_id: self.run.run_id.clone(),
            conversation_id: self.run.conversation_id.clone(),
            order,
            round: self.machine.rounds(),
            limits: self.run.limits,
            result_characters_left,
            confidence: identity.confidence,
            provider_trusted: identity.trusted,
            cancellation: self.cancellation.clone(),
            progress: Progress::new(move |text| {
                // Progress is worth less than the events around it: when there is no room, it is dropped.
                if let Some(events) = events.upgrade() {
                    let event = RunEvent::CallProgress { call_id: call_id.clone(), text: text.to_owned() };
                    let _ = events.try_send(event);
                }
            }),
        }
    }

    fn take_trace(&mut self, call: &ToolCall, trace: Trace) {
        let text = trace.result_text.clone().unwrap_or_default();
        self.machine.record(call, text, trace.status != TraceStatus::Success, trace.executed);
        let tool = self.run.offering.known_by_name(&call.name);
        self.untrusted_seen |=
            trace.executed && tool.is_some_and(|tool| tool.definition.returns_untrusted_content);
        self.required_confidence = self.required_confidence.max(trace.required_confidence);
        self.sources.extend(trace.sources.iter().cloned());
        self.traces.push(trace);
    }
}
