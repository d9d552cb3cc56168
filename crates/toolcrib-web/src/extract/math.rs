//! Formulas as TeX, each once, whatever copies a page holds of them.
//!
//! Invariant: a formula comes from the best copy (TeX annotation, script, alternative text, `MathML`), and the
//! other copies beside it are dropped.

use super::dom::{Dom, NodeId, Tag, fold_white_space};
use super::words::any_class;

/// What an element means for formulas.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Math {
    /// A formula.
    Formula { tex: String, display: bool },
    /// Another copy of a formula that stands beside it.
    Copy,
}

impl Math {
    /// The formula between dollar signs.
    pub(super) fn delimited(tex: &str, display: bool) -> String {
        if display { format!("$${tex}$$") } else { format!("${tex}$") }
    }
}

/// Looks at an element as a formula; `None` when it is none.
pub(super) fn read(dom: &Dom, id: NodeId) -> Option<Math> {
    match dom.tag(id) {
        Tag::Math => Some(formula(math_element(dom, id), is_display(dom, id))),
        Tag::Script => script(dom, id),
        Tag::MjxContainer => Some(formula(within(dom, id), is_display(dom, id))),
        Tag::Img => image(dom, id),
        Tag::None => None,
        _ => by_class(dom, id),
    }
}

fn formula(tex: Option<String>, display: bool) -> Math {
    match tex.map(|tex| tidy(&tex)).filter(|tex| !tex.is_empty()) {
        Some(tex) => Math::Formula { tex, display },
        None => Math::Copy,
    }
}

/// TeX without the wrappers and dollars that some systems put around it.
fn tidy(tex: &str) -> String {
    let mut tex = fold_white_space(tex);
    for (open, close) in [
        ("$$", "$$"),
        ("$", "$"),
        ("\\(", "\\)"),
        ("\\[", "\\]"),
        ("{\\displaystyle", "}"),
        ("\\displaystyle", ""),
    ] {
        if let Some(inner) = tex.strip_prefix(open).and_then(|rest| rest.strip_suffix(close)) {
            tex = inner.trim().to_owned();
        }
    }
    tex
}

fn script(dom: &Dom, id: NodeId) -> Option<Math> {
    let kind = dom.attribute(id, "type")?;
    kind.trim_start()
        .starts_with("math/tex")
        .then(|| formula(Some(dom.raw_text(id)), kind.contains("display")))
}

fn image(dom: &Dom, id: NodeId) -> Option<Math> {
    let is_math = any_class(dom, id, |class| {
        class.starts_with("mwe-math-fallback")
            || matches!(class, "latex" | "tex" | "math" | "tex-image" | "ee_img")
    });
    if !is_math {
        return None;
    }
    // The picture is a copy when its formula stands beside it as MathML.
    let has_original = dom.parent(id).is_some_and(|parent| dom.find(parent, Tag::Math).is_some());
    if has_original {
        return Some(Math::Copy);
    }
    let display = any_class(dom, id, |class| class.ends_with("display") || class.ends_with("block"));
    Some(formula(dom.attribute(id, "alt").map(str::to_owned), display))
}

fn by_class(dom: &Dom, id: NodeId) -> Option<Math> {
    let classes = dom.attribute(id, "class")?;
    let has = |wanted: &str| classes.split_ascii_whitespace().any(|class| class == wanted);
    if has("katex-display") || has("katex") {
        return Some(formula(within(dom, id), has("katex-display") || is_display(dom, id)));
    }
    if has("katex-html") || has("MathJax_Preview") || has("MJX_Assistive_MathML") {
        return Some(Math::Copy);
    }
    if has("MathJax")
        || has("MathJax_Display")
        || has("MathJax_SVG")
        || has("MathJax_CHTML")
        || has("MathJax_SVG_Display")
    {
        // The source stands in a script right behind, or as `MathML` within.
        let script_follows = std::iter::successors(dom.next(id), |&next| dom.next(next))
            .take(4)
            .any(|next| matches!(script(dom, next), Some(Math::Formula { .. })));
        if script_follows {
            return Some(Math::Copy);
        }
        return Some(formula(within(dom, id), classes.contains("isplay")));
    }
    if has("mwe-math-element") {
        let display =
            is_display(dom, id) || dom.find(id, Tag::Math).is_some_and(|math| is_display(dom, math));
        return within(dom, id).map(|tex| formula(Some(tex), display));
    }
    None
}

/// The TeX of whatever copy an element holds.
fn within(dom: &Dom, id: NodeId) -> Option<String> {
    let attribute = ["data-latex", "data-tex", "alttext"].iter().find_map(|name| dom.attribute(id, name));
    if let Some(tex) = attribute {
        return Some(tex.to_owned());
    }
    let below = |tag| dom.find(id, tag);
    below(Tag::Math)
        .and_then(|math| math_element(dom, math))
        .or_else(|| below(Tag::Img).and_then(|image| dom.attribute(image, "alt")).map(str::to_owned))
}

/// The TeX of a `math` element: its annotation, its alternative text, or its structure spelled out.
fn math_element(dom: &Dom, id: NodeId) -> Option<String> {
    let annotation = dom
        .descendants(id)
        .filter(|&below| dom.tag(below) == Tag::Annotation)
        .find(|&below| {
            dom.attribute(below, "encoding").is_some_and(|kind| kind.contains("tex") || kind.contains("TeX"))
        })
        .map(|below| dom.raw_text(below));
    annotation
        .or_else(|| dom.attribute(id, "alttext").map(str::to_owned))
        .or_else(|| Some(spelled_out(dom, id, 0)))
        .filter(|tex| !tex.trim().is_empty())
}

/// Presentation `MathML` as TeX, for the elements that most formulas consist of.
fn spelled_out(dom: &Dom, id: NodeId, depth: u32) -> String {
    if let Some(text) = dom.text(id) {
        return text.trim().to_owned();
    }
    if depth > 40 || dom.tag(id) == Tag::Annotation {
        return String::new();
    }
    let parts: Vec<String> = dom
        .children(id)
        .map(|child| spelled_out(dom, child, depth + 1))
        .filter(|part| !part.is_empty())
        .collect();
    match (dom.tag(id), parts.as_slice()) {
        (Tag::Mfrac, [over, under]) => format!("\\frac{{{over}}}{{{under}}}"),
        (Tag::Msup, [base, up]) => format!("{base}^{{{up}}}"),
        (Tag::Msub, [base, down]) => format!("{base}_{{{down}}}"),
        (Tag::Msubsup, [base, down, up]) => format!("{base}_{{{down}}}^{{{up}}}"),
        (Tag::Msqrt, _) => format!("\\sqrt{{{}}}", parts.concat()),
        (Tag::Mo, [operator])
            if operator.len() == 1 && !matches!(operator.as_str(), "(" | ")" | "," | "!" | "|") =>
        {
            format!(" {operator} ")
        }
        _ => parts.concat(),
    }
}

/// Whether a formula stands on lines of its own.
fn is_display(dom: &Dom, id: NodeId) -> bool {
    let declared = dom.attribute(id, "display").is_some_and(|value| matches!(value, "block" | "true"));
    let around = std::iter::once(id).chain(dom.ancestors(id).take(3)).any(|ancestor| {
        any_class(dom, ancestor, |class| {
            matches!(class, "katex-display" | "mathjax_display" | "mwe-math-element-block")
        })
    });
    declared || around
}
