//! Tables: data as GFM tables with spans resolved, layout as the blocks that it arranges.
//!
//! Invariant: every row of a written table has the same number of cells, and no text of a cell is lost.

use super::code;
use super::dom::{Dom, Marks, NodeId, Tag};
use super::markdown::{Block, Kind, Writer};

const MAX_COLUMNS: usize = 100;
const MAX_ROWS: usize = 5_000;
/// Text that a cell may have to be repeated where it spans several rows.
const MAX_REPEATED: usize = 500;

/// One cell of the page.
#[derive(Debug, Clone, Copy)]
struct Cell {
    id: NodeId,
    header: bool,
    columns: usize,
    rows: usize,
}

/// The rows of one table, without those of tables within it.
#[derive(Debug, Default)]
struct Rows {
    lines: Vec<Vec<Cell>>,
    /// How many rows at the top stand in `thead`.
    head: usize,
    caption: Option<NodeId>,
}

/// Writes a table.
pub(super) fn write(writer: &mut Writer<'_>, table: NodeId, out: &mut Vec<Block>) {
    if let Some(block) = code::code_table(writer.dom(), table) {
        return writer.other(block.fenced(), out);
    }
    let rows = Rows::read(writer.dom(), table, writer.excluded());
    if rows.is_layout(writer.dom(), table) {
        return dissolve(writer, &rows, out);
    }
    if let Some(caption) = rows.caption {
        let text = writer.line_of(caption).single();
        writer.push(Block { text, kind: Kind::Paragraph }, out);
    }
    let text = grid(writer, &rows);
    writer.other(text, out);
}

impl Rows {
    fn read(dom: &Dom, table: NodeId, excluded: Marks) -> Self {
        let mut found = Self::default();
        for child in dom.children(table).filter(|&child| !dom.marks(child).intersects(excluded)) {
            match dom.tag(child) {
                Tag::Caption => found.caption = Some(child),
                Tag::Tr => found.add(dom, child, excluded),
                section @ (Tag::Thead | Tag::Tbody | Tag::Tfoot) => {
                    for row in dom.children(child) {
                        if dom.tag(row) == Tag::Tr && !dom.marks(row).intersects(excluded) {
                            found.add(dom, row, excluded);
                        }
                    }
                    if section == Tag::Thead {
                        found.head = found.lines.len();
                    }
                }
                _ => {}
            }
        }
        found
    }

    fn add(&mut self, dom: &Dom, row: NodeId, excluded: Marks) {
        if self.lines.len() >= MAX_ROWS {
            return;
        }
        let span = |id, name, limit: usize| {
            let span = dom.attribute(id, name).and_then(|span| span.trim().parse::<usize>().ok());
            span.unwrap_or(1).clamp(1, limit)
        };
        let cells: Vec<Cell> = dom
            .children(row)
            .filter(|&id| matches!(dom.tag(id), Tag::Td | Tag::Th) && !dom.marks(id).intersects(excluded))
            .take(MAX_COLUMNS)
            .map(|id| Cell {
                id,
                header: dom.tag(id) == Tag::Th,
                columns: span(id, "colspan", MAX_COLUMNS),
                rows: span(id, "rowspan", 1_000),
            })
            .collect();
        if !cells.is_empty() {
            self.lines.push(cells);
        }
    }

    /// Whether the table only arranges parts of the page.
    fn is_layout(&self, dom: &Dom, table: NodeId) -> bool {
        if dom.attribute(table, "role").is_some_and(|role| matches!(role, "presentation" | "none")) {
            return true;
        }
        let cells = || self.lines.iter().flatten();
        let widest = self
            .lines
            .iter()
            .map(|row| row.iter().map(|cell| cell.columns).sum::<usize>())
            .max()
            .unwrap_or(0);
        if widest <= 1 {
            return true;
        }
        let holds = |tags: &[Tag]| {
            cells().any(|cell| dom.descendants(cell.id).any(|below| tags.contains(&dom.tag(below))))
        };
        let declared = self.head > 0 || self.caption.is_some() || cells().any(|cell| cell.header);
        if holds(&[Tag::Table]) {
            return !declared || cells().count() <= 4;
        }
        if declared {
            return false;
        }
        let long = cells().any(|cell| dom.folded_text(cell.id).chars().count() > 600);
        self.lines.len() <= 1
            || long
            || holds(&[
                Tag::H1,
                Tag::H2,
                Tag::H3,
                Tag::H4,
                Tag::Form,
                Tag::Article,
                Tag::Section,
                Tag::Blockquote,
            ])
    }
}

