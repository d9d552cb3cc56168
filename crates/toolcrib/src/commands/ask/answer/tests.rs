use super::*;

fn delta(text: &str) -> Value {
    json!({"choices": [{"delta": {"content": text}}]})
}

fn event(kind: &str) -> Value {
    json!({"choices": [], "toolcrib": {"type": kind, "status": "SUCCESS"}})
}

/// What is shown of texts; `|` stands for a call.
fn shown(pieces: &[&str]) -> String {
    let mut answer = Answer::new(true);
    let mut shown = String::new();
    for piece in pieces {
        if *piece == "|" {
            answer.take_event(&event("call_started")["toolcrib"]).expect("no failure");
            answer.take_event(&event("call_ended")["toolcrib"]).expect("no failure");
        } else {
            shown.push_str(&answer.shown(piece));
        }
    }
    shown
}

#[test]
fn line_ends_are_left_out_directly_behind_a_call_only() {
    let cases: [(&[&str], &str); 5] = [
        (&["a\n", "\nb"], "a\n\nb"),
        (&["\na"], "\na"),
        (&["a", "|", "\n\nb"], "ab"),
        (&["a", "|", "\n", "\n", "b", "\n\n", "c"], "ab\n\nc"),
        (&["|", "", "\n", "b"], "b"),
    ];
    for (pieces, expected) in cases {
        assert_eq!(shown(pieces), expected, "{pieces:?}");
    }
}

#[test]
fn escapes_are_taken_out_even_when_they_come_in_pieces() {
    assert_eq!(shown(&["a\u{1b}", "[2J", "\u{1b}]0;x", "\u{7}b\u{9b}"]), "a[2J]0;xb");
}

#[test]
fn the_data_holds_the_text_as_it_came() {
    let mut answer = Answer::new(true);
    for chunk in [delta("a"), event("call_ended"), delta("\n\n\u{1b}b"), event("finished")] {
        answer.take(&chunk).unwrap();
    }
    assert!(answer.is_finished());
    assert_eq!(answer.to_json()["text"], "a\n\n\u{1b}b");
    assert_eq!(answer.to_json()["calls"].as_array().unwrap().len(), 1);
}

#[test]
fn a_failure_in_the_stream_keeps_its_hint() {
    let chunk = json!({"error": {"code": "model_failed", "message": "no", "hint": "again"}});
    let Err(ClientError::Refused { code, message, hint, .. }) = Answer::new(true).take(&chunk) else {
        panic!("not refused");
    };
    assert_eq!((code.as_str(), message.as_str(), hint.as_deref()), ("model_failed", "no", Some("again")));
}

#[test]
fn long_results_are_cut_in_both_directions() {
    let lines = result_lines(&json!({"result": format!("{}\n\u{1b}[1m2\n3\n4\n5\n6\n7", "é".repeat(101))}));
    assert_eq!(lines.len(), 7);
    assert_eq!(lines[0], format!("{}…", "é".repeat(100)));
    assert_eq!(lines[1], "[1m2");
    assert_eq!(lines[6], "… 1 more line");
}
