//! Where things are: environment, data folder, configuration, and the way to the API.
//!
//! Each is looked for when a command needs it, so that a command that needs none works anywhere.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Context as _;
use tokio::time::Instant;
use toolcrib_server::assemble::{AssembleError, Installation};
use toolcrib_server::client::Connection;
use toolcrib_server::config::Config;
use toolcrib_server::environment::Environment;

use crate::arguments::Common;

/// How long a command waits for another one that has the data folder open: most are done in a moment.
const IN_USE_TIME: Duration = Duration::from_secs(3);
/// The pause between two attempts to open the data folder.
const IN_USE_PAUSE: Duration = Duration::from_millis(100);

/// What the common options and the environment come to.
pub(crate) struct Place {
    pub(crate) environment: Environment,
    common: Common,
}

impl Place {
    pub(crate) fn new(common: Common) -> Self {
        Self { environment: environment(), common }
    }

    /// The data folder; it need not exist.
    pub(crate) fn data(&self) -> anyhow::Result<PathBuf> {
        match &self.common.data {
            Some(data) => Ok(data.clone()),
            None => default_data(&self.environment),
        }
    }

    /// Reads the configuration.
    pub(crate) fn config(&self) -> anyhow::Result<Config> {
        match &self.common.config {
            Some(named) => Ok(Config::load(named, true, &self.environment)?),
            None => Ok(Config::load(&self.data()?.join("toolcrib.toml"), false, &self.environment)?),
        }
    }

    /// The server that is named or runs on the data folder; else the data folder itself.
    pub(crate) async fn connect(&self) -> anyhow::Result<Connection> {
        if let Some(server) = &self.common.server {
            return Ok(Connection::to_server(server, self.environment.get("TOOLCRIB_KEY"))?);
        }
        if let Some(running) = Connection::to_running(&self.data()?).await {
            return Ok(running);
        }
        match self.assemble(self.config()?).await {
            // A server may have started meanwhile.
            Err(error) if in_use(&error) => Connection::to_running(&self.data()?).await.ok_or(error),
            installation => Ok(Connection::InProcess(Box::new(installation?))),
        }
    }

    /// The component that runs happen in. Only programs of the same user act as the command line; whoever comes with
    /// an API key is a client like any other.
    pub(crate) fn component(&self) -> &'static str {
        if self.common.server.is_some() { "api" } else { "cli" }
    }

    /// Opens the installation in the data folder. When another command has it open, waits a little for its end; a
    /// server does not end by itself and is not waited for.
    pub(crate) async fn assemble(&self, config: Config) -> anyhow::Result<Installation> {
        let data = self.data()?;
        let until = Instant::now() + IN_USE_TIME;
        loop {
            let opened = Installation::assemble(config.clone(), data.clone(), &self.environment).await;
            let error = match opened {
                Ok(installation) => return Ok(installation),
                Err(error) => error.into(),
            };
            let wait = in_use(&error) && Instant::now() < until;
            if !wait || Connection::to_running(&data).await.is_some() {
                return Err(error);
            }
            tokio::time::sleep(IN_USE_PAUSE).await;
        }
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
        match home(&self.environment).and_then(|home| path.strip_prefix(home).ok()) {
            Some(rest) => format!("~/{}", rest.display()),
            None => path.display().to_string(),
        }
    }
}

/// Whether another process has the data folder open.
fn in_use(error: &anyhow::Error) -> bool {
    error.downcast_ref().is_some_and(AssembleError::is_in_use)
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

/// `toolcrib` in the user's data folder. A relative path there is none (XDG Base Directory Specification 0.8).
fn default_data(environment: &Environment) -> anyhow::Result<PathBuf> {
    let named = environment.get("XDG_DATA_HOME").map(Path::new);
    if let Some(data) = named.filter(|data| data.is_absolute()) {
        return Ok(data.join("toolcrib"));
    }
    let home = home(environment).context("no home folder is known; name a data folder with --data")?;
    Ok(home.join(".local/share/toolcrib"))
}

fn home(environment: &Environment) -> Option<&Path> {
    let names = ["HOME", "USERPROFILE"].into_iter();
    let mut homes = names.filter_map(|name| environment.get(name).filter(|home| !home.is_empty()));
    homes.next().map(Path::new)
}
