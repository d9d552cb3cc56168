//! The fixture language of the case files: names, redirects and settings in one line.
//!
//! Invariant: an unknown word is an error, so that no case is tested with less than it says.
//!
//! Parts are joined by `; `. The parts, and what stands for what, are those that the head of
//! `url-guard.tsv` describes.

use std::net::IpAddr;

use super::{Reply, TestError};

/// What a case needs around it.
#[derive(Debug, Clone, Default)]
pub struct Fixture {
    /// Names and what they resolve to; `*` is any name.
    pub dns: Vec<(String, DnsScript)>,
    /// What the stub server answers, in order.
    pub hops: Vec<Hop>,
    /// Addresses of "this machine".
    pub own_addresses: Vec<IpAddr>,
    /// The list of private hosts, one entry per part.
    pub allowed_hosts: Vec<String>,
    /// Whether the caller may use the list of private hosts.
    pub trusted: bool,
    /// The tool of the case, if it is not the default one.
    pub tool: Option<String>,
}

/// What one name resolves to, look-up by look-up; the last answer stays.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DnsScript(pub Vec<DnsAnswer>);

/// One answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DnsAnswer {
    /// Addresses, in this order.
    Addresses(Vec<IpAddr>),
    /// The addresses of another name.
    Alias(String),
    /// The name does not exist.
    NoSuchName,
    /// The name has no address.
    NoData,
    /// The server fails.
    Failure,
    /// Nothing, ever.
    Silence,
}

/// One redirect, or another response with its peculiarities.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hop {
    /// The status.
    pub status: u16,
    /// The `Location` fields, as bytes.
    pub locations: Vec<Vec<u8>>,
    /// A `Refresh` field.
    pub refresh: Option<String>,
    /// Whether the server answers like this for ever.
    pub forever: bool,
}

impl Fixture {
    /// Reads a fixture; the empty text is the empty fixture.
    ///
    /// # Errors
    /// The part that is not understood.
    pub fn parse(text: &str) -> Result<Self, TestError> {
        let mut fixture = Self::default();
        for part in text.split("; ").map(str::trim).filter(|part| !part.is_empty()) {
            let (word, rest) = part.split_once(' ').unwrap_or((part, ""));
            match word {
                "dns" => {
                    let (name, script) =
                        rest.split_once('=').ok_or_else(|| format!("no `=` in the part `{part}`"))?;
                    fixture.dns.push((name.to_owned(), DnsScript::parse(script)?));
                }
                "hop" => fixture.hops.push(Hop::parse(rest)?),
                "self" => fixture.own_addresses.push(rest.parse()?),
                "allow-host" => fixture.allowed_hosts.push(rest.to_owned()),
                "provider" if matches!(rest, "high" | "low") => fixture.trusted = rest == "high",
                "tool" => fixture.tool = Some(rest.to_owned()),
                _ => return Err(format!("the part `{part}` is unknown").into()),
            }
        }
        Ok(fixture)
    }
}

impl DnsScript {
    /// Reads `A|B`: the first look-up answers A, later ones B.
    ///
    /// # Errors
    /// The answer that is not understood.
    pub fn parse(text: &str) -> Result<Self, TestError> {
        text.split('|').map(DnsAnswer::parse).collect::<Result<_, _>>().map(Self)
    }
}

impl DnsAnswer {
    fn parse(text: &str) -> Result<Self, TestError> {
        match text {
            "NXDOMAIN" => return Ok(Self::NoSuchName),
            "NODATA" => return Ok(Self::NoData),
            "SERVFAIL" => return Ok(Self::Failure),
            "TIMEOUT" => return Ok(Self::Silence),
            _ => {}
        }
        if let Some(name) = text.strip_prefix("CNAME:") {
            return Ok(Self::Alias(name.to_owned()));
        }
        if let Some(rest) = text.strip_prefix("REPEAT:") {
            let (times, rest) = rest.split_once(':').ok_or("REPEAT has no addresses")?;
            let (repeated, last) = rest.split_once(',').ok_or("REPEAT has one address only")?;
            let mut addresses = vec![repeated.parse()?; times.parse()?];
            addresses.push(last.parse()?);
            return Ok(Self::Addresses(addresses));
        }
        let addresses = text.split(',').map(str::parse).collect::<Result<_, _>>();
        addresses.map(Self::Addresses).map_err(|error| format!("`{text}`: {error}").into())
    }
}

impl Hop {
    fn parse(text: &str) -> Result<Self, TestError> {
        let (status, target) = text.split_once(' ').ok_or_else(|| format!("no target in `hop {text}`"))?;
        let mut hop = Self { status: status.parse()?, locations: Vec::new(), refresh: None, forever: false };
        let target = match target.strip_suffix(" LOOP") {
            Some(target) => {
                hop.forever = true;
                target
            }
            None => target,
        };
        if let Some(refresh) = target.strip_prefix("REFRESH:") {
            hop.refresh = Some(refresh.to_owned());
        } else if target != "NONE" {
            hop.locations = target.split(" AND ").map(location).collect::<Result<_, _>>()?;
        }
        Ok(hop)
    }

    /// The response that the stub server sends for this hop.
    #[must_use]
    pub fn reply(&self) -> Reply {
        let mut reply = Reply::new(self.status);
        for location in &self.locations {
            reply = reply.header("Location", location);
        }
        if let Some(refresh) = &self.refresh {
            reply = reply.header("Refresh", refresh);
        }
        reply.header("Content-Type", "text/html; charset=utf-8").body("<p>a hop</p>")
    }
}

/// A location's bytes: `RAW:` turns `\xHH` into bytes, `<TAB>` is a tab.
fn location(text: &str) -> Result<Vec<u8>, TestError> {
    let Some(raw) = text.strip_prefix("RAW:") else { return Ok(text.replace("<TAB>", "\t").into_bytes()) };
    let mut bytes = Vec::new();
    for (position, part) in raw.split("\\x").enumerate() {
        if position == 0 {
            bytes.extend_from_slice(part.as_bytes());
        } else {
            let digits = part.get(..2).ok_or("no two digits behind \\x")?;
            bytes.push(u8::from_str_radix(digits, 16)?);
            bytes.extend_from_slice(&part.as_bytes()[2..]);
        }
    }
    Ok(bytes)
}
