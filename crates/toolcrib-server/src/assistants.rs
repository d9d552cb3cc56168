//! Assistants: prompts with inputs, from the files that are built in and those in the data folder.
//!
//! What is wrong with one file never takes another down: the assistants that can be used are used, and every problem
//! is in the list. Reading files aside, everything here is pure.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use toolcrib_runtime::caller::{Component, Components};
use toolcrib_runtime::nearest::nearest_by;
use toolcrib_runtime::registry::Catalog;
use toolcrib_runtime::tool::definition::{Problem, Severity};

mod built_in;
mod file;
mod filled;
mod input;
mod reader;
mod template;
#[cfg(test)]
mod tests;
mod texts;

pub(crate) use filled::Filled;
pub(crate) use input::{Input, Kind};
pub(crate) use texts::Texts;

use template::Template;

/// The folder within the data folder whose files add assistants, or replace built-in ones.
pub(crate) const FOLDER: &str = "assistants";

/// A prompt with inputs, as its file describes it.
#[derive(Debug)]
pub(crate) struct Assistant {
    /// The id, which is that of its component.
    pub(crate) id: String,
    /// One emoji.
    pub(crate) icon: String,
    pub(crate) name: Texts,
    /// What it does, in a sentence.
    pub(crate) description: Texts,
    /// What is asked of the user, in order; the user's own text is one of them.
    pub(crate) inputs: Vec<Input>,
    /// The id of the input that is the user's own text: it arrives as the user message.
    pub(crate) user_text: String,
    /// The name of the marks that the user's own text is put between.
    pub(crate) delimiter: Option<String>,
    /// The tools that are on when neither the request nor the administrator says otherwise.
    pub(crate) tools: DefaultTools,
    /// The temperature when the request names none.
    pub(crate) temperature: Option<f64>,
    pub(crate) needs: BTreeSet<Need>,
    prompt: Template,
}

/// The tools that an assistant has on by default.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum DefaultTools {
    /// Those that a component has that says nothing about tools.
    Usual,
    /// These, by id.
    Only(BTreeSet<String>),
}

/// Something that a model must be able to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Need {
    /// Call functions.
    Functions,
    /// Look at images.
    Images,
}

/// The assistants of an installation.
#[derive(Debug, Default)]
pub(crate) struct Assistants {
    by_id: BTreeMap<String, Arc<Assistant>>,
    /// Ids whose only file cannot be used. They stay components, so that rules about them keep their meaning.
    broken: BTreeSet<String>,
    problems: Vec<Problem>,
}

/// A file that has not been read yet.
#[derive(Debug, Clone)]
pub(crate) struct AssistantFile {
    /// Its path, for problems.
    pub(crate) file: String,
    /// Its text, or why there is none.
    pub(crate) text: Result<String, String>,
}

impl Assistants {
    /// The built-in assistants, with those of the data folder added or in their place.
    pub(crate) fn load(data: &Path) -> Self {
        let folder = data.join(FOLDER);
        match files_in(&folder) {
            Ok(files) => Self::of(&files),
            Err(cause) => {
                let mut assistants = Self::of(&[]);
                let found = format!("a folder that cannot be read: {cause}");
                let allowed = "a folder of .toml files, or none";
                assistants.problems.push(whole_file(&folder.display().to_string(), found, allowed));
                assistants
            }
        }
    }

    /// The built-in assistants, with these added or in their place.
    fn of(own: &[AssistantFile]) -> Self {
        let mut assistants = Self::default();
        for file in built_in::files().iter().chain(own) {
            assistants.add(file);
        }
        assistants
    }

    fn add(&mut self, file: &AssistantFile) {
        match read(file) {
            Ok(assistant) => {
                self.broken.remove(&assistant.id);
                self.by_id.insert(assistant.id.clone(), Arc::new(assistant));
            }
            Err(problems) => {
                self.problems.extend(problems);
                let id = stem(&file.file);
                if !self.by_id.contains_key(id) && Components::default().add_assistant(id).is_ok() {
                    self.broken.insert(id.to_owned());
                }
            }
        }
    }

    /// The components of the installation.
    pub(crate) fn components(&self) -> Components {
        let mut components = Components::default();
        for id in self.by_id.keys().chain(&self.broken) {
            if let Err(error) = components.add_assistant(id) {
                tracing::error!(error = %error, "an assistant has no component");
            }
        }
        components
    }

