//! The assistants that are compiled in: the files of the folder `assistants` of the repository.

use super::AssistantFile;

macro_rules! files {
    ($($id:literal)*) => {
        const FILES: &[(&str, &str)] =
            &[$(($id, include_str!(concat!("../../../../assistants/", $id, ".toml")))),*];
    };
}

files! {
    "agenda_assistant"
    "coding_assistant"
    "email_assistant"
    "grammar_spelling_assistant"
    "icon_finder_assistant"
    "job_posting_assistant"
    "legal_check_assistant"
    "my_tasks_assistant"
    "prompt_optimizer_assistant"
    "rewrite_assistant"
    "synonyms_assistant"
    "text_summarizer_assistant"
    "translation_assistant"
}

/// The files, in the order of their ids.
pub(super) fn files() -> Vec<AssistantFile> {
    let files = FILES.iter().map(|(id, text)| AssistantFile {
        file: format!("built-in/{id}.toml"),
        text: Ok((*text).to_owned()),
    });
    files.collect()
}
