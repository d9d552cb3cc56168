//! Notices a model that makes the same call over and over.

use std::collections::HashMap;
use std::hash::{Hash, Hasher};

use serde::{Deserialize, Serialize};
use serde_json::Value;
use siphasher::sip::SipHasher13;

/// Identical calls, with an identical result, after which one more is not executed.
const EXECUTED: u32 = 2;
/// Identical calls after which the final answer is asked for.
const TOLERATED: u32 = 5;

/// Counts identical calls of one run.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct Repeats {
    seen: HashMap<u64, Seen>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
struct Seen {
    calls: u32,
    result: u64,
    same_result: bool,
}

/// What a call is, compared with those before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Repetition {
    /// Worth executing.
    Fresh,
    /// Made too often with the same result: not executed.
    Pointless,
    /// Made so often that the run should come to an end.
    Hopeless,
}

impl Repeats {
    /// Judges a call before it runs, and counts it when it will not run.
    pub(super) fn judge(&mut self, name: &str, arguments: &str) -> Repetition {
        let Some(seen) = self.seen.get_mut(&key(name, arguments)) else { return Repetition::Fresh };
        if seen.calls < EXECUTED || !seen.same_result {
            return Repetition::Fresh;
        }
        seen.calls += 1;
        if seen.calls >= TOLERATED { Repetition::Hopeless } else { Repetition::Pointless }
    }

    /// Counts a call that ran, with its result.
    pub(super) fn record(&mut self, name: &str, arguments: &str, result: &str) {
        let result = hash(result);
        let fresh = Seen { calls: 0, result, same_result: true };
        let seen = self.seen.entry(key(name, arguments)).or_insert(fresh);
        seen.calls += 1;
        if seen.result != result {
            // A result that changes makes repeating worthwhile: counting starts again.
            *seen = Seen { calls: 1, result, same_result: true };
        }
    }
}

/// Arguments that differ only in spacing or in the order of properties are the same.
fn key(name: &str, arguments: &str) -> u64 {
    let mut hasher = SipHasher13::new();
    name.hash(&mut hasher);
    match serde_json::from_str::<Value>(arguments) {
        Ok(value) => hash_value(&value, &mut hasher),
        Err(_) => arguments.trim().hash(&mut hasher),
    }
    hasher.finish()
}

fn hash_value(value: &Value, hasher: &mut SipHasher13) {
    match value {
        Value::Object(object) => {
            let mut names: Vec<_> = object.keys().collect();
            names.sort_unstable();
            names.len().hash(hasher);
            for name in names {
                name.hash(hasher);
                hash_value(&object[name], hasher);
            }
        }
        Value::Array(items) => {
            items.len().hash(hasher);
            for item in items {
                hash_value(item, hasher);
            }
        }
        other => other.to_string().hash(hasher),
    }
}

fn hash(text: &str) -> u64 {
    let mut hasher = SipHasher13::new();
    text.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_third_identical_call_with_an_identical_result_is_not_executed() {
        let mut repeats = Repeats::default();
        for arguments in [r#"{"a":1,"b":[2]}"#, r#"{ "b": [2], "a": 1 }"#] {
            assert_eq!(repeats.judge("read", arguments), Repetition::Fresh);
            repeats.record("read", arguments, "same");
        }
        let again = |repeats: &mut Repeats| repeats.judge("read", r#"{"a":1,"b":[2]}"#);
        assert_eq!(again(&mut repeats), Repetition::Pointless);
        assert_eq!(again(&mut repeats), Repetition::Pointless);
        assert_eq!(again(&mut repeats), Repetition::Hopeless, "two more, and the final answer is asked for");
    }

    #[test]
    fn a_result_that_changes_makes_repeating_worthwhile() {
        let mut repeats = Repeats::default();
        for result in ["one", "two", "three", "four"] {
            assert_eq!(repeats.judge("poll", "{}"), Repetition::Fresh);
            repeats.record("poll", "{}", result);
        }
    }

    #[test]
    fn other_arguments_are_another_call() {
        let mut repeats = Repeats::default();
        repeats.record("read", "{\"a\":1}", "x");
        repeats.record("read", "{\"a\":1}", "x");
        assert_eq!(repeats.judge("read", "{\"a\":2}"), Repetition::Fresh);
        assert_eq!(repeats.judge("look", "{\"a\":1}"), Repetition::Fresh);
    }
}
