//! The case files, read into rows.
//!
//! Invariant: a row that is not understood is an error that names it.

use super::{Fixture, TestError};
use crate::policy::{HostList, HostListProblem, Policy};

/// One row of `url-guard.tsv`.
#[derive(Debug, Clone)]
pub struct UrlCase {
    /// The row's name.
    pub id: String,
    /// What kind of case it is.
    pub class: String,
    /// The URL, its escapes resolved.
    pub url: String,
    /// What must happen.
    pub expected: Expected,
    /// The reason.
    pub why: String,
    /// What stands around the case.
    pub fixture: Fixture,
}

/// What must happen to a URL.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expected {
    /// It is fetched.
    Allow,
    /// It is refused. Which step refuses it is open.
    Block,
    /// It is refused, best by the parser.
    RejectParse,
}

impl UrlCase {
    /// The policy of the case: the list of private hosts holds for trusted callers of the default tool.
    ///
    /// # Errors
    /// The entries of the list that are invalid.
    pub fn policy(&self) -> Result<Policy, Vec<HostListProblem>> {
        let Fixture { allowed_hosts, trusted, tool, .. } = &self.fixture;
        let is_default_tool = tool.as_deref().is_none_or(|tool| tool == "read_web_page");
        if allowed_hosts.is_empty() || !trusted || !is_default_tool {
            return Ok(Policy::Public);
        }
        HostList::parse(&allowed_hosts.join(",")).map(Policy::PublicAndHosts)
    }
}

/// Reads `url-guard.tsv`.
///
/// # Errors
/// The row that is not understood.
pub fn url_guard(text: &str) -> Result<Vec<UrlCase>, TestError> {
    rows(text).map(|row| url_case(row).map_err(|error| format!("{row}: {error}").into())).collect()
}

/// Reads a file of tab-separated rows, comments and empty lines left out.
pub fn rows(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'))
}

fn url_case(row: &str) -> Result<UrlCase, TestError> {
    let columns: Vec<&str> = row.split('\t').collect();
    let &[id, class, url, expected, why, fixture] = columns.as_slice() else {
        return Err(format!("{} columns instead of 6", columns.len()).into());
    };
    let expected = match expected {
        "allow" => Expected::Allow,
        "block" => Expected::Block,
        "reject-parse" => Expected::RejectParse,
        _ => return Err(format!("`{expected}` is no expectation").into()),
    };
    Ok(UrlCase {
        id: id.to_owned(),
        class: class.to_owned(),
        url: unescape(url)?,
        expected,
        why: why.to_owned(),
        fixture: Fixture::parse(&unescape(fixture)?)?,
    })
}

/// Resolves `\\`, `\t`, `\n`, `\r`, `\0` and `\u{HEX}`.
///
/// # Errors
/// Any other escape.
pub fn unescape(text: &str) -> Result<String, TestError> {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('\\') {
        plain.push_str(before);
        let kind = after.chars().next().ok_or("a backslash ends the text")?;
        rest = &after[kind.len_utf8()..];
        plain.push(match kind {
            '\\' => '\\',
            't' => '\t',
            'n' => '\n',
            'r' => '\r',
            '0' => '\0',
            'u' => {
                let (digits, after) = rest
                    .strip_prefix('{')
                    .and_then(|rest| rest.split_once('}'))
                    .ok_or("no braces behind \\u")?;
                rest = after;
                char::from_u32(u32::from_str_radix(digits, 16)?).ok_or("not a character")?
            }
            _ => return Err(format!("the escape \\{kind} is unknown").into()),
        });
    }
    plain.push_str(rest);
    Ok(plain)
}
