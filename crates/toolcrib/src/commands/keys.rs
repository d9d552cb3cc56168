//! `toolcrib keys`: API keys.

use std::process::ExitCode;

use anstyle::Style;
use clap::{Args, Subcommand};
use http::Method;
use jiff::Timestamp;
use serde_json::{Value, json};
use toolcrib_server::client::{ClientError, Connection};

use super::encoded;
use crate::interrupt::with_connection;
use crate::output::{self, FAINT, STRONG, column, styled, text_of};
use crate::place::Place;

#[cfg(test)]
mod tests;

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
        with_connection(place, async |connection| {
            match self.command.unwrap_or(Which::List) {
                Which::List => list(connection, json).await?,
                Which::Create { name } => create(connection, &name, json).await?,
                Which::Revoke { id } => revoke(connection, &id, json).await?,
            }
            Ok(ExitCode::SUCCESS)
        })
        .await
    }
}

async fn list(connection: &Connection, json: bool) -> Result<(), ClientError> {
    let answer = connection.json(Method::GET, "/api/v1/keys", None).await?;
    if json {
        output::json(&answer);
        return Ok(());
    }
    let keys = answer["keys"].as_array().map(Vec::as_slice).unwrap_or_default();
    if keys.is_empty() {
        output::note("There are no keys yet; `toolcrib keys create NAME` makes one.");
    }
    let longest = keys.iter().map(|key| text_of(&key["name"]).chars().count()).max().unwrap_or_default();
    let now = now();
    for key in keys {
        let (id, prefix) = (styled(STRONG, text_of(&key["id"])), text_of(&key["prefix"]));
        let name = column(Style::new(), &text_of(&key["name"]), longest);
        let used = match text_of(&key["last_used_at"]) {
            never if never.is_empty() => "never used".to_owned(),
            at => format!("last used {at}"),
        };
        let rest = styled(FAINT, format!("{prefix}…  {:<7}  {used}", state(key, now)));
        output::line(format!("{id}  {name}  {rest}"));
    }
    Ok(())
}

async fn create(connection: &Connection, name: &str, json: bool) -> Result<(), ClientError> {
    let answer = connection.json(Method::POST, "/api/v1/keys", Some(&json!({"name": name}))).await?;
    if json {
        output::json(&answer);
    } else {
        output::line(text_of(&answer["key"]));
        output::note("This is the only time that the key is shown.");
    }
    Ok(())
}

async fn revoke(connection: &Connection, id: &str, json: bool) -> Result<(), ClientError> {
    let path = format!("/api/v1/keys/{}", encoded(id));
    let answer = connection.json(Method::DELETE, &path, None).await?;
    if json {
        output::json(&answer);
    } else {
        output::note(format!("{} is revoked.", text_of(&answer["name"])));
    }
    Ok(())
}

/// Whether a key is accepted, and if not why.
fn state(key: &Value, now: Timestamp) -> &'static str {
    let expired = |at: &str| at.parse::<Timestamp>().is_ok_and(|at| at <= now);
    if !key["revoked_at"].is_null() {
        "revoked"
    } else if key["expires_at"].as_str().is_some_and(expired) {
        "expired"
    } else {
        "active"
    }
}

#[expect(clippy::disallowed_methods, reason = "the program itself looks at the clock, once for a list")]
fn now() -> Timestamp {
    Timestamp::now()
}
