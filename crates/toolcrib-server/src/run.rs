//! From a decoded request to a running run: model, conversation, caller, offering.

use std::collections::HashSet;
use std::sync::Arc;

use serde_json::Value;
use tokio::sync::mpsc;
use toolcrib_runtime::caller::{Caller, Component};
use toolcrib_runtime::labels::Labels;
use toolcrib_runtime::message::Message;
use toolcrib_runtime::model::{Model, ModelRequest};
use toolcrib_runtime::offering::{ModelStanding, OfferRequest, Offering, Selection, offer};
use toolcrib_runtime::policy::{Circumstances, OutboundRestriction};
use toolcrib_runtime::run::{Asking, Run, drive};

use toolcrib_storage::store::LabelStore as _;
use tracing::Instrument as _;

use crate::active::{Events, Going};
use crate::app::{App, LiveCircumstances, caller};
use crate::assistants::Filled;
use crate::auth::Principal;
use crate::conversation::{self, Entered};
use crate::error::{ApiError, INVALID_REQUEST, SHUTTING_DOWN};
use crate::ids::random_id;
use crate::labels::Held;

/// Events that may wait to be sent before the run waits for its client.
pub(crate) const EVENTS_WAITING: usize = 64;

/// What a request wants beside the dialect's own fields: the body's `toolcrib` object and our headers.
#[derive(Debug, Clone)]
pub(crate) struct Wishes {
    pub(crate) component: Component,
    /// The assistant that the component is, with the values of its inputs.
    pub(crate) assistant: Option<Filled>,
    /// The id of a stored conversation, or `new`.
    pub(crate) conversation: Option<String>,
    pub(crate) selection: Selection,
    pub(crate) temporary: bool,
    /// Show what happens in the run.
    pub(crate) events: bool,
    /// The run goes on when its client leaves, and can be picked up again.
    pub(crate) background: bool,
    /// How far outgoing data is restricted from now on.
    pub(crate) outbound: OutboundRestriction,
    /// Append the sources to the text.
    pub(crate) sources_as_text: bool,
    pub(crate) locale: String,
}

/// A run that goes on.
pub(crate) struct Started {
    pub(crate) run_id: String,
    pub(crate) conversation_id: Option<String>,
    pub(crate) model: Arc<dyn Model>,
    pub(crate) events: Events,
}

impl Default for Wishes {
    fn default() -> Self {
        Self {
            component: Component::api(),
            assistant: None,
            conversation: None,
            selection: Selection::Default,
            temporary: false,
            events: false,
            background: false,
            outbound: OutboundRestriction::Unrestricted,
            sources_as_text: false,
            locale: "en".to_owned(),
        }
    }
}

impl App {
    /// Begins a run in a task of its own. Dropping the receiver of its events stops it.
    pub(crate) async fn start_run(
        self: &Arc<Self>,
        principal: &Principal,
        model: Arc<dyn Model>,
        mut request: ModelRequest,
        wishes: &Wishes,
    ) -> Result<Started, ApiError> {
        if self.runs.is_closed() {
            return Err(ApiError::new(SHUTTING_DOWN, "the server is stopping and begins no new answers"));
        }
        let place = self.places.take(&principal.owner)?;
        let owner = &principal.owner;
        let mut wishes = wishes.clone();
        wishes.outbound = wishes.outbound.max(self.outbound);
        let mut labels = Labels {
            required_confidence: self.recognize(owner, &request.messages).await?,
            outbound: wishes.outbound,
            ..Labels::default()
        };
        self.check_labels(owner, labels, model.identity(), Held::InMessages(&request.messages)).await?;
        let conversation = conversation::enter(self, principal, &wishes, &request, model.identity()).await?;
        let (conversation_id, turn, new_messages) = match conversation {
            Some(Entered { id, mut history, temporary, labels: known, turn }) => {
                labels = labels.raised_by(known);
                wishes.outbound = labels.outbound;
                if labels != known {
                    // Before anything of the request is stored: a crash must not leave text without its labels.
                    self.store.tighten(owner, &id, labels).await?;
                }
                // What was begun as temporary stays so.
                wishes.temporary |= temporary;
                let new = std::mem::take(&mut request.messages);
                history.extend(new.iter().cloned());
                request.messages = history;
                (Some(id), Some(turn), new)
            }
            None => (None, None, Vec::new()),
        };
        if let Some(assistant) = &wishes.assistant {
            assistant.apply(&mut request);
        }
        request.parallel_calls = self.parallel_tool_calls;
        let caller = Arc::new(caller(&principal.owner, wishes.component.clone(), &wishes.locale));
        let offering = self.offering(&caller, &*model, &wishes, client_tools(&request));
        let run = Run {
            run_id: random_id("run_")?,
            conversation_id,
            model: Arc::clone(&model),
            offering,
            request,
            new_messages,
            labels,
            context: Vec::new(),
            asking: Asking::Possible,
            limits: self.limits,
        };
        let (run_id, conversation_id) = (run.run_id.clone(), run.conversation_id.clone());
        let (sender, events) = mpsc::channel(EVENTS_WAITING);
        let cancellation = self.stopping.child_token();
        let going = self.active.begin(&run_id, owner, cancellation.clone(), wishes.background);
        let events = going.events(events);
        tracing::info!(run = run_id, model = model.identity().full_name(), component = %wishes.component, "run begins");
        let circumstances = LiveCircumstances {
            app: Arc::clone(self),
            caller,
            conversation_id: conversation_id.clone(),
            floor: labels,
        };
        let driven = drive(run, self.services(circumstances), sender, cancellation);
        let (app, ended) = (Arc::clone(self), run_id.clone());
        let task = async move {
            driven.await;
            // Whoever waits for the turn finds the run at rest.
            going.end();
            drop((turn, place));
            app.forget(ended, going);
        };
        self.runs.spawn(task.in_current_span());
        Ok(Started { run_id, conversation_id, model, events })
    }

