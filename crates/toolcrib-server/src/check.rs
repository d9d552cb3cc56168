//! Checks definitions of tools and files of assistants, without running anything.

use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use serde_json::{Value, json};
use toolcrib_egress::{Egress, EgressSettings, EgressSetupError};
use toolcrib_runtime::caller::{Component, Components};
use toolcrib_runtime::registry::{Catalog, DefinitionFile, Unreadable};
use toolcrib_runtime::tool::definition::{self, Definition, Problem, Severity, lint};
use toolcrib_runtime::tool::{Display, Tool, ToolContext, ToolError, ToolOutput};
use toolcrib_tools::builtin::builtin;

use crate::assistants::{self, Assistants};

/// The largest definition file that is read, in bytes.
const LARGEST_DEFINITION: u64 = 1024 * 1024;

/// What was found in some files.
pub struct CheckReport {
    /// The files that were read.
    pub files: Vec<PathBuf>,
    /// Every problem, errors and warnings.
    pub problems: Vec<Problem>,
}

/// A path could not be looked at.
#[derive(Debug, thiserror::Error)]
#[error("reading {}: {cause}", path.display())]
pub struct CheckError {
    /// The path.
    pub path: PathBuf,
    /// Why.
    pub cause: std::io::Error,
}

/// Stands for the implementation of a definition while files are checked.
struct StandIn(String);

/// Checks files, and those of folders (not below them): `.toml` files are assistants, all others definitions.
///
/// Definitions may name the assistants among the files and those of the installation in the folder `data`.
///
/// # Errors
/// A path that is not there, or a folder that cannot be read or holds neither definitions nor assistants.
pub fn check(paths: &[PathBuf], data: Option<&Path>) -> Result<CheckReport, CheckError> {
    let mut files = Vec::new();
    for path in paths {
        files.extend(files_in(path)?);
    }
    let mut components = data.map(Assistants::load).unwrap_or_default().components();
    let (assistants, definitions): (Vec<_>, Vec<_>) =
        files.iter().partition(|path| assistants::is_file_name(path));
    let mut problems = check_assistants(&assistants, &mut components);
    problems.extend(check_definitions(&definitions, &components));
    problems.sort_by(|left, right| left.file.cmp(&right.file).then(right.severity.cmp(&left.severity)));
    Ok(CheckReport { files, problems })
}

/// Checks files of assistants and adds those that can be used to the components.
fn check_assistants(paths: &[&PathBuf], components: &mut Components) -> Vec<Problem> {
    let mut problems = Vec::new();
    for path in paths {
        match assistants::read(&assistants::file_at(path)) {
            Ok(assistant) => {
                if let Err(error) = components.add_assistant(&assistant.id) {
                    tracing::error!(error = %error, "an assistant has no component");
                }
            }
            Err(found) => problems.extend(found),
        }
    }
    problems
}

fn check_definitions(paths: &[&PathBuf], components: &Components) -> Vec<Problem> {
    let mut problems = Vec::new();
    let mut read = Vec::new();
    let mut stand_ins: Vec<Arc<dyn Tool>> = Vec::new();
    for path in paths {
        let file = read_definition(path);
        if let Ok(text) = &file.text
            && let Ok(definition) = Definition::read(text, &file.file, components)
        {
            problems.extend(lint(&definition, &file.file));
            stand_ins.push(Arc::new(StandIn(definition.implementation_key)));
        }
        read.push(file);
    }
    // Reading them together, and with the built-in ones, finds what is used twice and what cannot be replaced.
    // Whether an implementation exists is not the files' fault.
    let (mut together, implementations) = built_in_beside(&read);
    together.extend(read);
    stand_ins.extend(implementations);
    problems.extend(Catalog::build(&together, &stand_ins, components).1);
    problems
}

