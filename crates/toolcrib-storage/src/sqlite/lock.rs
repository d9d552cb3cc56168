//! One process at a time: the lock on a data folder.
//!
//! The operating system releases the lock with the process, so that a crash never leaves a folder locked. Who holds
//! it stands in a file of its own: some systems forbid to read a locked one.

use std::fs::{File, TryLockError};
use std::io;
use std::path::Path;

const LOCK_FILE: &str = "toolcrib.lock";
const HOLDER_FILE: &str = "toolcrib.holder";

/// The most that is read of a holder's description, in characters.
const HOLDER_CHARACTERS: usize = 300;

/// The lock, held while this exists.
#[derive(Debug)]
pub(super) struct FolderLock {
    _file: File,
}

/// Why the lock cannot be had.
#[derive(Debug)]
pub(super) enum LockFailure {
    /// Another process has it, and may have said who it is.
    Held(Option<String>),
    /// The lock file cannot be opened.
    File(io::Error),
    /// The file system has no locks.
    Unsupported(io::Error),
}

impl FolderLock {
    /// Takes the lock on `folder`, or says who has it.
    pub(super) fn take(folder: &Path) -> Result<Self, LockFailure> {
        let file = File::options()
            .create(true)
            .truncate(false)
            .read(true)
            .write(true)
            .open(folder.join(LOCK_FILE))
            .map_err(LockFailure::File)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(LockFailure::Held(holder(folder))),
            Err(TryLockError::Error(error)) => return Err(LockFailure::Unsupported(error)),
        }
        // The description is of an earlier holder.
        describe(folder, "").map_err(LockFailure::File)?;
        Ok(Self { _file: file })
    }
}

/// Writes down who holds the lock.
pub(super) fn describe(folder: &Path, text: &str) -> io::Result<()> {
    std::fs::write(folder.join(HOLDER_FILE), text)
}

fn holder(folder: &Path) -> Option<String> {
    let text = std::fs::read_to_string(folder.join(HOLDER_FILE)).ok()?;
    let text: String = text.trim().chars().take(HOLDER_CHARACTERS).collect();
    (!text.is_empty()).then_some(text)
}
