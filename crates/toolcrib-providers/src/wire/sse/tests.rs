use proptest::prelude::*;

use super::*;

fn events(pieces: &[&[u8]]) -> Vec<(Option<String>, String)> {
    let mut reader = SseReader::default();
    let mut events = Vec::new();
    for piece in pieces {
        reader.push(Bytes::copy_from_slice(piece));
        while let Some(event) = reader.next_event().unwrap() {
            events.push(event);
        }
    }
    events.extend(reader.finish().unwrap());
    let text = |bytes: &Bytes| String::from_utf8(bytes.to_vec()).unwrap();
    events.iter().map(|event| (event.name.as_ref().map(text), text(&event.data))).collect()
}

fn check(stream: &str, expected: &[&str]) {
    let found: Vec<_> = events(&[stream.as_bytes()]).into_iter().map(|(_, data)| data).collect();
    assert_eq!(found, expected, "{stream:?}");
}

#[test]
fn line_endings_may_be_mixed() {
    check("data: a\n\ndata: b\r\n\r\ndata: c\r\rdata: d\r\n\ndata: e\n\n", &["a", "b", "c", "d", "e"]);
}

#[test]
fn one_space_after_the_colon_belongs_to_the_format() {
    check("data:a\n\ndata:  b\n\ndata: c \n\n", &["a", " b", "c "]);
}

#[test]
fn data_lines_are_joined() {
    check("data: {\ndata: \"a\": 1\ndata: }\n\n", &["{\n\"a\": 1\n}"]);
}

#[test]
fn comments_unknown_fields_and_empty_events_are_passed_over() {
    check(": keep-alive\n\nid: 7\nretry: 10\n\ndata\n\ndata:\n\ndata: a\n: in between\n\n", &["a"]);
}

#[test]
fn a_byte_order_mark_is_skipped_only_at_the_start() {
    check("\u{feff}data: \u{feff}a\n\n", &["\u{feff}a"]);
}

#[test]
fn the_last_event_needs_no_line_ending() {
    check("data: a\n\ndata: b", &["a", "b"]);
    check("data: a\n\ndata: b\n", &["a", "b"]);
    check("data: a\r\n\r\ndata: b\r\n\r", &["a", "b"]);
}

#[test]
fn names_belong_to_their_event() {
    let found = events(&[b"event: error\ndata: a\n\nevent: lost\n\ndata: b\n\n"]);
    assert_eq!(found, [(Some("error".to_owned()), "a".to_owned()), (None, "b".to_owned())]);
}

#[test]
fn one_data_line_is_not_copied() {
    let bytes = Bytes::from(b"data: payload\n\n".to_vec());
    let start = bytes.as_ptr() as usize;
    let mut reader = SseReader::default();
    reader.push(bytes);
    let event = reader.next_event().unwrap().unwrap();
    assert_eq!(event.data.as_ptr() as usize, start + 6);
}

#[test]
fn an_event_over_the_limit_is_an_error() {
    let expected = Err(SseError::TooLarge { limit: 10 });
    for stream in ["data: 12345678901\n\n", "data: 123456\ndata: 123456\n\n", "data: 12345678"] {
        let mut reader = SseReader::new(10);
        reader.push(Bytes::copy_from_slice(stream.as_bytes()));
        assert_eq!(reader.next_event(), expected, "{stream:?}");
    }
}

/// Streams made of the pieces that have a meaning in the format.
fn streams() -> impl Strategy<Value = String> {
    let pieces = [
        "data: ", "data:", "data", "event: x", ":", "\n", "\r", "\r\n", "\n\n", "ä", "\u{feff}", "{}", " ",
        "😀",
    ];
    proptest::collection::vec(proptest::sample::select(pieces.to_vec()), 0..40)
        .prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn any_split_gives_the_same_events(stream in streams(), cuts in proptest::collection::vec(0usize..400, 0..12)) {
        let bytes = stream.as_bytes();
        let mut cuts: Vec<_> = cuts.into_iter().map(|cut| cut % (bytes.len() + 1)).collect();
        cuts.sort_unstable();
        let mut pieces = Vec::new();
        let mut start = 0;
        for cut in cuts {
            pieces.push(&bytes[start..cut]);
            start = cut;
        }
        pieces.push(&bytes[start..]);
        let single: Vec<_> = bytes.chunks(1).collect();
        let whole = events(&[bytes]);
        prop_assert_eq!(&events(&pieces), &whole);
        prop_assert_eq!(&events(&single), &whole);
    }
}
