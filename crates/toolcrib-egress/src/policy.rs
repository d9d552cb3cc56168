//! The policies for model-chosen URLs, and the administrator's list of private hosts.
//!
//! Invariant: one bad address refuses the whole name. A [`JudgedAddress`] can be made in this module only,
//! after all addresses of a look-up passed, and it is the only thing that can be connected to.

use std::collections::HashSet;
use std::fmt;
use std::net::{IpAddr, SocketAddr};

use crate::address::{AddressKind, ForbiddenRange, kind_of};
use crate::target::Target;

mod hosts;

pub use hosts::{HostList, HostListProblem, HostProblem};

/// What a model-chosen URL may reach.
#[derive(Debug, Clone)]
pub enum Policy {
    /// Public addresses only.
    Public,
    /// Public addresses, and private ones of the hosts that an administrator listed.
    ///
    /// The caller decides who may have this policy; without that right it passes [`Policy::Public`].
    PublicAndHosts(HostList),
}

impl Policy {
    /// The list of private hosts, if the policy has one.
    pub(crate) fn hosts(&self) -> Option<&HostList> {
        match self {
            Self::Public => None,
            Self::PublicAndHosts(hosts) => Some(hosts),
        }
    }

    /// The policy's name in the audit log.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Public => "public",
            Self::PublicAndHosts(_) => "public-and-hosts",
        }
    }
}

/// Where a page came from. A redirect may not change it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Zone {
    /// A public address.
    Public,
    /// A private address of a listed host.
    Private,
}

impl fmt::Display for Zone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Public => "public",
            Self::Private => "private",
        })
    }
}

/// An address and port that passed the policy: the only thing a [`crate::Connector`] connects to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JudgedAddress(SocketAddr);

impl JudgedAddress {
    /// The address to connect to.
    #[must_use]
    pub fn socket_address(&self) -> SocketAddr {
        self.0
    }
}

/// The rule that refused a target. For the operator's log, never for a model.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Rule {
    /// The name has one label only.
    #[error("the name has a single label")]
    SingleLabelName,
    /// The name lies under a special-use or private suffix.
    #[error("the name is under a special-use suffix")]
    SpecialUseName,
    /// A listed host turned out to be public, and its port is none of the public web's.
    #[error("the public address may not be reached on port {0}")]
    PublicPort(u16),
    /// The look-up held a private address, and the host is not listed.
    #[error("{0} is private and the host is not listed")]
    PrivateAddress(IpAddr),
    /// The look-up held an address that is never reachable.
    #[error("{0} is {1}")]
    ForbiddenAddress(IpAddr, ForbiddenRange),
    /// The look-up held an address of this machine.
    #[error("{0} is an address of this machine")]
    OwnAddress(IpAddr),
    /// The look-up of a listed host held both public and private addresses.
    #[error("the name has both public and private addresses")]
    MixedZones,
    /// A redirect left the zone in which the chain began.
    #[error("a redirect leads from the {from} to the {to} zone")]
    ZoneChange {
        /// The zone of the chain so far.
        from: Zone,
        /// The zone of the redirect's target.
        to: Zone,
    },
    /// The connection ended somewhere else than at the judged address.
    #[error("connected to {judged} but the peer is {peer}")]
    PeerChanged {
        /// What was to be connected.
        judged: SocketAddr,
        /// What the connection reports.
        peer: SocketAddr,
    },
}

/// The judged addresses of one hop, all of one zone.
#[derive(Debug, Clone)]
pub(crate) struct Admitted {
    pub(crate) zone: Zone,
    pub(crate) addresses: Vec<JudgedAddress>,
}

/// Judges every address of one look-up.
pub(crate) fn admit(target: &Target, answers: &[IpAddr], own: &HashSet<IpAddr>) -> Result<Admitted, Rule> {
    let mut zone = None;
    let mut addresses = Vec::with_capacity(answers.len());
    for &address in answers {
        let found = judge(target, address, own)?;
        if *zone.get_or_insert(found) != found {
            return Err(Rule::MixedZones);
        }
        let judged = JudgedAddress(SocketAddr::new(address, target.port()));
        if !addresses.contains(&judged) {
            addresses.push(judged);
        }
    }
    let zone = zone.unwrap_or(Zone::Public);
    if zone == Zone::Public {
        target.public_as_written()?;
    }
    Ok(Admitted { zone, addresses })
}

/// Judges the peer of an established connection: it must be the judged address, in canonical form.
pub(crate) fn confirm_peer(
    target: &Target,
    judged: JudgedAddress,
    peer: SocketAddr,
    own: &HashSet<IpAddr>,
) -> Result<(), Rule> {
    let canonical = SocketAddr::new(peer.ip().to_canonical(), peer.port());
    if canonical != judged.0 {
        return Err(Rule::PeerChanged { judged: judged.0, peer: canonical });
    }
    judge(target, canonical.ip(), own).map(drop)
}

fn judge(target: &Target, address: IpAddr, own: &HashSet<IpAddr>) -> Result<Zone, Rule> {
    if own.contains(&address) || own.contains(&address.to_canonical()) {
        return Err(Rule::OwnAddress(address));
    }
    match kind_of(address) {
        AddressKind::Public => Ok(Zone::Public),
        AddressKind::Private if target.is_listed() => Ok(Zone::Private),
        AddressKind::Private => Err(Rule::PrivateAddress(address)),
        AddressKind::Forbidden(range) => Err(Rule::ForbiddenAddress(address, range)),
    }
}

#[cfg(test)]
mod tests;
