use super::*;

#[test]
fn a_key_that_is_refused_is_not_shown_as_active() {
    let now: Timestamp = "2026-01-02T00:00:00Z".parse().unwrap();
    let (before, after) = (json!("2026-01-01T00:00:00Z"), json!("2026-01-03T00:00:00Z"));
    let cases = [
        (Value::Null, Value::Null, "active"),
        (Value::Null, after.clone(), "active"),
        (Value::Null, json!("2026-01-02T00:00:00Z"), "expired"),
        (Value::Null, before.clone(), "expired"),
        (before.clone(), before.clone(), "revoked"),
        (before, after, "revoked"),
    ];
    for (revoked, expires, expected) in cases {
        let key = json!({"revoked_at": revoked, "expires_at": expires});
        assert_eq!(state(&key, now), expected, "{key}");
    }
}
