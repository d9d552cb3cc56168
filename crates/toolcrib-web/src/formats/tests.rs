use super::*;

#[test]
fn media_types_are_accepted_or_refused_at_the_headers() {
    for accepted in [
        "text/html",
        "Text/HTML; charset=utf-8",
        "application/xhtml+xml",
        "text/plain",
        "text/markdown",
        "application/json",
        "application/ld+json",
        "application/xml",
        "application/rss+xml",
        "application/atom+xml",
        "application/yaml",
        "text/csv",
        "",
        "nonsense",
    ] {
        assert!(is_accepted_content_type(accepted), "{accepted}");
    }
    for refused in [
        "application/pdf",
        "application/octet-stream",
        "image/png",
        "image/svg+xml",
        "video/mp4",
        "application/zip",
        "text/event-stream",
        "application/vnd.ms-excel",
    ] {
        assert!(!is_accepted_content_type(refused), "{refused}");
    }
}

fn check(bytes: &[u8], content_type: Option<&str>, expected: Result<(Format, &str), &str>) {
    let content_type = content_type.and_then(ContentType::parse);
    let found = identify(bytes, content_type.as_ref()).map_err(|error| match error {
        PageError::Unsupported { media_type } => media_type,
        other => other.to_string(),
    });
    let expected = expected.map(|(format, name)| (format, name.to_owned())).map_err(str::to_owned);
    assert_eq!(found, expected);
}

#[test]
fn first_bytes_decide_without_a_header() {
    check(b"<!DOCTYPE html><p>x", None, Ok((Format::Html, "text/html")));
    check(b"\xEF\xBB\xBF  <html>", None, Ok((Format::Html, "text/html")));
    check(b"{\"a\": 1}", None, Ok((Format::Text, "application/json")));
    check(b"plain words", None, Ok((Format::Text, "text/plain")));
    check(b"<?xml version=\"1.0\"?><rss>", None, Ok((Format::Xml, "application/xml")));
    check(b"<\0h\0t\0m\0l\0>\0x\0", None, Ok((Format::Html, "text/html")));
    check(b"\x00\x01\x02\x03binary\x00\xFF", None, Err("application/octet-stream"));
    check(b"%PDF-1.7", None, Err("application/pdf"));
}

#[test]
fn first_bytes_overrule_a_header_that_hides_a_binary() {
    check(b"%PDF-1.7", Some("text/html"), Err("application/pdf"));
    check(b"plain", Some("text/html"), Ok((Format::Html, "text/html")));
    check(b"x", Some("application/pdf"), Err("application/pdf"));
}

#[test]
fn parameters_are_read_in_any_form() {
    let parsed = ContentType::parse("text/html; boundary=x; Charset=\"GB2312\"").unwrap();
    assert_eq!((parsed.media_type.as_str(), parsed.charset.as_deref()), ("text/html", Some("GB2312")));
    assert_eq!(ContentType::parse("html"), None);
    assert_eq!(ContentType::parse("*/*"), None);
}
