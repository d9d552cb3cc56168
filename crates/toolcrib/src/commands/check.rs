//! `toolcrib check`: validates definitions of tools and files of assistants.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, ValueEnum};
use toolcrib_server::check::{CheckReport, check, check_built_in};

use crate::output::{self, BAD, GOOD, STRONG, WARN, clean, counted, styled};
use crate::place::Place;

/// Check definitions of tools and files of assistants.
#[derive(Debug, Args)]
#[command(
    after_help = "Exit code 0: usable, perhaps with warnings. 1: a tool or an assistant would be left out."
)]
pub(crate) struct Check {
    /// Definitions (.json), assistants (.toml), or folders of them
    #[arg(required_unless_present = "built_in", value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// Check the tools that are compiled in
    #[arg(long, conflicts_with = "paths")]
    built_in: bool,
    /// How to print the findings
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// For people
    Text,
    /// For programs
    Json,
}

impl Check {
    pub(crate) fn run(self, place: &Place, json: bool) -> anyhow::Result<ExitCode> {
        // Definitions may name assistants of the installation; without one, those that are built in.
        let data = place.data().ok();
        let report = if self.built_in { check_built_in()? } else { check(&self.paths, data.as_deref())? };
        if json || self.format == Format::Json {
            output::json(&report.to_json());
        } else {
            show(&report);
        }
        Ok(if report.errors() > 0 { ExitCode::FAILURE } else { ExitCode::SUCCESS })
    }
}

fn show(report: &CheckReport) {
    for problem in &report.problems {
        let severity = problem.severity.name();
        let style = if severity == "error" { BAD } else { WARN };
        let place = if problem.pointer.is_empty() { "(whole file)" } else { &problem.pointer };
        let (file, place) = (clean(&problem.file), clean(place));
        output::line(format!("{file}: {} {place}", styled(style, severity)));
        output::line(format!("    found    {}", clean(&problem.found)));
        output::line(format!("    allowed  {}", clean(&problem.allowed)));
        if let Some(nearest) = &problem.nearest {
            output::line(format!("    perhaps  {}", styled(STRONG, nearest)));
        }
    }
    let (errors, files) = (report.errors(), report.files.len());
    let warnings = report.problems.len() - errors;
    let style = if errors > 0 { BAD } else { GOOD };
    let summary = [counted(files, "file"), counted(errors, "error"), counted(warnings, "warning")].join(", ");
    output::note(styled(style, summary));
}
