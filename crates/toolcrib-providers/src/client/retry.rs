//! Decides whether and when a request is sent again.
//!
//! Waits grow exponentially, are spread by a random number that is passed in, and respect what the provider asks
//! for. The statuses are those after which a provider did no work, or only its gateway failed.

use std::time::Duration;

use http::HeaderMap;
use http::header::{DATE, RETRY_AFTER};
use jiff::Timestamp;
use jiff::fmt::rfc2822;

/// How often and how long to try again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RetrySettings {
    /// How many times, beside the first.
    pub attempts: u32,
    /// The first wait at most; each further one may be twice as long.
    pub first_wait: Duration,
    /// The longest wait. A provider that asks for a longer one is not asked again.
    pub longest_wait: Duration,
}

impl Default for RetrySettings {
    fn default() -> Self {
        Self { attempts: 3, first_wait: Duration::from_secs(1), longest_wait: Duration::from_secs(30) }
    }
}

impl RetrySettings {
    /// How long to wait before attempt `attempt` (from 1), or `None` when there is none.
    pub(super) fn wait(&self, attempt: u32, asked: Option<Duration>, random: u64) -> Option<Duration> {
        if attempt > self.attempts || asked.is_some_and(|asked| asked > self.longest_wait) {
            return None;
        }
        if let Some(asked) = asked {
            return Some(asked);
        }
        let most = self.first_wait.saturating_mul(2u32.saturating_pow(attempt - 1)).min(self.longest_wait);
        let share = u32::try_from(random % 1000).unwrap_or(0);
        // Between the half and the whole of it.
        Some(most / 2 + most / 2000 * share)
    }
}

/// Whether an answer with this status may be followed by a better one.
pub(super) fn is_retryable(status: u16) -> bool {
    matches!(status, 408 | 425 | 429 | 502 | 503 | 504 | 529)
}

/// How long the provider asks to wait: `retry-after-ms`, or `Retry-After` in seconds or as a date relative to the
/// answer's own `Date` (RFC 9110, section 10.2.3).
pub(super) fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).map(str::trim);
    if let Some(milliseconds) = text("retry-after-ms").and_then(|text| text.parse::<u64>().ok()) {
        return Some(Duration::from_millis(milliseconds));
    }
    let asked = text(RETRY_AFTER.as_str())?;
    if let Ok(seconds) = asked.parse::<f64>() {
        return Duration::try_from_secs_f64(seconds).ok();
    }
    let (now, then) = (http_date(text(DATE.as_str())?)?, http_date(asked)?);
    Duration::try_from(then.duration_since(now)).ok().or(Some(Duration::ZERO))
}

fn http_date(text: &str) -> Option<Timestamp> {
    rfc2822::DateTimeParser::new().parse_timestamp(text).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(fields: &[(&'static str, &'static str)]) -> HeaderMap {
        fields.iter().map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap())).collect()
    }

    #[test]
    fn retry_after_is_read_in_all_forms() {
        let check = |fields: &[(&'static str, &'static str)], expected: Option<u64>| {
            assert_eq!(retry_after(&headers(fields)), expected.map(Duration::from_millis), "{fields:?}");
        };
        check(&[], None);
        check(&[("retry-after", "2")], Some(2000));
        check(&[("retry-after", "0.5")], Some(500));
        check(&[("retry-after-ms", "120"), ("retry-after", "2")], Some(120));
        check(&[("retry-after", "-1")], None);
        let date = ("date", "Wed, 21 Oct 2015 07:28:00 GMT");
        check(&[date, ("retry-after", "Wed, 21 Oct 2015 07:28:10 GMT")], Some(10_000));
        check(&[date, ("retry-after", "Wed, 21 Oct 2015 07:27:00 GMT")], Some(0));
        check(&[("retry-after", "Wed, 21 Oct 2015 07:28:10 GMT")], None);
        check(&[("retry-after", "soon")], None);
    }

    #[test]
    fn waits_grow_and_end() {
        let settings = RetrySettings {
            attempts: 3,
            first_wait: Duration::from_secs(1),
            longest_wait: Duration::from_secs(3),
        };
        let longest = |attempt| settings.wait(attempt, None, 999).unwrap().as_millis();
        let shortest = |attempt| settings.wait(attempt, None, 0).unwrap().as_millis();
        assert_eq!([shortest(1), shortest(2), shortest(3)], [500, 1000, 1500]);
        assert!(longest(1) > 990 && longest(2) > 1990 && longest(3) > 2990 && longest(3) <= 3000);
        assert_eq!(settings.wait(4, None, 0), None);
        assert_eq!(settings.wait(1, Some(Duration::from_secs(2)), 7), Some(Duration::from_secs(2)));
        assert_eq!(settings.wait(1, Some(Duration::from_secs(4)), 7), None);
    }
}
