//! Which tools exist: definitions paired with implementations, as immutable catalogs.
//!
//! A catalog never changes; a run keeps the one it began with. Its order is by id, so that the list of tools a
//! model is sent is the same byte for byte from run to run, and providers' prompt caches hold. A catalog is made
//! from the one before: what did not change is taken over, and a file that broke keeps its last good version.

use std::collections::HashMap;
use std::sync::Arc;

use arc_swap::ArcSwap;

use crate::caller::Components;
use crate::executor::arguments::ArgumentsSchema;
use crate::model::ToolSpec;
use crate::tool::definition::{Definition, Problem};
use crate::tool::{Display, Tool};

mod build;
mod display;
mod file;
#[cfg(test)]
mod tests;

pub use file::{DefinitionFile, Provenance, Unreadable};

/// Holds the current catalog.
#[derive(Default)]
pub struct Registry {
    current: ArcSwap<Catalog>,
}

/// The tools at one moment, in the order of their ids.
#[derive(Default)]
pub struct Catalog {
    tools: Vec<Arc<RegisteredTool>>,
    by_id: HashMap<String, usize>,
    by_function_name: HashMap<String, usize>,
}

/// A definition with its implementation and what can be prepared once.
pub struct RegisteredTool {
    /// What the model and the administrator see.
    pub definition: Definition,
    /// The code behind it; `None` when nothing is registered under its key.
    pub implementation: Option<Arc<dyn Tool>>,
    /// Name, description and icon for people, in English; [`Self::display`] has other languages.
    pub display: Display,
    /// The tool as a model sees it.
    pub spec: Arc<ToolSpec>,
    /// The file that the definition was read from, as it was then.
    pub file: DefinitionFile,
    /// The compiled schema of the arguments.
    pub(crate) arguments: ArgumentsSchema,
}

impl Registry {
    /// The current catalog.
    pub fn catalog(&self) -> Arc<Catalog> {
        self.current.load_full()
    }

    /// Replaces the catalog. Runs that have begun keep the old one.
    pub fn publish(&self, catalog: Catalog) {
        self.current.store(Arc::new(catalog));
    }
}

impl Catalog {
    /// Reads definitions, which may name these components, and pairs them with implementations.
    ///
    /// Nothing that is wrong with one definition takes another down: the tools that can be used are in the catalog,
    /// and every problem is in the list. Of two definitions with one id, function name or implementation key the
    /// later is left out; built-in ones come first. A definition that says so takes the place of a built-in one.
    pub fn build(
        files: &[DefinitionFile],
        implementations: &[Arc<dyn Tool>],
        components: &Components,
    ) -> (Self, Vec<Problem>) {
        Self::default().rebuild(files, implementations, components)
    }

    /// The catalog that follows this one, from the files as they are now.
    ///
    /// A tool whose file did not change is taken over as it is. A file that gave a tool before and is broken now, or
    /// in conflict with another, keeps that tool, and its problem says so: a new file never takes the place of a
    /// tool that is in use. A file that is gone takes its tool away.
    #[must_use]
    pub fn rebuild(
        &self,
        files: &[DefinitionFile],
        implementations: &[Arc<dyn Tool>],
        components: &Components,
    ) -> (Self, Vec<Problem>) {
        let (tools, problems) = build::build(self, files, implementations, components);
        (Self::from_tools(tools), problems)
    }

    fn from_tools(mut tools: Vec<Arc<RegisteredTool>>) -> Self {
        tools.sort_by(|left, right| left.definition.id.cmp(&right.definition.id));
        let index = |key: fn(&RegisteredTool) -> &str| {
            tools.iter().enumerate().map(|(index, tool)| (key(tool).to_owned(), index)).collect()
        };
        let by_id = index(|tool| &tool.definition.id);
        let by_function_name = index(|tool| &tool.definition.function.name);
        Self { tools, by_id, by_function_name }
    }

    /// Every tool, by id.
    pub fn tools(&self) -> &[Arc<RegisteredTool>] {
        &self.tools
    }

    /// The tool with this id.
    pub fn by_id(&self, id: &str) -> Option<&Arc<RegisteredTool>> {
        self.by_id.get(id).and_then(|index| self.tools.get(*index))
    }

    /// The tool whose function has this name.
    pub fn by_function_name(&self, name: &str) -> Option<&Arc<RegisteredTool>> {
        self.index_by_function_name(name).and_then(|index| self.tools.get(index))
    }

    /// The position among [`Self::tools`] of the tool whose function has this name.
    pub(crate) fn index_by_function_name(&self, name: &str) -> Option<usize> {
        self.by_function_name.get(name).copied()
    }
}

impl RegisteredTool {
    /// Pairs the definition of a file with an implementation.
    ///
    /// # Errors
    /// The schema of the arguments cannot be compiled.
    pub fn new(
        definition: Definition,
        implementation: Option<Arc<dyn Tool>>,
        file: DefinitionFile,
    ) -> Result<Self, String> {
        let arguments = ArgumentsSchema::compile(&definition.function.parameters)?;
        let display = display::display(&definition, implementation.as_deref(), display::ENGLISH);
        let function = &definition.function;
        let spec = ToolSpec {
            name: function.name.clone(),
            description: Some(function.description.clone()),
            parameters: function.parameters.clone(),
            strict: Some(function.strict),
        };
        Ok(Self { definition, implementation, display, spec: Arc::new(spec), file, arguments })
    }

    /// The tool's id.
    pub fn id(&self) -> &str {
        &self.definition.id
    }
}
