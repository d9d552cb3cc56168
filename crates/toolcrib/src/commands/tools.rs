//! `toolcrib tools`: what there is, and why it is offered or not.

use std::process::ExitCode;

use clap::{Args, Subcommand};
use http::Method;
use serde_json::Value;
use toolcrib_server::client::Connection;

use super::encoded;
use crate::interrupt::with_connection;
use crate::output::{self, BAD, FAINT, GOOD, STRONG, column, styled, text_of};
use crate::place::Place;

/// List tools, show one, or explain why each is offered or not.
#[derive(Debug, Args)]
pub(crate) struct Tools {
    #[command(subcommand)]
    command: Option<Which>,
}

#[derive(Debug, Subcommand)]
enum Which {
    /// List the tools (the default)
    List,
    /// Show one tool with its schema and its settings
    Show {
        /// The tool's id
        id: String,
    },
    /// Say for each tool whether it would be offered, and if not why and who can change that
    Explain(Explain),
}

#[derive(Debug, Args)]
pub(crate) struct Explain {
    /// Only this tool, with the verdict of every gate
    id: Option<String>,
    /// Where the run would happen: chat, api, mcp, cli or an assistant [default: cli, or api with --server]
    #[arg(long, value_name = "ID")]
    component: Option<String>,
    /// The model, as `provider/model`
    #[arg(short, long, value_name = "MODEL", default_value = "default")]
    model: String,
    /// Tools that would be chosen: ids separated by commas, or `none`
    #[arg(long, value_name = "IDS", default_value = "default")]
    tools: String,
}

impl Tools {
    pub(crate) async fn run(self, place: &Place, json: bool) -> anyhow::Result<ExitCode> {
        with_connection(place, async |connection| match self.command.unwrap_or(Which::List) {
            Which::List => list(connection, json).await,
            Which::Show { id } => show(connection, &id).await,
            Which::Explain(explain) => explain.run(connection, place.component(), json).await,
        })
        .await
    }
}

async fn list(connection: &Connection, json: bool) -> anyhow::Result<ExitCode> {
    let answer = connection.json(Method::GET, "/api/v1/tools", None).await?;
    if json {
        output::json(&answer);
        return Ok(ExitCode::SUCCESS);
    }
    let tools = answer["tools"].as_array().map(Vec::as_slice).unwrap_or_default();
    let longest = longest_id(tools);
    for tool in tools {
        let (icon, id) = (text_of(&tool["icon"]), column(STRONG, &text_of(&tool["id"]), longest));
        output::line(format!("{icon} {id}  {}", text_of(&tool["description"])));
    }
    for problem in answer["problems"].as_array().into_iter().flatten() {
        output::note(format!("{}: {}", styled(BAD, "problem"), text_of(problem)));
    }
    Ok(ExitCode::SUCCESS)
}

async fn show(connection: &Connection, id: &str) -> anyhow::Result<ExitCode> {
    let path = format!("/api/v1/tools/{}", encoded(id));
    output::json(&connection.json(Method::GET, &path, None).await?);
    Ok(ExitCode::SUCCESS)
}

impl Explain {
    pub(crate) async fn run_alone(self, place: &Place, json: bool) -> anyhow::Result<ExitCode> {
        with_connection(place, async |connection| self.run(connection, place.component(), json).await).await
    }

    async fn run(self, connection: &Connection, component: &str, json: bool) -> anyhow::Result<ExitCode> {
        let component = self.component.as_deref().unwrap_or(component);
        let path = format!(
            "/api/v1/tools/explain?component={}&model={}&tools={}",
            encoded(component),
            encoded(&self.model),
            encoded(&self.tools)
        );
        let mut answer = connection.json(Method::GET, &path, None).await?;
        if let Some(id) = &self.id {
            let tools = answer["tools"].as_array().cloned().unwrap_or_default();
            let wanted: Vec<Value> =
                tools.into_iter().filter(|tool| text_of(&tool["id"]) == id.as_str()).collect();
            if wanted.is_empty() {
                anyhow::bail!("there is no tool {id:?}; `toolcrib tools list` shows what there is");
            }
            answer["tools"] = wanted.into();
        }
        if json {
            output::json(&answer);
            return Ok(ExitCode::SUCCESS);
        }
        let (model, confidence) = (text_of(&answer["model"]), text_of(&answer["confidence"]));
        output::line(styled(FAINT, format!("component {component}, model {model}, confidence {confidence}")));
        let tools = answer["tools"].as_array().map(Vec::as_slice).unwrap_or_default();
        let longest = longest_id(tools);
        for tool in tools {
            show_tool(tool, longest);
            if self.id.is_some() {
                show_gates(tool);
            }
        }
        Ok(ExitCode::SUCCESS)
    }
}

fn longest_id(tools: &[Value]) -> usize {
    tools.iter().map(|tool| text_of(&tool["id"]).chars().count()).max().unwrap_or_default()
}

fn show_tool(tool: &Value, width: usize) {
    let id = column(STRONG, &text_of(&tool["id"]), width);
    if tool["offered"] == true {
        output::line(format!("{} {id}  offered", styled(GOOD, "✓")));
        return;
    }
    let headline = &tool["headline"];
    let (code, message) = (text_of(&headline["code"]), text_of(&headline["message"]));
    let who = text_of(&headline["who_can_change_it"]);
    output::line(format!("{} {id}  withheld: {message} ({code}; to change by: {who})", styled(BAD, "✗")));
}

fn show_gates(tool: &Value) {
    for (index, gate) in tool["gates"].as_array().into_iter().flatten().enumerate() {
        let passed = gate["passed"] == true;
        let mark = if passed { styled(GOOD, "✓") } else { styled(BAD, "✗") };
        let text = if passed { text_of(&gate["passes_when"]) } else { text_of(&gate["reason"]["message"]) };
        output::line(format!("  {:>2} {mark} {:<13} {text}", index + 1, text_of(&gate["gate"])));
        if !passed {
            let (has, needs) = (text_of(&gate["reason"]["has"]), text_of(&gate["reason"]["needs"]));
            output::line(styled(FAINT, format!("{:20}has {has}; needs {needs}", "")));
        }
    }
}
