//! What an assistant asks for, and how a value becomes a piece of its prompt.

use serde_json::Value;
use toolcrib_runtime::nearest::nearest;

use super::reader::describe;
use super::texts::Texts;

/// The longest `text` when the file names no length, in Unicode scalar values.
pub(super) const TEXT_LENGTH: usize = 200;
/// The longest `long_text` when the file names no length, in Unicode scalar values.
pub(super) const LONG_TEXT_LENGTH: usize = 20_000;

/// Something that an assistant asks for.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Input {
    pub(crate) id: String,
    pub(crate) kind: Kind,
    pub(crate) label: Texts,
    pub(crate) help: Option<Texts>,
    pub(crate) required: bool,
    /// The value when none is given; it is valid.
    pub(crate) default: Option<Value>,
}

/// What values an input takes.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Kind {
    /// One line.
    Text { max_length: Option<usize> },
    /// Any number of lines.
    LongText { max_length: Option<usize> },
    /// One of a few.
    Choice(Vec<Choice>),
    /// Yes or no.
    Boolean,
    /// A number within bounds.
    Number { minimum: Option<f64>, maximum: Option<f64> },
}

/// Something that can be chosen.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Choice {
    pub(crate) id: String,
    pub(crate) label: Texts,
    /// What stands in the prompt when this is chosen; empty for nothing.
    pub(super) prompt: String,
}

/// A value that an input does not take.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ValueProblem {
    pub(super) found: String,
    pub(super) allowed: String,
    pub(super) nearest: Option<String>,
}

impl Kind {
    pub(crate) const fn name(&self) -> &'static str {
        match self {
            Self::Text { .. } => "text",
            Self::LongText { .. } => "long_text",
            Self::Choice(_) => "choice",
            Self::Boolean => "boolean",
            Self::Number { .. } => "number",
        }
    }

    /// The longest value, in Unicode scalar values.
    pub(crate) const fn max_length(&self) -> Option<usize> {
        match self {
            Self::Text { max_length } | Self::LongText { max_length } => *max_length,
            Self::Choice(_) | Self::Boolean | Self::Number { .. } => None,
        }
    }
}

impl Input {
    /// Whether the prompt may have to do without a value.
    pub(super) fn may_be_empty(&self) -> bool {
        let says_nothing = match &self.kind {
            Kind::Choice(choices) => choices.iter().any(|choice| choice.prompt.is_empty()),
            Kind::Boolean => true,
            Kind::Text { .. } | Kind::LongText { .. } | Kind::Number { .. } => false,
        };
        says_nothing || !(self.required || self.default.is_some())
    }

    /// Whether a value says nothing, as an empty field of a form does.
    pub(super) fn is_blank(value: &Value) -> bool {
        value.is_null() || value.as_str().is_some_and(|text| text.trim().is_empty())
    }

    /// What stands in the prompt for a value that is not blank; `None` when there is nothing to say.
    ///
    /// Numbers and booleans may be written as texts, for doors that know only texts.
    ///
    /// # Errors
    /// The value is of another kind, not among the options, too long, or out of bounds.
    pub(super) fn prompt_text(&self, value: &Value) -> Result<Option<String>, ValueProblem> {
        match &self.kind {
            Kind::Text { max_length } => one_line(value, *max_length).map(Some),
            Kind::LongText { max_length } => text(value, *max_length).map(|text| Some(quoted(text))),
            Kind::Choice(choices) => {
                let choice = chosen(value, choices)?;
                Ok(Some(choice.prompt.clone()).filter(|prompt| !prompt.is_empty()))
            }
            Kind::Boolean => Ok(flag(value)?.then(|| "yes".to_owned())),
            Kind::Number { minimum, maximum } => number(value, *minimum, *maximum).map(Some),
        }
    }
}

fn text(value: &Value, max_length: Option<usize>) -> Result<&str, ValueProblem> {
    let text = value.as_str().ok_or_else(|| wrong(describe(value), "a text is expected"))?.trim();
    let (length, most) = (text.chars().count(), max_length.unwrap_or(usize::MAX));
    if length > most {
        return Err(wrong(format!("a text of {length} characters"), format!("at most {most} are allowed")));
    }
    Ok(text)
}

fn one_line(value: &Value, max_length: Option<usize>) -> Result<String, ValueProblem> {
    let text = text(value, max_length)?;
    if text.contains(|c: char| c.is_control()) {
        return Err(wrong("a text with line ends or control characters", "one line is expected"));
    }
    Ok(text.to_owned())
}

/// Each line behind a mark, so that nothing in the text can pass for a part of the prompt.
fn quoted(text: &str) -> String {
    text.lines().map(|line| format!("> {line}")).collect::<Vec<_>>().join("\n")
}

/// The option with this id, or, for people who see labels, with this label in any language.
fn chosen<'c>(value: &Value, choices: &'c [Choice]) -> Result<&'c Choice, ValueProblem> {
    let ids = || choices.iter().map(|choice| choice.id.as_str());
    let allowed = || format!("one of {} is expected", ids().collect::<Vec<_>>().join(", "));
    let text = value.as_str().ok_or_else(|| wrong(describe(value), allowed()))?.trim();
    let by_id = choices.iter().find(|choice| choice.id.eq_ignore_ascii_case(text));
    let named =
        |choice: &&Choice| choice.label.all().any(|(_, label)| label.to_lowercase() == text.to_lowercase());
    by_id.or_else(|| choices.iter().find(named)).ok_or_else(|| ValueProblem {
        found: describe(value),
        allowed: allowed(),
        nearest: nearest(text, ids()).map(str::to_owned),
    })
}

fn flag(value: &Value) -> Result<bool, ValueProblem> {
    match value {
        Value::Bool(flag) => Ok(*flag),
        Value::String(text) if text.trim() == "true" => Ok(true),
        Value::String(text) if text.trim() == "false" => Ok(false),
        other => Err(wrong(describe(other), "true or false is expected")),
    }
}

fn number(value: &Value, minimum: Option<f64>, maximum: Option<f64>) -> Result<String, ValueProblem> {
    let read = match value {
        Value::Number(number) => number.as_f64(),
        Value::String(text) => text.trim().parse().ok(),
        _ => None,
    };
    let bounds = bounds(minimum, maximum);
    let number = read.filter(|number: &f64| number.is_finite());
    let number = number.ok_or_else(|| wrong(describe(value), format!("a number{bounds} is expected")))?;
    if minimum.is_some_and(|minimum| number < minimum) || maximum.is_some_and(|maximum| number > maximum) {
        return Err(wrong(format!("the number {number}"), format!("a number{bounds} is expected")));
    }
    Ok(number.to_string())
}

fn bounds(minimum: Option<f64>, maximum: Option<f64>) -> String {
    match (minimum, maximum) {
        (Some(minimum), Some(maximum)) => format!(" from {minimum} to {maximum}"),
        (Some(minimum), None) => format!(" of at least {minimum}"),
        (None, Some(maximum)) => format!(" of at most {maximum}"),
        (None, None) => String::new(),
    }
}

fn wrong(found: impl Into<String>, allowed: impl Into<String>) -> ValueProblem {
    ValueProblem { found: found.into(), allowed: allowed.into(), nearest: None }
}
