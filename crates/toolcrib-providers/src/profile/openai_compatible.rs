//! A host that speaks `OpenAI`'s dialect and of which nothing else is known.
//!
//! Source: what the hosts have in common. Each field takes the form that the fewest of them refuse: `max_tokens`,
//! content as `""`, no `strict`, a forced tool as the only one on offer (several accept `tool_choice` only as a
//! word). What one refuses all the same is left out after its first 400 answer.

use super::{Auth, CallIdForm, EmptyContent, ForcedChoice, MaxTokensField, Profile, ReasoningReplay};

pub(super) static PROFILE: Profile = Profile {
    family: "openai_compatible",
    display_name: "OpenAI-compatible host",
    base_url: None,
    self_hosted: false,
    region: None,
    needs_key: false,
    auth: Auth::Bearer,
    models_auth: Auth::Bearer,
    models_headers: &[],
    accepts_parallel_tool_calls: true,
    enforces_strict: false,
    accepts_stream_options: true,
    streams_tool_calls: true,
    max_tokens_field: MaxTokensField::MaxTokens,
    reasoning_replay: ReasoningReplay::Never,
    call_ids: CallIdForm::Any,
    forced_choice: ForcedChoice::OnlyByWord,
    empty_content: EmptyContent::EmptyText,
    functions: true,
    images: true,
    preferred_models: &[],
};
