use serde_json::{Value, json};
use toolcrib_runtime::tool::typed::TypedTool as _;
use toolcrib_runtime::tool::{Content, Tool as _, ToolError};

use super::GetCurrentTime;
use crate::builtin::tests::{context, failure};

async fn ask(timezone: &str) -> Result<Value, ToolError> {
    let arguments = json!({ "timezone": timezone });
    match GetCurrentTime.into_tool().call(arguments, &context()).await?.content {
        Content::Json(value) => Ok(value),
        Content::Text(text) => panic!("text instead of JSON: {text}"),
    }
}

#[tokio::test]
async fn the_whole_answer_in_a_zone() {
    assert_eq!(
        ask("Europe/Berlin").await.unwrap(),
        json!({
            "timezone": "Europe/Berlin",
            "iso": "2026-01-01T01:00:00+01:00",
            "date": "2026-01-01",
            "time": "01:00:00",
            "weekday": "Thursday",
            "utc_offset": "+01:00",
            "unix": 1_767_225_600,
        })
    );
}

#[tokio::test]
async fn no_zone_is_utc() {
    let arguments = json!({ "timezone": null });
    let output = GetCurrentTime.into_tool().call(arguments, &context()).await.unwrap();
    let text = output.content.to_model_text();
    assert!(text.contains(r#""timezone":"UTC","iso":"2026-01-01T00:00:00+00:00""#), "{text}");
    assert!(!output.untrusted);
    assert!(output.sources.is_empty());
}

#[tokio::test]
async fn what_people_write_is_understood() {
    let check = async |written: &str, zone: &str, offset: &str| {
        let answer = ask(written).await.unwrap_or_else(|error| panic!("{written:?}: {error}"));
        assert_eq!(answer["timezone"], zone, "{written:?}");
        assert_eq!(answer["utc_offset"], offset, "{written:?}");
    };
    check("", "UTC", "+00:00").await;
    check("utc", "UTC", "+00:00").await;
    check("GMT", "UTC", "+00:00").await;
    check("Z", "UTC", "+00:00").await;
    check("europe/berlin", "Europe/Berlin", "+01:00").await;
    check("AMERICA/NEW_YORK", "America/New_York", "-05:00").await;
    check("America/New York", "America/New_York", "-05:00").await;
    check("Tokyo", "Asia/Tokyo", "+09:00").await;
    check("new york", "America/New_York", "-05:00").await;
    check("PST", "America/Los_Angeles", "-08:00").await;
    check("cest", "Europe/Berlin", "+01:00").await;
    check("IST", "Asia/Kolkata", "+05:30").await;
    check("UTC+2", "UTC+02:00", "+02:00").await;
    check("utc + 2", "UTC+02:00", "+02:00").await;
    check("GMT-03:30", "UTC-03:30", "-03:30").await;
    check("+05:45", "UTC+05:45", "+05:45").await;
    check("-0800", "UTC-08:00", "-08:00").await;
    check("UTC\u{2212}5", "UTC-05:00", "-05:00").await;
    check("UTC+0", "UTC", "+00:00").await;
    check("Asia/Kathmandu", "Asia/Kathmandu", "+05:45").await;
}

#[tokio::test]
async fn an_unknown_zone_is_an_error_that_names_near_ones() {
    let check = async |written: &str, near: Option<&str>| {
        let text = failure(ask(written).await);
        assert!(text.starts_with("there is no time zone"), "{text}");
        assert!(text.contains("Europe/Berlin, or an offset"), "{text}");
        match near {
            Some(near) => assert!(text.contains(&format!("near are {near}")), "{text}"),
            None => assert!(!text.contains("near are"), "{text}"),
        }
    };
    check("Europe/Berln", Some("Europe/Berlin")).await;
    check("Pairs", Some("Europe/Paris")).await;
    check("qqqqqq", None).await;
    check("UTC+25", None).await;
    check("UTC+5:7", None).await;
    check("+1:99", None).await;
    check(&"x".repeat(500), None).await;
}

#[tokio::test]
async fn an_unknown_name_is_repeated_in_part_only() {
    let text = failure(ask(&"ü".repeat(5_000)).await);
    assert!(text.chars().count() < 400, "{text}");
}
