//! The calls of one round: admitted, executed and recorded, side by side where their tools allow it.

use std::sync::Arc;

use futures_util::{StreamExt, stream};

use super::{Asking, Driver, Stop};
use crate::executor::{CallScope, Outcome};
use crate::journal::TraceStatus;
use crate::links::Links;
use crate::message::ToolCall;
use crate::offering::{Admission, HeldCall, Refusal};
use crate::run::event::RunEvent;
use crate::run::machine::Plan;
use crate::run::round::{CallState, RoundCall};
use crate::tool::definition::Concurrency;
use crate::tool::{Outgoing, Progress};

/// How far a call came.
enum Came {
    ToAnEnd(Box<Outcome>),
    ToAHalt(Box<HeldCall>),
}

impl Driver {
    /// Runs the calls of one round: in order, neighbors side by side where their tools allow it.
    pub(super) async fn calls(&mut self, calls: Vec<ToolCall>) -> Result<(), Stop> {
        let mut rest = calls.as_slice();
        while let Some(first) = rest.first() {
            let together = if self.is_parallel(first) {
                let run = rest.iter().take_while(|call| self.is_parallel(call)).count();
                run.min(self.limits.parallel_calls.max(1))
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
        let tool = self.offering.offered_by_name(&call.name);
        tool.is_some_and(|tool| tool.definition.concurrency == Concurrency::Parallel)
    }

    async fn batch(&mut self, calls: &[ToolCall]) -> Result<(), Stop> {
        let plans: Vec<Plan> = calls.iter().map(|call| self.machine.plan(call)).collect();
        let running = plans.iter().filter(|plan| matches!(plan, Plan::Execute { .. })).count().max(1);
        let outcomes: Vec<Option<Result<Came, Stop>>> = {
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
            let state = match (plan, outcome) {
                (Plan::Execute { order, .. }, Some(came)) => match came? {
                    Came::ToAnEnd(outcome) => self.take_outcome(call, *outcome),
                    Came::ToAHalt(held) => self.hold(call, order, *held),
                },
                (Plan::Answer(text), _) => {
                    self.machine.count(call, &text, false, 0);
                    CallState::Done { text, is_error: true }
                }
                (Plan::Execute { .. }, None) => continue,
            };
            self.round.calls.push(RoundCall { call: call.clone(), state });
        }
        Ok(())
    }

    /// Admits and executes one call.
    async fn execute(&self, call: &ToolCall, order: u32, characters: usize) -> Result<Came, Stop> {
        let tool = self.offering.known_by_name(&call.name);
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
        let outcome = match self.admission(call).await? {
            Admission::Admitted(admitted) => self.services.executor.execute(admitted, &scope).await,
            Admission::Refused(refusal) => return self.refuse_call(call, refusal, &scope).await,
            Admission::Held(held) if self.asking == Asking::Possible => {
                return Ok(Came::ToAHalt(Box::new(held)));
            }
            Admission::Held(held) => return self.refuse_call(call, held.refused(), &scope).await,
        };
        let outcome = outcome.map_err(|error| Stop::Storage(error.to_string()))?;
        self.emit(RunEvent::CallEnded(Box::new(outcome.trace.clone()))).await;
        Ok(Came::ToAnEnd(Box::new(outcome)))
    }

    /// What becomes of a call by gates, rules and the second opinion as they are now.
    async fn admission(&self, call: &ToolCall) -> Result<Admission, Stop> {
        let now = self.circumstances().await?;
        let mut proposal = match self.offering.propose(call.clone(), &now) {
            Ok(proposal) => proposal,
            Err(refusal) => return Ok(Admission::Refused(refusal)),
        };
        if let Some(approver) = &self.services.approver
            && let Some((tool, arguments)) = proposal.subject()
        {
            let verdict = approver.review(tool, arguments, &now).await;
            proposal = proposal.tightened_by(verdict);
        }
        Ok(proposal.decide())
    }

    async fn refuse_call(&self, call: &ToolCall, refusal: Refusal, scope: &CallScope) -> Result<Came, Stop> {
        let tool = self.offering.known_by_name(&call.name);
        let refused = self.services.executor.refuse(tool.map(Arc::as_ref), call, refusal, scope).await;
        let outcome = refused.map_err(|error| Stop::Storage(error.to_string()))?;
        self.emit(RunEvent::CallEnded(Box::new(outcome.trace.clone()))).await;
        Ok(Came::ToAnEnd(Box::new(outcome)))
    }

    pub(super) fn scope(&self, call: &ToolCall, order: u32, result_characters_left: usize) -> CallScope {
        let identity = self.model.identity();
        let (events, call_id) = (self.events.downgrade(), call.id.clone());
        CallScope {
            run_id: self.run_id.clone(),
            conversation_id: self.conversation_id.clone(),
            order,
            round: self.machine.rounds(),
            limits: self.limits,
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
            links: self.links(call),
            run_ends: Some(self.ends),
        }
    }

    /// The URLs that the conversation knows, for a tool that fetches what a model chose.
    fn links(&self, call: &ToolCall) -> Arc<Links> {
        let tool = self.offering.offered_by_name(&call.name).and_then(|tool| tool.implementation.as_ref());
        if tool.is_some_and(|tool| tool.outgoing() == Outgoing::ModelChosenUrl) {
            Arc::new(Links::of(self.machine.messages()))
        } else {
            Arc::new(Links::Only(std::collections::HashSet::new()))
        }
    }

    /// Takes what a call brought: labels rise, sources and protected text are kept.
    pub(super) fn take_outcome(&mut self, call: &ToolCall, outcome: Outcome) -> CallState {
        let Outcome { trace, for_model } = outcome;
        self.machine.count(call, &for_model, trace.executed, trace.cost);
        self.labels = self.labels.raised_by(trace.labels());
        self.protect(&trace);
        self.sources.extend(trace.sources.iter().cloned());
        CallState::Done { text: for_model, is_error: trace.status != TraceStatus::Success }
    }
}
