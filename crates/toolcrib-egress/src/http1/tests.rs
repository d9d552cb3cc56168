use proptest::prelude::*;

use super::*;

fn head_of(bytes: &[u8]) -> Result<Head, WireError> {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(Wire::new(bytes).head(&Budgets::default()))
}

#[test]
fn a_header_is_read_field_by_field() {
    let head =
        head_of(b"HTTP/1.1 404 Not Found\r\nContent-Type:text/html\r\nX-Empty:\r\nX-Pad: \t a b \t\r\n\r\n")
            .unwrap();
    assert_eq!((head.status, head.framing), (404, Framing::UntilClose));
    assert_eq!(head.fields["content-type"], "text/html");
    assert_eq!(head.fields["x-empty"], "");
    assert_eq!(head.fields["x-pad"], "a b");
}

#[test]
fn the_header_budget_is_exact() {
    let frame = b"HTTP/1.1 200 OK\r\nX: \r\n\r\n".len();
    for (extra, fits) in [(0, true), (1, false)] {
        let filler = "a".repeat(Budgets::default().header_bytes - frame + extra);
        let bytes = format!("HTTP/1.1 200 OK\r\nX: {filler}\r\n\r\n");
        assert_eq!(head_of(bytes.as_bytes()).is_ok(), fits, "{extra}");
    }
}

proptest! {
    #[test]
    fn no_bytes_make_the_reader_panic_or_hang(
        bytes in proptest::collection::vec(any::<u8>(), 0..200),
        start in prop_oneof![Just(""), Just("HTTP/1.1 200 OK\r\n"), Just("HTTP/1.1 100 C\r\n\r\nHTTP/1.")],
    ) {
        let _ = head_of(&[start.as_bytes(), &bytes].concat());
    }
}