    /// Every assistant, by id.
    pub(crate) fn all(&self) -> impl Iterator<Item = &Arc<Assistant>> {
        self.by_id.values()
    }

    /// The assistant with this id.
    pub(crate) fn by_id(&self, id: &str) -> Option<&Arc<Assistant>> {
        self.by_id.get(id)
    }

    /// The assistant that is meant by an id, which may lack its ending `_assistant`.
    ///
    /// # Errors
    /// There is none; the nearest id, when one is like enough.
    pub(crate) fn find(&self, name: &str) -> Result<&Arc<Assistant>, Option<&str>> {
        let whole = || self.by_id.get(&format!("{name}{}", Component::ASSISTANT_ENDING));
        if let Some(found) = self.by_id.get(name).or_else(whole) {
            return Ok(found);
        }
        // The ending, which all have, would make everything alike.
        let short = |id: &'_ str| id.trim_end_matches(Component::ASSISTANT_ENDING).to_owned();
        Err(nearest_by(&short(name), self.by_id.keys().map(|id| (short(id), id.as_str()))))
    }

    /// Whatever is wrong with files.
    pub(crate) fn problems(&self) -> &[Problem] {
        &self.problems
    }

    /// Adds what shows only beside the tools: defaults that name tools which do not exist.
    pub(crate) fn check_tools(&mut self, catalog: &Catalog) {
        for assistant in self.by_id.values() {
            let DefaultTools::Only(ids) = &assistant.tools else { continue };
            for id in ids.iter().filter(|id| catalog.by_id(id).is_none()) {
                let known: Vec<_> = catalog.tools().iter().map(|tool| tool.id()).collect();
                self.problems.push(Problem {
                    last_good_stays: false,
                    severity: Severity::Warning,
                    file: format!("{FOLDER}/{}.toml", assistant.id),
                    pointer: "/tools".to_owned(),
                    found: format!("the tool {id:?}, which does not exist"),
                    allowed: format!("there are {}", known.join(", ")),
                    nearest: nearest_by(id, known.iter().map(|known| (known, known)))
                        .map(ToString::to_string),
                });
            }
        }
    }
}

impl Need {
    pub(crate) const NAMES: [(&'static str, Self); 2] =
        [("functions", Self::Functions), ("images", Self::Images)];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Functions => "functions",
            Self::Images => "images",
        }
    }
}

/// Reads one file.
///
/// # Errors
/// Every problem in it.
pub(crate) fn read(file: &AssistantFile) -> Result<Assistant, Vec<Problem>> {
    match &file.text {
        Ok(text) => file::read(text, &file.file),
        Err(cause) => Err(vec![whole_file(&file.file, cause.clone(), "a TOML file in UTF-8")]),
    }
}

/// The file at a path, with its text or the reason why there is none.
pub(crate) fn file_at(path: &Path) -> AssistantFile {
    let text = match std::fs::read(path) {
        Ok(bytes) => String::from_utf8(bytes).map_err(|_| "bytes that are not UTF-8".to_owned()),
        Err(cause) => Err(format!("a file that cannot be read: {cause}")),
    };
    AssistantFile { file: path.display().to_string(), text }
}

/// Whether the path is that of an assistant's file: its name ends in `.toml`.
pub(crate) fn is_file_name(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("toml"))
}

/// The `.toml` files of a folder, in the order of their names; none when there is no folder.
fn files_in(folder: &Path) -> std::io::Result<Vec<AssistantFile>> {
    let entries = match std::fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let mut paths = Vec::new();
    for entry in entries {
        let path = entry?.path();
        if is_file_name(&path) && path.is_file() {
            paths.push(path);
        }
    }
    paths.sort();
    Ok(paths.iter().map(|path| file_at(path)).collect())
}

/// The name of a file without folder and extension.
fn stem(file: &str) -> &str {
    Path::new(file).file_stem().and_then(|stem| stem.to_str()).unwrap_or_default()
}

fn whole_file(file: &str, found: String, allowed: &str) -> Problem {
    Problem {
        last_good_stays: false,
        severity: Severity::Error,
        file: file.to_owned(),
        pointer: String::new(),
        found,
        allowed: allowed.to_owned(),
        nearest: None,
    }
}
