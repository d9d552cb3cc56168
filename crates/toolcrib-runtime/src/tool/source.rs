//! Where tools come from: definitions with implementations, which may change while the program runs.
//!
//! To add a source, implement [`ToolSource`]: `list` says everything that there is now, and `changed` ends when a new
//! list would say something else. A source never decides what is offered, nor which of two definitions counts: it
//! hands over what it finds, broken files included, and the catalog keeps the last good version of each.

use std::sync::Arc;

use async_trait::async_trait;

use super::Tool;
use super::definition::Problem;
use crate::registry::DefinitionFile;

/// Something that provides tools: the program itself, a folder, a server of another protocol.
#[async_trait]
pub trait ToolSource: Send + Sync {
    /// What the source is, for logs.
    fn name(&self) -> String;

    /// Everything that there is now, in an order that does not change by itself.
    ///
    /// A definition that is there but cannot be read is listed as unreadable: one that is not listed is gone, and
    /// takes its tool away.
    async fn list(&self) -> ToolListing;

    /// Ends when something has changed since the last [`Self::list`]; may end though nothing did. Dropping it early
    /// loses no change. A source that never changes never ends it.
    async fn changed(&self);
}

/// What a source has.
#[derive(Default, Clone)]
pub struct ToolListing {
    /// The definitions, each with the file that problems name.
    pub definitions: Vec<DefinitionFile>,
    /// Implementations, which definitions of any source may name.
    pub implementations: Vec<Arc<dyn Tool>>,
    /// What is wrong with the source itself.
    pub problems: Vec<Problem>,
}
