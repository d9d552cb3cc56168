//! Calls that wait for a person: how a run is saved, and how it goes on with the answers.

use std::sync::Arc;

use tokio::sync::mpsc::Sender;
use tokio_util::sync::CancellationToken;

use super::end::deduplicate;
use super::{Driver, ResumedRun, RoundAnswer, Services, Stop};
use crate::executor::Outcome;
use crate::journal::{RunPause, Trace};
use crate::message::ToolCall;
use crate::offering::approval::{ApprovalAnswer, ApprovalRequest};
use crate::offering::{HeldCall, Refusal};
use crate::run::driver::Asking;
use crate::run::event::{Pause, RunEvent};
use crate::run::machine::Machine;
use crate::run::round::CallState;
use crate::run::saved::{Parts, SavedRun};

impl Driver {
    /// A driver that goes on where a run was saved.
    pub(super) fn restore(
        resumed: ResumedRun,
        services: Services,
        events: Sender<RunEvent>,
        cancellation: CancellationToken,
    ) -> Self {
        let ResumedRun { saved, model, offering, answers: _, limits } = resumed;
        let labels = saved.labels();
        let ours = offering.specs().iter().cloned();
        let tools = saved.client_tools.into_iter().map(Arc::new).chain(ours).collect();
        let machine = Machine::restore(saved.machine, tools, limits);
        Self {
            run_id: saved.run_id,
            conversation_id: saved.conversation_id,
            model,
            offering,
            context: Vec::new(),
            asking: Asking::Possible,
            limits,
            new_messages: Vec::new(),
            ends: services.clock.elapsed() + limits.run_time,
            services,
            events,
            cancellation: cancellation.child_token(),
            text_shown: !machine.visible_text().is_empty(),
            machine,
            round: saved.round,
            waiting: Vec::new(),
            sources: saved.sources,
            labels,
            protected: saved.protected,
            reasoning: saved.reasoning,
            open: RoundAnswer::default(),
            abandoned: cancellation,
        }
    }

    /// Notes that a call waits. Nothing is durable before the round's other calls have ended and the run is saved.
    pub(super) fn hold(&mut self, call: &ToolCall, order: u32, held: HeldCall) -> CallState {
        let tool = self.offering.known_by_name(&call.name);
        let now = self.services.clock.now();
        // The run's id cannot be guessed, and so its approvals' cannot.
        let id = format!("apr_{}_{order}", self.run_id.trim_start_matches("run_"));
        let request = ApprovalRequest {
            id: id.clone(),
            run_id: self.run_id.clone(),
            conversation_id: self.conversation_id.clone(),
            order,
            call_id: call.id.clone(),
            tool_id: tool.map_or(&call.name, |tool| &tool.definition.id).clone(),
            display_name: tool.map_or(&call.name, |tool| &tool.display.name).clone(),
            icon: tool.map_or("❔", |tool| &tool.display.icon).to_owned(),
            arguments: held.arguments,
            reason: held.why.to_string(),
            created_at: now,
            expires_at: now.saturating_add(self.limits.approval_time).unwrap_or(jiff::Timestamp::MAX),
        };
        self.waiting.push(request);
        CallState::Held { order, approval: id }
    }

    /// Saves the run with everything that waits.
    pub(super) async fn pause(&mut self) -> Result<Pause, Stop> {
        let approvals = std::mem::take(&mut self.waiting);
        deduplicate(&mut self.sources);
        let saved = self.save();
        let state = saved.to_text().map_err(|error| Stop::Storage(error.to_string()))?;
        let pause = RunPause {
            run_id: self.run_id.clone(),
            waiting: approvals.iter().map(|request| (self.open_trace(request), request.clone())).collect(),
            state,
            labels: self.labels,
            usage: self.machine.usage(),
            rounds: self.machine.rounds(),
            at: self.services.clock.now(),
        };
        self.services.journal.pause_run(pause).await?;
        for request in &approvals {
            self.emit(RunEvent::CallHeld(Box::new(request.clone()))).await;
        }
        Ok(Pause {
            approvals,
            text: self.machine.visible_text().to_owned(),
            sources: self.sources.clone(),
            usage: self.machine.usage(),
            rounds: self.machine.rounds(),
        })
    }