/// Reads a definition file; what cannot be read is part of the answer.
pub(crate) fn read_definition(path: &Path) -> DefinitionFile {
    let file = path.display().to_string();
    let read = || -> std::io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        std::fs::File::open(path)?.take(LARGEST_DEFINITION + 1).read_to_end(&mut bytes)?;
        Ok(bytes)
    };
    match read() {
        Err(cause) => DefinitionFile::unreadable(file, Unreadable::Failed(cause.to_string())),
        Ok(bytes) if bytes.len() as u64 > LARGEST_DEFINITION => {
            DefinitionFile::unreadable(file, Unreadable::TooLarge { limit: LARGEST_DEFINITION })
        }
        Ok(bytes) => match String::from_utf8(bytes) {
            Ok(text) => DefinitionFile::added(file, text),
            Err(_) => DefinitionFile::unreadable(file, Unreadable::NotUtf8),
        },
    }
}

/// The built-in definitions, without those whose own files are being checked.
fn built_in_beside(checked: &[DefinitionFile]) -> (Vec<DefinitionFile>, Vec<Arc<dyn Tool>>) {
    let egress = match Egress::new(EgressSettings::default()) {
        Ok(egress) => egress,
        Err(error) => {
            tracing::warn!(error = %error, "definitions are checked without the built-in ones");
            return (Vec::new(), Vec::new());
        }
    };
    let built_in = builtin(&egress);
    let mut definitions = built_in.definitions;
    definitions.retain(|built_in| checked.iter().all(|file| file.text != built_in.text));
    (definitions, built_in.implementations)
}

/// The format of definition files as a JSON Schema, with a line break at its end.
pub fn definition_schema() -> String {
    format!("{:#}\n", definition::schema())
}

/// Checks the definitions of the tools that are compiled in, each with its implementation.
///
/// # Errors
/// The egress that tools are built with cannot be set up.
pub fn check_built_in() -> Result<CheckReport, EgressSetupError> {
    let all = builtin(&Egress::new(EgressSettings::default())?);
    let (_, mut problems) = Catalog::build(&all.definitions, &all.implementations, &Components::default());
    for file in &all.definitions {
        if let Ok(text) = &file.text
            && let Ok(definition) = Definition::read(text, &file.file, &Components::default())
        {
            problems.extend(lint(&definition, &file.file));
        }
    }
    Ok(CheckReport { files: all.definitions.into_iter().map(|file| file.file.into()).collect(), problems })
}

fn files_in(path: &Path) -> Result<Vec<PathBuf>, CheckError> {
    let failed = |cause| CheckError { path: path.to_owned(), cause };
    if !std::fs::metadata(path).map_err(failed)?.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let mut found = Vec::new();
    for entry in std::fs::read_dir(path).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        if path.is_file() && (is_definition(&path) || is_assistant(&path)) {
            found.push(path);
        }
    }
    if found.is_empty() {
        let cause = std::io::Error::new(
            std::io::ErrorKind::NotFound,
            "the folder holds no .json file and no assistant",
        );
        return Err(failed(cause));
    }
    found.sort();
    Ok(found)
}

fn is_definition(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("json"))
}

/// A folder may hold other TOML files, such as the configuration.
fn is_assistant(path: &Path) -> bool {
    let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
    assistants::is_file_name(path) && stem.ends_with(Component::ASSISTANT_ENDING)
}

#[async_trait]
impl Tool for StandIn {
    fn implementation_key(&self) -> &str {
        &self.0
    }

    fn display(&self, _locale: &str) -> Display {
        Display { name: self.0.clone(), description: String::new(), icon: String::new() }
    }

    async fn call(&self, _arguments: Value, _context: &ToolContext) -> Result<ToolOutput, ToolError> {
        Err(ToolError::failed("a tool whose definition is only being checked cannot be called"))
    }
}

impl CheckReport {
    /// How many problems are errors.
    pub fn errors(&self) -> usize {
        self.problems.iter().filter(|problem| problem.severity == Severity::Error).count()
    }

    /// The report for programs.
    pub fn to_json(&self) -> Value {
        let problems = self.problems.iter().map(|problem| {
            json!({
                "severity": problem.severity.name(),
                "file": problem.file,
                "pointer": problem.pointer,
                "found": problem.found,
                "allowed": problem.allowed,
                "nearest": problem.nearest,
            })
        });
        json!({
            "files": self.files.iter().map(|path| path.display().to_string()).collect::<Vec<_>>(),
            "errors": self.errors(),
            "warnings": self.problems.len() - self.errors(),
            "problems": problems.collect::<Vec<_>>(),
        })
    }
}

#[cfg(test)]
mod tests;
