//! The rules in `<style>` that hide elements by class or id.
//!
//! Invariant: a rule counts only when its selector is one class or id alone, outside any at-rule, so that
//! what is hidden only on paper, on small screens or in another state stays.

use std::collections::HashSet;

use super::dom::{Dom, NodeId, Tag};

/// Style text that is read.
const MAX_STYLE_BYTES: usize = 1024 * 1024;

/// Selectors such as `.teaser` and `#overlay` whose elements are not shown.
#[derive(Debug, Default)]
pub(super) struct HidingRules {
    classes: HashSet<String>,
    ids: HashSet<String>,
}

impl HidingRules {
    /// Reads all style elements of the page.
    pub(super) fn read(dom: &Dom) -> Self {
        let mut rules = Self::default();
        let mut left = MAX_STYLE_BYTES;
        for id in dom.descendants(Dom::root()).filter(|&id| dom.tag(id) == Tag::Style) {
            let applies =
                dom.attribute(id, "media").is_none_or(|media| matches!(media.trim(), "" | "all" | "screen"));
            let style = dom.raw_text(id);
            if !applies || style.len() > left {
                continue;
            }
            left -= style.len();
            rules.read_style(&without_comments(&style));
        }
        rules
    }

    fn read_style(&mut self, style: &str) {
        let mut rest = style;
        while let Some(open) = rest.find(['{', ';', '}']) {
            let (prelude, after) = (rest[..open].trim(), &rest[open + 1..]);
            if rest.as_bytes()[open] != b'{' {
                rest = after;
                continue;
            }
            if prelude.starts_with('@') {
                rest = after_block(after);
                continue;
            }
            let close = after.find('}').unwrap_or(after.len());
            self.read_rule(prelude, &after[..close]);
            rest = after.get(close + 1..).unwrap_or_default();
        }
    }

    fn read_rule(&mut self, selectors: &str, declarations: &str) {
        let Some(hides) = hiding(declarations) else { return };
        for selector in selectors.split(',').map(str::trim) {
            let Some(name) = selector.get(1..) else { continue };
            let simple =
                !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || matches!(c, '-' | '_'));
            if !simple {
                continue;
            }
            let set = match selector.as_bytes()[0] {
                b'.' => &mut self.classes,
                b'#' => &mut self.ids,
                _ => continue,
            };
            // A later rule for the same selector wins.
            if hides {
                set.insert(name.to_owned());
            } else {
                set.remove(name);
            }
        }
    }

    /// Whether a rule hides this element.
    pub(super) fn hide(&self, dom: &Dom, id: NodeId) -> bool {
        if self.classes.is_empty() && self.ids.is_empty() {
            return false;
        }
        dom.attribute(id, "id").is_some_and(|value| self.ids.contains(value))
            || dom
                .attribute(id, "class")
                .is_some_and(|value| value.split_ascii_whitespace().any(|class| self.classes.contains(class)))
    }
}

/// Whether declarations hide (`Some(true)`), show (`Some(false)`), or say nothing about it.
pub(super) fn hiding(declarations: &str) -> Option<bool> {
    let (mut display, mut visibility) = (None, None);
    for declaration in declarations.split(';') {
        let Some((property, value)) = declaration.split_once(':') else { continue };
        let value = value.trim().trim_end_matches("!important").trim_end();
        let property = property.trim();
        if property.eq_ignore_ascii_case("display") {
            display = Some(value.eq_ignore_ascii_case("none"));
        } else if property.eq_ignore_ascii_case("visibility") {
            visibility = Some(value.eq_ignore_ascii_case("hidden") || value.eq_ignore_ascii_case("collapse"));
        }
    }
    match (display, visibility) {
        (None, None) => None,
        (display, visibility) => Some(display == Some(true) || visibility == Some(true)),
    }
}

fn without_comments(style: &str) -> String {
    let mut kept = String::with_capacity(style.len());
    let mut rest = style;
    while let Some(start) = rest.find("/*") {
        kept.push_str(&rest[..start]);
        rest = rest[start + 2..].find("*/").map_or("", |end| &rest[start + 2 + end + 2..]);
    }
    kept.push_str(rest);
    kept
}

/// What follows the block whose opening brace was just read.
fn after_block(style: &str) -> &str {
    let mut depth = 1_u32;
    for (index, byte) in style.bytes().enumerate() {
        match byte {
            b'{' => depth += 1,
            b'}' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return &style[index + 1..];
        }
    }
    ""
}

#[cfg(test)]
mod tests;
