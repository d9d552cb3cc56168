//! The store of one folder: `SQLite`, opened by one process at a time.
//!
//! Everything is written by one task on one connection, in the order in which it was asked for; what waits together
//! is committed together, each piece whole or not at all. Readers have their own connections and never wait for it.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use sqlx::SqlitePool;

use crate::record::Recovered;
use crate::store::StoreError;

mod lock;
mod migrate;
mod open;
mod problem;
mod recover;
mod writer;

mod accounts;
mod approvals;
mod conversations;
mod journal;
mod key_memory;
mod keys;
mod labels;
mod runs;

pub use open::OpenError;

/// A store in a folder. Clones share it.
#[derive(Debug, Clone)]
pub struct SqliteStore {
    inner: Arc<Inner>,
}

/// How a store is opened.
#[derive(Debug, Clone)]
pub struct OpenOptions {
    /// The id that a new installation gets; one that exists keeps its own.
    pub installation_id: String,
    /// The time of opening: when a new store was created, and when what a crash had left ended.
    pub now: Timestamp,
    /// What a finished write survives.
    pub durability: Durability,
    /// How long to wait for another program that keeps the database locked.
    pub busy_timeout: Duration,
    /// How many reads may go on at once.
    pub readers: u32,
    /// The largest size of the database in bytes; `None` for as large as the disk.
    pub size_limit: Option<u64>,
}

/// What a finished write survives.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Durability {
    /// A crash of the program, a kill included: the operating system has every finished write. The loss of power may
    /// undo the last moments, but never leaves half of a write (`synchronous = NORMAL`).
    #[default]
    ProcessCrash,
    /// A crash of the program, of the operating system, and the loss of power, on a disk that keeps its promises:
    /// every commit waits until the disk has it (`synchronous = FULL`), which takes milliseconds on most.
    PowerLoss,
}

#[derive(Debug)]
struct Inner {
    readers: SqlitePool,
    writer: writer::Writer,
    keys: key_memory::KeyMemory,
    protected: Arc<labels::ProtectedMemory>,
    recovered: Recovered,
    folder: PathBuf,
}

impl OpenOptions {
    /// The usual options.
    pub fn new(installation_id: impl Into<String>, now: Timestamp) -> Self {
        Self {
            installation_id: installation_id.into(),
            now,
            durability: Durability::default(),
            busy_timeout: Duration::from_secs(5),
            readers: 4,
            size_limit: None,
        }
    }
}

impl SqliteStore {
    /// Opens the store of a folder, creating both when they do not exist. Brings the database to this program's
    /// schema and closes what a crash had left unfinished. Needs a running tokio runtime, on which the writer goes
    /// on until the store is closed or its last clone is dropped.
    pub async fn open(folder: &Path, options: OpenOptions) -> Result<Self, OpenError> {
        let inner = open::open(folder, &options).await?;
        Ok(Self { inner: Arc::new(inner) })
    }

    /// What a crash had left unfinished, closed when the store was opened.
    pub fn recovered(&self) -> Recovered {
        self.inner.recovered
    }

    /// The data folder.
    pub fn folder(&self) -> &Path {
        &self.inner.folder
    }

    /// Says who has the folder open, for a second process that tries to: an address and a process id, say.
    pub fn describe_holder(&self, text: &str) -> Result<(), std::io::Error> {
        lock::describe(&self.inner.folder, text)
    }

    fn readers(&self) -> &SqlitePool {
        &self.inner.readers
    }

    async fn write<W: writer::Write>(&self, write: W) -> Result<W::Output, StoreError> {
        self.inner.writer.write(write).await
    }
}
