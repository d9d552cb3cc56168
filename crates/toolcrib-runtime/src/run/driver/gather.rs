//! What is gathered before the model is asked, under the gates of the tools that it belongs to.

use std::sync::Arc;

use super::{Driver, Stop};
use crate::context::{ContextRequest, ContextSource, Gathered};
use crate::executor::{cap, frame};
use crate::policy::{Circumstances, SettingsState};
use crate::tool::{Origin, Settings};

impl Driver {
    /// Asks every source that the gates let through, and puts what they found into the system prompt.
    pub(super) async fn gather(&mut self) -> Result<(), Stop> {
        if self.context.is_empty() {
            return Ok(());
        }
        let now = self.circumstances().await?;
        let mut left = self.limits.context_characters;
        for source in std::mem::take(&mut self.context) {
            if left == 0 || !self.offering.lets_context_through(source.tool_id(), &now) {
                continue;
            }
            let Some(gathered) = self.gather_from(&*source, &now, left).await else { continue };
            left = left.saturating_sub(self.take_gathered(source.heading(), gathered, left));
        }
        Ok(())
    }

    async fn gather_from(
        &self,
        source: &dyn ContextSource,
        now: &Circumstances,
        characters: usize,
    ) -> Option<Gathered> {
        let settings = match now.policy.settings.get(source.tool_id()) {
            Some(SettingsState::Ready(settings)) => Arc::clone(settings),
            Some(SettingsState::NotConfigured(_)) | None => Arc::new(Settings::default()),
        };
        let identity = self.model.identity();
        let request = ContextRequest {
            caller: &now.caller,
            run_id: &self.run_id,
            conversation_id: self.conversation_id.as_deref(),
            messages: self.machine.messages(),
            settings: &settings,
            confidence: identity.confidence,
            provider_trusted: identity.trusted,
            characters,
        };
        let gathered = tokio::select! {
            gathered = source.gather(&request) => gathered,
            () = self.services.clock.sleep(self.limits.call_time) => {
                tracing::warn!(run = self.run_id, tool = source.tool_id(), "context took too long and is left out");
                return None;
            }
        };
        gathered.unwrap_or_else(|error| {
            tracing::warn!(run = self.run_id, tool = source.tool_id(), error = %error, "context is left out");
            None
        })
    }

    /// Adds what a source found; returns the Unicode scalar values that it took.
    fn take_gathered(&mut self, heading: &str, gathered: Gathered, left: usize) -> usize {
        let frame_takes = if gathered.labels.untrusted { frame::FRAME_CHARACTERS } else { 0 };
        let text = cap::cap(gathered.text, left.saturating_sub(frame_takes), "Ask a tool for more.").text;
        if text.trim().is_empty() {
            return 0;
        }
        let text = if gathered.labels.untrusted { frame::frame(&text) } else { text };
        self.machine.add_to_system(&format!("# {heading}\n{text}"));
        self.labels = self.labels.raised_by(gathered.labels);
        self.sources.extend(gathered.sources.into_iter().map(|mut source| {
            source.origin = Origin::Knowledge;
            source
        }));
        text.chars().count()
    }
}
