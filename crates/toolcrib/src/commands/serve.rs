//! `toolcrib serve`: the server with API and web page.

use std::net::SocketAddr;
use std::path::Path;
use std::pin::pin;
use std::process::ExitCode;

use clap::Args;
use serde_json::json;
use tokio_util::sync::CancellationToken;
use toolcrib_server::serve::Server;

use crate::interrupt::{INTERRUPTED, Interrupts};
use crate::output::{self, FAINT, STRONG, clean, styled};
use crate::place::Place;

/// Start the server.
#[derive(Debug, Default, Args)]
pub(crate) struct Serve {
    /// Address and port; port 0 takes any free one [default: 127.0.0.1:8420]
    #[arg(long, value_name = "ADDRESS:PORT")]
    listen: Option<SocketAddr>,
}

impl Serve {
    pub(crate) async fn run(self, place: &Place, json: bool) -> anyhow::Result<ExitCode> {
        let mut interrupts = Interrupts::listen()?;
        let stop = CancellationToken::new();
        let mut serving = pin!(self.serve(place, json, stop.clone()));
        // The first signal ends gracefully, the second at once.
        tokio::select! {
            outcome = &mut serving => return outcome,
            () = interrupts.next() => stop.cancel(),
        }
        if !json {
            output::note("Stopping: running answers may end first. Press Ctrl-C again to stop at once.");
        }
        tokio::select! {
            outcome = serving => outcome,
            () = interrupts.next() => Ok(ExitCode::from(INTERRUPTED)),
        }
    }

    async fn serve(self, place: &Place, json: bool, stop: CancellationToken) -> anyhow::Result<ExitCode> {
        let mut config = place.config()?;
        if let Some(listen) = self.listen {
            config.server.listen = listen;
        }
        let installation = tokio::select! {
            installation = place.assemble(config) => installation?,
            () = stop.cancelled() => return Ok(ExitCode::SUCCESS),
        };
        let data = place.data()?;
        let server = Server::bind(installation, &data).await?;
        let first_key = server.installation().first_key().await?;
        if json {
            let address = format!("http://{}", server.address());
            output::line(json!({"event": "ready", "address": address, "first_key": first_key}));
        } else {
            welcome(place, &data, &server, first_key.as_deref()).await;
        }
        server.run(stop).await;
        Ok(ExitCode::SUCCESS)
    }
}

async fn welcome(place: &Place, data: &Path, server: &Server, first_key: Option<&str>) {
    let address = format!("http://{}", server.address());
    output::line(format!("{} is ready at {}", styled(STRONG, "Toolcrib"), styled(STRONG, &address)));
    output::line(format!("  data       {}", clean(&place.shown(data))));
    let providers = server.installation().providers().await;
    if server.installation().only_demo() {
        output::line(
            "  model      toolcrib/demo: no provider was found, so a built-in demo answers. It is a small",
        );
        output::line("             rule-based program, not a language model; the tools it uses are real.");
        output::line(
            "             Set OPENAI_API_KEY, ANTHROPIC_API_KEY or OLLAMA_HOST, or start llama.cpp or Ollama.",
        );
    } else {
        for (id, origin) in providers {
            output::line(format!("  provider   {} (found by {})", clean(&id), clean(&origin)));
        }
    }
    let key = match first_key {
        Some(key) => {
            output::line(format!(
                "  first key  {} {}",
                styled(STRONG, key),
                styled(FAINT, "(shown this once; keep it)")
            ));
            key
        }
        None => "$TOOLCRIB_KEY",
    };
    let program = place.program();
    output::line("\nThree things to try:");
    output::line(format!("  open {address} in a browser"));
    output::line(format!("  {program} ask \"What time is it in Tokyo?\""));
    output::line(format!(
        "  curl {address}/v1/chat/completions -H 'Authorization: Bearer {key}' -H 'Content-Type: application/json' \\"
    ));
    output::line(
        "    -d '{\"model\": \"default\", \"messages\": [{\"role\": \"user\", \"content\": \"Read https://example.com\"}]}'",
    );
    output::line(styled(FAINT, "\nStop with Ctrl-C."));
}
