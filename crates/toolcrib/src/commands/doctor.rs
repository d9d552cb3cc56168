//! `toolcrib doctor`: what works, what does not, and what to do.

use std::process::ExitCode;

use clap::Args;
use http::Method;

use crate::output::{self, BAD, FAINT, GOOD, STRONG, WARN, styled};
use crate::place::Place;

/// Look at everything that the installation depends on.
#[derive(Debug, Args)]
#[command(after_help = "Exit code 0: everything works, perhaps with warnings. 1: something is broken.")]
pub(crate) struct Doctor {}

impl Doctor {
    pub(crate) async fn run(self, place: &Place, json: bool) -> anyhow::Result<ExitCode> {
        let connection = place.connect().await?;
        let outcome = connection.json(Method::GET, "/api/v1/status", None).await;
        connection.close().await;
        let status = outcome?;
        let checks = status["checks"].as_array().map(Vec::as_slice).unwrap_or_default();
        let broken = checks.iter().any(|check| check["state"] == "error");
        if json {
            output::json(&status);
        } else {
            output::line(styled(
                FAINT,
                format!("Toolcrib {}", status["version"].as_str().unwrap_or_default()),
            ));
            for check in checks {
                let text = |field: &str| check[field].as_str().unwrap_or_default();
                let mark = match text("state") {
                    "ok" => styled(GOOD, "✓ ok     "),
                    "warning" => styled(WARN, "! warning"),
                    _ => styled(BAD, "✗ error  "),
                };
                output::line(format!("{mark} {}: {}", styled(STRONG, text("name")), text("detail")));
                if !text("advice").is_empty() {
                    output::line(format!("          → {}", text("advice")));
                }
            }
        }
        Ok(if broken { ExitCode::FAILURE } else { ExitCode::SUCCESS })
    }
}
