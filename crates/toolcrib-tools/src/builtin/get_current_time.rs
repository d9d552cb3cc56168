//! `get_current_time`: what the clock says in one time zone.
//!
//! The moment comes from the call's context, the rules of time zones from the data compiled in: the answer does
//! not depend on the machine's own zone or files.
//!
//! # Limits and errors
//! - Names are understood in any letter case, as a city alone ("Tokyo"), as a common abbreviation ("CEST") and as an
//!   offset ("UTC+2").
//! - An unknown zone is an error that names the nearest known ones.
//!
//! # Example
//! ```sh
//! toolcrib call get_current_time '{"timezone": "Europe/Berlin"}'
//! ```

use std::time::Duration;

use jiff::ZonedDateTime;
use jiff::tz::TimeZoneDatabase;
use serde::{Deserialize, Serialize};
use toolcrib_runtime::tool::typed::{Json, JsonSchema, NoSettings, Rules, TypedTool, schemars};
use toolcrib_runtime::tool::{Display, ToolContext, ToolError, language};

#[cfg(test)]
mod tests;
mod zone;

/// The implementation behind `get_current_time`.
#[derive(Debug, Clone, Copy, Default)]
pub struct GetCurrentTime;

/// What the model sends.
#[derive(Deserialize, JsonSchema)]
#[expect(clippy::doc_markdown, reason = "a model reads the text as it stands here")]
pub struct Arguments {
    /// An IANA time zone such as "Europe/Berlin" or "America/New_York", or an offset such as "UTC+2". Take the user's own
    /// time zone when it is known, and the place's when the question is about a place. null means UTC.
    timezone: Option<String>,
}

/// What the model reads.
#[derive(Serialize)]
pub struct CurrentTime {
    timezone: String,
    iso: String,
    date: String,
    time: String,
    weekday: String,
    utc_offset: String,
    unix: i64,
}

impl TypedTool for GetCurrentTime {
    type Arguments = Arguments;
    type Settings = NoSettings;
    type Output = Json<CurrentTime>;

    const KEY: &'static str = "get_current_time";
    const DESCRIPTION: &'static str = "Returns the current date, time, weekday and UTC offset in one time zone. Use it \
        whenever an answer depends on what day or time it is now: \"today\", \"next Friday\", ages, deadlines, opening \
        hours, the time in another city. Your own idea of the current date is out of date. Returns JSON with timezone, \
        iso (ISO 8601 with offset), date (YYYY-MM-DD), time (HH:MM:SS, 24 hours), weekday, utc_offset and unix \
        (seconds).";

    fn display(&self, locale: &str) -> Display {
        match language(locale).as_str() {
            "de" => Display::new("🕒", "Aktuelle Uhrzeit", "Liest Datum und Uhrzeit in jeder Zeitzone ab."),
            _ => Display::new("🕒", "Current time", "Looks up the current date and time in any time zone."),
        }
    }

    fn rules(&self) -> Rules {
        Rules { timeout: Some(Duration::from_secs(5)), ..Rules::read_only() }
    }

    async fn call(
        &self,
        arguments: Arguments,
        _settings: NoSettings,
        context: &ToolContext,
    ) -> Result<Json<CurrentTime>, ToolError> {
        let zones = TimeZoneDatabase::bundled();
        let zone = zone::find(&zones, arguments.timezone.as_deref().unwrap_or_default())
            .map_err(|unknown| ToolError::failed(unknown.to_string()))?;
        let now = context.clock.now().to_zoned_datetime(zone.rules.clone());
        Ok(Json(CurrentTime::new(zone.name, &now)))
    }
}

impl CurrentTime {
    fn new(timezone: String, now: &ZonedDateTime) -> Self {
        Self {
            timezone,
            iso: now.strftime("%Y-%m-%dT%H:%M:%S%:z").to_string(),
            date: now.strftime("%Y-%m-%d").to_string(),
            time: now.strftime("%H:%M:%S").to_string(),
            weekday: now.strftime("%A").to_string(),
            utc_offset: now.strftime("%:z").to_string(),
            unix: now.timestamp().as_second(),
        }
    }
}
