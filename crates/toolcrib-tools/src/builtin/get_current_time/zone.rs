//! From what people write for a time zone to its rules.
//!
//! A text that could mean two zones far apart is only accepted where usage has settled on one, and the answer
//! always names the zone that was taken.

use jiff::tz::{Offset, TimeZone, TimeZoneDatabase};

/// A zone and the name that the answer gives it.
#[derive(Debug, Clone)]
pub(super) struct Zone {
    pub(super) name: String,
    pub(super) rules: TimeZone,
}

/// No zone has this name.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no time zone {name:?}{}; use an IANA name such as Europe/Berlin, or an offset such as UTC+2", near(.nearest))]
pub(super) struct UnknownZone {
    name: String,
    nearest: Vec<String>,
}

/// Abbreviations in daily use that are no IANA names, with the zone that most people mean.
const ABBREVIATIONS: [(&str, &str); 33] = [
    ("ET", "America/New_York"),
    ("EDT", "America/New_York"),
    ("EST", "America/New_York"),
    ("CT", "America/Chicago"),
    ("CST", "America/Chicago"),
    ("CDT", "America/Chicago"),
    ("MT", "America/Denver"),
    ("MST", "America/Denver"),
    ("MDT", "America/Denver"),
    ("PT", "America/Los_Angeles"),
    ("PST", "America/Los_Angeles"),
    ("PDT", "America/Los_Angeles"),
    ("AKST", "America/Anchorage"),
    ("AKDT", "America/Anchorage"),
    ("HST", "Pacific/Honolulu"),
    ("BRT", "America/Sao_Paulo"),
    ("BST", "Europe/London"),
    ("WEST", "Europe/Lisbon"),
    ("CET", "Europe/Berlin"),
    ("CEST", "Europe/Berlin"),
    ("MEZ", "Europe/Berlin"),
    ("MESZ", "Europe/Berlin"),
    ("EET", "Europe/Helsinki"),
    ("EEST", "Europe/Helsinki"),
    ("MSK", "Europe/Moscow"),
    ("SAST", "Africa/Johannesburg"),
    ("IST", "Asia/Kolkata"),
    ("SGT", "Asia/Singapore"),
    ("HKT", "Asia/Hong_Kong"),
    ("JST", "Asia/Tokyo"),
    ("KST", "Asia/Seoul"),
    ("AEST", "Australia/Sydney"),
    ("AEDT", "Australia/Sydney"),
];

/// Names of zones that are suggested for an unknown one.
const SUGGESTIONS: usize = 3;
/// The most of an unknown name that is repeated to the model.
const SHOWN_CHARACTERS: usize = 64;

/// The zone that `text` names: nothing or blanks for UTC, an IANA name in any letter case, the last part of one,
/// an abbreviation, or an offset.
pub(super) fn find(zones: &TimeZoneDatabase, text: &str) -> Result<Zone, UnknownZone> {
    let text = text.trim();
    if text.is_empty() || is_utc(text) {
        return Ok(Zone { name: "UTC".to_owned(), rules: TimeZone::UTC });
    }
    if let Some(offset) = offset(text) {
        return Ok(fixed(offset));
    }
    let abbreviated = ABBREVIATIONS.iter().find(|(short, _)| short.eq_ignore_ascii_case(text));
    let name = abbreviated.map_or_else(|| text.replace(' ', "_"), |(_, name)| (*name).to_owned());
    if let Some(zone) = named(zones, &name) {
        return Ok(zone);
    }
    let names: Vec<String> = zones.available().map(|name| name.as_str().to_owned()).collect();
    let by_city = names.iter().find(|known| city(known).eq_ignore_ascii_case(&name));
    match by_city.and_then(|name| named(zones, name)) {
        Some(zone) => Ok(zone),
        None => Err(unknown(text, &name, &names)),
    }
}

fn is_utc(text: &str) -> bool {
    ["UTC", "GMT", "Z", "Zulu", "Etc/UTC"].iter().any(|known| known.eq_ignore_ascii_case(text))
}

fn named(zones: &TimeZoneDatabase, name: &str) -> Option<Zone> {
    let rules = zones.get(name).ok()?;
    let name = rules.iana_name()?.to_owned();
    Some(Zone { name, rules })
}

/// The part behind the region: `New_York` of `America/New_York`.
fn city(name: &str) -> &str {
    name.rsplit_once('/').map_or(name, |(_, city)| city)
}

/// Reads `UTC+2`, `GMT-03:30`, `+05:30`, `-0800`; hours up to 14 and a half, as far as zones go.
fn offset(text: &str) -> Option<Offset> {
    let upper = text.to_ascii_uppercase();
    let rest = upper.strip_prefix("UTC").or_else(|| upper.strip_prefix("GMT")).unwrap_or(&upper).trim_start();
    let (sign, digits) = match rest.chars().next()? {
        '+' => (1, &rest[1..]),
        '-' => (-1, &rest[1..]),
        '\u{2212}' => (-1, &rest['\u{2212}'.len_utf8()..]),
        _ => return None,
    };
    let digits = digits.trim_start();
    let (hours, minutes) = match digits.split_once(':') {
        Some((hours, minutes)) if minutes.len() == 2 => (hours, minutes),
        Some(_) => return None,
        None if digits.is_ascii() && matches!(digits.len(), 3 | 4) => digits.split_at(digits.len() - 2),
        None => (digits, "0"),
    };
    let number = |text: &str| -> Option<i32> {
        let plain = matches!(text.len(), 1 | 2) && text.bytes().all(|byte| byte.is_ascii_digit());
        if plain { text.parse().ok() } else { None }
    };
    let (hours, minutes) = (number(hours)?, number(minutes)?);
    (hours <= 14 && minutes < 60).then(|| Offset::from_seconds(sign * (hours * 60 + minutes) * 60).ok())?
}

fn fixed(offset: Offset) -> Zone {
    let seconds = offset.seconds();
    if seconds == 0 {
        return Zone { name: "UTC".to_owned(), rules: TimeZone::UTC };
    }
    let sign = if seconds < 0 { '-' } else { '+' };
    let minutes = seconds.abs() / 60;
    let name = format!("UTC{sign}{:02}:{:02}", minutes / 60, minutes % 60);
    Zone { name, rules: TimeZone::fixed(offset) }
}

fn unknown(text: &str, name: &str, names: &[String]) -> UnknownZone {
    let wanted = name.to_ascii_lowercase();
    let likeness = |known: &str| {
        let known = known.to_ascii_lowercase();
        let whole = strsim::jaro_winkler(&wanted, &known);
        let by_city = strsim::jaro_winkler(city(&wanted), city(&known));
        whole.max(by_city)
    };
    let mut ranked: Vec<_> = names.iter().map(|known| (likeness(known), known)).collect();
    // A text with digits was meant as an offset, and the names with digits are the ones with inverted signs.
    let is_name = !name.contains(|c: char| c.is_ascii_digit());
    ranked.retain(|(likeness, _)| is_name && *likeness >= 0.8);
    ranked.sort_by(|(left, left_name), (right, right_name)| {
        right.total_cmp(left).then_with(|| left_name.cmp(right_name))
    });
    let nearest = ranked.into_iter().take(SUGGESTIONS).map(|(_, known)| known.clone()).collect();
    UnknownZone { name: text.chars().take(SHOWN_CHARACTERS).collect(), nearest }
}

fn near(nearest: &[String]) -> String {
    match nearest {
        [] => String::new(),
        _ => format!("; near are {}", nearest.join(", ")),
    }
}
