//! From text to a [`Target`]: the strict parse, and everything that is refused before any look-up.
//!
//! Invariant: a `Target` exists only if the text is an unambiguous http or https URL whose scheme, port and
//! host the policy allows as written. Its fields are private to this module; nothing else can make one.

use std::cell::Cell;
use std::fmt;
use std::net::IpAddr;

use url::{Host, SyntaxViolation, Url};

use crate::limits::URL_BYTES;
use crate::policy::{Policy, Rule};

/// A judged URL: the only thing that may be resolved.
#[derive(Debug, Clone)]
pub(crate) struct Target {
    url: Url,
    secure: bool,
    host: TargetHost,
    port: u16,
    listed: bool,
    public_as_written: Result<(), Rule>,
}

/// Where a target lives.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum TargetHost {
    /// A name in lower case, without a trailing dot.
    Name(String),
    /// An address literal, in whatever spelling it was written.
    Address(IpAddr),
}

/// Why a URL cannot be read, as far as its text alone tells. Safe to show to anybody.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum UrlProblem {
    /// Longer than 2,048 bytes.
    #[error("it is longer than {URL_BYTES} bytes")]
    TooLong,
    /// No scheme, or nothing that parses as an absolute URL.
    #[error("it is not an absolute URL such as https://example.com/page")]
    NotAbsolute,
    /// Neither http nor https.
    #[error("only the schemes http and https are allowed")]
    Scheme,
    /// A user name or a password stands in the authority.
    #[error("user names and passwords in a URL are not allowed")]
    Credentials,
    /// The port is none of the web's.
    #[error("only the ports 80, 443, 8080 and 8443 are allowed")]
    Port,
    /// The host is no valid name and no valid address.
    #[error("its host is neither a valid name nor a valid address")]
    Host,
    /// Programs read this text differently: backslashes, control characters, missing slashes.
    #[error("it is ambiguous: backslashes, control characters and missing slashes are not allowed")]
    Ambiguous,
}

impl UrlProblem {
    /// Whether the text is a URL that is well formed, but of a kind that no policy lets through.
    pub fn is_policy(self) -> bool {
        match self {
            Self::Scheme | Self::Credentials | Self::Port => true,
            Self::TooLong | Self::NotAbsolute | Self::Host | Self::Ambiguous => false,
        }
    }
}

/// Why a text became no target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum NoTarget {
    /// The text itself is unusable.
    Problem(UrlProblem),
    /// The policy refuses the host as written.
    Refused(Rule),
}

impl From<UrlProblem> for NoTarget {
    fn from(problem: UrlProblem) -> Self {
        Self::Problem(problem)
    }
}

impl Target {
    /// Judges `text`, which `base` completes when it is the target of a redirect.
    pub(crate) fn judge(text: &str, base: Option<&Url>, policy: &Policy) -> Result<Self, NoTarget> {
        let mut url = parse(text, base)?;
        let secure = match url.scheme() {
            "https" => true,
            "http" => false,
            _ => return Err(UrlProblem::Scheme.into()),
        };
        if !url.username().is_empty() || url.password().is_some() {
            return Err(UrlProblem::Credentials.into());
        }
        let host = host_of(&mut url)?;
        let port = url.port_or_known_default().ok_or(UrlProblem::Port)?;
        let listed = policy.hosts().is_some_and(|hosts| hosts.contains(secure, &host, port));
        if !listed && !PUBLIC_PORTS.contains(&port) {
            return Err(UrlProblem::Port.into());
        }
        let mut public_as_written = match &host {
            TargetHost::Name(name) => public_name(name),
            TargetHost::Address(_) => Ok(()),
        };
        if !PUBLIC_PORTS.contains(&port) {
            public_as_written = Err(Rule::PublicPort(port));
        }
        if !listed {
            public_as_written.clone().map_err(NoTarget::Refused)?;
        }
        Ok(Self { url, secure, host, port, listed, public_as_written })
    }

    /// The URL without user information, its host in canonical form.
    pub(crate) fn url(&self) -> &Url {
        &self.url
    }

    /// Gives the URL the fragment of the URL that redirected to it.
    pub(crate) fn set_fragment(&mut self, fragment: &str) {
        self.url.set_fragment(Some(fragment));
    }

    /// Whether TLS is used.
    pub(crate) fn is_secure(&self) -> bool {
        self.secure
    }

    /// The host to resolve, to name in TLS and to verify the certificate against.
    pub(crate) fn host(&self) -> &TargetHost {
        &self.host
    }

    /// The port to connect to.
    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    /// Whether the administrator's list holds this scheme, host and port.
    pub(crate) fn is_listed(&self) -> bool {
        self.listed
    }

    /// Whether the rules for public targets hold. A listed target that turns out to be public needs them.
    pub(crate) fn public_as_written(&self) -> Result<(), Rule> {
        self.public_as_written.clone()
    }

    /// The value of the `Host` field (RFC 9110, section 7.2).
    pub(crate) fn host_field(&self) -> String {
        let host = match &self.host {
            TargetHost::Name(name) => name.clone(),
            TargetHost::Address(IpAddr::V4(address)) => address.to_string(),
            TargetHost::Address(IpAddr::V6(address)) => format!("[{address}]"),
        };
        match self.url.port() {
            Some(port) => format!("{host}:{port}"),
            None => host,
        }
    }

