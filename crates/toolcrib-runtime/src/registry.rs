//! Which tools exist: definitions paired with implementations, as immutable catalogs.
//!
//! A catalog never changes; a run keeps the one it began with. Its order is by id, so that the list of tools a
//! model is sent is the same byte for byte from run to run, and providers' prompt caches hold.

use std::collections::HashMap;
use std::sync::Arc;

use arc_swap::ArcSwap;

use crate::caller::Components;
use crate::executor::arguments::ArgumentsSchema;
use crate::model::ToolSpec;
use crate::tool::definition::{Definition, Problem, Severity};
use crate::tool::{Display, Tool};

mod display;
#[cfg(test)]
mod tests;

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
    /// The compiled schema of the arguments.
    pub(crate) arguments: ArgumentsSchema,
}

/// A definition file that has not been read yet.
#[derive(Debug, Clone)]
pub struct DefinitionFile {
    /// The file's name, for problems.
    pub file: String,
    /// Its text.
    pub text: String,
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
    /// and every problem is in the list.
    pub fn build(
        files: &[DefinitionFile],
        implementations: &[Arc<dyn Tool>],
        components: &Components,
    ) -> (Self, Vec<Problem>) {
        let by_key: HashMap<&str, &Arc<dyn Tool>> =
            implementations.iter().map(|tool| (tool.implementation_key(), tool)).collect();
        let mut problems = Vec::new();
        let mut taken = Taken::default();
        let mut accepted: Vec<(&str, Definition)> = Vec::new();
        for file in files {
            match Definition::read(&file.text, &file.file, components) {
                Ok(definition) => match taken.conflict(&definition, &file.file) {
                    None => {
                        taken.take(&definition, &file.file);
                        accepted.push((&file.file, definition));
                    }
                    Some(problem) => problems.push(problem),
                },
                Err(found) => problems.extend(found),
            }
        }
        let mut tools = Vec::with_capacity(accepted.len());
        for (file, definition) in accepted {
            let implementation =
                by_key.get(definition.implementation_key.as_str()).map(|tool| Arc::clone(tool));
            if implementation.is_none() {
                problems.push(missing_implementation(file, &definition, &by_key));
            }
            match RegisteredTool::new(definition, implementation) {
                Ok(tool) => tools.push(Arc::new(tool)),
                Err(cause) => {
                    problems.push(error(file, "/function/parameters", cause, "a usable JSON Schema".into()));
                }
            }
        }
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
    /// Pairs a definition with an implementation.
    ///
    /// # Errors
    /// The schema of the arguments cannot be compiled.
    pub fn new(definition: Definition, implementation: Option<Arc<dyn Tool>>) -> Result<Self, String> {
        let arguments = ArgumentsSchema::compile(&definition.function.parameters)?;
        let display = display::display(&definition, implementation.as_deref(), display::ENGLISH);
        let function = &definition.function;
        let spec = ToolSpec {
            name: function.name.clone(),
            description: Some(function.description.clone()),
            parameters: function.parameters.clone(),
            strict: Some(function.strict),
        };
        Ok(Self { definition, implementation, display, spec: Arc::new(spec), arguments })
    }

    /// The tool's id.
    pub fn id(&self) -> &str {
        &self.definition.id
    }
}

/// What is used already: ids, function names and implementation keys, each with the file that uses it.
#[derive(Default)]
struct Taken {
    ids: HashMap<String, String>,
    names: HashMap<String, String>,
    keys: HashMap<String, String>,
}

impl Taken {
    fn take(&mut self, definition: &Definition, file: &str) {
        self.ids.insert(definition.id.clone(), file.to_owned());
        self.names.insert(definition.function.name.clone(), file.to_owned());
        self.keys.insert(definition.implementation_key.clone(), file.to_owned());
    }

    /// The later of two definitions with the same id, function name or implementation key is left out.
    fn conflict(&self, later: &Definition, file: &str) -> Option<Problem> {
        let used = [
            ("/id", "id", &later.id, &self.ids),
            ("/function/name", "function name", &later.function.name, &self.names),
            ("/implementationKey", "implementation key", &later.implementation_key, &self.keys),
        ];
        let (pointer, what, value, earlier) = used
            .into_iter()
            .find_map(|(pointer, what, value, taken)| Some((pointer, what, value, taken.get(value)?)))?;
        let found = format!("the {what} {value:?}, which {earlier} has already");
        let allowed = format!("every {what} is used once: change one of the two files");
        Some(error(file, pointer, found, allowed))
    }
}

fn missing_implementation(
    file: &str,
    definition: &Definition,
    implementations: &HashMap<&str, &Arc<dyn Tool>>,
) -> Problem {
    let mut keys: Vec<_> = implementations.keys().copied().collect();
    keys.sort_unstable();
    let key = &definition.implementation_key;
    let mut problem = error(
        file,
        "/implementationKey",
        format!("the key {key:?}, which no implementation has"),
        format!("registered implementations: {}", keys.join(", ")),
    );
    problem.nearest = crate::nearest::nearest(key, keys).map(str::to_owned);
    problem
}

fn error(file: &str, pointer: &str, found: String, allowed: String) -> Problem {
    Problem {
        severity: Severity::Error,
        file: file.to_owned(),
        pointer: pointer.to_owned(),
        found,
        allowed,
        nearest: None,
    }
}
