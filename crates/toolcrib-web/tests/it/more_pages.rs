//! Whole pages of the kinds that are hard to get right.

use toolcrib_web::{Document, Route, Status, Warning, read_document};
use url::Url;

const PROSE: &str = "<p>Tidal mills were built where a narrow creek met the sea, so that the flood tide could be trapped behind a gate and released over a wheel some hours later.</p><p>The miller worked to the moon rather than to the clock, and the ledger that survives from the harbour records shifts that begin at every hour of the night.</p>";

fn read(source: &str) -> Document {
    let url = Url::parse("https://notes.example/mills/creek.html").unwrap();
    read_document(source.as_bytes(), Some("text/html; charset=utf-8"), &url).unwrap()
}

fn check(source: &str, present: &[&str], absent: &[&str]) -> Document {
    let document = read(source);
    for text in present {
        assert!(document.markdown.contains(text), "lacks {text:?}:\n{}", document.markdown);
    }
    for text in absent {
        assert!(!document.markdown.contains(text), "holds {text:?}:\n{}", document.markdown);
    }
    document
}

#[test]
fn forum_threads_keep_every_post_and_its_author() {
    let post = |author: &str, text: &str| {
        format!(
            "<div class='post'><div class='post-author'><a href='/u/{author}' class='username'>{author}</a></div><div class='post-body'><p>{text}</p></div><div class='post-tools'><a href=#r>Reply</a> <a href=#q>Quote</a></div></div>"
        )
    };
    let page = format!(
        "<title>Gate sticks - Forum</title><div class=navbar><a href=/>Home</a><a href=/f>Forums</a></div><h1>Gate sticks at low water</h1><div class='thread'>{}{}{}</div><div class=footer>Powered by Lantern Board</div>",
        post(
            "wheelwright",
            "My sluice gate sticks whenever the water is low. Has anybody else seen this with oak gates?"
        ),
        post(
            "tidewatcher",
            "Yes. The sill swells. Plane two millimetres off the lower edge and it will run again."
        ),
        post("wheelwright", "That did it, thank you."),
    );
    check(
        &page,
        &["Gate sticks at low water", "wheelwright", "tidewatcher", "The sill swells", "That did it"],
        &["Powered by", "Forums"],
    );
}

#[test]
fn declarative_shadow_roots_are_expanded_with_their_slots() {
    let page = format!(
        "<main><h1>Creek</h1><mill-card><template shadowrootmode=open><style>p{{color:red}}</style><section><slot name=head></slot>{PROSE}<slot></slot></section></template><h2 slot=head>Slotted heading</h2><p>Slotted words of the page.</p></mill-card></main>"
    );
    let document =
        check(&page, &["## Slotted heading", "Tidal mills were built", "Slotted words"], &["color"]);
    let heading = document.markdown.find("Slotted heading").unwrap();
    assert!(heading < document.markdown.find("Tidal mills").unwrap());
    assert!(document.markdown.find("Slotted words").unwrap() > document.markdown.find("The miller").unwrap());
}

#[test]
fn a_frameworks_state_is_the_content_of_an_empty_tree() {
    let page = r#"<title>App</title><div id="__next"></div><script id="__NEXT_DATA__" type="application/json">
        {"props":{"pageProps":{"post":{"title":"Tidal mills of the creek","body":"<p>Tidal mills were built where a narrow creek met the sea.</p><h2>The moon</h2><p>The miller worked to the moon rather than to the clock.</p>"},
        "translations":{"consent":"We use cookies so that this page remembers what you have chosen before."}}},"page":"/post"}</script>"#;
    let document = check(page, &["# Tidal mills of the creek", "met the sea.\n\n## The moon"], &["cookies"]);
    assert_eq!(document.route, Route::FrameworkState);
    let page = r#"<title>App</title><div id=app></div><script>window.__INITIAL_STATE__ = {"article":{"headline":"Mills of the creek","paragraphs":["Tidal mills were built where a narrow creek met the sea.","The miller worked to the moon rather than to the clock, night after night."]}};(function(){})()</script>"#;
    check(page, &["met the sea.\n\nThe miller worked"], &["function"]);
}

