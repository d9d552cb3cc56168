//! What can be typed: the common options and the list of commands.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

use crate::commands::{
    approvals, ask, assistants, call, check, doctor, keys, new_tool, runs, schema, serve, tools,
};

/// Governed tools for language models: one program that offers, guards, runs and records what models may call.
#[derive(Debug, Parser)]
#[command(name = "toolcrib", version, max_term_width = 100)]
#[command(
    after_help = "Without a command, the server starts. Most commands use the server that runs on the same \
data folder, or the one at --server; without one they work on the data folder directly."
)]
pub(crate) struct Arguments {
    #[command(flatten)]
    pub(crate) common: Common,
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
}

/// Options of every command.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Options of every command")]
pub(crate) struct Common {
    /// Configuration file [default: toolcrib.toml in the data folder]
    #[arg(long, global = true, value_name = "FILE", env = "TOOLCRIB_CONFIG", hide_env = true)]
    pub(crate) config: Option<PathBuf>,
    /// Data folder [default: ~/.local/share/toolcrib]
    #[arg(long, global = true, value_name = "DIR", env = "TOOLCRIB_DATA", hide_env = true)]
    pub(crate) data: Option<PathBuf>,
    /// Use the server at this address, with the key in `TOOLCRIB_KEY`
    #[arg(long, global = true, value_name = "URL", env = "TOOLCRIB_SERVER", hide_env = true)]
    pub(crate) server: Option<String>,
    /// Print data as JSON
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// Say more in the log; twice says everything
    #[arg(short, long, global = true, action = clap::ArgAction::Count)]
    pub(crate) verbose: u8,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Start the server: API and web page (the default)
    Serve(serve::Serve),
    /// Ask a question and watch the answer, the tool calls and the sources
    Ask(ask::Ask),
    /// List assistants, or show what one asks for
    Assistants(assistants::Assistants),
    /// List tools, show one, or explain why each is offered or not
    Tools(tools::Tools),
    /// Explain why each tool is offered or not; the same as `tools explain`
    Explain(tools::Explain),
    /// List calls that wait for a person, or answer one
    Approvals(approvals::Approvals),
    /// List runs, show one with the traces of its calls, or stop it
    Runs(runs::Runs),
    /// Run one tool without a model, through the same gates
    Call(call::Call),
    /// Check definitions of tools and files of assistants
    Check(check::Check),
    /// Begin a tool of your own, in a checkout of the project
    NewTool(new_tool::NewTool),
    /// List, make and revoke API keys
    Keys(keys::Keys),
    /// Look at everything that the installation depends on
    Doctor(doctor::Doctor),
    /// Print reference documents
    Schema(schema::Schema),
}
