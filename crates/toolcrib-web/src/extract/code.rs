//! Code blocks: their text with every space kept, and their language.
//!
//! Invariant: line numbers, copy buttons and other furniture never become code, and no line break is lost.

use super::dom::{Dom, Marks, NodeId, Tag};
use super::markdown::escape::longest_run;
use super::words::any_class;

/// Languages that a bare class names; other words there are mostly about looks.
const KNOWN: &[&str] = &[
    "ada",
    "asm",
    "awk",
    "bash",
    "bat",
    "c",
    "c#",
    "c++",
    "clojure",
    "cmake",
    "console",
    "cpp",
    "csharp",
    "css",
    "csv",
    "d",
    "dart",
    "diff",
    "docker",
    "dockerfile",
    "elixir",
    "elm",
    "erlang",
    "fish",
    "fortran",
    "fsharp",
    "gherkin",
    "glsl",
    "go",
    "gradle",
    "graphql",
    "groovy",
    "haskell",
    "hcl",
    "html",
    "http",
    "ini",
    "java",
    "javascript",
    "js",
    "json",
    "jsonc",
    "json5",
    "jsx",
    "julia",
    "kotlin",
    "latex",
    "less",
    "lisp",
    "lua",
    "make",
    "makefile",
    "markdown",
    "matlab",
    "md",
    "mermaid",
    "nginx",
    "nim",
    "nix",
    "objc",
    "objective-c",
    "ocaml",
    "pascal",
    "perl",
    "php",
    "powershell",
    "prolog",
    "properties",
    "protobuf",
    "py",
    "pycon",
    "python",
    "python3",
    "r",
    "rb",
    "rs",
    "ruby",
    "rust",
    "sass",
    "scala",
    "scheme",
    "scss",
    "sh",
    "shell",
    "shell-session",
    "solidity",
    "sql",
    "svelte",
    "swift",
    "tcl",
    "terraform",
    "tex",
    "toml",
    "ts",
    "tsx",
    "typescript",
    "vb",
    "vbnet",
    "verilog",
    "vhdl",
    "vim",
    "vue",
    "wasm",
    "xml",
    "yaml",
    "yml",
    "zig",
    "zsh",
];

/// A code block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct CodeBlock {
    pub(super) text: String,
    pub(super) language: Option<String>,
}

impl CodeBlock {
    /// The block as a GFM fence, longer than any run of backticks in it.
    pub(super) fn fenced(&self) -> String {
        let fence = "`".repeat(longest_run(&self.text, '`').max(2) + 1);
        let language = self.language.as_deref().unwrap_or_default();
        format!("{fence}{language}\n{}\n{fence}", self.text)
    }
}

/// The code in a `pre` or the like; `None` when it holds none.
pub(super) fn code_block(dom: &Dom, id: NodeId) -> Option<CodeBlock> {
    let mut text = String::new();
    push_code(dom, id, &mut text);
    finish(&text, language(dom, id))
}

fn finish(text: &str, language: Option<String>) -> Option<CodeBlock> {
    let text = text.replace('\u{A0}', " ").replace(['\u{200B}', '\u{FEFF}'], "").replace("\r\n", "\n");
    let text = text.trim_end();
    let start = text.find(|character: char| !matches!(character, '\n' | '\r')).unwrap_or(0);
    // Lines of white space before the first code line are dropped, its indentation is not.
    let first_line = text[..].find(|character: char| !character.is_whitespace())?;
    let begin = text[..first_line].rfind('\n').map_or(0, |line| line + 1).max(start.min(first_line));
    Some(CodeBlock { text: text[begin..].to_owned(), language })
}

