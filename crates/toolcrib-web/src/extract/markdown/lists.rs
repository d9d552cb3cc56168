//! Lists of items, and of terms with their definitions.
//!
//! Invariant: an item's further blocks are indented by the width of its marker, so that they stay its own.

use super::super::dom::{NodeId, Tag};
use super::{Block, Kind, Line, MAX_NESTING, Writer, indent, join};

/// A list while its items are written.
struct List {
    /// The number of the next item; `None` for a list of bullets.
    number: Option<i64>,
    step: i64,
    items: Vec<String>,
}

impl List {
    fn marker(&self) -> String {
        self.number.map_or_else(|| "- ".to_owned(), |number| format!("{number}. "))
    }

    fn count(&mut self) {
        if let Some(number) = &mut self.number {
            *number = number.saturating_add(self.step).max(0);
        }
    }

    /// Adds what was collected as an item; `task` is the mark of a task list.
    fn finish_item(&mut self, blocks: &mut Vec<Block>, task: &str) {
        if blocks.is_empty() {
            return;
        }
        let marker = self.marker();
        let text = format!("{task}{}", tight(blocks));
        self.items.push(indent(&text, &marker, &" ".repeat(marker.len())));
        blocks.clear();
        self.count();
    }
}

impl Writer<'_> {
    /// Writes a list with what it nests.
    pub(super) fn list(&mut self, id: NodeId, out: &mut Vec<Block>) {
        if self.nesting >= MAX_NESTING {
            return self.children(id, out);
        }
        let number = (self.dom().tag(id) == Tag::Ol).then(|| self.first_number(id));
        let step = if self.dom().has_attribute(id, "reversed") { -1 } else { 1 };
        let mut list = List { number, step, items: Vec::new() };
        self.nesting += 1;
        self.items(id, &mut list, 0);
        self.nesting -= 1;
        if !list.items.is_empty() {
            self.push(Block { text: list.items.join("\n"), kind: Kind::List }, out);
        }
    }

    fn first_number(&self, id: NodeId) -> i64 {
        let start = self.dom().attribute(id, "start").and_then(|start| start.trim().parse::<i64>().ok());
        let count = || self.dom().children(id).filter(|&child| self.dom().tag(child) == Tag::Li).count();
        match start {
            // GFM knows numbers of at most nine digits, none below zero.
            Some(start) => start.clamp(0, 999_999_999),
            None if self.dom().has_attribute(id, "reversed") => i64::try_from(count()).unwrap_or(1),
            None => 1,
        }
    }

    fn items(&mut self, parent: NodeId, list: &mut List, wrappers: usize) {
        let mut stray = Line::new(false);
        let mut blocks = Vec::new();
        for child in self.dom().children(parent) {
            if self.is_excluded(child) {
                continue;
            }
            let tag = self.dom().tag(child);
            let is_item = tag == Tag::Li;
            let holds_items = wrappers < 4
                && !matches!(tag, Tag::Ul | Tag::Ol | Tag::None)
                && self.dom().children(child).any(|below| self.dom().tag(below) == Tag::Li);
            if is_item || holds_items || matches!(tag, Tag::Ul | Tag::Ol) {
                self.flush(&mut stray, &mut blocks);
                list.finish_item(&mut blocks, "");
            }
            if is_item {
                self.item(child, list);
            } else if holds_items {
                self.items(child, list, wrappers + 1);
            } else if matches!(tag, Tag::Ul | Tag::Ol) {
                self.nested(child, list);
            } else {
                self.flow(child, &mut stray, &mut blocks);
            }
        }
        self.flush(&mut stray, &mut blocks);
        list.finish_item(&mut blocks, "");
    }

    fn item(&mut self, id: NodeId, list: &mut List) {
        if self.footnotes.is_note(id) && !self.writing_notes {
            return;
        }
        if list.number.is_some()
            && let Some(value) =
                self.dom().attribute(id, "value").and_then(|value| value.trim().parse::<i64>().ok())
        {
            list.number = Some(value.clamp(0, 999_999_999));
        }
        let mut blocks = Vec::new();
        self.children(id, &mut blocks);
        let task = self.task_mark(id);
        let empty = blocks.is_empty();
        list.finish_item(&mut blocks, &task);
        if empty {
            list.count();
        }
    }

    /// The check box of a task list's item.
    fn task_mark(&self, id: NodeId) -> String {
        let dom = self.dom();
        let check_box = dom.descendants(id).take(6).find(|&below| {
            dom.tag(below) == Tag::Input
                && dom.attribute(below, "type").is_some_and(|kind| kind == "checkbox")
        });
        match check_box {
            Some(input) if dom.has_attribute(input, "checked") => "[x] ".to_owned(),
            Some(_) => "[ ] ".to_owned(),
            None => String::new(),
        }
    }

    /// A list right inside a list belongs to the item before it.
    fn nested(&mut self, id: NodeId, list: &mut List) {
        let mut blocks = Vec::new();
        self.list(id, &mut blocks);
        if blocks.is_empty() {
            return;
        }
        match list.items.last_mut() {
            Some(item) => {
                let width = item.find(' ').map_or(2, |space| space + 1);
                let margin = " ".repeat(width);
                item.push('\n');
                item.push_str(&indent(&join(&blocks), &margin, &margin));
            }
            None => list.finish_item(&mut blocks, ""),
        }
    }

    /// An item outside any list.
    pub(super) fn item_alone(&mut self, id: NodeId, out: &mut Vec<Block>) {
        let mut list = List { number: None, step: 1, items: Vec::new() };
        self.item(id, &mut list);
        if !list.items.is_empty() {
            self.push(Block { text: list.items.join("\n"), kind: Kind::List }, out);
        }
    }

    /// Writes terms in bold and their definitions on lines of their own.
    pub(super) fn definitions(&mut self, id: NodeId, out: &mut Vec<Block>) {
        let mut group = String::new();
        self.definition_group(id, &mut group, out, 0);
        self.finish_group(&mut group, out);
    }

    fn finish_group(&mut self, group: &mut String, out: &mut Vec<Block>) {
        let text = std::mem::take(group);
        self.push(Block { text, kind: Kind::Paragraph }, out);
    }

    fn definition_group(
        &mut self,
        parent: NodeId,
        group: &mut String,
        out: &mut Vec<Block>,
        wrappers: usize,
    ) {
        let mut after_definition = false;
        for child in self.dom().children(parent) {
            if self.is_excluded(child) || (self.footnotes.is_note(child) && !self.writing_notes) {
                continue;
            }
            match self.dom().tag(child) {
                Tag::Dt => {
                    if after_definition {
                        self.finish_group(group, out);
                    }
                    after_definition = false;
                    self.term(child, group);
                }
                Tag::Dd => {
                    after_definition = true;
                    self.definition(child, group, out);
                }
                Tag::Div | Tag::Section if wrappers < 4 => {
                    self.finish_group(group, out);
                    self.definition_group(child, group, out, wrappers + 1);
                }
                Tag::None => {}
                _ => {
                    self.finish_group(group, out);
                    let mut line = Line::new(false);
                    self.flow(child, &mut line, out);
                    self.flush(&mut line, out);
                }
            }
        }
    }

    fn term(&mut self, id: NodeId, group: &mut String) {
        let was_strong = std::mem::replace(&mut self.strong, true);
        let text = self.line_of(id).single();
        self.strong = was_strong;
        if !text.is_empty() {
            if !group.is_empty() {
                group.push_str("  \n");
            }
            group.push_str("**");
            group.push_str(&text);
            group.push_str("**");
        }
    }

    /// A definition of one paragraph follows its term; longer ones are written as they are.
    fn definition(&mut self, id: NodeId, group: &mut String, out: &mut Vec<Block>) {
        let mut blocks = Vec::new();
        self.children(id, &mut blocks);
        if let [Block { text, kind: Kind::Paragraph }] = blocks.as_slice() {
            if !group.is_empty() {
                group.push('\n');
            }
            group.push_str(&indent(text, ": ", "  "));
        } else {
            self.finish_group(group, out);
            out.append(&mut blocks);
        }
    }
}

/// Joins the blocks of an item; a list right behind a paragraph needs no blank line.
fn tight(blocks: &[Block]) -> String {
    let mut out = String::new();
    let mut previous = None;
    for block in blocks {
        match (previous, block.kind) {
            (None, _) => {}
            (Some(_), Kind::List) => out.push('\n'),
            _ => out.push_str("\n\n"),
        }
        out.push_str(&block.text);
        previous = Some(block.kind);
    }
    out
}
