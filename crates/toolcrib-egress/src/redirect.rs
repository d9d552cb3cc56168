//! Which responses redirect, and where to.
//!
//! Invariant: only 301, 302, 303, 307 and 308 with one `Location` redirect; the target is judged from its
//! text exactly as the first URL was.

use http::HeaderMap;
use http::header::LOCATION;
use url::Url;

use crate::error::RedirectProblem;
use crate::policy::{Policy, Rule};
use crate::target::{NoTarget, Target};

/// Why a redirect leads nowhere.
#[derive(Debug)]
pub(crate) enum NoRedirect {
    Problem(RedirectProblem),
    Refused(Rule),
}

/// The text of a redirect's target, if the response is one.
pub(crate) fn location(status: u16, fields: &HeaderMap) -> Result<Option<&str>, NoRedirect> {
    if !matches!(status, 301 | 302 | 303 | 307 | 308) {
        return Ok(None);
    }
    let mut locations = fields.get_all(LOCATION).iter();
    let Some(first) = locations.next() else { return Ok(None) };
    if locations.any(|other| other != first) {
        return Err(NoRedirect::Problem(RedirectProblem::TwoTargets));
    }
    // Browsers read the field as UTF-8, although RFC 9110 has only ASCII in mind.
    let text =
        std::str::from_utf8(first.as_bytes()).map_err(|_| NoRedirect::Problem(RedirectProblem::NotText))?;
    Ok(Some(text))
}

/// Judges the target of a redirect that `from` answered with.
pub(crate) fn follow(from: &Target, location: &str, policy: &Policy) -> Result<Target, NoRedirect> {
    let mut base = from.url().clone();
    let fragment = base.fragment().map(str::to_owned);
    base.set_fragment(None);
    let mut target = Target::judge(location, Some(&base), policy).map_err(|error| match error {
        NoTarget::Problem(problem) => NoRedirect::Problem(RedirectProblem::Target(problem)),
        NoTarget::Refused(rule) => NoRedirect::Refused(rule),
    })?;
    if from.is_secure() && !target.is_secure() {
        return Err(NoRedirect::Problem(RedirectProblem::Downgrade));
    }
    // RFC 9110, section 10.2.2: the fragment is inherited.
    if let Some(fragment) = fragment
        && target.url().fragment().is_none()
    {
        target.set_fragment(&fragment);
    }
    Ok(target)
}

/// What a target of a redirect names: kept here so that the log shows the refused hop itself.
pub(crate) fn shown(from: &Target, location: &str) -> Url {
    from.url().join(location).unwrap_or_else(|_| from.url().clone())
}
