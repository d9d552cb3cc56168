//! What every fetch leaves behind for the operator: one record, whatever happened.
//!
//! Invariant: exactly one record per fetch, also when its future is dropped half way; no query strings.

use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use crate::error::{FetchError, SafeUrl};
use crate::policy::Zone;

/// Where audit records go.
pub trait AuditSink: Send + Sync + 'static {
    /// Takes one record. Must not block.
    fn record(&self, record: &AuditRecord);
}

/// One fetch, decided and done.
#[derive(Debug, Clone)]
pub struct AuditRecord {
    /// The policy's name.
    pub policy: &'static str,
    /// What was asked for, without query and user information.
    pub url: SafeUrl,
    /// The hops, in order; the first one is the asked URL itself.
    pub hops: Vec<AuditHop>,
    /// How it ended: `fetched`, `partial`, `dropped`, or the kind of the error.
    pub outcome: &'static str,
    /// The full reason of a failure, for operators only: it may hold addresses.
    pub rule: Option<String>,
    /// Bytes of the body after decoding.
    pub bytes: u64,
    /// How long it took.
    pub elapsed: Duration,
    /// What the caller wants to find again: user, conversation, tool.
    pub context: Vec<(String, String)>,
}

/// One hop of a fetch.
#[derive(Debug, Clone)]
pub struct AuditHop {
    /// The URL without query and user information.
    pub url: SafeUrl,
    /// All addresses of the look-up, or the literal.
    pub addresses: Vec<IpAddr>,
    /// The zone, once the addresses were admitted.
    pub zone: Option<Zone>,
    /// The connection's peer.
    pub peer: Option<SocketAddr>,
    /// The status of the answer.
    pub status: Option<u16>,
}

/// Writes each record as one `tracing` event with the target `toolcrib::audit`.
#[derive(Debug, Clone, Copy, Default)]
pub struct TracingAudit;

impl AuditSink for TracingAudit {
    fn record(&self, record: &AuditRecord) {
        let last = record.hops.last();
        tracing::info!(
            target: "toolcrib::audit",
            policy = record.policy,
            url = %record.url,
            outcome = record.outcome,
            rule = record.rule.as_deref().unwrap_or_default(),
            addresses = %List(last.map_or(&[], |hop| &hop.addresses)),
            peer = last.and_then(|hop| hop.peer).map(tracing::field::display),
            hops = %List(&record.hops),
            bytes = record.bytes,
            milliseconds = u64::try_from(record.elapsed.as_millis()).unwrap_or(u64::MAX),
            context = %Context(&record.context),
            "fetch"
        );
    }
}

impl fmt::Display for AuditHop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.url)?;
        match self.status {
            Some(status) => write!(f, " [{status}]"),
            None => Ok(()),
        }
    }
}

/// Most items of a list that one line shows.
const SHOWN: usize = 16;

struct List<'a, T>(&'a [T]);

impl<T: fmt::Display> fmt::Display for List<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (position, item) in self.0.iter().take(SHOWN).enumerate() {
            write!(f, "{}{item}", if position == 0 { "" } else { ", " })?;
        }
        if self.0.len() > SHOWN {
            write!(f, ", and {} more", self.0.len() - SHOWN)?;
        }
        Ok(())
    }
}

struct Context<'a>(&'a [(String, String)]);

impl fmt::Display for Context<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (position, (name, value)) in self.0.iter().enumerate() {
            write!(f, "{}{name}={value:?}", if position == 0 { "" } else { " " })?;
        }
        Ok(())
    }
}

/// A record in the making. It is written when the entry ends, however that happens.
pub(crate) struct AuditEntry {
    sink: Arc<dyn AuditSink>,
    started: Instant,
    record: AuditRecord,
}

impl AuditEntry {
    pub(crate) fn new(
        sink: Arc<dyn AuditSink>,
        policy: &'static str,
        url: SafeUrl,
        context: Vec<(String, String)>,
    ) -> Self {
        let record = AuditRecord {
            policy,
            url,
            hops: Vec::new(),
            outcome: "dropped",
            rule: None,
            bytes: 0,
            elapsed: Duration::ZERO,
            context,
        };
        Self { sink, started: Instant::now(), record }
    }

    /// Begins the next hop.
    pub(crate) fn hop(&mut self, url: SafeUrl) {
        self.record.hops.push(AuditHop { url, addresses: Vec::new(), zone: None, peer: None, status: None });
    }

    /// The hop that is under way.
    pub(crate) fn current(&mut self, note: impl FnOnce(&mut AuditHop)) {
        if let Some(hop) = self.record.hops.last_mut() {
            note(hop);
        }
    }

    /// How many redirects were followed so far.
    pub(crate) fn redirects(&self) -> usize {
        self.record.hops.len().saturating_sub(1)
    }

    pub(crate) fn failed(&mut self, error: &FetchError) {
        self.record.outcome = error.kind();
        self.record.rule = Some(error.to_string());
    }

    pub(crate) fn fetched(&mut self, complete: bool, bytes: usize) {
        self.record.outcome = if complete { "fetched" } else { "partial" };
        self.record.bytes = u64::try_from(bytes).unwrap_or(u64::MAX);
    }
}

impl Drop for AuditEntry {
    fn drop(&mut self) {
        self.record.elapsed = self.started.elapsed();
        self.sink.record(&self.record);
    }
}
