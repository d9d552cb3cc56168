//! Looks at everything that an installation depends on, and says what to do about what is wrong.

use serde_json::{Value, json};
use toolcrib_runtime::policy::SettingsState;
use toolcrib_runtime::tool::definition::Severity;
use toolcrib_storage::store::AccountStore;

use crate::app::App;

/// How a thing is.
#[derive(Clone, Copy)]
enum State {
    Ok,
    Warning,
    Error,
}

struct Finding {
    name: String,
    state: State,
    detail: String,
    advice: Option<String>,
}

/// Every finding as JSON: `{"version", "checks": [{"name", "state", "detail", "advice"}]}`.
pub(crate) async fn examine(app: &App) -> Value {
    let mut findings = vec![database(app).await];
    findings.extend(providers(app).await);
    findings.extend(tools(app));
    findings.extend(app.assistants.problems().iter().map(|problem| Finding {
        name: format!("assistant {}", problem.file),
        state: match problem.severity {
            Severity::Warning => State::Warning,
            Severity::Error => State::Error,
        },
        detail: problem.to_string(),
        advice: Some("correct the file; `toolcrib check` shows every problem".to_owned()),
    }));
    findings.extend(app.unknown_tools.load().iter().map(|unknown| Finding {
        name: format!("configuration {}", unknown.place),
        state: State::Warning,
        detail: unknown.to_string(),
        advice: Some("correct the id; `toolcrib tools list` shows every tool".to_owned()),
    }));
    let checks = findings.iter().map(|finding| {
        json!({
            "name": finding.name,
            "state": finding.state.name(),
            "detail": finding.detail,
            "advice": finding.advice,
        })
    });
    json!({"version": env!("CARGO_PKG_VERSION"), "checks": checks.collect::<Vec<_>>()})
}

async fn database(app: &App) -> Finding {
    let name = "database".to_owned();
    match app.store.installation().await {
        Ok(installation) => Finding {
            name,
            state: State::Ok,
            detail: format!(
                "SQLite in {}, schema {}",
                app.store.folder().display(),
                installation.schema_version
            ),
            advice: None,
        },
        Err(error) => Finding {
            name,
            state: State::Error,
            detail: error.to_string(),
            advice: Some("look at the disk space and the permissions of the data folder".to_owned()),
        },
    }
}

async fn providers(app: &App) -> Vec<Finding> {
    let statuses = app.models.status().await;
    if statuses.is_empty() {
        let advice = "set OPENAI_API_KEY, ANTHROPIC_API_KEY or OLLAMA_HOST, or start llama.cpp (port 8080) or Ollama \
                      (port 11434) on this machine, then start again";
        return vec![Finding {
            name: "providers".to_owned(),
            state: State::Warning,
            detail: "no model provider was found; the demo model answers".to_owned(),
            advice: Some(advice.to_owned()),
        }];
    }
    let findings = statuses.into_iter().map(|status| {
        let place = format!("{} (from {}, confidence {})", status.base_url, status.origin, status.confidence);
        let (state, detail, advice) = match status.models {
            Ok(0) => {
                let advice = "load a model at the provider, or name models in the configuration";
                (State::Warning, format!("{place} lists no models"), Some(advice))
            }
            Ok(models) => (State::Ok, format!("{place}: {models} models"), None),
            Err(message) => {
                let advice = "check that it runs, that the base URL is right and that the key is valid";
                (State::Error, format!("{place}: {message}"), Some(advice))
            }
        };
        Finding { name: format!("provider {}", status.id), state, detail, advice: advice.map(str::to_owned) }
    });
    findings.collect()
}

fn tools(app: &App) -> Vec<Finding> {
    let policy = app.policy.load();
    let catalog = app.registry.catalog();
    let tools = catalog.tools().iter().map(|tool| {
        let (state, detail, advice) = match policy.settings.get(tool.id()) {
            Some(SettingsState::NotConfigured(problems)) => {
                let problems = problems.iter().map(|problem| {
                    format!("{}: {}", problem.field.as_deref().unwrap_or("settings"), problem.message)
                });
                let detail = format!("not configured: {}", problems.collect::<Vec<_>>().join("; "));
                let advice = format!("set it in toolcrib.toml under [tools.{}]", tool.id());
                (State::Error, detail, Some(advice))
            }
            Some(SettingsState::Ready(_)) | None => (State::Ok, "ready".to_owned(), None),
        };
        Finding { name: format!("tool {}", tool.id()), state, detail, advice }
    });
    let problems = app.definition_problems.load();
    let broken = problems.iter().map(|problem| Finding {
        name: format!("definition {}", problem.file),
        state: State::Error,
        detail: problem.to_string(),
        advice: Some("correct the file; `toolcrib check` shows every problem".to_owned()),
    });
    tools.chain(broken).collect()
}

impl State {
    const fn name(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}
