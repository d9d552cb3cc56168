use url::Url;

use crate::extract::fragment;

#[track_caller]
fn check(html: &str, expected: &str) {
    let base = Url::parse("https://notes.example/a/").unwrap();
    assert_eq!(fragment(html, &base), expected);
}

#[test]
fn paragraphs_and_white_space() {
    check("<p>one\n  two</p>\n<p> three </p>", "one two\n\nthree");
    check("bare <b>bold</b> text<div>block</div>tail", "bare **bold** text\n\nblock\n\ntail");
    check("<p>a<br>b<br><br>c</p>", "a  \nb\n\nc");
    check("<p>a <b> b </b> c<i>d</i></p>", "a **b** c*d*");
    check("<p><b><b>a</b> b</b> <strong></strong>c</p>", "**a b** c");
    check(
        "<p>1986. A year</p><p># no heading</p><p>- no list</p>",
        "1986\\. A year\n\n\\# no heading\n\n\\- no list",
    );
}

#[test]
fn headings() {
    check("<h2 id=x><a href=#x>Title</a></h2>", "## Title");
    check("<h3>Title<a class=headerlink href=#t>¶</a></h3>", "### Title");
    check("<h1><a class=anchor href=#t></a>The <code>x</code></h1>", "# The `x`");
    check(
        "<h2><span>History</span><span class=mw-editsection>[<a href=/e>edit</a>]</span></h2>",
        "## History",
    );
    check("<h2><b>Bold</b><br>two</h2><h3></h3>", "## Bold two");
}

#[test]
fn links() {
    check("<a href=b>t</a>", "[t](https://notes.example/a/b)");
    check("<p>Hi!<a href=/b>t</a></p>", "Hi\\![t](https://notes.example/b)");
    check("<a href='/w/G_(s)'>gate [B]</a>", "[gate \\[B\\]](https://notes.example/w/G_%28s%29)");
    check("<a href='javascript:x()'>t</a> <a href=#x>u</a> <a href=/empty></a>", "t u");
    check("<a href=/b><div><h3>Card</h3><p>text</p></div></a>", "### Card\n\ntext");
    check("<p>x<a href=/b> t </a>y</p>", "x [t](https://notes.example/b) y");
}

#[test]
fn lists() {
    check("<ul><li>a<li>b<ul><li>c</ul></ul>", "- a\n- b\n  - c");
    check("<ol start=9><li>a<li>b<p>c</p></ol>", "9. a\n10. b\n\n    c");
    check("<ol><li value=3>a<li>b</ol><ol reversed><li>x<li>y</ol>", "3. a\n4. b\n2. x\n1. y");
    check("<ul><li>a</li><ul><li>b</li></ul><li>c</li></ul>", "- a\n  - b\n- c");
    check(
        "<ul><li><input type=checkbox checked> done<li><input type=checkbox> open</ul>",
        "- [x] done\n- [ ] open",
    );
    check("<ul><li>a<pre>x\n  y</pre></ul>", "- a\n\n  ```\n  x\n    y\n  ```");
    check("<ul><li></li><li>b</ul>", "- b");
    check("<dl><dt>T<dt>U<dd>d<dt>V<dd>e</dl>", "**T**  \n**U**\n: d\n\n**V**\n: e");
}

#[test]
fn code() {
    check(
        "<pre><code class='language-rust hljs'>fn f() {}\n\n  x`y</code></pre>",
        "```rust\nfn f() {}\n\n  x`y\n```",
    );
    check("<pre>a ``` b</pre>", "````\na ``` b\n````");
    check("<div class='highlight highlight-source-shell'><pre>ls</pre></div>", "```shell\nls\n```");
    check("<pre class='brush: js; gutter: true'>x</pre>", "```js\nx\n```");
    check("<pre data-lang=go>x</pre>", "```go\nx\n```");
    check(
        "<pre><code><span class=line>a</span><br><span class=line>  b</span></code></pre>",
        "```\na\n  b\n```",
    );
    check(
        "<pre><div class=line>a</div><div class=line></div><div class=line> b</div></pre>",
        "```\na\n\n b\n```",
    );
    check(
        "<pre><span class=lineno>1 </span>a\n<span class=lineno>2 </span>b<button>Copy</button></pre>",
        "```\na\nb\n```",
    );
    check(
        "<table class=highlighttable><tr><td class=linenos><pre>1\n2</pre><td class=code><pre>a\nb</pre></table>",
        "```\na\nb\n```",
    );
    check("<table><tr><td><pre>1\n2\n3</pre><td><pre>a\nb\nc</pre></table>", "```\na\nb\nc\n```");
    check(
        "<table><tr><td class=blob-num>1<td class='blob-code'>a<tr><td class=blob-num>2<td class='blob-code'>  b</table>",
        "```\na\n  b\n```",
    );
    check("<p>Run <code>a  b</code>, <kbd>Ctrl</kbd>.</p>", "Run `a b`, `Ctrl`.");
    check("<p>x <code>`</code></p>", "x `` ` ``");
}

