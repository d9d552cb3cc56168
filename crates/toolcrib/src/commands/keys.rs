//! `toolcrib keys`: API keys.

use std::process::ExitCode;

use clap::{Args, Subcommand};
use http::Method;
use serde_json::{Value, json};
use toolcrib_server::client::{ClientError, Connection};

use super::tools::encoded;
use crate::output::{self, FAINT, STRONG, styled};
use crate::place::Place;

/// List, make and revoke API keys.
#[derive(Debug, Args)]
pub(crate) struct Keys {
    #[command(subcommand)]
    command: Option<Which>,
}

#[derive(Debug, Subcommand)]
enum Which {
    /// List the keys (the default)
    List,
    /// Make a key; it is shown this once
    Create {
        /// What the key is for
        name: String,
    },
    /// Revoke a key; it is refused from then on
    Revoke {
        /// The key's id, as `keys list` shows it
        id: String,
    },
}

impl Keys {
    pub(crate) async fn run(self, place: &Place, json: bool) -> anyhow::Result<ExitCode> {
        let connection = place.connect().await?;
        let outcome = self.ask(&connection, json).await;
        connection.close().await;
        outcome?;
        Ok(ExitCode::SUCCESS)
    }

    async fn ask(self, connection: &Connection, json: bool) -> Result<(), ClientError> {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        match self.command.unwrap_or(Which::List) {
            Which::List => {
                let answer = connection.json(Method::GET, "/api/v1/keys", None).await?;
                if json {
                    output::json(&answer);
                    return Ok(());
                }
                for key in answer["keys"].as_array().into_iter().flatten() {
                    let state = if key["revoked_at"].is_null() { "active" } else { "revoked" };
                    let used = key["last_used_at"].as_str().unwrap_or("never used");
                    let (id, prefix) = (text(&key["id"]), text(&key["prefix"]));
                    let rest = styled(FAINT, format!("{prefix}…  {state}  {used}"));
                    output::line(format!("{}  {}  {rest}", styled(STRONG, id), text(&key["name"])));
                }
            }
            Which::Create { name } => {
                let answer =
                    connection.json(Method::POST, "/api/v1/keys", Some(&json!({"name": name}))).await?;
                if json {
                    output::json(&answer);
                } else {
                    output::line(text(&answer["key"]));
                    output::note("This is the only time that the key is shown.");
                }
            }
            Which::Revoke { id } => {
                let path = format!("/api/v1/keys/{}", encoded(&id));
                let answer = connection.json(Method::DELETE, &path, None).await?;
                if json {
                    output::json(&answer);
                } else {
                    output::note(format!("{} is revoked.", text(&answer["name"])));
                }
            }
        }
        Ok(())
    }
}
