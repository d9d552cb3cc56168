//! An assistant with the values of its inputs, ready to be asked.
//!
//! The rendered prompt comes before every other system text. The user's own text stays the user message; where the
//! prompt wants it marked as data, the marks around it are chosen so that they do not occur in it.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Map, Value};
use toolcrib_runtime::message::{Message, Part};
use toolcrib_runtime::model::{Model, ModelRequest};
use toolcrib_runtime::nearest::nearest;

use super::file::DELIMITER;
use super::{Assistant, Input, Need};

/// An assistant with valid values.
#[derive(Debug, Clone)]
pub(crate) struct Filled {
    assistant: Arc<Assistant>,
    /// What stands in the prompt, by input; inputs without anything to say have no entry.
    texts: BTreeMap<String, String>,
}

/// A value that is missing, unknown or wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct InputProblem {
    /// The input's id, as it was written.
    pub(crate) input: String,
    /// What is wrong, what is allowed, and what was probably meant.
    pub(crate) message: String,
}

impl Filled {
    /// Takes the values of a request; what is not given has its default.
    ///
    /// # Errors
    /// Every value that is missing, unknown or wrong.
    pub(crate) fn new(
        assistant: &Arc<Assistant>,
        values: &Map<String, Value>,
    ) -> Result<Self, Vec<InputProblem>> {
        let mut problems: Vec<_> = values.keys().filter_map(|id| not_an_input(assistant, id)).collect();
        let mut texts = BTreeMap::new();
        for input in assistant.settable() {
            let given = values.get(&input.id).filter(|value| !Input::is_blank(value));
            let text = match given.or(input.default.as_ref()) {
                Some(value) => input.prompt_text(value).map_err(|problem| {
                    let near =
                        problem.nearest.map(|near| format!("; did you mean {near:?}?")).unwrap_or_default();
                    format!("{}; {}{near}", problem.found, problem.allowed)
                }),
                None if input.required => Err(format!("{:?} is required", input.label.english())),
                None => Ok(None),
            };
            match text {
                Ok(text) => texts.extend(text.map(|text| (input.id.clone(), text))),
                Err(message) => problems.push(InputProblem { input: input.id.clone(), message }),
            }
        }
        if problems.is_empty() { Ok(Self { assistant: Arc::clone(assistant), texts }) } else { Err(problems) }
    }

    /// What the model lacks that the assistant needs.
    pub(crate) fn missing_in(&self, model: &dyn Model) -> Option<Need> {
        let has = model.capabilities();
        self.assistant.needs.iter().copied().find(|need| match need {
            Need::Functions => !has.functions,
            Need::Images => !has.images,
        })
    }

    /// What is wrong with the user's own text.
    pub(crate) fn problem_of_user_text(&self, messages: &[Message]) -> Option<String> {
        let label =
            self.assistant.user_input().map_or_else(String::new, |input| input.label.english().to_owned());
        let last = messages.iter().rev().find_map(|message| match message {
            Message::User(parts) => Some(parts),
            _ => None,
        });
        let Some(parts) = last else {
            return Some(format!(
                "there is no user message; it holds the text that {} works on ({label})",
                self.id()
            ));
        };
        let only_text = parts.iter().all(|part| matches!(part, Part::Text(_)));
        let text = Message::User(parts.clone()).text();
        if only_text && text.trim().is_empty() {
            return Some(format!(
                "the user message is empty; it holds the text that {} works on ({label})",
                self.id()
            ));
        }
        let most = self.assistant.user_input().and_then(|input| input.kind.max_length())?;
        let length = text.chars().count();
        (length > most)
            .then(|| format!("the user message has {length} characters; {} takes at most {most}", self.id()))
    }

    /// The assistant's id.
    pub(crate) fn id(&self) -> &str {
        &self.assistant.id
    }

    /// Puts the prompt before everything else, the first text of the user between its marks, and the assistant's
    /// temperature where the request names none.
    pub(crate) fn apply(&self, request: &mut ModelRequest) {
        let marks = self.assistant.delimiter.as_deref().map(|name| {
            let first = request.messages.iter_mut().find_map(|message| match message {
                Message::User(parts) => Some(parts),
                _ => None,
            });
            let Some(parts) = first else { return name.to_owned() };
            let name = unused(name, &Message::User(parts.clone()).text());
            put_between(parts, &name);
            name
        });
        request.messages.insert(0, Message::System(self.prompt(marks.as_deref())));
        if request.sampling.temperature.is_none() {
            request.sampling.temperature = self.assistant.temperature;
        }
    }

    /// The prompt; `marks` is the name of those around the user's own text.
    pub(super) fn prompt(&self, marks: Option<&str>) -> String {
        self.assistant.prompt.render(&|input| match input {
            DELIMITER => marks,
            input => self.texts.get(input).map(String::as_str),
        })
    }
}

impl Assistant {
    /// The inputs that a request sets; the user's own text is a message.
    fn settable(&self) -> impl Iterator<Item = &Input> {
        self.inputs.iter().filter(|input| input.id != self.user_text)
    }

    /// The input that is the user's own text.
    pub(crate) fn user_input(&self) -> Option<&Input> {
        self.inputs.iter().find(|input| input.id == self.user_text)
    }
}

fn not_an_input(assistant: &Assistant, id: &str) -> Option<InputProblem> {
    let known = || assistant.settable().map(|input| input.id.as_str());
    if known().any(|known| known == id) {
        return None;
    }
    let message = if id == assistant.user_text {
        "it is the user's own text: send it as the user message".to_owned()
    } else {
        let near = nearest(id, known()).map(|near| format!("; did you mean {near:?}?")).unwrap_or_default();
        let listed = known().collect::<Vec<_>>().join(", ");
        format!("{} has no such input; there are {listed}{near}", assistant.id)
    };
    Some(InputProblem { input: id.to_owned(), message })
}

/// The name, numbered when the text holds a mark of that name already.
fn unused(name: &str, text: &str) -> String {
    let text = text.to_lowercase();
    let occurs = |name: &str| text.contains(&format!("<{name}>")) || text.contains(&format!("</{name}>"));
    let numbered = (2_u32..).map(|number| format!("{name}_{number}"));
    std::iter::once(name.to_owned())
        .chain(numbered)
        .find(|name| !occurs(name))
        .unwrap_or_else(|| name.to_owned())
}

fn put_between(parts: &mut Vec<Part>, name: &str) {
    if let [Part::Text(text)] = parts.as_mut_slice() {
        *text = format!("<{name}>\n{text}\n</{name}>");
    } else {
        parts.insert(0, Part::Text(format!("<{name}>")));
        parts.push(Part::Text(format!("</{name}>")));
    }
}