    /// The request target in origin form (RFC 9112, section 3.2.1).
    pub(crate) fn path_and_query(&self) -> String {
        match self.url.query() {
            Some(query) => format!("{}?{query}", self.url.path()),
            None => self.url.path().to_owned(),
        }
    }
}

impl fmt::Display for TargetHost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(name) => f.write_str(name),
            Self::Address(address) => write!(f, "{address}"),
        }
    }
}

/// The ports that web servers for the public use.
const PUBLIC_PORTS: [u16; 4] = [80, 443, 8080, 8443];

/// Last labels, or runs of last labels, under which no public page lives: special-use names (RFC 6761,
/// 6762, 7686, 8375, 9476), names that ICANN withholds, names of container platforms and of home routers.
const NEVER_PUBLIC: &[&str] = &[
    "alt",
    "arpa",
    "bit",
    "cluster",
    "consul",
    "corp",
    "docker",
    "example",
    "exit",
    "gnu",
    "home",
    "i2p",
    "internal",
    "intra",
    "intranet",
    "invalid",
    "kubernetes",
    "lan",
    "local",
    "localdomain",
    "localdomain4",
    "localdomain6",
    "localhost",
    "localhost4",
    "localhost6",
    "mail",
    "metadata.goog",
    "onion",
    "priv",
    "private",
    "router",
    "svc",
    "test",
    "workgroup",
    "zkey",
];

/// Longest name and longest label, in octets (RFC 1035, section 2.3.4).
const NAME_OCTETS: usize = 253;
const LABEL_OCTETS: usize = 63;

fn parse(text: &str, base: Option<&Url>) -> Result<Url, UrlProblem> {
    let text = text.trim_matches([' ', '\t', '\n', '\r', '\u{c}']);
    if text.len() > URL_BYTES {
        return Err(UrlProblem::TooLong);
    }
    if text.chars().any(|c| c.is_control() || matches!(c, '\u{2028}' | '\u{2029}')) {
        return Err(UrlProblem::Ambiguous);
    }
    let authority = authority_of(text);
    let ambiguous = Cell::new(false);
    let credentials = Cell::new(false);
    let note = |violation: SyntaxViolation| match violation {
        // Encoded on the way, by every parser alike.
        SyntaxViolation::NonUrlCodePoint | SyntaxViolation::PercentDecode => {}
        SyntaxViolation::EmbeddedCredentials | SyntaxViolation::UnencodedAtSign => credentials.set(true),
        _ => ambiguous.set(true),
    };
    let parsed = Url::options().base_url(base).syntax_violation_callback(Some(&note)).parse(text);
    if let Ok(url) = &parsed
        && !matches!(url.scheme(), "http" | "https")
    {
        return Err(UrlProblem::Scheme);
    }
    if ambiguous.get() {
        return Err(UrlProblem::Ambiguous);
    }
    if credentials.get() || authority.is_some_and(|authority| authority.contains('@')) {
        return Err(UrlProblem::Credentials);
    }
    parsed.map_err(|error| match error {
        url::ParseError::RelativeUrlWithoutBase
        | url::ParseError::RelativeUrlWithCannotBeABaseBase
        | url::ParseError::EmptyHost => UrlProblem::NotAbsolute,
        url::ParseError::InvalidPort => UrlProblem::Port,
        _ => UrlProblem::Host,
    })
}

/// The raw authority of an absolute or scheme-relative reference.
fn authority_of(text: &str) -> Option<&str> {
    let rest = match (text.strip_prefix("//"), text.split_once("://")) {
        (Some(rest), _) => rest,
        (None, Some((scheme, rest))) if scheme.bytes().all(is_scheme_byte) => rest,
        _ => return None,
    };
    rest.split(['/', '?', '#', '\\']).next()
}

fn is_scheme_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.')
}

/// Takes the host out of `url`, in canonical form, and writes that form back.
fn host_of(url: &mut Url) -> Result<TargetHost, UrlProblem> {
    let name = match url.host().ok_or(UrlProblem::NotAbsolute)? {
        Host::Ipv4(address) => return Ok(TargetHost::Address(address.into())),
        Host::Ipv6(address) => return Ok(TargetHost::Address(address.into())),
        Host::Domain(name) => name.to_owned(),
    };
    let canonical = name.strip_suffix('.').unwrap_or(&name);
    if !is_host_name(canonical) {
        return Err(UrlProblem::Host);
    }
    if canonical.len() != name.len() {
        url.set_host(Some(canonical)).map_err(|_| UrlProblem::Host)?;
        if url.host_str() != Some(canonical) {
            return Err(UrlProblem::Host);
        }
    }
    Ok(TargetHost::Name(canonical.to_owned()))
}

/// Whether `name` is made of labels that DNS can carry, in lower case and without a trailing dot.
pub(crate) fn is_host_name(name: &str) -> bool {
    !name.is_empty()
        && name.len() <= NAME_OCTETS
        && name.split('.').all(|label| {
            (1..=LABEL_OCTETS).contains(&label.len())
                && label.bytes().all(|byte| {
                    byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'-' | b'_')
                })
        })
}

fn public_name(name: &str) -> Result<(), Rule> {
    if !name.contains('.') {
        return Err(Rule::SingleLabelName);
    }
    for suffix in NEVER_PUBLIC {
        if let Some(rest) = name.strip_suffix(suffix)
            && (rest.is_empty() || rest.ends_with('.'))
        {
            return Err(Rule::SpecialUseName);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
