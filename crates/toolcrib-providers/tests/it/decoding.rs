//! Recorded answers of providers, one kind of deviation each, and the events that they give.

use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;
use proptest::prelude::*;
use toolcrib_providers::wire::chat_completions::{ChunkDecoder, decode_response};
use toolcrib_providers::wire::problem::ErrorSource;
use toolcrib_providers::wire::sse::SseReader;
use toolcrib_runtime::model::{ModelError, ModelEvent};

const SEED: u64 = 7;

fn source() -> Arc<ErrorSource> {
    Arc::new(ErrorSource::new("host", Vec::new()))
}

fn cases(ending: &str) -> Vec<(String, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/wire");
    let paths = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let paths = paths.filter(|path| path.extension().is_some_and(|found| found == ending));
    let case = |path: std::path::PathBuf| {
        (path.file_stem().unwrap().to_string_lossy().into_owned(), fs::read(path).unwrap())
    };
    let mut cases: Vec<_> = paths.map(case).collect();
    cases.sort();
    cases
}

fn decode(pieces: &[&[u8]]) -> (Vec<ModelEvent>, Option<ModelError>) {
    let mut reader = SseReader::default();
    let mut decoder = ChunkDecoder::new(source(), SEED);
    let mut events = Vec::new();
    let mut take =
        |decoder: &mut ChunkDecoder, data: &[u8]| decoder.decode(data).map(|new| events.extend(new));
    for piece in pieces {
        reader.push(Bytes::copy_from_slice(piece));
        while let Some(event) = reader.next_event().unwrap() {
            if let Err(error) = take(&mut decoder, &event.data) {
                return (events, Some(error));
            }
        }
    }
    if let Some(event) = reader.finish().unwrap()
        && let Err(error) = take(&mut decoder, &event.data)
    {
        return (events, Some(error));
    }
    match decoder.finish() {
        Ok(last) => events.extend(last),
        Err(error) => return (events, Some(error)),
    }
    (events, None)
}

fn shown(events: &[ModelEvent], error: Option<&ModelError>) -> String {
    let mut text = String::new();
    for event in events {
        writeln!(text, "{event:?}").unwrap();
    }
    if let Some(error) = error {
        writeln!(text, "error {:?}: {error}", error.kind).unwrap();
        writeln!(text, "for the operator: {:?}", error.detail).unwrap();
    }
    text
}

#[test]
fn streams_give_their_events() {
    let cases = cases("sse");
    assert!(cases.len() > 40, "the recorded answers are missing");
    for (name, stream) in cases {
        let (events, error) = decode(&[&stream]);
        insta::assert_snapshot!(name, shown(&events, error.as_ref()), &String::from_utf8_lossy(&stream));
    }
}

#[test]
fn complete_answers_give_the_same_kinds_of_events() {
    let cases = cases("body");
    assert!(cases.len() > 10, "the recorded answers are missing");
    for (name, body) in cases {
        let shown = match decode_response(&body, &source(), SEED) {
            Ok(events) => shown(&events, None),
            Err(error) => shown(&[], Some(&error)),
        };
        insta::assert_snapshot!(name, shown, &String::from_utf8_lossy(&body));
    }
}

#[test]
fn a_finish_is_the_last_event_and_calls_stand_in_order() {
    for (name, stream) in cases("sse") {
        let (events, error) = decode(&[&stream]);
        let ends = events.iter().filter(|event| matches!(event, ModelEvent::Finished(_))).count();
        assert_eq!(ends, usize::from(error.is_none()), "{name}");
        assert!(error.is_some() || matches!(events.last(), Some(ModelEvent::Finished(_))), "{name}");
        let progressed: Vec<_> = events
            .iter()
            .filter_map(|event| match event {
                ModelEvent::CallProgress { position, id, .. } => Some((*position, id.clone())),
                _ => None,
            })
            .collect();
        for event in &events {
            let ModelEvent::Call(call) = event else { continue };
            assert!(
                progressed.iter().any(|(_, id)| *id == call.id),
                "{name}: {} was never announced",
                call.id
            );
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn any_split_of_a_stream_gives_the_same_events(cuts in proptest::collection::vec(0usize..4000, 1..24)) {
        for (name, stream) in cases("sse") {
            let mut cuts: Vec<_> = cuts.iter().map(|cut| cut % (stream.len() + 1)).collect();
            cuts.sort_unstable();
            let mut pieces = Vec::new();
            let mut start = 0;
            for cut in cuts {
                pieces.push(&stream[start..cut]);
                start = cut;
            }
            pieces.push(&stream[start..]);
            prop_assert_eq!(decode(&pieces), decode(&[&stream]), "{}", name);
        }
    }
}

#[test]
fn single_bytes_give_the_same_events() {
    for (name, stream) in cases("sse") {
        let bytes: Vec<_> = stream.chunks(1).collect();
        assert_eq!(decode(&bytes), decode(&[&stream]), "{name}");
    }
}
