//! Who may fetch now: limits per host and for the whole process.
//!
//! Invariant: the place at the host is taken before the place in the process, so that fetches that wait for
//! one slow host do not hold up all others.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// The limits, and what is under way.
pub(super) struct Turns {
    process: Arc<Semaphore>,
    per_host: usize,
    hosts: Mutex<HashMap<String, Weak<Semaphore>>>,
}

/// A place; dropping it lets the next fetch in.
pub(super) struct Turn {
    _host: Option<OwnedSemaphorePermit>,
    _process: Option<OwnedSemaphorePermit>,
}

/// Hosts above which those without a fetch are forgotten.
const TIDY_ABOVE: usize = 256;

impl Turns {
    pub(super) fn new(process: usize, per_host: usize) -> Self {
        Self {
            process: Arc::new(Semaphore::new(process.clamp(1, Semaphore::MAX_PERMITS))),
            per_host: per_host.clamp(1, Semaphore::MAX_PERMITS),
            hosts: Mutex::new(HashMap::new()),
        }
    }

    /// Waits for a place.
    pub(super) async fn take(&self, host: &str) -> Turn {
        // The semaphores are never closed: an error cannot happen, and would mean no limit, not no fetch.
        let host = self.host(host).acquire_owned().await.ok();
        let process = Arc::clone(&self.process).acquire_owned().await.ok();
        Turn { _host: host, _process: process }
    }

    fn host(&self, name: &str) -> Arc<Semaphore> {
        let mut hosts = self.hosts.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(semaphore) = hosts.get(name).and_then(Weak::upgrade) {
            return semaphore;
        }
        if hosts.len() >= TIDY_ABOVE {
            hosts.retain(|_, semaphore| semaphore.strong_count() > 0);
        }
        let semaphore = Arc::new(Semaphore::new(self.per_host));
        hosts.insert(name.to_owned(), Arc::downgrade(&semaphore));
        semaphore
    }
}
