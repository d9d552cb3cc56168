//! From a target to a connection: resolve once, judge all, connect to what was judged.
//!
//! Invariant: sockets are opened for [`JudgedAddress`] values only, and TLS starts only after the peer was
//! confirmed.

use std::collections::VecDeque;
use std::net::IpAddr;

use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use tokio::time::{Instant, sleep, timeout_at};
use tokio_rustls::TlsConnector;

use super::Hop;
use crate::audit::AuditEntry;
use crate::connector::{Connection, Stream};
use crate::error::{FetchError, Phase, ResolveError, SafeUrl};
use crate::limits::{CONNECT_ATTEMPTS, NEXT_ADDRESS_AFTER};
use crate::policy::{Admitted, JudgedAddress, Zone, admit, confirm_peer};
use crate::target::{Target, TargetHost};
use crate::tls::server_name;

impl Hop<'_> {
    /// Resolves the target once and judges every address.
    pub(super) async fn admit(
        &self,
        target: &Target,
        zone: Option<Zone>,
        entry: &mut AuditEntry,
    ) -> Result<Admitted, FetchError> {
        let url = || SafeUrl::new(target.url());
        let answers = match target.host() {
            TargetHost::Address(address) => vec![*address],
            TargetHost::Name(name) => self.resolve(target, name).await?,
        };
        entry.current(|hop| hop.addresses.clone_from(&answers));
        let admitted =
            admit(target, &answers, self.own).map_err(|rule| FetchError::Refused { url: url(), rule })?;
        entry.current(|hop| hop.zone = Some(admitted.zone));
        if let Some(from) = zone
            && from != admitted.zone
        {
            let rule = crate::policy::Rule::ZoneChange { from, to: admitted.zone };
            return Err(FetchError::Refused { url: url(), rule });
        }
        Ok(admitted)
    }

    async fn resolve(&self, target: &Target, name: &str) -> Result<Vec<IpAddr>, FetchError> {
        let until = self.deadline.min(Instant::now() + self.shared.budgets.dns);
        let absolute = format!("{name}.");
        let url = SafeUrl::new(target.url());
        match timeout_at(until, self.shared.connector.resolve(&absolute)).await {
            Err(_) => Err(FetchError::Timeout { url, phase: Phase::Resolving }),
            Ok(Err(source)) => Err(FetchError::Dns { url, source }),
            Ok(Ok(answers)) if answers.is_empty() => {
                Err(FetchError::Dns { url, source: ResolveError::NoAddress })
            }
            Ok(Ok(answers)) => Ok(answers),
        }
    }

    /// Connects to one of the admitted addresses, with TLS where the target wants it.
    pub(super) async fn connect(
        &self,
        target: &Target,
        admitted: &Admitted,
        entry: &mut AuditEntry,
    ) -> Result<Box<dyn Stream>, FetchError> {
        let until = self.deadline.min(Instant::now() + self.shared.budgets.connect);
        let url = || SafeUrl::new(target.url());
        let late = |_| FetchError::Timeout { url: url(), phase: Phase::Connecting };
        let connected = timeout_at(until, self.any_of(&admitted.addresses)).await.map_err(late)?;
        let (judged, connection) = connected.map_err(|detail| FetchError::Connect { url: url(), detail })?;
        entry.current(|hop| hop.peer = Some(connection.peer));
        confirm_peer(target, judged, connection.peer, self.own)
            .map_err(|rule| FetchError::Refused { url: url(), rule })?;
        if !target.is_secure() {
            return Ok(connection.stream);
        }
        let name = server_name(target.host()).ok_or_else(|| FetchError::Tls {
            url: url(),
            detail: "the host cannot be named in a certificate".to_owned(),
        })?;
        let connector = TlsConnector::from(std::sync::Arc::clone(&self.shared.tls));
        match timeout_at(until, connector.connect(name, connection.stream)).await.map_err(late)? {
            Ok(stream) => Ok(Box::new(stream)),
            Err(error) => Err(FetchError::Tls { url: url(), detail: error.to_string() }),
        }
    }

    /// Tries the addresses one after another, the next one as soon as one fails or stays silent.
    async fn any_of(&self, addresses: &[JudgedAddress]) -> Result<(JudgedAddress, Connection), String> {
        let mut waiting: VecDeque<JudgedAddress> =
            in_turns(addresses).into_iter().take(CONNECT_ATTEMPTS).collect();
        let mut attempts = FuturesUnordered::new();
        let mut failure = "there is no address".to_owned();
        loop {
            if let Some(judged) = waiting.pop_front() {
                attempts.push(async move { (judged, self.shared.connector.connect(judged).await) });
            } else if attempts.is_empty() {
                return Err(failure);
            }
            tokio::select! {
                biased;
                Some((judged, result)) = attempts.next() => match result {
                    Ok(connection) => return Ok((judged, connection)),
                    Err(error) => failure = format!("{}: {error}", judged.socket_address()),
                },
                () = sleep(NEXT_ADDRESS_AFTER), if !waiting.is_empty() => {}
                else => return Err(failure),
            }
        }
    }
}

/// IPv4 and IPv6 in turns, so that a machine without one of them finds the other soon.
fn in_turns(addresses: &[JudgedAddress]) -> Vec<JudgedAddress> {
    let (v4, v6): (Vec<_>, Vec<_>) =
        addresses.iter().copied().partition(|address| address.socket_address().is_ipv4());
    let mut ordered = Vec::with_capacity(addresses.len());
    let (mut v4, mut v6) = (v4.into_iter(), v6.into_iter());
    loop {
        let pair = (v4.next(), v6.next());
        ordered.extend(pair.0);
        ordered.extend(pair.1);
        if pair == (None, None) {
            return ordered;
        }
    }
}
