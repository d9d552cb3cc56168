//! What pages say about themselves, and which source wins.

use toolcrib_web::{Document, read_document};
use url::Url;

fn read(source: &str) -> Document {
    let url = Url::parse("https://notes.example/a/b").unwrap();
    read_document(source.as_bytes(), Some("text/html; charset=utf-8"), &url).unwrap()
}

/// Each source of the title, the best first.
const TITLES: [&str; 8] = [
    r#"<script type="application/ld+json">{"@graph":[{"@type":"WebSite","name":"no"},{"@type":["BlogPosting"],"headline":"title 0",}]}</script>"#,
    r#"<meta property="og:title" content="title 1">"#,
    r#"<meta name="citation_title" content="title 2">"#,
    r#"<meta name="DC.title" content="title 3">"#,
    r#"<span itemprop="headline">title 4</span>"#,
    "<h1>title <b>5</b></h1>",
    r#"<meta name="twitter:title" content="title 6">"#,
    "<title>title 7</title>",
];

#[test]
fn titles_follow_their_precedence() {
    for first in 0..TITLES.len() {
        let page = TITLES[first..].iter().rev().copied().collect::<String>();
        let title = read(&page).metadata.title;
        assert_eq!(title.as_deref(), Some(format!("title {first}").as_str()));
    }
}

#[test]
fn authors_are_names_each_once_and_at_most_ten() {
    let page = r#"<script type="application/ld+json">
        {"@type":"NewsArticle","headline":"x","author":[{"@type":"Person","name":"Ann Mill"},"Bo Gate","ann mill",
         "https://notes.example/people/3"]}</script><meta name="author" content="Nobody"><p>x"#;
    assert_eq!(read(page).metadata.authors, ["Ann Mill", "Bo Gate"]);
    let many: Vec<String> =
        (0..30).map(|n| format!("<meta name=citation_author content='Author {n}'>")).collect();
    assert_eq!(read(&many.concat()).metadata.authors.len(), 10);
    assert_eq!(read("<meta name=author content='By Cy Quay'><p>x").metadata.authors, ["Cy Quay"]);
    assert_eq!(
        read("<span itemprop=author itemscope><b itemprop=name>Di Sill</b> (staff)</span>").metadata.authors,
        ["Di Sill"]
    );
}

#[test]
fn fields_come_from_their_sources() {
    let page = r#"<html lang="pt_BR"><head><meta property="og:site_name" content="Lantern Notes">
        <meta name="description" content="  About   mills "><link rel="canonical" href="/c">
        <meta property="article:published_time" content="2026-01-02T03:04:05Z">
        <meta property="article:modified_time" content="2026-02-03"></head><body><p>x"#;
    let metadata = read(page).metadata;
    assert_eq!(metadata.language.as_deref(), Some("pt-BR"));
    assert_eq!(metadata.site_name.as_deref(), Some("Lantern Notes"));
    assert_eq!(metadata.description.as_deref(), Some("About mills"));
    assert_eq!(metadata.canonical.map(String::from).as_deref(), Some("https://notes.example/c"));
    assert_eq!(metadata.published.as_deref(), Some("2026-01-02T03:04:05Z"));
    assert_eq!(metadata.modified.as_deref(), Some("2026-02-03"));
    assert_eq!(metadata.media_type.as_deref(), Some("text/html"));
}

#[test]
fn fields_are_bounded() {
    let page = format!("<title>{}</title><p>x", "ä".repeat(5_000));
    assert_eq!(read(&page).metadata.title.unwrap().chars().count(), 1_000);
    let mut scripts = r#"<script type="application/ld+json">{"@type":"Thing"}</script>"#.repeat(20);
    scripts += r#"<script type="application/ld+json">{"@type":"Article","headline":"too late"}</script><title>in time</title><p>x"#;
    assert_eq!(read(&scripts).metadata.title.as_deref(), Some("in time"));
}

#[test]
fn outlines_and_links_come_from_the_content() {
    let page = "<nav><a href=/n>Nav</a></nav><main><h1>One <a href=#one>#</a></h1><h2>Two</h2><h4>Four</h4>\
        <p>See <a href=x>this</a>, <a href=x>again</a> and <a href=mailto:a@b>mail</a>.</p></main>";
    let document = read(page);
    let outline: Vec<_> =
        document.outline.iter().map(|heading| (heading.level, heading.text.as_str())).collect();
    assert_eq!(outline, [(1, "One"), (2, "Two")]);
    let links: Vec<_> = document.links.iter().map(|link| (link.text.as_str(), link.url.as_str())).collect();
    assert_eq!(links, [("this", "https://notes.example/a/x")]);
}
