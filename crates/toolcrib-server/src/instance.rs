//! The running server as other programs of the same user find it: `server.json` in the data folder.
//!
//! The file holds a token and is readable by its owner only. It is removed when the server stops; one left behind by
//! a crash names a process that does not answer any more.

use std::fmt;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

const FILE: &str = "server.json";

/// A server that runs, or ran, on a data folder.
#[derive(Clone, Serialize, Deserialize)]
pub struct Instance {
    /// Its process id.
    pub pid: u32,
    /// Where it listens, for example `http://127.0.0.1:8420`.
    pub address: String,
    /// The token for programs of the same user.
    pub token: String,
}

impl fmt::Debug for Instance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { pid, address, token: _ } = self;
        f.debug_struct("Instance").field("pid", pid).field("address", address).finish_non_exhaustive()
    }
}

/// Removes the file when the server ends.
pub(crate) struct Announcement(PathBuf);

impl Instance {
    /// What the data folder says.
    pub fn read(data: &Path) -> Option<Self> {
        let text = std::fs::read_to_string(data.join(FILE)).ok()?;
        serde_json::from_str(&text).ok()
    }

    pub(crate) fn announce(&self, data: &Path) -> std::io::Result<Announcement> {
        let path = data.join(FILE);
        let temporary = data.join(format!("{FILE}.{}", self.pid));
        let mut options = std::fs::OpenOptions::new();
        options.write(true).create(true).truncate(true);
        #[cfg(unix)]
        {
            use std::os::unix::fs::OpenOptionsExt as _;
            options.mode(0o600);
        }
        let mut file = options.open(&temporary)?;
        file.write_all(serde_json::to_string(self)?.as_bytes())?;
        file.sync_all()?;
        std::fs::rename(&temporary, &path)?;
        Ok(Announcement(path))
    }
}

impl Drop for Announcement {
    fn drop(&mut self) {
        if let Err(error) = std::fs::remove_file(&self.0) {
            tracing::warn!(path = %self.0.display(), error = %error, "the server's announcement could not be removed");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_token_is_not_printed() {
        let instance = Instance { pid: 7, address: "http://127.0.0.1:1".into(), token: "canary".into() };
        let printed = format!("{instance:?}");
        assert!(printed.contains("127.0.0.1:1") && !printed.contains("canary"), "{printed}");
    }
}
