//! How a catalog is made from files and the catalog before it.
//!
//! The order in which files claim ids, names and keys keeps what is in use in use: first the built-in definitions,
//! then the tools whose files did not change or cannot be read now, then changed files, then new ones. Every step
//! takes time in proportion to the number of files.

use std::collections::HashMap;
use std::sync::Arc;

use super::{Catalog, DefinitionFile, Provenance, RegisteredTool};
use crate::caller::Components;
use crate::nearest::nearest;
use crate::tool::Tool;
use crate::tool::definition::{Definition, Problem, incompatibilities};

/// Unknown names for which the one that was meant is searched: each search looks at every known name.
const MAX_SEARCHES: usize = 20;
/// Known names that a problem lists.
const LISTED_NAMES: usize = 30;

/// The tools, and every problem in the order of the files.
pub(super) fn build(
    previous: &Catalog,
    files: &[DefinitionFile],
    implementations: &[Arc<dyn Tool>],
    components: &Components,
) -> (Vec<Arc<RegisteredTool>>, Vec<Problem>) {
    let last_good: HashMap<&str, &Arc<RegisteredTool>> =
        previous.tools.iter().map(|tool| (tool.file.file.as_str(), tool)).collect();
    let mut builder = Builder {
        implementations: implementations.iter().map(|tool| (tool.implementation_key(), tool)).collect(),
        tools: Vec::with_capacity(files.len()),
        ids: HashMap::with_capacity(files.len()),
        names: HashMap::with_capacity(files.len()),
        keys: HashMap::with_capacity(files.len()),
        replaced: HashMap::new(),
        problems: Vec::new(),
        searches: MAX_SEARCHES,
    };
    let mut candidates: Vec<Candidate<'_>> = files
        .iter()
        .enumerate()
        .map(|(position, file)| {
            Candidate::read(position, file, last_good.get(file.file.as_str()).copied(), components)
        })
        .collect();
    // Stable: within a rank the order of the files stands.
    candidates.sort_by_key(Candidate::rank);
    for candidate in candidates {
        builder.take(candidate);
    }
    builder.problems.sort_by_key(|(position, _)| *position);
    let problems = builder.problems.into_iter().map(|(_, problem)| problem).collect();
    (builder.tools.into_iter().flatten().collect(), problems)
}

/// A file with what was read from it.
struct Candidate<'f> {
    position: usize,
    file: &'f DefinitionFile,
    last_good: Option<&'f Arc<RegisteredTool>>,
    now: Reading,
}

enum Reading {
    /// The text is the one that the last good version was read from.
    Unchanged,
    Read(Box<Definition>),
    Broken(Vec<Problem>),
}

impl<'f> Candidate<'f> {
    fn read(
        position: usize,
        file: &'f DefinitionFile,
        last_good: Option<&'f Arc<RegisteredTool>>,
        components: &Components,
    ) -> Self {
        let now = match &file.text {
            _ if last_good.is_some_and(|tool| tool.file == *file) => Reading::Unchanged,
            Ok(text) => match Definition::read(text, &file.file, components) {
                Ok(definition) => Reading::Read(Box::new(definition)),
                Err(problems) => Reading::Broken(problems),
            },
            Err(why) => Reading::Broken(vec![Problem::error(&file.file, "", why.found(), why.allowed())]),
        };
        Self { position, file, last_good, now }
    }

    fn rank(&self) -> u8 {
        match (&self.now, self.last_good) {
            _ if self.file.provenance == Provenance::BuiltIn => 0,
            (Reading::Unchanged, _) | (Reading::Broken(_), Some(_)) => 1,
            (Reading::Read(_), Some(_)) => 2,
            (Reading::Read(_) | Reading::Broken(_), None) => 3,
        }
    }
}

struct Builder<'f> {
    implementations: HashMap<&'f str, &'f Arc<dyn Tool>>,
    /// A tool that was replaced leaves its place empty.
    tools: Vec<Option<Arc<RegisteredTool>>>,
    ids: HashMap<String, usize>,
    names: HashMap<String, usize>,
    keys: HashMap<String, usize>,
    /// The file that replaces each built-in tool that is replaced, by the tool's id.
    replaced: HashMap<String, String>,
    /// Each with the position of its file.
    problems: Vec<(usize, Problem)>,
    searches: usize,
}

