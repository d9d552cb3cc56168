//! Anthropic's endpoint for `OpenAI`'s dialect.
//!
//! Source: <https://platform.claude.com/docs/en/api/openai-sdk>: `strict`, `response_format`, `seed`, penalties and
//! `reasoning_effort` are ignored, `parallel_tool_calls` and `stream_options` are supported. The list of models
//! belongs to the native API, which wants `x-api-key` and a version
//! (<https://platform.claude.com/docs/en/api/models-list>). Ids of calls match `^[a-zA-Z0-9_-]+$` there.

use toolcrib_runtime::confidence::Region;

use super::{Auth, CallIdForm, EmptyContent, ForcedChoice, MaxTokensField, Profile, ReasoningReplay};

pub(super) static PROFILE: Profile = Profile {
    family: "anthropic",
    display_name: "Anthropic",
    base_url: Some("https://api.anthropic.com/v1"),
    self_hosted: false,
    region: Some(Region::Usa),
    needs_key: true,
    auth: Auth::Bearer,
    models_auth: Auth::Header("x-api-key"),
    models_headers: &[("anthropic-version", "2023-06-01")],
    accepts_parallel_tool_calls: true,
    enforces_strict: false,
    accepts_stream_options: true,
    streams_tool_calls: true,
    max_tokens_field: MaxTokensField::MaxCompletionTokens,
    reasoning_replay: ReasoningReplay::Never,
    call_ids: CallIdForm::Word,
    forced_choice: ForcedChoice::Honored,
    empty_content: EmptyContent::Null,
    functions: true,
    images: true,
    preferred_models: &[
        "claude-sonnet-4-5",
        "claude-sonnet-4",
        "claude-haiku-4-5",
        "claude-opus-4",
        "claude",
    ],
};
