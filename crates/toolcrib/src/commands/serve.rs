//! `toolcrib serve`: the server with API and web page.

use std::net::SocketAddr;
use std::process::ExitCode;

use clap::Args;
use serde_json::json;
use tokio_util::sync::CancellationToken;
use toolcrib_server::serve::Server;

use crate::output::{self, FAINT, STRONG, styled};
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
        let mut config = place.config()?;
        if let Some(listen) = self.listen {
            config.server.listen = listen;
        }
        let installation = place.assemble(config).await?;
        let server = match Server::bind(installation, &place.data).await {
            Ok(server) => server,
            Err(error) => return Err(error.into()),
        };
        let first_key = server.installation().first_key().await?;
        if json {
            let address = format!("http://{}", server.address());
            output::line(json!({"event": "ready", "address": address, "first_key": first_key}));
        } else {
            welcome(place, &server, first_key.as_deref()).await;
        }
        let stop = CancellationToken::new();
        tokio::spawn(stop_on_signal(stop.clone(), !json));
        server.run(stop).await;
        Ok(ExitCode::SUCCESS)
    }
}

async fn welcome(place: &Place, server: &Server, first_key: Option<&str>) {
    let address = format!("http://{}", server.address());
    output::line(format!("{} is ready at {}", styled(STRONG, "Toolcrib"), styled(STRONG, &address)));
    output::line(format!("  data       {}", place.shown(&place.data)));
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
            output::line(format!("  provider   {id} (found by {origin})"));
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

/// The first signal ends gracefully, the second at once.
async fn stop_on_signal(stop: CancellationToken, tell: bool) {
    signal().await;
    if tell {
        output::note("Stopping: running answers may end first. Press Ctrl-C again to stop at once.");
    }
    stop.cancel();
    signal().await;
    std::process::exit(130);
}

async fn signal() {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        if let Ok(mut terminate) = signal(SignalKind::terminate()) {
            tokio::select! {
                _ = tokio::signal::ctrl_c() => {}
                _ = terminate.recv() => {}
            }
            return;
        }
    }
    let _ = tokio::signal::ctrl_c().await;
}
