//! `get_current_time`: what the clock says in one time zone.
//!
//! The moment comes from the call's context, the rules of time zones from the data compiled in: the answer does
//! not depend on the machine's own zone or files.

use async_trait::async_trait;
use jiff::ZonedDateTime;
use jiff::tz::TimeZoneDatabase;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use toolcrib_runtime::tool::{Display, Tool, ToolContext, ToolError, ToolOutput, language};

use super::arguments;

#[cfg(test)]
mod tests;
mod zone;

/// The implementation behind `get_current_time`.
#[derive(Debug, Clone, Copy, Default)]
pub struct GetCurrentTime;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    timezone: Option<String>,
}

/// What the model reads.
#[derive(Serialize)]
struct CurrentTime {
    timezone: String,
    iso: String,
    date: String,
    time: String,
    weekday: String,
    utc_offset: String,
    unix: i64,
}

#[async_trait]
impl Tool for GetCurrentTime {
    fn implementation_key(&self) -> &'static str {
        "get_current_time"
    }

    fn display(&self, locale: &str) -> Display {
        match language(locale).as_str() {
            "de" => Display::new("🕒", "Aktuelle Uhrzeit", "Liest Datum und Uhrzeit in jeder Zeitzone ab."),
            _ => Display::new("🕒", "Current time", "Looks up the current date and time in any time zone."),
        }
    }

    async fn call(&self, arguments: Value, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        let Arguments { timezone } = arguments::read(arguments)?;
        let zones = TimeZoneDatabase::bundled();
        let zone = zone::find(&zones, timezone.as_deref().unwrap_or_default())
            .map_err(|unknown| ToolError::failed(unknown.to_string()))?;
        let now = context.clock.now().to_zoned_datetime(zone.rules.clone());
        let answer = CurrentTime::new(zone.name, &now);
        serde_json::to_value(answer)
            .map(ToolOutput::json)
            .map_err(|error| ToolError::failed(format!("writing the time as JSON failed: {error}")))
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
