//! Which IP addresses a model-chosen URL may reach.
//!
//! Invariant: an address is public only if no row of the tables below refuses it, and IPv6 starts from
//! "refused" and allows global unicast only. Every form that embeds an IPv4 address (mapped, compatible,
//! translated, NAT64, 6to4, Teredo, ISATAP) is refused as a form, whatever it embeds.
//!
//! Sources: the IANA special-purpose registries for IPv4 and IPv6, RFC 6890, RFC 6052, RFC 5214, and the
//! metadata addresses that cloud platforms document.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// What an address is to this crate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AddressKind {
    /// Reachable by anybody: a public web server may live here.
    Public,
    /// A private network (RFC 1918, RFC 4193). Refused, unless an administrator listed the host.
    Private,
    /// Never reachable through this crate's fetches, whoever lists it.
    Forbidden(ForbiddenRange),
}

/// Why an address is never reachable: the name of the range for the operator's log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ForbiddenRange(&'static str);

impl fmt::Display for ForbiddenRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

/// Sorts an address into [`AddressKind`].
///
/// IPv4-mapped IPv6 addresses are not unmapped first: no resolver has a reason to answer with one.
#[must_use]
pub fn kind_of(address: IpAddr) -> AddressKind {
    match address {
        IpAddr::V4(address) => kind_of_v4(address),
        IpAddr::V6(address) => kind_of_v6(address),
    }
}

/// The refused IPv4 ranges: network, prefix length, name, and whether an administrator may lift the row.
pub(crate) const REFUSED_V4: &[(Ipv4Addr, u32, &str, bool)] = &[
    (Ipv4Addr::UNSPECIFIED, 8, "this network", false),
    (Ipv4Addr::new(10, 0, 0, 0), 8, "private", true),
    (Ipv4Addr::new(100, 64, 0, 0), 10, "shared address space", false),
    (Ipv4Addr::new(127, 0, 0, 0), 8, "loopback", false),
    (Ipv4Addr::new(168, 63, 129, 16), 32, "platform metadata", false),
    (Ipv4Addr::new(169, 254, 0, 0), 16, "link-local", false),
    (Ipv4Addr::new(172, 16, 0, 0), 12, "private", true),
    (Ipv4Addr::new(192, 0, 0, 0), 24, "protocol assignments", false),
    (Ipv4Addr::new(192, 0, 2, 0), 24, "documentation", false),
    (Ipv4Addr::new(192, 31, 196, 0), 24, "AS112", false),
    (Ipv4Addr::new(192, 52, 193, 0), 24, "multicast tunneling", false),
    (Ipv4Addr::new(192, 88, 99, 0), 24, "6to4 relay", false),
    (Ipv4Addr::new(192, 168, 0, 0), 16, "private", true),
    (Ipv4Addr::new(192, 175, 48, 0), 24, "AS112", false),
    (Ipv4Addr::new(198, 18, 0, 0), 15, "benchmarking", false),
    (Ipv4Addr::new(198, 51, 100, 0), 24, "documentation", false),
    (Ipv4Addr::new(203, 0, 113, 0), 24, "documentation", false),
    (Ipv4Addr::new(224, 0, 0, 0), 4, "multicast", false),
    (Ipv4Addr::new(240, 0, 0, 0), 4, "reserved", false),
];

/// Global unicast, the only IPv6 space that is open (RFC 4291).
const GLOBAL_UNICAST: (Ipv6Addr, u32) = (Ipv6Addr::new(0x2000, 0, 0, 0, 0, 0, 0, 0), 3);

/// Refused ranges inside [`GLOBAL_UNICAST`].
const REFUSED_V6: &[(Ipv6Addr, u32, &str)] = &[
    (Ipv6Addr::new(0x2001, 0, 0, 0, 0, 0, 0, 0), 23, "protocol assignments"),
    (Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 0), 32, "documentation"),
    (Ipv6Addr::new(0x2002, 0, 0, 0, 0, 0, 0, 0), 16, "6to4"),
    (Ipv6Addr::new(0x2620, 0x4f, 0x8000, 0, 0, 0, 0, 0), 48, "AS112"),
    (Ipv6Addr::new(0x3fff, 0, 0, 0, 0, 0, 0, 0), 20, "documentation"),
];

/// Unique local addresses (RFC 4193), the only IPv6 range that an administrator may lift.
const UNIQUE_LOCAL: (Ipv6Addr, u32) = (Ipv6Addr::new(0xfc00, 0, 0, 0, 0, 0, 0, 0), 7);

/// Cloud platforms' services inside [`UNIQUE_LOCAL`]: instance metadata, resolver, clock, credentials.
const METADATA_V6: &[(Ipv6Addr, u32)] = &[
    (Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0), 32),
    (Ipv6Addr::new(0xfd20, 0xce, 0, 0, 0, 0, 0, 0), 32),
];

fn kind_of_v4(address: Ipv4Addr) -> AddressKind {
    for &(network, length, name, liftable) in REFUSED_V4 {
        if in_v4(address, network, length) {
            return if liftable {
                AddressKind::Private
            } else {
                AddressKind::Forbidden(ForbiddenRange(name))
            };
        }
    }
    AddressKind::Public
}

fn kind_of_v6(address: Ipv6Addr) -> AddressKind {
    if is_isatap(address) {
        return AddressKind::Forbidden(ForbiddenRange("ISATAP"));
    }
    if in_v6(address, UNIQUE_LOCAL) {
        return if METADATA_V6.iter().any(|&range| in_v6(address, range)) {
            AddressKind::Forbidden(ForbiddenRange("platform metadata"))
        } else {
            AddressKind::Private
        };
    }
    if !in_v6(address, GLOBAL_UNICAST) {
        return AddressKind::Forbidden(ForbiddenRange("outside global unicast"));
    }
    for &(network, length, name) in REFUSED_V6 {
        if in_v6(address, (network, length)) {
            return AddressKind::Forbidden(ForbiddenRange(name));
        }
    }
    AddressKind::Public
}

fn in_v4(address: Ipv4Addr, network: Ipv4Addr, length: u32) -> bool {
    (address.to_bits() ^ network.to_bits()).leading_zeros() >= length
}

fn in_v6(address: Ipv6Addr, (network, length): (Ipv6Addr, u32)) -> bool {
    (address.to_bits() ^ network.to_bits()).leading_zeros() >= length
}

/// Interface identifiers `::0:5efe:a.b.c.d` and `::200:5efe:a.b.c.d` (RFC 5214, section 6.1).
fn is_isatap(address: Ipv6Addr) -> bool {
    let segments = address.segments();
    segments[5] == 0x5efe && (segments[4] & !0x0200) == 0
}

#[cfg(test)]
mod tests;