#[test]
fn tables() {
    check("<table><tr><th>a<th>b<tr><td>1<td>x|y</table>", "| a | b |\n| --- | --- |\n| 1 | x\\|y |");
    check(
        "<table><tr><th>a<th>b<th>c<tr><td rowspan=2>1<td colspan=2>2<tr><td>3<td>4</table>",
        "| a | b | c |\n| --- | --- | --- |\n| 1 | 2 |  |\n| 1 | 3 | 4 |",
    );
    check("<table><tr><th>W<td>2<tr><th>H<td>3</table>", "|  |  |\n| --- | --- |\n| W | 2 |\n| H | 3 |");
    check("<table><tr><td>a<td>b<tr><td>1<td>2</table>", "| a | b |\n| --- | --- |\n| 1 | 2 |");
    check("<table role=presentation><tr><td><p>a</p><td><p>b</p></table>", "a\n\nb");
    check("<table><tr><td><h2>Left</h2><p>text</p><td><p>right</p></table>", "## Left\n\ntext\n\nright");
    check("<table><tr><td>only</table>", "only");
    check(
        "<table><thead><tr><th colspan=2>g<tr><th>a<th>b<tbody><tr><td>1<td>2</table>",
        "| g<br>a | b |\n| --- | --- |\n| 1 | 2 |",
    );
}

#[test]
fn quotes_and_details() {
    check(
        "<blockquote><p>a</p><ul><li>b</ul><blockquote>c</blockquote></blockquote>",
        "> a\n>\n> - b\n>\n> > c",
    );
    check("<details><summary>Why?</summary><p>Because.</p></details>", "**Why?**\n\nBecause.");
    check("<p>a</p><hr><p>b</p>", "a\n\n---\n\nb");
}

#[test]
fn pictures() {
    check(
        "<figure><img src=/x.png alt='A [gate]'><figcaption>Low water.</figcaption></figure>",
        "![A \\[gate\\]](https://notes.example/x.png)\n\nLow water.",
    );
    check("<p><img src=/x.png alt=a><img src=/x.png alt=a></p>", "![a](https://notes.example/x.png)");
    check(
        "<p><img src='data:image/gif;base64,AA'><noscript><img src=/x.png alt=a></noscript></p>",
        "![a](https://notes.example/x.png)",
    );
    check("<p>x <img class=emoji alt=🙂 src=/e.png></p>", "x 🙂");
}

#[test]
fn formulas_stand_once() {
    check("<p>a <script type='math/tex'>x^2</script> b</p>", "a $x^2$ b");
    check(
        "<span class=MathJax_Preview>x2</span><span class=MathJax>x2</span><script type='math/tex; mode=display'>x^2</script>",
        "$$x^2$$",
    );
    check("<p>a <math alttext='{\\displaystyle E}'><mi>E</mi></math></p>", "a $E$");
    check("<p><math><mfrac><mi>a</mi><mn>2</mn></mfrac></math></p>", "$\\frac{a}{2}$");
    check("<p>so \\(a_1 * b\\) holds</p>", "so $a_1 * b$ holds");
    check("<p><img class=latex alt='x_1'></p>", "$x_1$");
    check(
        "<span class=mwe-math-element><span class=mwe-math-mathml-inline style='display: none;'><math><semantics><mi>E</mi><annotation encoding='application/x-tex'>{\\displaystyle E}</annotation></semantics></math></span><img class=mwe-math-fallback-image-inline alt='{\\displaystyle E}' src=/e.svg></span>",
        "$E$",
    );
}

#[test]
fn footnotes() {
    check(
        "<p>Oak.<sup class=reference><a href=#n1>[1]</a></sup> Elm.<sup><a href=#n2>[2]</a></sup></p><ol class=references><li id=n1><span class=mw-cite-backlink><a href=#r1>^</a></span> First.</li><li id=n2>Second.<p>More.</p> <a href=#r2>↩</a></li></ol>",
        "Oak.[^1] Elm.[^2]\n\n[^1]: First.\n\n[^2]: Second.\n\n    More.",
    );
    check("<p>See <a href=#part>1</a></p><div id=part>Part</div>", "See 1\n\nPart");
}

#[test]
fn raised_and_lowered() {
    check("<p>10<sup>6</sup> H<sub>2</sub>O the 1<sup>st</sup></p>", "10^6 H2O the 1st");
}
