//! The chain of hops from the asked URL to the final response.
//!
//! Invariant: each hop is judged alone and from its text; the zone, the clock and the number of redirects
//! are those of the whole chain.

use std::collections::HashSet;

use http::header::SET_COOKIE;
use tokio::time::{Instant, timeout_at};

use super::{FetchRequest, Fetched, Hop, Shared};
use crate::audit::AuditEntry;
use crate::error::{FetchError, Phase, SafeUrl};
use crate::policy::Zone;
use crate::redirect::{NoRedirect, follow, location, shown};
use crate::target::{NoTarget, Target};

/// Fetches `request.url`, and what it redirects to.
pub(super) async fn chain(
    shared: &Shared,
    request: &FetchRequest<'_>,
    entry: &mut AuditEntry,
) -> Result<Fetched, FetchError> {
    let total = request.timeout.map_or(shared.budgets.total, |timeout| timeout.min(shared.budgets.total));
    let deadline = Instant::now() + total;
    let mut target = first_target(request, entry)?;
    let own = shared.connector.own_addresses().map_err(|error| FetchError::Connect {
        url: SafeUrl::new(target.url()),
        detail: format!("reading this machine's own addresses: {error}"),
    })?;
    let own: HashSet<_> = own.into_iter().map(|address| address.to_canonical()).collect();
    let hop = Hop { shared, deadline, own: &own };
    let mut hops = vec![target.url().clone()];
    let mut zone = None;
    loop {
        match hop.take(&target, request, &mut zone, entry).await? {
            Step::Done(mut fetched) => {
                fetched.hops = hops;
                return Ok(*fetched);
            }
            Step::Redirect(next) => {
                target = *next;
                hops.push(target.url().clone());
            }
        }
    }
}

/// What one hop led to.
enum Step {
    Done(Box<Fetched>),
    Redirect(Box<Target>),
}

impl Hop<'_> {
    async fn take(
        &self,
        target: &Target,
        request: &FetchRequest<'_>,
        zone: &mut Option<Zone>,
        entry: &mut AuditEntry,
    ) -> Result<Step, FetchError> {
        let host = target.host().to_string();
        let _turn = timeout_at(self.deadline, self.shared.turns.take(&host))
            .await
            .map_err(|_| FetchError::Timeout { url: SafeUrl::new(target.url()), phase: Phase::Waiting })?;
        let admitted = self.admit(target, *zone, entry).await?;
        *zone = Some(admitted.zone);
        let stream = self.connect(target, &admitted, entry).await?;
        let mut answer = self.ask(target, stream, request).await?;
        entry.current(|hop| hop.status = Some(answer.head.status));
        if let Some(next) = self.redirect(target, &answer.head, request, entry)? {
            return Ok(Step::Redirect(Box::new(next)));
        }
        let body = self.read(target, &mut answer, request).await?;
        let mut headers = answer.head.fields;
        headers.remove(SET_COOKIE);
        Ok(Step::Done(Box::new(Fetched {
            final_url: target.url().clone(),
            status: answer.head.status,
            headers,
            body: body.bytes,
            partial: body.partial,
            zone: admitted.zone,
            hops: Vec::new(),
        })))
    }

    fn redirect(
        &self,
        target: &Target,
        head: &crate::http1::Head,
        request: &FetchRequest<'_>,
        entry: &mut AuditEntry,
    ) -> Result<Option<Target>, FetchError> {
        let url = || SafeUrl::new(target.url());
        let error = |error| match error {
            NoRedirect::Problem(problem) => FetchError::Redirect { url: url(), problem },
            NoRedirect::Refused(rule) => FetchError::Refused { url: url(), rule },
        };
        let Some(location) = location(head.status, &head.fields).map_err(error)? else { return Ok(None) };
        let limit = self.shared.budgets.redirects;
        if entry.redirects() >= limit {
            return Err(FetchError::TooManyRedirects { url: url(), limit });
        }
        entry.hop(SafeUrl::new(&shown(target, location)));
        follow(target, location, request.policy).map(Some).map_err(error)
    }
}

fn first_target(request: &FetchRequest<'_>, entry: &mut AuditEntry) -> Result<Target, FetchError> {
    let url = SafeUrl::from_text(request.url);
    entry.hop(url.clone());
    Target::judge(request.url, None, request.policy).map_err(|error| match error {
        NoTarget::Problem(problem) => FetchError::InvalidUrl { url, problem },
        NoTarget::Refused(rule) => FetchError::Refused { url, rule },
    })
}
