//! Where things are: environment, data folder, configuration, and the way to the API.

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use toolcrib_server::assemble::Installation;
use toolcrib_server::client::Connection;
use toolcrib_server::config::Config;
use toolcrib_server::environment::Environment;

use crate::arguments::Common;

/// What the common options and the environment come to.
pub(crate) struct Place {
    pub(crate) environment: Environment,
    pub(crate) data: PathBuf,
    common: Common,
}

impl Place {
    pub(crate) fn new(common: Common) -> anyhow::Result<Self> {
        let environment = environment();
        let data = match &common.data {
            Some(data) => data.clone(),
            None => default_data(&environment)?,
        };
        Ok(Self { environment, data, common })
    }

    /// Reads the configuration.
    pub(crate) fn config(&self) -> anyhow::Result<Config> {
        let named = self.common.config.as_deref();
        let default = self.data.join("toolcrib.toml");
        Ok(Config::load(named.unwrap_or(&default), named.is_some(), &self.environment)?)
    }

    /// The server that is named or runs on the data folder; else the data folder itself.
    pub(crate) async fn connect(&self) -> anyhow::Result<Connection> {
        if let Some(server) = &self.common.server {
            return Ok(Connection::to_server(server, self.environment.get("TOOLCRIB_KEY"))?);
        }
        if let Some(running) = Connection::to_running(&self.data).await {
            return Ok(running);
        }
        let installation = self.assemble(self.config()?).await?;
        Ok(Connection::InProcess(Box::new(installation)))
    }

    /// Opens the installation in the data folder.
    pub(crate) async fn assemble(&self, config: Config) -> anyhow::Result<Installation> {
        Ok(Installation::assemble(config, self.data.clone(), &self.environment).await?)
    }

    /// How a person would type the program's name here.
    pub(crate) fn program(&self) -> &'static str {
        if self.environment.get("CARGO_MANIFEST_DIR").is_some() {
            "cargo run --release --"
        } else {
            "toolcrib"
        }
    }

    /// The path with the home folder written as `~`.
    pub(crate) fn shown(&self, path: &Path) -> String {
        let home = self.environment.get("HOME").map(Path::new);
        match home.and_then(|home| path.strip_prefix(home).ok()) {
            Some(rest) => format!("~/{}", rest.display()),
            None => path.display().to_string(),
        }
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "the program reads the environment once, here, and passes it in"
)]
fn environment() -> Environment {
    std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .collect()
}

fn default_data(environment: &Environment) -> anyhow::Result<PathBuf> {
    if let Some(data) = environment.get("XDG_DATA_HOME") {
        return Ok(Path::new(data).join("toolcrib"));
    }
    let home = environment.get("HOME").or_else(|| environment.get("USERPROFILE"));
    let home = home.context("no home folder is known; name a data folder with --data")?;
    Ok(Path::new(home).join(".local/share/toolcrib"))
}
