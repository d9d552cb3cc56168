//! What is kept in memory about keys: those that were looked up, and when each was last used.
//!
//! A looked-up key is only as good as the database at that moment: every change of a key forgets all of them, and a
//! look-up that began before the change is not kept. This holds because one process at a time has the store open.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use jiff::{SignedDuration, Timestamp};

use crate::record::{ApiKey, KeyHash};

/// How old the written time of last use may become while a key is used.
const WRITE_EVERY: SignedDuration = SignedDuration::from_mins(1);

/// The memory.
#[derive(Debug, Default)]
pub(super) struct KeyMemory {
    state: Mutex<State>,
}

/// The changes that a look-up has seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Generation(u64);

#[derive(Debug, Default)]
struct State {
    generation: u64,
    found: HashMap<KeyHash, ApiKey>,
    used: HashMap<String, LastUse>,
}

#[derive(Debug)]
struct LastUse {
    at: Timestamp,
    written: Option<Timestamp>,
}

impl KeyMemory {
    /// The key of this hash, if it was looked up before.
    pub(super) fn get(&self, hash: &KeyHash) -> Option<ApiKey> {
        self.state().found.get(hash).cloned()
    }

    /// To be asked for before the database is.
    pub(super) fn generation(&self) -> Generation {
        Generation(self.state().generation)
    }

    /// Keeps what the database said, unless a key was changed since `generation`.
    pub(super) fn keep(&self, generation: Generation, hash: KeyHash, key: ApiKey) {
        let mut state = self.state();
        if state.generation == generation.0 {
            state.found.insert(hash, key);
        }
    }

    /// A key was changed.
    pub(super) fn forget(&self) {
        let mut state = self.state();
        state.generation += 1;
        state.found.clear();
    }

    /// Notes a use; `true` when it is time to write it down.
    pub(super) fn touch(&self, key_id: &str, at: Timestamp) -> bool {
        let mut state = self.state();
        let Some(last) = state.used.get_mut(key_id) else {
            state.used.insert(key_id.to_owned(), LastUse { at, written: Some(at) });
            return true;
        };
        last.at = last.at.max(at);
        let is_due = last.written.is_none_or(|written| last.at.duration_since(written) >= WRITE_EVERY);
        if is_due {
            last.written = Some(last.at);
        }
        is_due
    }

    /// The last use could not be written down after all.
    pub(super) fn not_written(&self, key_id: &str) {
        if let Some(last) = self.state().used.get_mut(key_id) {
            last.written = None;
        }
    }

    /// When a key was last used, as far as this process knows.
    pub(super) fn last_use(&self, key_id: &str) -> Option<Timestamp> {
        self.state().used.get(key_id).map(|last| last.at)
    }

    /// Every use that is not written down yet; they count as written now.
    pub(super) fn take_unwritten(&self) -> Vec<(String, Timestamp)> {
        let mut state = self.state();
        let unwritten = state.used.iter_mut().filter(|(_, last)| last.written != Some(last.at));
        unwritten
            .map(|(id, last)| {
                last.written = Some(last.at);
                (id.clone(), last.at)
            })
            .collect()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
