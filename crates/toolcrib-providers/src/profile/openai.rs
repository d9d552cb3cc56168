//! `OpenAI`.
//!
//! Source: the API reference (<https://platform.openai.com/docs/api-reference/chat/create>) and its guides to
//! function calling and structured outputs; the 40 characters of a call's id are what the API's 400 answer says.

use toolcrib_runtime::confidence::Region;

use super::{Auth, CallIdForm, EmptyContent, ForcedChoice, MaxTokensField, Profile, ReasoningReplay};

pub(super) static PROFILE: Profile = Profile {
    family: "openai",
    display_name: "OpenAI",
    base_url: Some("https://api.openai.com/v1"),
    self_hosted: false,
    region: Some(Region::Usa),
    needs_key: true,
    auth: Auth::Bearer,
    models_auth: Auth::Bearer,
    models_headers: &[],
    accepts_parallel_tool_calls: true,
    enforces_strict: true,
    accepts_stream_options: true,
    streams_tool_calls: true,
    max_tokens_field: MaxTokensField::MaxCompletionTokens,
    reasoning_replay: ReasoningReplay::Never,
    call_ids: CallIdForm::AtMost(40),
    forced_choice: ForcedChoice::Honored,
    empty_content: EmptyContent::Null,
    functions: true,
    images: true,
    preferred_models: &["gpt-5.1", "gpt-5-mini", "gpt-5", "gpt-4.1-mini", "gpt-4.1", "gpt-4o-mini", "gpt-4o"],
};