    /// Forgets a run that has ended, once nobody can want its events any more.
    pub(crate) fn forget(self: &Arc<Self>, run_id: String, going: Arc<Going>) {
        let kept = going.kept();
        if kept.is_zero() {
            return self.active.end(&run_id, &going);
        }
        let app = Arc::clone(self);
        tokio::spawn(async move {
            tokio::time::sleep(kept).await;
            app.active.end(&run_id, &going);
        });
    }

    /// Which tools this caller's run may use, with every verdict.
    pub(crate) fn offering(
        &self,
        caller: &Arc<Caller>,
        model: &dyn Model,
        wishes: &Wishes,
        client_tools: HashSet<String>,
    ) -> Offering {
        let mut now = Circumstances::new(Arc::clone(caller), self.policy.load_full());
        now.labels.outbound = wishes.outbound.max(self.outbound);
        let standing =
            ModelStanding { identity: model.identity().clone(), capabilities: model.capabilities() };
        self.offering_under(&now, standing, wishes, client_tools)
    }

    /// The same under given circumstances, for whatever will read the results.
    pub(crate) fn offering_under(
        &self,
        now: &Circumstances,
        standing: ModelStanding,
        wishes: &Wishes,
        client_tools: HashSet<String>,
    ) -> Offering {
        let request = OfferRequest {
            selection: wishes.selection.clone(),
            temporary: wishes.temporary,
            client_tools,
            outbound: now.labels.outbound,
        };
        offer(&self.registry.catalog(), &now.caller, request, &now.policy, standing)
    }

    /// Reads the choice of tools: `"default"`, `"none"`, or a list of ids.
    pub(crate) fn selection(&self, value: &Value, param: &str) -> Result<Selection, ApiError> {
        let wrong = |message: String| ApiError::new(INVALID_REQUEST, message).with_param(param);
        let ids: Vec<&str> = match value {
            Value::String(text) if text == "default" => return Ok(Selection::Default),
            Value::String(text) if text == "none" => return Ok(Selection::Nothing),
            Value::String(text) => text.split(',').map(str::trim).filter(|id| !id.is_empty()).collect(),
            Value::Array(items) if items.iter().all(Value::is_string) => {
                items.iter().filter_map(Value::as_str).collect()
            }
            _ => return Err(wrong("`tools` is \"default\", \"none\", or a list of tool ids".to_owned())),
        };
        let catalog = self.registry.catalog();
        if let Some(unknown) = ids.iter().find(|id| catalog.by_id(id).is_none()) {
            let known: Vec<_> = catalog.tools().iter().map(|tool| tool.id()).collect();
            return Err(wrong(format!("there is no tool {unknown:?}; there are {}", known.join(", "))));
        }
        Ok(Selection::Only(ids.into_iter().map(str::to_owned).collect()))
    }
}

fn client_tools(request: &ModelRequest) -> HashSet<String> {
    request.tools.iter().map(|tool| tool.name.clone()).collect()
}

/// The last thing that the user said, for titles.
pub(crate) fn last_user_text(messages: &[Message]) -> Option<String> {
    let message = messages.iter().rfind(|message| matches!(message, Message::User(_)))?;
    Some(message.text())
}
