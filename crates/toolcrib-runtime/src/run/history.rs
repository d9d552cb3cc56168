//! Makes a history that a provider accepts: every call has its result, directly behind it, and every result its call.
//!
//! A run that was stopped in the middle of its calls, or a client that never brought the result of its own tool,
//! leaves calls without results behind; providers refuse such a conversation for good.

use std::collections::HashMap;

use crate::message::{Message, ToolResult};

/// What stands in place of a result that never came.
const MISSING: &str = "No result: the call was interrupted before it ended, and may have had its effect all the same. \
                       Repeat it only if it is still needed and a second time does no harm.";

/// Puts each result behind its call, fills in the results that are missing, and drops those without a call.
pub(super) fn repair(messages: Vec<Message>) -> Vec<Message> {
    if is_sound(&messages) {
        return messages;
    }
    let mut repaired = Vec::with_capacity(messages.len());
    let mut rest = messages.into_iter().peekable();
    while let Some(message) = rest.next() {
        let Message::Assistant(answer) = &message else {
            // Results are taken by the answer that they belong to; one that is met here has none.
            if !matches!(message, Message::ToolResult(_)) {
                repaired.push(message);
            }
            continue;
        };
        let ids: Vec<String> = answer.calls().map(|call| call.id.clone()).collect();
        repaired.push(message);
        if ids.is_empty() {
            continue;
        }
        // The results of this answer are those before the next answer; other messages between are kept behind them.
        let mut results: HashMap<String, ToolResult> = HashMap::new();
        let mut between = Vec::new();
        while let Some(next) = rest.next_if(|next| !matches!(next, Message::Assistant(_))) {
            match next {
                Message::ToolResult(result) => {
                    results.entry(result.call_id.clone()).or_insert(result);
                }
                other => between.push(other),
            }
        }
        for id in ids {
            let missing = || ToolResult { call_id: id.clone(), text: MISSING.to_owned(), is_error: true };
            repaired.push(Message::ToolResult(results.remove(&id).unwrap_or_else(missing)));
        }
        repaired.append(&mut between);
    }
    repaired
}

/// The usual case, which costs nothing: results stand behind their calls, in order, all of them.
fn is_sound(messages: &[Message]) -> bool {
    let mut open: Vec<&str> = Vec::new();
    for message in messages {
        match message {
            Message::ToolResult(result) => {
                if open.first() != Some(&result.call_id.as_str()) {
                    return false;
                }
                open.remove(0);
            }
            _ if !open.is_empty() => return false,
            Message::Assistant(answer) => open.extend(answer.calls().map(|call| call.id.as_str())),
            Message::System(_) | Message::User(_) => {}
        }
    }
    open.is_empty()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::Map;

    use super::*;
    use crate::message::{AssistantMessage, AssistantPart, ToolCall};

    fn calls(ids: &[&str]) -> Message {
        let call = |id: &&str| {
            AssistantPart::Call(ToolCall {
                id: (*id).to_owned(),
                name: "look".to_owned(),
                arguments: "{}".to_owned(),
                opaque: Map::new(),
            })
        };
        Message::Assistant(AssistantMessage { parts: ids.iter().map(call).collect(), opaque: Map::new() })
    }

    fn result(id: &str) -> Message {
        Message::ToolResult(ToolResult { call_id: id.to_owned(), text: format!("of {id}"), is_error: false })
    }

    fn missing(id: &str) -> Message {
        Message::ToolResult(ToolResult { call_id: id.to_owned(), text: MISSING.to_owned(), is_error: true })
    }

    #[test]
    fn a_sound_history_stays_as_it_is() {
        let history =
            vec![Message::user("hi"), calls(&["a", "b"]), result("a"), result("b"), Message::user("on")];
        assert_eq!(repair(history.clone()), history);
    }

    #[test]
    fn calls_without_results_get_one_and_results_without_calls_are_dropped() {
        let history = vec![result("x"), calls(&["a", "b"]), result("b"), Message::user("on"), calls(&["c"])];
        let repaired =
            [calls(&["a", "b"]), missing("a"), result("b"), Message::user("on"), calls(&["c"]), missing("c")];
        assert_eq!(repair(history), repaired);
    }

    #[test]
    fn results_are_put_behind_their_calls_in_order() {
        let history = vec![calls(&["a", "b"]), Message::user("between"), result("b"), result("a")];
        assert_eq!(repair(history), [calls(&["a", "b"]), result("a"), result("b"), Message::user("between")]);
    }

    #[test]
    fn the_same_ids_in_another_round_are_other_calls() {
        let history = vec![calls(&["a"]), result("a"), calls(&["a"])];
        assert_eq!(repair(history), [calls(&["a"]), result("a"), calls(&["a"]), missing("a")]);
    }

    fn any_message() -> impl Strategy<Value = Message> {
        let id = prop::sample::select(vec!["a", "b", "c"]);
        prop_oneof![
            Just(Message::user("u")),
            id.clone().prop_map(result),
            prop::sample::subsequence(vec!["a", "b", "c"], 0..=3).prop_map(|ids| calls(&ids)),
        ]
    }

    proptest! {
        #[test]
        fn whatever_comes_in_a_sound_history_comes_out(messages in prop::collection::vec(any_message(), 0..12)) {
            let users = messages.iter().filter(|message| matches!(message, Message::User(_))).count();
            let repaired = repair(messages);
            prop_assert!(is_sound(&repaired));
            prop_assert_eq!(repaired.iter().filter(|message| matches!(message, Message::User(_))).count(), users);
        }
    }
}
