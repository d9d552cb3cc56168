//! Maps ids of calls to what a provider accepts.
//!
//! The mapping depends only on the conversation, so that a repeated request is byte for byte the same; results find
//! their call within its own round, since some providers use the same ids in every round.

use std::collections::HashMap;

use serde_json::Value;
use toolcrib_runtime::message::ToolCall;

use crate::profile::CallIdForm;
use crate::wire::chat_completions::WIRE_ID_FIELD;
use crate::wire::chat_completions::types::mix;

const ALPHABET: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/// The length of a replacement where the form leaves it open.
const REPLACEMENT_LENGTH: usize = 24;

/// The ids of the round whose results are being written.
pub(super) struct CallIds {
    form: CallIdForm,
    round: HashMap<String, String>,
    /// Which id stands behind each replacement, so that two ids never share one.
    replacements: HashMap<String, String>,
}

impl CallIds {
    pub(super) fn new(form: CallIdForm) -> Self {
        Self { form, round: HashMap::new(), replacements: HashMap::new() }
    }

    /// Forgets the ids of the previous round.
    pub(super) fn start_round(&mut self) {
        self.round.clear();
    }

    /// The id under which the call is written.
    pub(super) fn of_call(&mut self, call: &ToolCall) -> String {
        let original = call.opaque.get(WIRE_ID_FIELD).and_then(Value::as_str);
        let id = self.formed(original.unwrap_or(&call.id));
        self.round.insert(call.id.clone(), id.clone());
        id
    }

    /// The id under which the result of a call is written.
    pub(super) fn of_result(&mut self, call_id: &str) -> String {
        match self.round.get(call_id) {
            Some(id) => id.clone(),
            None => self.formed(call_id),
        }
    }

    fn formed(&mut self, id: &str) -> String {
        if fits(id, self.form) {
            return id.to_owned();
        }
        let length = match self.form {
            CallIdForm::Alphanumeric(length) => length,
            CallIdForm::AtMost(most) => most.min(REPLACEMENT_LENGTH),
            CallIdForm::Any | CallIdForm::Word => REPLACEMENT_LENGTH,
        };
        let mut attempt = 0;
        loop {
            let candidate = replacement(id, length, attempt);
            let owner = self.replacements.entry(candidate.clone()).or_insert_with(|| id.to_owned());
            if owner == id || attempt == u64::MAX {
                return candidate;
            }
            attempt += 1;
        }
    }
}

fn fits(id: &str, form: CallIdForm) -> bool {
    let word = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    match form {
        CallIdForm::Any => !id.is_empty(),
        CallIdForm::AtMost(most) => !id.is_empty() && id.chars().count() <= most,
        CallIdForm::Word => !id.is_empty() && id.bytes().all(word),
        CallIdForm::Alphanumeric(length) => {
            id.len() == length && id.bytes().all(|byte| byte.is_ascii_alphanumeric())
        }
    }
}

fn replacement(id: &str, length: usize, attempt: u64) -> String {
    let mut state = id.bytes().fold(mix(attempt), |state, byte| mix(state ^ u64::from(byte)));
    let letters = (0..length).map(|_| {
        state = mix(state);
        let position = usize::try_from(state % 62).unwrap_or_default();
        char::from(ALPHABET[position])
    });
    letters.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(id: &str) -> ToolCall {
        ToolCall {
            id: id.to_owned(),
            name: "f".to_owned(),
            arguments: "{}".to_owned(),
            opaque: serde_json::Map::new(),
        }
    }

    #[test]
    fn ids_that_fit_stay_and_others_get_a_stable_replacement() {
        let mut ids = CallIds::new(CallIdForm::Alphanumeric(9));
        assert_eq!(ids.of_call(&call("D681PevKs")), "D681PevKs");
        let replaced = ids.of_call(&call("call_3f5b"));
        assert!(fits(&replaced, CallIdForm::Alphanumeric(9)), "{replaced}");
        assert_eq!(ids.of_result("call_3f5b"), replaced);
        assert_eq!(CallIds::new(CallIdForm::Alphanumeric(9)).of_call(&call("call_3f5b")), replaced);
        assert_ne!(ids.of_call(&call("call_3f5c")), replaced);
    }

    #[test]
    fn long_ids_and_odd_characters_are_replaced_where_the_form_says_so() {
        let long = "x".repeat(41);
        assert_eq!(CallIds::new(CallIdForm::Any).of_call(&call(&long)), long);
        assert!(CallIds::new(CallIdForm::AtMost(40)).of_call(&call(&long)).len() <= 40);
        let word = CallIds::new(CallIdForm::Word).of_call(&call("search:0"));
        assert!(fits(&word, CallIdForm::Word), "{word}");
    }
}