/// Appends the text of code, with a line break wherever the page shows one.
fn push_code(dom: &Dom, root: NodeId, out: &mut String) {
    let mut current = dom.first_child(root);
    // Blocks that are open, so that their end can break the line.
    let mut open: Vec<NodeId> = Vec::new();
    while let Some(id) = current {
        if let Some(text) = dom.text(id) {
            out.push_str(text);
        }
        let skip = is_furniture(dom, id);
        let tag = dom.tag(id);
        if tag == Tag::Br && !skip {
            out.push('\n');
        }
        let breaks = !skip && breaks_line(dom, id);
        if breaks && !out.is_empty() && !out.ends_with('\n') {
            out.push('\n');
        }
        if let Some(child) = dom.first_child(id).filter(|_| !skip) {
            if breaks {
                open.push(id);
            }
            current = Some(child);
            continue;
        }
        // A block without anything in it is an empty line.
        if breaks {
            out.push('\n');
        }
        let mut position = id;
        current = loop {
            if let Some(next) = dom.next(position) {
                break Some(next);
            }
            match dom.parent(position) {
                Some(parent) if parent != root => {
                    if open.last() == Some(&parent) {
                        open.pop();
                        if !out.ends_with('\n') {
                            out.push('\n');
                        }
                    }
                    position = parent;
                }
                _ => break None,
            }
        };
    }
}

fn breaks_line(dom: &Dom, id: NodeId) -> bool {
    matches!(
        dom.tag(id),
        Tag::Div | Tag::Li | Tag::Tr | Tag::P | Tag::Ol | Tag::Ul | Tag::Table | Tag::Tbody | Tag::Pre
    ) || dom.attribute(id, "style").is_some_and(|style| style.replace(' ', "").contains("display:block"))
}

/// Line numbers, copy buttons and labels.
pub(super) fn is_furniture(dom: &Dom, id: NodeId) -> bool {
    if dom.marks(id).intersects(Marks::DEAD) || matches!(dom.tag(id), Tag::Button | Tag::Script | Tag::Style)
    {
        return true;
    }
    if dom.element(id).is_none() {
        return false;
    }
    is_gutter(dom, id)
        || any_class(dom, id, |class| {
            class.contains("copy-btn")
                || class.contains("copy-button")
                || class.contains("copybtn")
                || class.contains("copybutton")
                || class.contains("clipboard")
                || matches!(class, "copy" | "toolbar" | "code-toolbar-item" | "code-header" | "headerlink")
        })
}

fn is_gutter(dom: &Dom, id: NodeId) -> bool {
    dom.has_attribute(id, "data-line-number") && dom.raw_text(id).trim().is_empty()
        || any_class(dom, id, |class| {
            matches!(
                class,
                "gutter"
                    | "lineno"
                    | "linenos"
                    | "linenumber"
                    | "linenumbers"
                    | "line-number"
                    | "linenodiv"
                    | "line-numbers-rows"
                    | "line-numbers-wrapper"
                    | "lnt"
                    | "ln"
                    | "lineno-container"
                    | "blob-num"
                    | "hljs-ln-numbers"
                    | "hljs-ln-n"
                    | "rouge-gutter"
                    | "crayon-nums"
                    | "codemirror-linenumber"
                    | "react-syntax-highlighter-line-number"
                    | "rowno"
                    | "code-line-number"
            ) && !matches!(dom.tag(id), Tag::Pre | Tag::Code | Tag::Table)
        })
        || dom.tag(id) == Tag::Pre
            && any_class(dom, id, |class| matches!(class, "lineno" | "linenos" | "gutter"))
}

/// The code of a table that lays code out beside its line numbers; `None` for any other table.
pub(super) fn code_table(dom: &Dom, table: NodeId) -> Option<CodeBlock> {
    let cells: Vec<NodeId> =
        dom.descendants(table).filter(|&id| matches!(dom.tag(id), Tag::Td | Tag::Th)).take(20_000).collect();
    let gutter = |id: NodeId| {
        is_gutter(dom, id) || is_numbering(dom, id) || dom.children(id).any(|child| is_gutter(dom, child))
    };
    let (numbers, code): (Vec<NodeId>, Vec<NodeId>) = cells.iter().partition(|&&id| gutter(id));
    let is_code = |id: &NodeId| {
        dom.find(*id, Tag::Pre).is_some()
            || any_class(dom, *id, |class| {
                matches!(class, "code" | "blob-code" | "hljs-ln-code" | "rouge-code" | "crayon-code")
            })
            || any_class(dom, *id, |class| class.starts_with("blob-code"))
    };
    let code: Vec<NodeId> = code.into_iter().filter(|id| !dom.raw_text(*id).is_empty()).collect();
    if code.is_empty()
        || !code.iter().all(is_code)
        || (numbers.is_empty() && !code_is_alone(dom, table, &cells))
    {
        return None;
    }
    let mut text = String::new();
    let mut language = None;
    for id in code {
        if !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
        let before = text.len();
        push_code(dom, id, &mut text);
        // A row of a blob that holds an empty line.
        if text.len() == before {
            text.push('\n');
        }
        language = language.or_else(|| dom.find(id, Tag::Pre).and_then(|pre| self::language(dom, pre)));
    }
    finish(&text, language.or_else(|| self::language(dom, table)))
}

