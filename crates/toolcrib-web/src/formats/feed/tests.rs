use super::*;

fn check(source: &str, expected: &str) -> Document {
    let document = read(source, &Url::parse("https://notes.example/feed.xml").unwrap());
    assert_eq!(document.markdown, expected);
    document
}

#[test]
fn rss_entries_become_sections() {
    let document = check(
        r#"<?xml version="1.0"?><rss version="2.0" xmlns:content="c" xmlns:dc="d" xmlns:atom="http://www.w3.org/2005/Atom"><channel>
        <title>Lantern &amp; Notes</title><link>https://notes.example/</link><description>About mills</description><language>en</language>
        <atom:link href="https://notes.example/feed.xml" rel="self"/><image><title>logo</title></image>
        <item><title>The gate</title><link>/gate</link><pubDate>Mon, 30 Nov 2026</pubDate><dc:creator>Ann</dc:creator>
        <description>Short</description><content:encoded><![CDATA[<p>Long <b>text</b></p><script>x()</script>]]></content:encoded></item>
        <item><title>The wheel</title><guid>https://notes.example/wheel</guid><description>It &lt;em&gt;turns&lt;/em&gt;</description></item>
        </channel></rss>"#,
        "# Lantern & Notes\n\nAbout mills\n\n## [The gate](https://notes.example/gate)\n\nMon, 30 Nov 2026 · Ann\n\n\
         Long **text**\n\n## [The wheel](https://notes.example/wheel)\n\nIt *turns*",
    );
    assert_eq!(document.route, Route::Feed);
    assert_eq!(document.metadata.title.as_deref(), Some("Lantern & Notes"));
    assert_eq!(document.metadata.language.as_deref(), Some("en"));
    assert_eq!(document.links.len(), 2);
}

#[test]
fn atom_entries_become_sections() {
    check(
        r#"<feed xmlns="http://www.w3.org/2005/Atom" xml:lang="de"><title>Mills</title><link href="https://notes.example/"/>
        <entry><title>Gate</title><link rel="edit" href="/e"/><link href="/gate"/><updated>2026-11-30</updated><author><name>Bo</name></author>
        <content type="xhtml"><div xmlns="http://www.w3.org/1999/xhtml"><p>Inline <a href="/x">markup</a> &amp; more</p></div></content></entry></feed>"#,
        "# Mills\n\n## [Gate](https://notes.example/gate)\n\n2026-11-30 · Bo\n\nInline [markup](https://notes.example/x) & more",
    );
}

#[test]
fn other_xml_stays_as_it_is_and_entities_are_not_expanded() {
    check("<?xml version=\"1.0\"?>\n<mill><gate/></mill>\n", "<?xml version=\"1.0\"?>\n<mill><gate/></mill>");
    check(
        "<!DOCTYPE rss [<!ENTITY x SYSTEM \"file:///etc/passwd\">]><rss><channel><title>T &x;</title></channel></rss>",
        "# T &x;",
    );
    check("<?xml version=\"1.0\"?><html><body><p>A page</p></body></html>", "A page");
}