/// Writes the cells as if there were no table.
fn dissolve(writer: &mut Writer<'_>, rows: &Rows, out: &mut Vec<Block>) {
    if let Some(caption) = rows.caption {
        writer.children(caption, out);
    }
    for row in &rows.lines {
        let inline = row.iter().all(|cell| !writer.holds_block(cell.id));
        if inline && row.len() > 1 {
            // Short cells side by side read as one line.
            let texts: Vec<String> = row
                .iter()
                .map(|cell| writer.line_of(cell.id).single())
                .filter(|text| !text.is_empty())
                .collect();
            writer.push(Block { text: texts.join(" "), kind: Kind::Paragraph }, out);
        } else {
            for cell in row {
                writer.children(cell.id, out);
            }
        }
    }
}

/// The table as GFM. Further columns of a cell are empty, further rows repeat it.
fn grid(writer: &mut Writer<'_>, rows: &Rows) -> String {
    let mut lines: Vec<Vec<String>> = Vec::new();
    // Per column, what a cell above still fills: rows left, and its text.
    let mut above: Vec<(usize, String)> = Vec::new();
    for row in &rows.lines {
        let mut line: Vec<String> = Vec::new();
        for cell in row {
            fill_from_above(&mut line, &mut above);
            let text = writer.line_of(cell.id).cell();
            for column in 0..cell.columns {
                if line.len() >= MAX_COLUMNS {
                    break;
                }
                let text = if column == 0 { text.clone() } else { String::new() };
                if above.len() <= line.len() {
                    above.resize(line.len() + 1, (0, String::new()));
                }
                let repeated = if text.len() <= MAX_REPEATED { text.clone() } else { String::new() };
                above[line.len()] = (cell.rows - 1, if cell.rows > 1 { repeated } else { String::new() });
                line.push(text);
            }
        }
        fill_from_above(&mut line, &mut above);
        lines.push(line);
    }
    let head = head_rows(rows);
    let header = merge_head(&mut lines, head);
    format_lines(&header, &lines)
}

/// Continues cells that span into this row, as long as they stand next.
fn fill_from_above(line: &mut Vec<String>, above: &mut [(usize, String)]) {
    while let Some((left, text)) = above.get_mut(line.len()).filter(|(left, _)| *left > 0) {
        *left -= 1;
        line.push(text.clone());
    }
}

/// How many rows at the top are the header; 0 when the first column holds the headers.
fn head_rows(rows: &Rows) -> usize {
    if rows.head > 0 {
        return rows.head.min(rows.lines.len());
    }
    let Some(first) = rows.lines.first() else { return 0 };
    if first.iter().all(|cell| cell.header) && (first.len() > 1 || rows.lines.len() > 1) {
        return 1;
    }
    let has_row_headers = rows.lines.iter().any(|row| row.first().is_some_and(|cell| cell.header));
    usize::from(!has_row_headers)
}

/// Takes the header rows out and joins them column by column.
fn merge_head(lines: &mut Vec<Vec<String>>, head: usize) -> Vec<String> {
    let mut header: Vec<String> = Vec::new();
    for line in lines.drain(..head.min(lines.len())) {
        for (index, text) in line.into_iter().enumerate() {
            match header.get_mut(index) {
                None => header.push(text),
                Some(above) if above.is_empty() => *above = text,
                Some(above) if text.is_empty() || *above == text => {}
                Some(above) => {
                    above.push_str("<br>");
                    above.push_str(&text);
                }
            }
        }
    }
    header
}

fn format_lines(header: &[String], lines: &[Vec<String>]) -> String {
    let columns = lines.iter().map(Vec::len).chain([header.len()]).max().unwrap_or(0);
    let is_blank = |line: &[String]| line.iter().all(String::is_empty);
    if columns == 0 || (is_blank(header) && lines.iter().all(|line| is_blank(line))) {
        return String::new();
    }
    let mut out = String::new();
    let mut row = |cells: &[String]| {
        out.push('|');
        for index in 0..columns {
            out.push(' ');
            out.push_str(cells.get(index).map_or("", String::as_str));
            out.push_str(" |");
        }
        out.push('\n');
    };
    row(header);
    row(&vec!["---".to_owned(); columns]);
    for line in lines.iter().filter(|line| !is_blank(line)) {
        row(line);
    }
    out.truncate(out.trim_end().len());
    out
}