/// Whether a table is only a frame around one code block.
fn code_is_alone(dom: &Dom, table: NodeId, cells: &[NodeId]) -> bool {
    cells.len() == 1 && dom.find(table, Tag::Pre).is_some()
}

/// Whether a cell holds nothing but the numbers 1, 2, 3 and so on.
fn is_numbering(dom: &Dom, cell: NodeId) -> bool {
    let Some(pre) = dom.find(cell, Tag::Pre) else { return false };
    let mut text = String::new();
    push_code(dom, pre, &mut text);
    let mut expected = None;
    let mut count = 0;
    for word in text.split_whitespace() {
        let Ok(number) = word.parse::<u32>() else { return false };
        if expected.is_some_and(|expected| number != expected) {
            return false;
        }
        expected = number.checked_add(1);
        count += 1;
    }
    count > 0
}

/// The language that a code element, what it holds or what is around it declares.
fn language(dom: &Dom, id: NodeId) -> Option<String> {
    let inner = dom.descendants(id).filter(|&below| dom.tag(below) == Tag::Code).take(1);
    let around = dom.ancestors(id).take(3);
    std::iter::once(id).chain(inner).chain(around).find_map(|id| declared_language(dom, id))
}

fn declared_language(dom: &Dom, id: NodeId) -> Option<String> {
    for name in ["data-lang", "data-language", "data-code-lang", "lang-name"] {
        if let Some(value) = dom.attribute(id, name).and_then(valid_language) {
            return Some(value);
        }
    }
    let classes = dom.attribute(id, "class")?;
    let mut words = classes.split([' ', '\t', '\n', ';']).filter(|word| !word.is_empty()).peekable();
    let mut is_highlighter = false;
    while let Some(class) = words.next() {
        let lower = class.to_ascii_lowercase();
        for prefix in ["language-", "lang-", "highlight-source-", "source-", "brush:", "code-", "highlight-"]
        {
            if let Some(rest) = lower.strip_prefix(prefix) {
                let rest = if rest.is_empty() { words.peek().copied().unwrap_or_default() } else { rest };
                let sure = !matches!(prefix, "code-" | "highlight-" | "source-");
                if let Some(language) = valid_language(rest).filter(|name| sure || is_known(name)) {
                    return Some(language);
                }
            }
        }
        if is_highlighter && let Some(language) = valid_language(&lower).filter(|name| is_known(name)) {
            return Some(language);
        }
        is_highlighter |= matches!(
            lower.as_str(),
            "hljs" | "sourcecode" | "highlight" | "prettyprint" | "prism" | "src" | "codehilite"
        );
    }
    // `<pre class="python">`, and `<code class="rust">`.
    if matches!(dom.tag(id), Tag::Pre | Tag::Code | Tag::Figure) || is_highlighter {
        return classes
            .split_ascii_whitespace()
            .map(|class| class.trim_start_matches("src-").to_ascii_lowercase())
            .find(|class| is_known(class));
    }
    None
}

/// A word that can be a language.
fn valid_language(word: &str) -> Option<String> {
    let word = word.trim().to_ascii_lowercase();
    let valid = (1..=24).contains(&word.len())
        && word.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '#' | '-' | '.' | '_'))
        && !matches!(
            word.as_str(),
            "none"
                | "plaintext"
                | "text"
                | "nohighlight"
                | "no-highlight"
                | "default"
                | "plain"
                | "txt"
                | "undefined"
                | "auto"
                | "block"
                | "highlight"
                | "wrapper"
                | "container"
                | "snippet"
                | "toolbar"
        );
    valid.then_some(word)
}

fn is_known(word: &str) -> bool {
    KNOWN.contains(&word)
}
