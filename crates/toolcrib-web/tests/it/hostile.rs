//! Input that is made to hurt: bounded in time and memory, and never a panic.

use std::fmt::Write;

use toolcrib_web::{Document, read_document};
use url::Url;

fn read(source: &str) -> Document {
    let url = Url::parse("https://notes.example/").unwrap();
    read_document(source.as_bytes(), Some("text/html; charset=utf-8"), &url).unwrap()
}

#[test]
fn deep_nesting_is_flattened_and_keeps_its_text() {
    for tag in
        ["div", "blockquote", "ul><li", "b", "table><tr><td", "span", "a href=x", "svg", "dl><dd", "template"]
    {
        let name = tag.split([' ', '>']).next().unwrap();
        let open = format!("<{tag}>");
        let source = format!(
            "<p>before</p>{}deep words{}<p>after</p>",
            open.repeat(50_000),
            format!("</{name}>").repeat(50_000)
        );
        let document = read(&source);
        assert!(document.markdown.contains("before"), "{tag}: {}", document.markdown.len());
    }
    let document = read(&format!("{}deep words", "<div>".repeat(300_000)));
    assert!(document.markdown.contains("deep words"));
}

#[test]
fn unclosed_and_misnested_tags_stay_bounded() {
    for piece in [
        "<b><p>x",
        "<a href=x><div>x</a>",
        "<table><b><i>x",
        "<p><p></div></p></p><div>",
        "<select><option><b>",
        "<font a=1><p>x</p>",
    ] {
        let document = read(&piece.repeat(20_000));
        assert!(document.markdown.len() < 64 * 1024 * 1024, "{piece}");
    }
    let mut source = String::new();
    for index in 0..20_000 {
        write!(source, "<p><b a{index}=1><i b{index}=2>x</p>").unwrap();
    }
    assert!(read(&source).markdown.contains('x'));
}

#[test]
fn a_million_attributes_do_not_matter() {
    let mut attributes = String::new();
    for index in 0..1_000_000 {
        write!(attributes, " a{index}=b").unwrap();
    }
    let document = read(&format!("<p>before</p><div{attributes}>inside</div>"));
    assert!(document.markdown.contains("before") && document.markdown.contains("inside"));
    let many = "<i a b c d e f g h i j k l m n o p q r s t u v w x y z>x</i> ".repeat(20_000);
    assert!(read(&many).markdown.contains('x'));
}

#[test]
fn broken_bytes_are_read_as_far_as_they_go() {
    let url = Url::parse("https://notes.example/").unwrap();
    let read = |bytes: &[u8]| read_document(bytes, Some("text/html"), &url).unwrap();
    assert!(read(b"<p>caf\xC3\xA9 and a half \xE2\x82").markdown.contains("café and a half"));
    assert!(read(b"<p>one\0two</p>").markdown.contains("onetwo"));
    let wide: Vec<u8> = "<html><p>wide words</p>".encode_utf16().flat_map(u16::to_le_bytes).collect();
    assert_eq!(read(&wide).markdown, "wide words");
    let url = Url::parse("https://notes.example/").unwrap();
    assert_eq!(read_document(&wide, None, &url).unwrap().markdown, "wide words");
}

#[test]
fn structured_data_and_styles_are_bounded() {
    let deep = format!("{}1{}", "[".repeat(100_000), "]".repeat(100_000));
    let source = format!(
        "<script type=application/ld+json>{deep}</script><style>{}</style><p>words that stay</p>",
        ".a{".repeat(100_000)
    );
    assert!(read(&source).markdown.contains("words that stay"));
    let spans = "<tr><td colspan=1000 rowspan=60000>cell".repeat(3_000);
    assert!(read(&format!("<table><tr><th>head<th>more{spans}</table>")).markdown.len() < 8 * 1024 * 1024);
    let frames = "<iframe srcdoc='<iframe srcdoc=&quot;<p>x&quot;>'></iframe>".repeat(5_000);
    assert!(read(&format!("<p>words</p>{frames}")).markdown.contains("words"));
    let feed = format!(
        "<?xml version=\"1.0\"?><!DOCTYPE x [<!ENTITY a \"boom\">]><rss><channel><title>&a;</title>{}",
        "<item>".repeat(100_000)
    );
    let url = Url::parse("https://notes.example/").unwrap();
    let document = read_document(feed.as_bytes(), Some("application/rss+xml"), &url).unwrap();
    assert!(!document.markdown.contains("boom"));
}
