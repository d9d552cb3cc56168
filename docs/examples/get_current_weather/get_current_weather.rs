//! A complete tool with settings, to read and to copy. It is a demonstration: it knows five cities and no weather.
//!
//! The definition stands beside it in `definition.json`, as a person would write it; a test shows that the one that
//! follows from the types says the same.

use serde::Deserialize;
use toolcrib_runtime::tool::typed::{JsonSchema, Rules, TypedTool, schemars};
use toolcrib_runtime::tool::{Display, FieldTexts, SettingProblem, ToolContext, ToolError, language};

#[cfg(test)]
mod tests;

/// Cities, their states, and the temperature that the demonstration gives them, in degrees Fahrenheit.
const CITIES: [(&str, &str, i32); 5] = [
    ("Boston", "MA", 41),
    ("Chicago", "IL", 32),
    ("Dallas", "TX", 85),
    ("San Francisco", "CA", 59),
    ("Seattle", "WA", 50),
];

/// The implementation behind `get_current_weather`.
#[derive(Debug, Clone, Copy, Default)]
pub struct GetCurrentWeather;

/// What the model sends.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Arguments {
    /// The city to find the weather for, e.g. 'San Francisco'.
    city: String,
    /// The two-letter abbreviation for the state, e.g. 'CA'.
    state: String,
    /// The unit to fetch the temperature in.
    unit: Unit,
}

/// A unit of temperature.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Unit {
    Celsius,
    Fahrenheit,
}

/// What an administrator sets.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DemoSettings {
    demo_label: String,
}

impl TypedTool for GetCurrentWeather {
    type Arguments = Arguments;
    type Settings = DemoSettings;
    type Output = String;

    const KEY: &'static str = "get_current_weather";
    const DESCRIPTION: &'static str = "Get the current weather in a given location.";
    const POLICY: Option<&'static str> =
        Some("Use this tool only when the user asks for current weather conditions.");

    fn display(&self, locale: &str) -> Display {
        match language(locale).as_str() {
            "de" => {
                Display::new("☁️", "Aktuelles Wetter", "Zeigt an fünf Städten, wie ein Werkzeug gebaut ist.")
            }
            _ => Display::new("☁️", "Current weather", "Shows with five cities how a tool is built."),
        }
    }

    fn setting_texts(&self, field: &str, locale: &str) -> Option<FieldTexts> {
        match (field, language(locale).as_str()) {
            ("demoLabel", "de") => Some(FieldTexts::new("Beschriftung", "Steht hinter jeder Antwort.")),
            ("demoLabel", _) => Some(FieldTexts::new("Demo label", "Stands behind every answer.")),
            _ => None,
        }
    }

    fn rules(&self) -> Rules {
        Rules::read_only()
    }

    fn validate_settings(&self, settings: &DemoSettings) -> Vec<SettingProblem> {
        let blank = settings.demo_label.trim().is_empty();
        let problem = || SettingProblem::field("demoLabel", "blank: write a word, for example \"Demo\"");
        blank.then(problem).into_iter().collect()
    }

    async fn call(
        &self,
        Arguments { city, state, unit }: Arguments,
        settings: DemoSettings,
        _context: &ToolContext,
    ) -> Result<String, ToolError> {
        let asked = |(known, of, _): &&(&str, &str, i32)| {
            known.eq_ignore_ascii_case(city.trim()) && of.eq_ignore_ascii_case(state.trim())
        };
        let Some((city, state, fahrenheit)) = CITIES.iter().find(asked) else {
            let known: Vec<String> =
                CITIES.iter().map(|(city, state, _)| format!("{city}, {state}")).collect();
            let message =
                format!("the demonstration does not know {city}, {state}; it knows {}", known.join("; "));
            return Err(ToolError::failed(message));
        };
        let (degrees, unit) = match unit {
            Unit::Celsius => ((f64::from(fahrenheit - 32) / 1.8).round(), "celsius"),
            Unit::Fahrenheit => (f64::from(*fahrenheit), "fahrenheit"),
        };
        Ok(format!(
            "The weather in {city}, {state} is {degrees} degrees {unit}. ({}: a demonstration, nobody measured this)",
            settings.demo_label.trim()
        ))
    }
}
