//! `[server]`: how the server listens and protects itself.

use std::net::SocketAddr;
use std::time::Duration;

use serde::Deserialize;

use super::ConfigError;

/// How the server listens and protects itself.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ServerSection {
    /// Address and port; port 0 takes any free one.
    pub listen: SocketAddr,
    /// The largest request body in bytes.
    pub max_body_bytes: usize,
    /// The longest that a request body may take to arrive, in seconds.
    pub body_seconds: u64,
    /// Connections that may be open at once.
    pub max_connections: usize,
    /// Runs that one user may have going on at once.
    pub max_runs_per_user: usize,
    /// How long running answers may go on after a request to stop, in seconds.
    pub grace_seconds: u64,
    /// Host names under which the server may be addressed, beside loopback ones.
    pub hosts: Vec<String>,
}

impl Default for ServerSection {
    fn default() -> Self {
        Self {
            listen: SocketAddr::from(([127, 0, 0, 1], 8420)),
            max_body_bytes: 32 * 1024 * 1024,
            body_seconds: 30,
            max_connections: 4_096,
            max_runs_per_user: 2_500,
            grace_seconds: 10,
            hosts: Vec::new(),
        }
    }
}

impl ServerSection {
    /// The longest that a request body may take to arrive.
    pub fn body_time(&self) -> Duration {
        Duration::from_secs(self.body_seconds)
    }

    /// How long running answers may go on after a request to stop.
    pub fn grace(&self) -> Duration {
        Duration::from_secs(self.grace_seconds)
    }

    pub(super) fn validate(&self) -> Result<(), ConfigError> {
        let zero = [
            ("max_body_bytes", self.max_body_bytes == 0),
            ("max_connections", self.max_connections == 0),
            ("max_runs_per_user", self.max_runs_per_user == 0),
            ("body_seconds", self.body_seconds == 0),
        ];
        let zero = zero.iter().find(|(_, zero)| *zero).map(|(name, _)| format!("server.{name}"));
        zero.map_or(Ok(()), |place| Err(ConfigError::zero(place)))
    }
}
