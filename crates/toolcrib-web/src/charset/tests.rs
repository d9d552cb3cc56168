use encoding_rs::{GBK, SHIFT_JIS, WINDOWS_1251};

use super::*;

fn check(bytes: &[u8], label: Option<&str>, encoding: &str, guessed: bool, text: &str) {
    let decoded = decode(bytes, label, None);
    assert_eq!((decoded.encoding, decoded.guessed), (encoding, guessed), "{}", decoded.text);
    assert!(decoded.text.contains(text), "{}", decoded.text);
}

#[test]
fn the_order_is_mark_header_meta_detection() {
    check(b"\xEF\xBB\xBF\xC3\xA4", Some("windows-1252"), "UTF-8", false, "ä");
    check(b"<meta charset=gbk>\xC3\xA4", Some("utf-8"), "UTF-8", false, "ä");
    check(b"<meta charset=\"ISO-8859-1\">\xE4 \x80", None, "windows-1252", false, "ä €");
    check(b"<p>\xC3\xA4", None, "UTF-8", false, "ä");
    check(b"<p>\xC3\xA4", Some("no-such-label"), "UTF-8", false, "ä");
}

#[test]
fn labels_mean_what_browsers_take_them_for() {
    check(b"\x93x\x94 \x80", Some("iso-8859-1"), "windows-1252", false, "“x” €");
    let (bytes, ..) = GBK.encode("潮汐磨坊");
    check(&bytes, Some("gb2312"), "GBK", false, "潮汐磨坊");
}

#[test]
fn meta_is_found_behind_comments_and_in_http_equiv() {
    let (text, ..) = SHIFT_JIS.encode("水車小屋");
    let page = |head: &str| [head.as_bytes(), &text].concat();
    check(
        &page("<!-- <meta charset=utf-8> --><META charset='shift_jis'>"),
        None,
        "Shift_JIS",
        false,
        "水車小屋",
    );
    let http_equiv = "<meta http-equiv=Content-Type content=\"text/html; charset=Shift_JIS\">";
    check(&page(http_equiv), None, "Shift_JIS", false, "水車小屋");
    check(&page("<?xml version='1.0' encoding='Shift_JIS'?>"), None, "Shift_JIS", false, "水車小屋");
    check(b"<meta charset=utf-16le>\xC3\xA4", None, "UTF-8", false, "ä");
}

#[test]
fn meta_counts_only_within_the_first_kibibyte() {
    let page = format!("<!--{}--><meta charset=windows-1251>\u{E4}", "x".repeat(1_100));
    check(page.as_bytes(), None, "UTF-8", false, "ä");
}

#[test]
fn detection_flags_its_guess() {
    let text = "Приливные мельницы строили там, где узкая речка впадала в море. ".repeat(8);
    let (bytes, ..) = WINDOWS_1251.encode(&text);
    check(&bytes, None, "windows-1251", true, "мельницы");
    let wide: Vec<u8> = "<p>The mill</p>".encode_utf16().flat_map(u16::to_le_bytes).collect();
    check(&wide, None, "UTF-16LE", true, "The mill");
    let wide: Vec<u8> = "<p>The mill</p>".encode_utf16().flat_map(u16::to_be_bytes).collect();
    check(&wide, None, "UTF-16BE", true, "The mill");
}

#[test]
fn a_character_cut_at_the_end_is_no_doubt() {
    check(b"caf\xC3\xA9 \xE2\x82", None, "UTF-8", false, "café");
}