#[test]
fn structured_data_replaces_a_teaser() {
    let page = r#"<script type='application/ld+json'>{"@type":"Article","headline":"Mills","articleBody":"First paragraph about mills & gates on the creek, told at length.\nSecond paragraph."}</script><div id=root>Loading…</div>"#;
    let document = check(page, &["# Mills", "told at length.\n\nSecond paragraph."], &["Loading"]);
    assert_eq!(document.route, Route::StructuredData);
}

#[test]
fn documentation_keeps_notes_and_drops_its_navigation() {
    let page = format!(
        "<div class=wy-nav-side><ul><li><a href=a>Install</a><li><a href=b>Use the sluice</a></ul></div><div role=main class=document><div itemprop=articleBody><h1>Configure<a class=headerlink href=#c title='Permalink to this heading'>¶</a></h1>{PROSE}<div class='admonition note'><p class=admonition-title>Note</p><p>Mind the eels.</p></div><div class=highlight-python><div class=highlight><pre><span></span><span class=n>gate</span> <span class=o>=</span> <span class=mi>1</span>\n</pre></div></div></div></div><footer>Built with Lantern</footer>"
    );
    check(
        &page,
        &["# Configure\n", "Mind the eels.", "```python\ngate = 1\n```"],
        &["Use the sluice", "¶", "Built with"],
    );
}

#[test]
fn boxes_around_an_article_are_dropped() {
    let page = format!(
        "<div class=site-header><a href=/>Lantern</a></div><div class=article><h1>Creek</h1><div class=share-buttons><a href=//x>Tweet</a></div>{PROSE}<div class=newsletter-signup><p>Get our letters every week, free of charge, in your own inbox.</p></div><p>By the time steam arrived the creek had silted up.</p><div class='related-posts'><h3>Related</h3><ul><li><a href=/1>One other story</a><li><a href=/2>Two other stories</a></ul></div></div>"
    );
    check(&page, &["# Creek", "silted up"], &["Tweet", "inbox", "other story", "Related"]);
}

#[test]
fn nothing_static_is_said_and_text_is_never_lost() {
    let document = read("<html><body><div id=root></div><script src=/app.js></script></body></html>");
    assert_eq!(
        (document.status, document.warnings.as_slice()),
        (Status::Empty, &[Warning::NothingStatic][..])
    );
    let document = read("<body><div class=cookie-consent>Only a question about cookies.</div></body>");
    assert_eq!(document.markdown, "Only a question about cookies.");
    assert!(document.warnings.contains(&Warning::LenientExtraction));
    let document = read("<body><div style='display:none'>Only hidden words.</div></body>");
    assert_eq!(document.markdown, "Only hidden words.");
    let document = read("<meta name=description content='Only a summary.'><div id=app></div>");
    assert_eq!((document.markdown.as_str(), document.route), ("Only a summary.", Route::Description));
}

#[test]
fn east_asian_articles_are_found() {
    let text = "潮汐磨坊建在狭窄的小河入海口处，涨潮时的水被闸门拦住，几个小时后再放出来推动水轮。".repeat(4);
    let page = format!(
        "<div class=nav><a href=/a>首页</a><a href=/b>新闻</a></div><div class=box><h1>潮汐磨坊</h1><p>{text}</p></div><div class=footer>版权所有</div>"
    );
    check(&page, &["# 潮汐磨坊", "潮汐磨坊建在狭窄的小河入海口处"], &["首页", "版权所有"]);
}

#[test]
fn listings_keep_their_items_with_links() {
    let card = |n: u32| {
        format!(
            "<div class=card><h3><a href=/p/{n}>Gate number {n}</a></h3><p>Oak gate with bronze pins, model {n}.</p></div>"
        )
    };
    let cards: String = (1..8).map(card).collect();
    let page =
        format!("<nav><a href=/>Home</a></nav><main><h1>Gates</h1><div class=grid>{cards}</div></main>");
    check(&page, &["# Gates", "[Gate number 1](https://notes.example/p/1)", "model 7"], &["Home"]);
}