    fn open_trace(&self, request: &ApprovalRequest) -> Trace {
        let call = self.round.calls.iter().find(|call| call.call.id == request.call_id);
        let unknown = || ToolCall {
            id: request.call_id.clone(),
            name: request.tool_id.clone(),
            arguments: String::new(),
            opaque: serde_json::Map::new(),
        };
        let call = call.map_or_else(unknown, |call| call.call.clone());
        let tool = self.offering.known_by_name(&call.name);
        let scope = self.scope(&call, request.order, 0);
        self.services.executor.open_trace(tool.map(Arc::as_ref), &call, &scope)
    }

    fn save(&self) -> SavedRun {
        SavedRun::new(Parts {
            run_id: self.run_id.clone(),
            conversation_id: self.conversation_id.clone(),
            offered: self.offering.offered().map(|tool| tool.id().to_owned()).collect(),
            client_tools: self.machine.client_tools(&self.offering),
            temporary: self.offering.is_temporary(),
            machine: self.machine.save(),
            round: self.round.clone(),
            labels: self.labels,
            sources: self.sources.clone(),
            protected: self.protected.clone(),
            reasoning: self.reasoning.clone(),
        })
    }

    /// Runs or refuses the calls that waited, as people answered.
    pub(super) async fn answered_by_people(
        &mut self,
        answers: Vec<(String, ApprovalAnswer)>,
    ) -> Result<(), Stop> {
        for (position, order, approval) in self.round.held() {
            let answer = answers.iter().find(|(id, _)| *id == approval).map(|(_, answer)| answer.clone());
            let Some(call) = self.round.calls.get(position).map(|call| call.call.clone()) else { continue };
            let left = self.machine.result_characters_left();
            let outcome = self.answered(call.clone(), order, left, answer).await?;
            self.emit(RunEvent::CallEnded(Box::new(outcome.trace.clone()))).await;
            let state = self.take_outcome(&call, outcome);
            if let Some(open) = self.round.calls.get_mut(position) {
                open.state = state;
            }
        }
        Ok(())
    }

    async fn answered(
        &self,
        mut call: ToolCall,
        order: u32,
        characters: usize,
        answer: Option<ApprovalAnswer>,
    ) -> Result<Outcome, Stop> {
        let scope = self.scope(&call, order, characters);
        let mut edited = None;
        let refusal = match answer {
            Some(ApprovalAnswer::AllowOnce | ApprovalAnswer::AllowConversation) => None,
            Some(ApprovalAnswer::Edit { arguments }) => {
                call.arguments = arguments.to_string();
                edited = Some(call.arguments.clone());
                None
            }
            Some(ApprovalAnswer::Deny { note }) => Some(denied(note.as_deref())),
            Some(ApprovalAnswer::Expired) | None => Some(unanswered()),
        };
        let executor = &self.services.executor;
        let tool = self.offering.known_by_name(&call.name).map(Arc::as_ref);
        let outcome = match refusal {
            Some(refusal) => executor.refuse(tool, &call, refusal, &scope).await,
            None => match self.offering.admit_agreed(call.clone(), &self.circumstances().await?) {
                Ok(admitted) => executor.execute(admitted, &scope).await,
                Err(refusal) => executor.refuse(tool, &call, refusal, &scope).await,
            },
        };
        let mut outcome = outcome.map_err(|error| Stop::Storage(error.to_string()))?;
        if let Some(arguments) = edited {
            outcome.for_model = format!(
                "(The user changed the arguments of this call to {arguments}.)\n{}",
                outcome.for_model
            );
        }
        Ok(outcome)
    }
}

/// What the model reads when the user does not allow a call.
fn denied(note: Option<&str>) -> Refusal {
    let note = note.map(str::trim).filter(|note| !note.is_empty());
    let said = note.map(|note| format!(" The user says: {note}")).unwrap_or_default();
    Refusal {
        for_model: format!(
            "Not executed: the user did not allow this call.{said} Do not make it again or reach the same in another \
             way, unless the user asks for it."
        ),
        code: Some("denied_by_user"),
    }
}

/// What the model reads when nobody answered.
fn unanswered() -> Refusal {
    let for_model =
        "Not executed: nobody answered in time whether this call is allowed. Do not make it again; tell \
                     the user what you wanted to do."
            .to_owned();
    Refusal { for_model, code: Some("approval_expired") }
}
