//! `toolcrib new-tool`: begins a tool that works at once.
//!
//! Either everything is written or nothing: all texts are made before the first is written, and the list of tools, by
//! which the new one takes part, is replaced last.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context as _;
use clap::{Args, ValueEnum};
use serde_json::json;

use crate::output::{self, STRONG, styled};

mod checkout;
mod list;
mod name;
#[cfg(test)]
mod tests;

use checkout::{Plan, checkout};
use name::Name;

/// Begin a tool of your own.
#[derive(Debug, Args)]
#[command(after_help = "Works in a checkout of the project. Nothing that exists is replaced.")]
pub(crate) struct NewTool {
    /// The tool's id, for example `roll_dice`
    name: String,
    /// How the tool is written
    #[arg(long, value_enum, default_value_t = Kind::Rust)]
    kind: Kind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Kind {
    /// Compiled in, with typed arguments and settings
    Rust,
}

impl NewTool {
    pub(crate) fn run(self, json: bool) -> anyhow::Result<ExitCode> {
        let here = std::env::current_dir().context("finding out the working directory")?;
        let plan = match self.kind {
            Kind::Rust => rust(&checkout(&here)?, &self.name)?,
        };
        plan.carry_out()?;
        let made: Vec<String> = plan.made().map(|path| path.display().to_string()).collect();
        if json {
            output::json(&json!({"made": made, "changed": [LIST]}));
        } else {
            for path in &made {
                output::line(format!("made     {path}"));
            }
            output::line(format!("changed  {LIST}"));
            next_steps(&self.name);
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// The list of the tools that are compiled in.
const LIST: &str = "crates/toolcrib-tools/src/builtin.rs";
/// The folder of their modules.
const MODULES: &str = "crates/toolcrib-tools/src/builtin";

const TOOL: &str = include_str!("new_tool/tool.rs.txt");
const TESTS: &str = include_str!("new_tool/tests.rs.txt");

/// What a tool in Rust consists of.
fn rust(root: &Path, name: &str) -> anyhow::Result<Plan> {
    let name = Name::parse(name)?;
    let modules = Path::new(MODULES);
    let files = [
        (modules.join(format!("{name}.rs")), name.fill(TOOL)),
        (modules.join(name.as_str()).join("tests.rs"), name.fill(TESTS)),
    ];
    let page = PathBuf::from(format!("docs/tools/{name}.md"));
    for path in [&files[0].0, &modules.join(name.as_str()), &page] {
        anyhow::ensure!(
            !root.join(path).exists(),
            "there is {} already: choose another name, or remove it",
            path.display()
        );
    }
    let path = root.join(LIST);
    let text = fs::read_to_string(&path).with_context(|| format!("reading {}", path.display()))?;
    let type_name = name.type_name();
    anyhow::ensure!(
        !list::names(&text, &type_name) && !list::names(TOOL, &type_name),
        "the type of the tool {:?} would be called {type_name}, which means something else there: choose another name",
        name.as_str()
    );
    let list = list::with(&text, &name).with_context(|| format!("adding the tool to {LIST}"))?;
    Ok(Plan { root: root.to_owned(), files: files.into(), list: (LIST.into(), list) })
}

fn next_steps(name: &str) {
    let steps = [
        ("Write what it does and says, and its tests", format!("{MODULES}/{name}.rs")),
        ("Check it", "cargo run -- check --built-in".to_owned()),
        ("Call it", format!("cargo run -- call {name} '{{\"text\": \"one two three\"}}'")),
        ("Test it", format!("cargo test -p toolcrib-tools {name}")),
        ("Make its page", format!("cargo run -- schema tool-page {name} > docs/tools/{name}.md")),
        (
            "Hold what models read of it, and look at the new snapshots",
            "INSTA_UPDATE=always cargo test -p toolcrib-tools -p toolcrib".to_owned(),
        ),
    ];
    output::line("");
    output::line(styled(STRONG, "Next"));
    for (number, (what, how)) in steps.into_iter().enumerate() {
        output::line(format!("{}. {what}:\n   {how}", number + 1));
    }
}
