//! The tools that are compiled in.
//!
//! To add one: a module `builtin/<name>.rs` with a [`TypedTool`] or with a [`Tool`] and its
//! `builtin/<name>/definition.json`, its tests in `builtin/<name>/tests.rs`, and one line in [`builtin`].

use std::collections::BTreeMap;
use std::sync::Arc;

use toolcrib_egress::Egress;
use toolcrib_runtime::caller::Components;
use toolcrib_runtime::registry::{Catalog, DefinitionFile};
use toolcrib_runtime::tool::Tool;
use toolcrib_runtime::tool::typed::TypedTool;

use crate::page::page;

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
    /// The modules of the tools by implementation key, for the comments with which they open.
    sources: BTreeMap<String, &'static str>,
}

/// All built-in tools. Tools that fetch what the model asks for do it through `egress`.
pub fn builtin(egress: &Egress) -> BuiltIn {
    let mut all = BuiltIn::default();
    all.typed(Calculate::new(), include_str!("builtin/calculate.rs"));
    all.typed(GetCurrentTime, include_str!("builtin/get_current_time.rs"));
    all.plain(
        ReadWebPage::new(egress.clone()),
        include_str!("builtin/read_web_page.rs"),
        include_str!("builtin/read_web_page/definition.json"),
    );
    all
}

impl BuiltIn {
    /// The page of each tool by its id, as Markdown.
    pub fn pages(&self) -> BTreeMap<String, String> {
        let (catalog, _) = Catalog::build(&self.definitions, &self.implementations, &Components::default());
        let with_source = catalog.tools().iter().filter_map(|tool| {
            let source = self.sources.get(&tool.definition.implementation_key)?;
            Some((tool.id().to_owned(), page(tool, source)))
        });
        with_source.collect()
    }

    /// Adds a tool whose definition follows from its types.
    fn typed<T: TypedTool>(&mut self, tool: T, source: &'static str) {
        let tool = tool.into_tool();
        self.definitions.push(tool.definition());
        self.sources.insert(T::KEY.to_owned(), source);
        self.implementations.push(Arc::new(tool));
    }

    /// Adds a tool whose definition stands in a file of its own.
    fn plain(&mut self, tool: impl Tool + 'static, source: &'static str, definition: &str) {
        let key = tool.implementation_key().to_owned();
        let file = format!("builtin/{key}/definition.json");
        self.definitions.push(DefinitionFile::built_in(file, definition));
        self.sources.insert(key, source);
        self.implementations.push(Arc::new(tool));
    }
}