impl Builder<'_> {
    fn take(&mut self, candidate: Candidate<'_>) {
        let Candidate { position, file, last_good, now } = candidate;
        let mut found = match now {
            Reading::Unchanged => match last_good.map(|tool| self.again(tool)) {
                Some(Err(problems)) => problems,
                Some(Ok(())) | None => return,
            },
            Reading::Read(definition) => match self.enter(*definition, file, last_good.is_some()) {
                Ok(None) => return,
                Ok(Some(problem)) => return self.problems.push((position, problem)),
                Err(problems) => self.keep(last_good, problems),
            },
            Reading::Broken(problems) => self.keep(last_good, problems),
        };
        self.problems.extend(found.drain(..).map(|problem| (position, problem)));
    }

    /// Keeps the last good version, when there is one that can stay, and says so in the problems.
    fn keep(&mut self, last_good: Option<&Arc<RegisteredTool>>, mut problems: Vec<Problem>) -> Vec<Problem> {
        if last_good.is_some_and(|tool| self.again(tool).is_ok()) {
            for problem in &mut problems {
                problem.last_good_stays = true;
            }
        }
        problems
    }

    /// Enters a tool of the catalog before, with the implementation as it is now.
    fn again(&mut self, tool: &Arc<RegisteredTool>) -> Result<(), Vec<Problem>> {
        let definition = &tool.definition;
        let implementation = self.implementation(definition);
        let same = match (&tool.implementation, &implementation) {
            (Some(before), Some(now)) => Arc::ptr_eq(before, now),
            (None, None) => true,
            _ => false,
        };
        if !same || definition.replaces.is_some() || implementation.is_none() {
            // What it is paired with has changed, or must be looked at again.
            return match self.enter(definition.clone(), &tool.file, false) {
                Ok(None) => Ok(()),
                Ok(Some(problem)) => Err(vec![problem]),
                Err(problems) => Err(problems),
            };
        }
        if let Some(problem) = self.conflict(definition, &tool.file.file, None) {
            return Err(vec![problem]);
        }
        self.add(Arc::clone(tool));
        Ok(())
    }

    /// Enters a definition; `Ok` with a problem when it is known, but without an implementation.
    fn enter(
        &mut self,
        mut definition: Definition,
        file: &DefinitionFile,
        demands_implementation: bool,
    ) -> Result<Option<Problem>, Vec<Problem>> {
        let replaced = match definition.replaces.clone() {
            Some(id) => {
                let index = self.replaceable(&id, &definition, file).map_err(|problem| vec![*problem])?;
                self.check_parameters(index, &definition, &file.file)?;
                Some((id, index))
            }
            None => None,
        };
        if let Some(tool) = replaced.as_ref().and_then(|(_, index)| self.tool(*index))
            && !definition.capability_is_given
        {
            definition.capability.clone_from(&tool.definition.capability);
        }
        if let Some(problem) =
            self.conflict(&definition, &file.file, replaced.as_ref().map(|(_, index)| *index))
        {
            return Err(vec![problem]);
        }
        let implementation = self.implementation(&definition);
        let missing = implementation.is_none().then(|| self.missing_implementation(&definition, &file.file));
        if let Some(problem) = &missing
            && (demands_implementation || replaced.is_some())
        {
            return Err(vec![problem.clone()]);
        }
        let tool = RegisteredTool::new(definition, implementation, file.clone()).map_err(|cause| {
            vec![Problem::error(&file.file, "/function/parameters", cause, "a usable JSON Schema")]
        })?;
        if let Some((id, index)) = replaced {
            self.remove(index);
            self.replaced.insert(id, file.file.clone());
        }
        self.add(Arc::new(tool));
        Ok(missing)
    }

    fn tool(&self, index: usize) -> Option<&Arc<RegisteredTool>> {
        self.tools.get(index).and_then(Option::as_ref)
    }

    fn implementation(&self, definition: &Definition) -> Option<Arc<dyn Tool>> {
        self.implementations.get(definition.implementation_key.as_str()).map(|tool| Arc::clone(tool))
    }

    fn add(&mut self, tool: Arc<RegisteredTool>) {
        let index = self.tools.len();
        self.ids.insert(tool.definition.id.clone(), index);
        self.names.insert(tool.definition.function.name.clone(), index);
        self.keys.insert(tool.definition.implementation_key.clone(), index);
        self.tools.push(Some(tool));
    }

    fn remove(&mut self, index: usize) {
        let Some(tool) = self.tools.get_mut(index).and_then(Option::take) else { return };
        self.ids.remove(&tool.definition.id);
        self.names.remove(&tool.definition.function.name);
        self.keys.remove(&tool.definition.implementation_key);
    }

    /// The later of two definitions with the same id, function name or implementation key is left out. The tool at
    /// `leaving` is about to make room.
    fn conflict(&self, later: &Definition, file: &str, leaving: Option<usize>) -> Option<Problem> {
        let used = [
            ("/id", "id", &later.id, &self.ids),
            ("/function/name", "function name", &later.function.name, &self.names),
            ("/implementationKey", "implementation key", &later.implementation_key, &self.keys),
        ];
        let (pointer, what, value, earlier) =
            used.into_iter().find_map(|(pointer, what, value, taken)| {
                let index = taken.get(value).copied().filter(|index| Some(*index) != leaving)?;
                Some((pointer, what, value, self.tool(index)?))
            })?;
        let found = format!("the {what} {value:?}, which {} has already", earlier.file.file);
        let allowed = if earlier.file.provenance == Provenance::BuiltIn {
            format!(
                "every {what} is used once: change it, or say \"replaces\": {:?} to take the place of the built-in tool",
                earlier.id()
            )
        } else {
            format!("every {what} is used once: change one of the two files")
        };
        Some(Problem::error(file, pointer, found, allowed))
    }

    /// The built-in tool that a definition may replace.
    fn replaceable(
        &mut self,
        id: &str,
        later: &Definition,
        file: &DefinitionFile,
    ) -> Result<usize, Box<Problem>> {
        let pointer = "/replaces";
        let wrong =
            |found: String, allowed: &str| Box::new(Problem::error(&file.file, pointer, found, allowed));
        if file.provenance == Provenance::BuiltIn {
            return Err(wrong(
                format!("{id:?} in a built-in definition"),
                "only added definitions replace others",
            ));
        }
        if let Some(other) = self.replaced.get(id) {
            let found = format!("the built-in tool {id:?}, which {other} replaces already");
            return Err(wrong(found, "a built-in tool is replaced once: change one of the two files"));
        }
        let built_in = |tool: &RegisteredTool| tool.file.provenance == Provenance::BuiltIn;
        match self.ids.get(id).and_then(|index| Some((*index, self.tool(*index)?))) {
            Some((index, tool)) if built_in(tool) => Ok(index),
            Some((_, tool)) => Err(wrong(
                format!("the tool {id:?} of {}, which is not built in", tool.file.file),
                "only built-in tools can be replaced: change or remove the other file instead",
            )),
            None if later.id == id => Err(wrong(
                format!("the id {id:?} of this definition itself, and no built-in tool has it"),
                "leave \"replaces\" out for a new tool",
            )),
            None => {
                let known = self.tools.iter().flatten().filter(|tool| built_in(tool)).map(|tool| tool.id());
                let known: Vec<_> = known.chain(self.replaced.keys().map(String::as_str)).collect();
                let near = if self.searches > 0 { nearest(id, known.iter().copied()) } else { None };
                let near = near.map(str::to_owned);
                let mut problem =
                    wrong(format!("the unknown tool {id:?}"), &format!("built-in tools: {}", listing(known)));
                self.searches = self.searches.saturating_sub(1);
                problem.nearest = near;
                Err(problem)
            }
        }
    }

    /// Whoever called the built-in tool must be able to call what replaces it.
    fn check_parameters(&self, index: usize, later: &Definition, file: &str) -> Result<(), Vec<Problem>> {
        let Some(tool) = self.tool(index) else { return Ok(()) };
        let found = incompatibilities(&tool.definition.function.parameters, &later.function.parameters);
        if found.is_empty() {
            return Ok(());
        }
        let problems = found.into_iter().map(|found| {
            let allowed = format!(
                "what replaces the built-in tool {:?} accepts every argument object that it accepts",
                tool.id()
            );
            Problem::error(file, &format!("/function/parameters{}", found.pointer), found.reason, allowed)
        });
        Err(problems.collect())
    }

    fn missing_implementation(&mut self, definition: &Definition, file: &str) -> Problem {
        let key = &definition.implementation_key;
        let found = format!("the key {key:?}, which no implementation has");
        if self.searches == 0 {
            return Problem::error(
                file,
                "/implementationKey",
                found,
                "the key of a registered implementation",
            );
        }
        self.searches -= 1;
        let keys: Vec<_> = self.implementations.keys().copied().collect();
        let near = nearest(key, keys.iter().copied()).map(str::to_owned);
        let allowed = format!("registered implementations: {}", listing(keys));
        let mut problem = Problem::error(file, "/implementationKey", found, allowed);
        problem.nearest = near;
        problem
    }
}

/// Names in order, cut where they would fill the page.
fn listing(mut names: Vec<&str>) -> String {
    names.sort_unstable();
    let more = names.len().saturating_sub(LISTED_NAMES);
    names.truncate(LISTED_NAMES);
    let listed = names.join(", ");
    if more > 0 { format!("{listed} and {more} more") } else { listed }
}
