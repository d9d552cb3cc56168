//! Where this installation's tools come from, and the catalog that is made of them.
//!
//! The catalog, the settings that the gates judge by and the list of problems always follow the sources; they are
//! made anew beside the requests, never by one. A run that has begun keeps the catalog it began with.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Weak};

use async_trait::async_trait;
use futures_util::future::select_all;
use toolcrib_runtime::caller::Components;
use toolcrib_runtime::policy::Policy;
use toolcrib_runtime::registry::Catalog;
use toolcrib_runtime::tool::definition::Problem;
use toolcrib_runtime::tool::{ToolListing, ToolSource};
use toolcrib_tools::builtin::BuiltIn;

use crate::app::App;
use crate::assistants::Assistants;
use crate::config::Config;
use crate::policy::{self, UnknownTool};

mod folder;

pub(crate) use folder::ToolsFolder;

/// The folder inside the data folder whose definitions are picked up.
const TOOLS: &str = "tools";

/// Everything that provides tools, in the order in which it is read.
pub(crate) struct Sources {
    all: Vec<Arc<dyn ToolSource>>,
    config: Config,
    assistants: Arc<Assistants>,
    components: Components,
}

/// What the sources gave at one moment.
pub(crate) struct Gathered {
    pub(crate) catalog: Catalog,
    pub(crate) policy: Policy,
    pub(crate) problems: Vec<Problem>,
    pub(crate) unknown_tools: Vec<UnknownTool>,
}

/// The tools that are compiled in.
struct Compiled(ToolListing);

impl Sources {
    /// The built-in tools, the folder `tools` in the data folder, and the configured folders. A relative path starts
    /// in the data folder.
    pub(crate) fn new(built_in: BuiltIn, config: Config, data: &Path, mut assistants: Assistants) -> Self {
        let components = assistants.components();
        let (catalog, _) = Catalog::build(&built_in.definitions, &built_in.implementations, &components);
        assistants.check_tools(&catalog);
        let compiled = ToolListing {
            definitions: built_in.definitions,
            implementations: built_in.implementations,
            problems: Vec::new(),
        };
        let configured: Vec<PathBuf> =
            config.sources.tools_folders.iter().map(|folder| data.join(folder)).collect();
        let mut sources: Vec<Arc<dyn ToolSource>> = vec![Arc::new(Compiled(compiled))];
        sources.push(Arc::new(ToolsFolder::optional(data.join(TOOLS))));
        sources.extend(configured.into_iter().map(|folder| Arc::new(ToolsFolder::required(folder)) as _));
        Self { all: sources, config, assistants: Arc::new(assistants), components }
    }

    /// The assistants, which definitions may name.
    pub(crate) fn assistants(&self) -> Arc<Assistants> {
        Arc::clone(&self.assistants)
    }

    /// Reads every source and makes what follows `previous`.
    pub(crate) async fn gather(self: &Arc<Self>, previous: Arc<Catalog>) -> Gathered {
        let mut all = ToolListing::default();
        for source in &self.all {
            let listing = source.list().await;
            all.definitions.extend(listing.definitions);
            all.implementations.extend(listing.implementations);
            all.problems.extend(listing.problems);
        }
        let this = Arc::clone(self);
        let make = move || this.make(&previous, all);
        match tokio::task::spawn_blocking(make).await {
            Ok(gathered) => gathered,
            Err(error) => match error.try_into_panic() {
                Ok(panic) => std::panic::resume_unwind(panic),
                // The program ends, and waits for nothing any more.
                Err(_) => std::future::pending().await,
            },
        }
    }

    fn make(&self, previous: &Catalog, all: ToolListing) -> Gathered {
        let (catalog, problems) = previous.rebuild(&all.definitions, &all.implementations, &self.components);
        let problems = all.problems.into_iter().chain(problems).collect();
        let policy = policy::snapshot(&self.config, &catalog, &self.assistants);
        let unknown_tools = policy::unknown_tools(&self.config, &catalog);
        Gathered { catalog, policy, problems, unknown_tools }
    }

    /// Ends when any source has changed.
    async fn changed(&self) {
        select_all(self.all.iter().map(|source| source.changed())).await;
    }

    /// Keeps the installation's catalog current until it stops or is gone.
    pub(crate) async fn follow(self: Arc<Self>, app: Weak<App>) {
        loop {
            let Some(stopping) = app.upgrade().map(|app| app.stopping.clone()) else { return };
            tokio::select! {
                () = stopping.cancelled() => return,
                () = self.changed() => {}
            }
            let Some(app) = app.upgrade() else { return };
            let previous = app.registry.catalog();
            let gathered = self.gather(Arc::clone(&previous)).await;
            report(&previous, &app.definition_problems.load(), &gathered);
            publish(&app, gathered);
        }
    }
}

/// Puts what was gathered in force. At no moment is there a tool without the state of its settings.
fn publish(app: &App, gathered: Gathered) {
    let Gathered { catalog, policy, problems, unknown_tools } = gathered;
    let mut both = policy.clone();
    for (id, state) in &app.policy.load().settings {
        both.settings.entry(id.clone()).or_insert_with(|| state.clone());
    }
    app.policy.store(Arc::new(both));
    app.registry.publish(catalog);
    app.policy.store(Arc::new(policy));
    app.definition_problems.store(Arc::new(problems));
    app.unknown_tools.store(Arc::new(unknown_tools));
}

/// Logs what is different, and each problem once.
pub(crate) fn report(previous: &Catalog, known: &[Problem], gathered: &Gathered) {
    for tool in gathered.catalog.tools() {
        let (id, file) = (tool.id(), &tool.file.file);
        match previous.by_id(id) {
            None => tracing::info!(tool = id, file, "a tool was added"),
            Some(before) if before.file != tool.file => tracing::info!(tool = id, file, "a tool was changed"),
            Some(_) => {}
        }
    }
    for tool in previous.tools().iter().filter(|tool| gathered.catalog.by_id(tool.id()).is_none()) {
        tracing::info!(tool = tool.id(), file = tool.file.file, "a tool was taken away");
    }
    let known: HashSet<String> = known.iter().map(ToString::to_string).collect();
    for problem in gathered.problems.iter().map(ToString::to_string) {
        if !known.contains(&problem) {
            tracing::error!(problem, "a definition cannot be used");
        }
    }
}

#[async_trait]
impl ToolSource for Compiled {
    fn name(&self) -> String {
        "built-in tools".to_owned()
    }

    async fn list(&self) -> ToolListing {
        self.0.clone()
    }

    async fn changed(&self) {
        std::future::pending::<()>().await;
    }
}
