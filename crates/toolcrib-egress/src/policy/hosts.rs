//! The administrator's list of hosts whose private addresses may be read.
//!
//! Invariant: a list exists only if every entry is valid; one invalid entry makes no list at all.

use std::fmt;
use std::net::{IpAddr, Ipv6Addr};
use std::str::FromStr;
use std::sync::Arc;

use url::Host;

use crate::address::{AddressKind, kind_of};
use crate::target::{TargetHost, is_host_name};

/// Hosts whose private addresses may be read.
///
/// Entries are separated by commas, semicolons or line ends. An entry is a host, or `*.host` for its
/// sub-domains at any depth and not itself, with an optional port. It means https on port 443 unless it
/// begins with `http://` (port 80) or names a port. Case and a trailing dot do not matter. Addresses are
/// allowed, IPv6 ones in brackets when a port follows.
#[derive(Debug, Clone, Default)]
pub struct HostList {
    entries: Arc<[HostEntry]>,
}

/// An entry that cannot be used, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostListProblem {
    /// The entry as written.
    pub entry: String,
    /// What is wrong with it.
    pub problem: HostProblem,
}

/// What is wrong with an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum HostProblem {
    /// Another scheme than http or https.
    #[error("only http:// and https:// may stand before the host")]
    Scheme,
    /// Something stands behind the host and port.
    #[error("only a host and a port are allowed, without user name, path or query")]
    NotOnlyHost,
    /// The host is neither a name nor an address.
    #[error("the host is neither a valid name nor a valid address")]
    Host,
    /// The port is not a number between 1 and 65535.
    #[error("the port must be a number between 1 and 65535")]
    Port,
    /// The star is not the whole first label of a name.
    #[error("a star may only stand as the first label of a name, as in *.example.com")]
    Wildcard,
    /// Loopback, link-local and the like stay refused, whoever lists them.
    #[error("this address can never be read: only private networks can be opened by this list")]
    NeverReachable,
}

impl fmt::Display for HostListProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}`: {}", self.entry, self.problem)
    }
}

impl std::error::Error for HostListProblem {}

impl HostList {
    /// Reads a list. Empty entries are skipped.
    ///
    /// # Errors
    /// Every invalid entry, in the order of the text.
    pub fn parse(text: &str) -> Result<Self, Vec<HostListProblem>> {
        let mut entries = Vec::new();
        let mut problems = Vec::new();
        for entry in text.split([',', ';', '\n']).map(str::trim).filter(|entry| !entry.is_empty()) {
            match HostEntry::parse(entry) {
                Ok(parsed) => entries.push(parsed),
                Err(problem) => problems.push(HostListProblem { entry: entry.to_owned(), problem }),
            }
        }
        if problems.is_empty() { Ok(Self { entries: entries.into() }) } else { Err(problems) }
    }

    /// Whether nothing is listed.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// How many entries the list has.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    pub(crate) fn contains(&self, secure: bool, host: &TargetHost, port: u16) -> bool {
        self.entries
            .iter()
            .any(|entry| entry.secure == secure && entry.port == port && entry.pattern.matches(host))
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct HostEntry {
    secure: bool,
    pattern: Pattern,
    port: u16,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Pattern {
    Name(String),
    /// The parent's name with a leading dot.
    SubdomainsOf(String),
    Address(IpAddr),
}

impl Pattern {
    fn matches(&self, host: &TargetHost) -> bool {
        match (self, host) {
            (Self::Name(listed), TargetHost::Name(name)) => listed == name,
            (Self::SubdomainsOf(parent), TargetHost::Name(name)) => {
                name.len() > parent.len() && name.ends_with(parent.as_str())
            }
            (Self::Address(listed), TargetHost::Address(address)) => listed == address,
            _ => false,
        }
    }
}

impl HostEntry {
    fn parse(entry: &str) -> Result<Self, HostProblem> {
        let (secure, rest) = split_scheme(entry)?;
        if rest.contains(['/', '?', '#', '@', '\\']) || rest.chars().any(char::is_whitespace) {
            return Err(HostProblem::NotOnlyHost);
        }
        let (host, port) = split_port(rest)?;
        let default_port = if secure { 443 } else { 80 };
        let pattern = match host.strip_prefix("*.") {
            Some(parent) => match parse_host(parent)? {
                Pattern::Name(name) => Pattern::SubdomainsOf(format!(".{name}")),
                _ => return Err(HostProblem::Wildcard),
            },
            None => parse_host(host)?,
        };
        Ok(Self { secure, pattern, port: port.unwrap_or(default_port) })
    }
}

fn split_scheme(entry: &str) -> Result<(bool, &str), HostProblem> {
    match entry.split_once("://") {
        None => Ok((true, entry)),
        Some((scheme, rest)) if scheme.eq_ignore_ascii_case("https") => Ok((true, rest)),
        Some((scheme, rest)) if scheme.eq_ignore_ascii_case("http") => Ok((false, rest)),
        Some(_) => Err(HostProblem::Scheme),
    }
}

fn split_port(text: &str) -> Result<(&str, Option<u16>), HostProblem> {
    if Ipv6Addr::from_str(text).is_ok() {
        return Ok((text, None));
    }
    let (host, port) = match text.strip_prefix('[') {
        Some(bracketed) => {
            let (host, rest) = bracketed.split_once(']').ok_or(HostProblem::Host)?;
            if Ipv6Addr::from_str(host).is_err() {
                return Err(HostProblem::Host);
            }
            match rest.strip_prefix(':') {
                Some(port) => (host, Some(port)),
                None if rest.is_empty() => (host, None),
                None => return Err(HostProblem::Host),
            }
        }
        None => match text.split_once(':') {
            Some((host, port)) => (host, Some(port)),
            None => (text, None),
        },
    };
    let port = match port {
        None => None,
        Some(digits) if !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()) => {
            Some(digits.parse::<u16>().ok().filter(|&port| port != 0).ok_or(HostProblem::Port)?)
        }
        Some(_) => return Err(HostProblem::Port),
    };
    Ok((host, port))
}

fn parse_host(text: &str) -> Result<Pattern, HostProblem> {
    if text.contains('*') {
        return Err(HostProblem::Wildcard);
    }
    if text.contains('%') {
        return Err(HostProblem::Host);
    }
    let host = match Ipv6Addr::from_str(text) {
        Ok(address) => Host::Ipv6(address),
        Err(_) => Host::parse(text).map_err(|_| HostProblem::Host)?,
    };
    let address = match host {
        Host::Ipv4(address) => IpAddr::V4(address),
        Host::Ipv6(address) => IpAddr::V6(address),
        Host::Domain(name) => return parse_name(&name),
    };
    match kind_of(address) {
        AddressKind::Forbidden(_) => Err(HostProblem::NeverReachable),
        AddressKind::Public | AddressKind::Private => Ok(Pattern::Address(address)),
    }
}

fn parse_name(name: &str) -> Result<Pattern, HostProblem> {
    let name = name.strip_suffix('.').unwrap_or(name);
    if !is_host_name(name) {
        return Err(HostProblem::Host);
    }
    if name == "localhost" || name.ends_with(".localhost") {
        return Err(HostProblem::NeverReachable);
    }
    Ok(Pattern::Name(name.to_owned()))
}

#[cfg(test)]
mod tests;
