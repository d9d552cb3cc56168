//! The one writer: a task that owns the only connection that writes.
//!
//! Writes are done in the order in which they were asked for. Those that wait together share one transaction, and so
//! one wait for the disk; when one of them fails, the transaction is undone and each is tried alone, so that a write
//! never fails for the sake of another. Nobody is answered before the commit.

use std::sync::Arc;

use async_trait::async_trait;
use sqlx::{Connection, SqliteConnection};
use tokio::sync::{mpsc, oneshot};

use super::lock::FolderLock;
use super::problem::Failure;
use crate::store::{StoreError, StoreProblem};

/// The most writes of one transaction: the first of them waits for the last.
const BATCH: usize = 64;

/// Writes that may wait; whoever comes then waits to be let in.
const QUEUE: usize = 1024;

/// Something to be written. It may be applied more than once, but is committed once at most.
#[async_trait]
pub(super) trait Write: Send + Sync + 'static {
    /// What the caller gets.
    type Output: Send + 'static;

    /// What is attempted, for errors: `storing a conversation`.
    const ATTEMPT: &'static str;

    /// Does it, within a transaction.
    async fn apply(&self, connection: &mut SqliteConnection) -> Result<Self::Output, Failure>;
}

/// The way to the writer.
#[derive(Debug)]
pub(super) struct Writer {
    requests: mpsc::Sender<Request>,
}

enum Request {
    Write(Box<dyn Queued>),
    Close(oneshot::Sender<()>),
}

impl Writer {
    /// Starts the writer, which holds the folder's lock as long as it has its connection.
    pub(super) fn start(connection: SqliteConnection, lock: FolderLock) -> Self {
        let (requests, queue) = mpsc::channel(QUEUE);
        tokio::spawn(serve(connection, Arc::new(lock), queue));
        Self { requests }
    }

    /// Writes, and returns when it is durable.
    pub(super) async fn write<W: Write>(&self, write: W) -> Result<W::Output, StoreError> {
        let closed = || StoreError { attempt: W::ATTEMPT, problem: StoreProblem::Closed };
        let (reply, answer) = oneshot::channel();
        let job = Box::new(Job { write, output: None, reply });
        self.requests.send(Request::Write(job)).await.map_err(|_| closed())?;
        answer.await.unwrap_or_else(|_| Err(closed()))
    }

    /// Has something written when there is time; `false` when the queue is full or the writer has ended.
    pub(super) fn post<W: Write>(&self, write: W) -> bool {
        let (reply, _) = oneshot::channel();
        self.requests.try_send(Request::Write(Box::new(Job { write, output: None, reply }))).is_ok()
    }

    /// Writes what waits, and ends. Returns when the folder's lock is released.
    pub(super) async fn close(&self) {
        let (reply, closed) = oneshot::channel();
        if self.requests.send(Request::Close(reply)).await.is_ok() {
            // An error means that another call has closed it first.
            let _ = closed.await;
        }
    }
}

/// A write with its outcome and whoever waits for it.
struct Job<W: Write> {
    write: W,
    output: Option<W::Output>,
    reply: oneshot::Sender<Result<W::Output, StoreError>>,
}

#[async_trait]
trait Queued: Send {
    async fn apply(&mut self, connection: &mut SqliteConnection) -> Result<(), Failure>;

    fn answer(self: Box<Self>, outcome: Result<(), Failure>);
}

#[async_trait]
impl<W: Write> Queued for Job<W> {
    async fn apply(&mut self, connection: &mut SqliteConnection) -> Result<(), Failure> {
        self.output = Some(self.write.apply(connection).await?);
        Ok(())
    }

    fn answer(self: Box<Self>, outcome: Result<(), Failure>) {
        let missing = || Failure(StoreProblem::Backend { cause: "the write was not done".to_owned() });
        let Self { output, reply, .. } = *self;
        let result = outcome.and_then(|()| output.ok_or_else(missing));
        // Whoever asked may have stopped waiting.
        let _ = reply.send(result.map_err(|failure| failure.during(W::ATTEMPT)));
    }
}

async fn serve(mut connection: SqliteConnection, lock: Arc<FolderLock>, mut queue: mpsc::Receiver<Request>) {
    let mut waiting = Vec::with_capacity(BATCH);
    let mut closer = None;
    while closer.is_none() && queue.recv_many(&mut waiting, BATCH).await > 0 {
        let mut batch = Vec::with_capacity(waiting.len());
        for request in waiting.drain(..) {
            match request {
                Request::Write(job) => batch.push(job),
                Request::Close(reply) => closer = Some(reply),
            }
        }
        commit_batch(&mut connection, batch).await;
    }
    if let Err(error) = connection.close().await {
        tracing::warn!(%error, "closing the database");
    }
    drop(lock);
    if let Some(reply) = closer {
        let _ = reply.send(());
    }
}

async fn commit_batch(connection: &mut SqliteConnection, mut batch: Vec<Box<dyn Queued>>) {
    if batch.len() > 1 && commit(connection, &mut batch).await.is_ok() {
        for job in batch {
            job.answer(Ok(()));
        }
        return;
    }
    for mut job in batch {
        let outcome = commit(connection, std::slice::from_mut(&mut job)).await;
        job.answer(outcome);
    }
}

async fn commit(connection: &mut SqliteConnection, batch: &mut [Box<dyn Queued>]) -> Result<(), Failure> {
    let outcome = transact(connection, batch).await;
    if outcome.is_err() {
        // SQLite may have undone the transaction by itself; then there is none, and that is well.
        let _ = sqlx::query("ROLLBACK").execute(&mut *connection).await;
    }
    outcome
}

async fn transact(connection: &mut SqliteConnection, batch: &mut [Box<dyn Queued>]) -> Result<(), Failure> {
    sqlx::query("BEGIN IMMEDIATE").execute(&mut *connection).await?;
    for job in batch {
        job.apply(connection).await?;
    }
    sqlx::query("COMMIT").execute(connection).await?;
    Ok(())
}
