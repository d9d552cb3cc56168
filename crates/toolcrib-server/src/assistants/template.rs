//! The prompt of an assistant: text with places for the values of inputs.
//!
//! `{{id}}` is replaced by the value of an input. What stands between `{{#id}}` and `{{/id}}` stays when the input has
//! a value (a boolean: when it is true) and is left out otherwise; between `{{^id}}` and `{{/id}}` it is the other way
//! round. A line with nothing but such a mark vanishes whole. Values are put in as they are and never read as marks.

/// A prompt that has been read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Template(Vec<Part>);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Part {
    Text(String),
    Value(String),
    /// Parts that stand only when the input has a value, or only when it has none.
    When {
        input: String,
        has_value: bool,
        parts: Vec<Part>,
    },
}

/// A place of the template where an input is named.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Mention {
    pub(super) input: String,
    /// The value itself stands there; otherwise only whether there is one counts.
    pub(super) value: bool,
    /// There surely is a value: the place stands between `{{#id}}` and `{{/id}}` of the same input.
    pub(super) guarded: bool,
}

/// A mark that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct TemplateProblem {
    pub(super) found: String,
    pub(super) allowed: &'static str,
}

/// A mark: its sign (`#`, `^`, `/`, or none) and the input.
struct Mark<'t> {
    sign: Option<char>,
    input: &'t str,
}

/// A part between marks that has not ended yet.
struct Open {
    input: String,
    has_value: bool,
    before: Vec<Part>,
}

const MARKS: &str =
    "{{id}} puts a value in; {{#id}} … {{/id}} stays with a value, {{^id}} … {{/id}} without one";
const CLOSED: &str = "every {{#id}} and {{^id}} ends with {{/id}}, the inner ones first";

impl Template {
    /// Reads the text of a prompt.
    ///
    /// # Errors
    /// Every mark that cannot be read.
    pub(super) fn parse(text: &str) -> Result<Self, Vec<TemplateProblem>> {
        let mut problems = Vec::new();
        let (mut parts, mut open): (Vec<Part>, Vec<Open>) = (Vec::new(), Vec::new());
        let mut rest = text;
        while let Some(start) = rest.find("{{") {
            let Some(length) = rest[start..].find("}}") else {
                let found = format!("{:?} without an end", beginning(&rest[start..]));
                problems.push(TemplateProblem { found, allowed: MARKS });
                break;
            };
            let (written, after) = (&rest[start + 2..start + length], &rest[start + length + 2..]);
            let Some(mark) = Mark::parse(written) else {
                let found = format!("the mark {:?}", format!("{{{{{}}}}}", beginning(written)));
                problems.push(TemplateProblem { found, allowed: MARKS });
                rest = after;
                continue;
            };
            let at_line_start = text.len() == rest.len() || text[..text.len() - rest.len()].ends_with('\n');
            let (before, after) = match mark.sign {
                Some(_) => without_own_line(&rest[..start], after, at_line_start),
                None => (&rest[..start], after),
            };
            push_text(&mut parts, before);
            rest = after;
            match mark.sign {
                None => parts.push(Part::Value(mark.input.to_owned())),
                Some('/') => match open.pop() {
                    Some(Open { input, has_value, mut before }) if input == mark.input => {
                        before.push(Part::When { input, has_value, parts: std::mem::take(&mut parts) });
                        parts = before;
                    }
                    other => {
                        let found = format!("{{{{/{}}}}} where nothing of that name is open", mark.input);
                        problems.push(TemplateProblem { found, allowed: CLOSED });
                        open.extend(other);
                    }
                },
                Some(sign) => open.push(Open {
                    input: mark.input.to_owned(),
                    has_value: sign == '#',
                    before: std::mem::take(&mut parts),
                }),
            }
        }
        push_text(&mut parts, rest);
        for Open { input, has_value, .. } in open {
            let sign = if has_value { '#' } else { '^' };
            let found = format!("{{{{{sign}{input}}}}} without {{{{/{input}}}}}");
            problems.push(TemplateProblem { found, allowed: CLOSED });
        }
        if problems.is_empty() { Ok(Self(parts)) } else { Err(problems) }
    }

    /// Every place where an input is named, in order.
    pub(super) fn mentions(&self) -> Vec<Mention> {
        let mut mentions = Vec::new();
        collect(&self.0, &mut Vec::new(), &mut mentions);
        mentions
    }

    /// The prompt with these values, without white space at its ends.
    pub(super) fn render<'v>(&self, value: &impl Fn(&str) -> Option<&'v str>) -> String {
        let mut out = String::new();
        render(&self.0, value, &mut out);
        out.trim().to_owned()
    }
}

impl<'t> Mark<'t> {
    fn parse(written: &'t str) -> Option<Self> {
        let written = written.trim();
        let (sign, input) = match written.chars().next() {
            Some(sign @ ('#' | '^' | '/')) => (Some(sign), written[1..].trim_start()),
            _ => (None, written),
        };
        let well_formed = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
        (!input.is_empty() && input.chars().all(well_formed)).then_some(Self { sign, input })
    }
}

/// Takes the line away on which a mark stands alone.
fn without_own_line<'t>(before: &'t str, after: &'t str, at_line_start: bool) -> (&'t str, &'t str) {
    let line_start = match before.rfind('\n') {
        Some(end) => end + 1,
        None if at_line_start => 0,
        None => return (before, after),
    };
    let line_end = after.find('\n').map_or(after.len(), |end| end + 1);
    let blank = |text: &str| text.chars().all(char::is_whitespace);
    if blank(&before[line_start..]) && blank(&after[..line_end]) {
        (&before[..line_start], &after[line_end..])
    } else {
        (before, after)
    }
}

fn push_text(parts: &mut Vec<Part>, text: &str) {
    if !text.is_empty() {
        parts.push(Part::Text(text.to_owned()));
    }
}

fn collect(parts: &[Part], guards: &mut Vec<String>, mentions: &mut Vec<Mention>) {
    for part in parts {
        match part {
            Part::Text(_) => {}
            Part::Value(input) => {
                let guarded = guards.contains(input);
                mentions.push(Mention { input: input.clone(), value: true, guarded });
            }
            Part::When { input, has_value, parts } => {
                mentions.push(Mention { input: input.clone(), value: false, guarded: false });
                if *has_value {
                    guards.push(input.clone());
                }
                collect(parts, guards, mentions);
                if *has_value {
                    guards.pop();
                }
            }
        }
    }
}

fn render<'v>(parts: &[Part], value: &impl Fn(&str) -> Option<&'v str>, out: &mut String) {
    for part in parts {
        match part {
            Part::Text(text) => out.push_str(text),
            Part::Value(input) => out.push_str(value(input).unwrap_or_default()),
            Part::When { input, has_value, parts } => {
                if value(input).is_some() == *has_value {
                    render(parts, value, out);
                }
            }
        }
    }
}

fn beginning(text: &str) -> String {
    text.chars().take(30).collect()
}

#[cfg(test)]
mod tests;
