//! The tools that are compiled in.
//!
//! To add one: a module `builtin/<name>.rs` with a [`TypedTool`] or with a [`Tool`] and its
//! `builtin/<name>/definition.json`, its tests in `builtin/<name>/tests.rs`, and one line in [`builtin`].

use std::sync::Arc;

use toolcrib_egress::Egress;
use toolcrib_runtime::registry::DefinitionFile;
use toolcrib_runtime::tool::Tool;
use toolcrib_runtime::tool::typed::TypedTool;

mod arguments;
mod calculate;
mod get_current_time;
mod read_web_page;
#[cfg(test)]
mod tests;

pub use calculate::Calculate;
pub use get_current_time::GetCurrentTime;
pub use read_web_page::ReadWebPage;

/// Definitions and implementations, as [`toolcrib_runtime::registry::Catalog::build`] takes them.
#[derive(Default)]
pub struct BuiltIn {
    /// One definition file per tool.
    pub definitions: Vec<DefinitionFile>,
    /// The implementations that the definitions name.
    pub implementations: Vec<Arc<dyn Tool>>,
}

/// All built-in tools. Tools that fetch what the model asks for do it through `egress`.
pub fn builtin(egress: &Egress) -> BuiltIn {
    let mut all = BuiltIn::default();
    all.typed(Calculate::new());
    all.typed(GetCurrentTime);
    all.plain(include_str!("builtin/read_web_page/definition.json"), ReadWebPage::new(egress.clone()));
    all
}

impl BuiltIn {
    /// Adds a tool whose definition follows from its types.
    fn typed(&mut self, tool: impl TypedTool) {
        let tool = tool.into_tool();
        self.definitions.push(tool.definition());
        self.implementations.push(Arc::new(tool));
    }

    /// Adds a tool whose definition stands in a file of its own.
    fn plain(&mut self, definition: &str, tool: impl Tool + 'static) {
        let file = format!("builtin/{}/definition.json", tool.implementation_key());
        self.definitions.push(DefinitionFile { file, text: definition.to_owned() });
        self.implementations.push(Arc::new(tool));
    }
}
