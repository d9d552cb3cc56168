//! Checks definitions of tools and files of assistants, without running anything.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use serde_json::{Value, json};
use toolcrib_runtime::caller::{Component, Components};
use toolcrib_egress::{Egress, EgressSettings, EgressSetupError};
use toolcrib_runtime::registry::{Catalog, DefinitionFile};
use toolcrib_runtime::tool::definition::{Definition, Problem, Severity, lint};
use toolcrib_runtime::tool::{Display, Tool, ToolContext, ToolError, ToolOutput};
use toolcrib_tools::builtin::builtin;

use crate::assistants::{self, Assistants};

const READABLE: &str = "a definition is a file that can be read";
const UTF_8: &str = "a definition is JSON in UTF-8 (RFC 8259, section 8.1)";

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
    let mut texts = Vec::new();
    let mut problems = Vec::new();
    let mut stand_ins: Vec<Arc<dyn Tool>> = Vec::new();
    for path in paths {
        let file = path.display().to_string();
        let bytes = match std::fs::read(path) {
            Ok(bytes) => bytes,
            Err(cause) => {
                problems.push(unreadable(file, format!("a file that cannot be read: {cause}"), READABLE));
                continue;
            }
        };
        let Ok(text) = String::from_utf8(bytes) else {
            problems.push(unreadable(file, "bytes that are not UTF-8".to_owned(), UTF_8));
            continue;
        };
        if let Ok(definition) = Definition::read(&text, &file, components) {
            problems.extend(lint(&definition, &file));
            stand_ins.push(Arc::new(StandIn(definition.implementation_key)));
        }
        texts.push(DefinitionFile { file, text });
    }
    // Reading them together finds what is used twice. Whether an implementation exists is not the files' fault.
    let (_, together) = Catalog::build(&texts, &stand_ins, components);
    problems.extend(together);
    problems
}

/// Checks the definitions of the tools that are compiled in, each with its implementation.
///
/// # Errors
/// The egress that tools are built with cannot be set up.
pub fn check_built_in() -> Result<CheckReport, EgressSetupError> {
    let all = builtin(&Egress::new(EgressSettings::default())?);
    let (_, mut problems) = Catalog::build(&all.definitions, &all.implementations, &Components::default());
    for file in &all.definitions {
        if let Ok(definition) = Definition::read(&file.text, &file.file, &Components::default()) {
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

fn unreadable(file: String, found: String, allowed: &str) -> Problem {
    Problem {
        severity: Severity::Error,
        file,
        pointer: String::new(),
        found,
        allowed: allowed.to_owned(),
        nearest: None,
    }
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
