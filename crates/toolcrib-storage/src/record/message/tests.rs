use proptest::prelude::*;
use serde_json::{Number, json};

use super::*;

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(|float| Number::from_f64(float).map_or(Value::Null, Value::Number)),
        any::<String>().prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 24, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::vec((any::<String>(), inner), 0..6)
                .prop_map(|entries| Value::Object(entries.into_iter().collect())),
        ]
    })
}

fn opaque() -> impl Strategy<Value = Map<String, Value>> {
    prop::collection::vec((any::<String>(), value()), 0..3).prop_map(|entries| entries.into_iter().collect())
}

fn part() -> impl Strategy<Value = Part> {
    prop_oneof![
        any::<String>().prop_map(Part::Text),
        (any::<String>(), any::<Option<String>>()).prop_map(|(url, detail)| Part::Image { url, detail }),
        value().prop_map(Part::Opaque),
    ]
}

fn answer_part() -> impl Strategy<Value = AssistantPart> {
    prop_oneof![
        any::<String>().prop_map(AssistantPart::Text),
        any::<String>().prop_map(AssistantPart::Reasoning),
        (any::<String>(), any::<String>(), any::<String>(), opaque()).prop_map(
            |(id, name, arguments, opaque)| { AssistantPart::Call(ToolCall { id, name, arguments, opaque }) }
        ),
    ]
}

fn message() -> impl Strategy<Value = Message> {
    prop_oneof![
        any::<String>().prop_map(Message::System),
        prop::collection::vec(part(), 0..4).prop_map(Message::User),
        (prop::collection::vec(answer_part(), 0..4), opaque())
            .prop_map(|(parts, opaque)| Message::Assistant(AssistantMessage { parts, opaque })),
        (any::<String>(), any::<String>(), any::<bool>()).prop_map(|(call_id, text, is_error)| {
            Message::ToolResult(ToolResult { call_id, text, is_error })
        }),
    ]
}

fn roundtrip(message: &Message) -> Message {
    decode(FORMAT, &encode(message.clone()).unwrap()).unwrap()
}

proptest! {
    #[test]
    fn any_message_comes_back_as_it_was(message in message()) {
        let back = roundtrip(&message);
        prop_assert_eq!(&back, &message);
        // Equality of maps does not see the order of their entries, nor that of floats the sign of zero.
        prop_assert_eq!(format!("{back:?}"), format!("{message:?}"));
    }
}

#[test]
fn a_value_as_deep_as_a_request_may_carry_comes_back() {
    let deep = (0..127).fold(json!(1), |inner, _| json!([inner]));
    let message = Message::User(vec![Part::Opaque(deep)]);
    assert_eq!(roundtrip(&message), message);
}

#[test]
fn the_stored_form_is_stable() {
    let check = |message: Message, json: &str| {
        assert_eq!(encode(message.clone()).unwrap(), json);
        assert_eq!(decode(1, json).unwrap(), message);
    };
    check(Message::System("s".to_owned()), r#"{"system":"s"}"#);
    check(Message::user("hi"), r#"{"user":[{"text":"hi"}]}"#);
    check(
        Message::User(vec![
            Part::Image { url: "u".to_owned(), detail: None },
            Part::Image { url: "u".to_owned(), detail: Some("low".to_owned()) },
            Part::Opaque(json!({"type": "file"})),
        ]),
        r#"{"user":[{"image":{"url":"u"}},{"image":{"url":"u","detail":"low"}},{"opaque":{"type":"file"}}]}"#,
    );
    let call = ToolCall {
        id: "1".to_owned(),
        name: "n".to_owned(),
        arguments: "{}".to_owned(),
        opaque: Map::from_iter([("signature".to_owned(), json!("x"))]),
    };
    check(
        Message::Assistant(AssistantMessage {
            parts: vec![AssistantPart::Reasoning("r".to_owned()), AssistantPart::Call(call)],
            opaque: Map::new(),
        }),
        r#"{"assistant":{"parts":[{"reasoning":"r"},{"call":{"id":"1","name":"n","arguments":"{}","opaque":{"signature":"x"}}}]}}"#,
    );
    check(
        Message::ToolResult(ToolResult { call_id: "1".to_owned(), text: "t".to_owned(), is_error: true }),
        r#"{"tool_result":{"call_id":"1","text":"t","is_error":true}}"#,
    );
}

#[test]
fn an_unknown_format_is_named() {
    let error = decode(2, r#"{"system":"s"}"#).unwrap_err();
    assert_eq!(error.to_string(), "its content has format 2, and this program knows formats up to 1");
}
