//! `toolcrib doctor`: what works, what does not, and what to do.

use std::process::ExitCode;

use clap::Args;
use http::Method;
use serde_json::Value;

use crate::interrupt::with_connection;
use crate::output::{self, BAD, FAINT, GOOD, STRONG, WARN, styled, text_of};
use crate::place::Place;

/// Look at everything that the installation depends on.
#[derive(Debug, Args)]
#[command(after_help = "Exit code 0: everything works, perhaps with warnings. 1: something is broken.")]
pub(crate) struct Doctor {}

impl Doctor {
    pub(crate) async fn run(self, place: &Place, json: bool) -> anyhow::Result<ExitCode> {
        with_connection(place, async |connection| {
            let status = connection.json(Method::GET, "/api/v1/status", None).await?;
            if json {
                output::json(&status);
            } else {
                show(&status);
            }
            let broken = checks(&status).iter().any(|check| check["state"] == "error");
            Ok(if broken { ExitCode::FAILURE } else { ExitCode::SUCCESS })
        })
        .await
    }
}

fn checks(status: &Value) -> &[Value] {
    status["checks"].as_array().map(Vec::as_slice).unwrap_or_default()
}

fn show(status: &Value) {
    output::line(styled(FAINT, format!("Toolcrib {}", text_of(&status["version"]))));
    for check in checks(status) {
        let mark = match check["state"].as_str() {
            Some("ok") => styled(GOOD, "✓ ok     "),
            Some("warning") => styled(WARN, "! warning"),
            _ => styled(BAD, "✗ error  "),
        };
        let (name, detail) = (styled(STRONG, text_of(&check["name"])), text_of(&check["detail"]));
        output::line(format!("{mark} {name}: {detail}"));
        let advice = text_of(&check["advice"]);
        if !advice.is_empty() {
            output::line(format!("          → {advice}"));
        }
    }
}
