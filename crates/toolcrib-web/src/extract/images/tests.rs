use super::*;
use crate::extract::dom::parse::parse;

fn check(html: &str, expected: Option<&str>) {
    let dom = parse(html);
    let base = Url::parse("https://notes.example/a/").unwrap();
    let image = dom.find(Dom::root(), Tag::Img).unwrap();
    assert_eq!(source(&dom, &base, image).map(String::from), expected.map(str::to_owned), "{html}");
}

#[test]
fn the_real_source_wins() {
    check("<img src=x.png>", Some("https://notes.example/a/x.png"));
    check("<img src=data:image/gif;base64,AA data-src=/x.png>", Some("https://notes.example/x.png"));
    check(
        "<img src=/blank.gif data-srcset='/s.jpg 400w, /l.jpg 1200w'>",
        Some("https://notes.example/l.jpg"),
    );
    check("<img srcset='/s.jpg, /l.jpg 2x'>", Some("https://notes.example/l.jpg"));
    check(
        "<img srcset='/c,w_100/s.jpg 100w,/c,w_900/l.jpg 900w'>",
        Some("https://notes.example/c,w_900/l.jpg"),
    );
    check("<picture><source srcset='/p.webp 2x'><img alt=x></picture>", Some("https://notes.example/p.webp"));
}

#[test]
fn placeholders_are_no_sources() {
    check("<img src=data:image/gif;base64,AA>", None);
    check("<img src=/t.gif width=1 height=1>", None);
    check("<img src=/img/spacer.gif>", None);
}
