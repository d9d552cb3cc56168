//! The tools that are compiled in.
//!
//! To add one: a folder `builtin/<name>/` with `definition.json` and `tests.rs`, a module `builtin/<name>.rs` with
//! the implementation, and one line in [`builtin`].

use std::sync::Arc;

use toolcrib_egress::Egress;
use toolcrib_runtime::registry::DefinitionFile;
use toolcrib_runtime::tool::Tool;

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
    all.add("calculate", include_str!("builtin/calculate/definition.json"), Calculate::new());
    all.add("get_current_time", include_str!("builtin/get_current_time/definition.json"), GetCurrentTime);
    all.add(
        "read_web_page",
        include_str!("builtin/read_web_page/definition.json"),
        ReadWebPage::new(egress.clone()),
    );
    all
}

impl BuiltIn {
    fn add(&mut self, name: &str, definition: &str, implementation: impl Tool + 'static) {
        let file = format!("builtin/{name}/definition.json");
        self.definitions.push(DefinitionFile::built_in(file, definition));
        self.implementations.push(Arc::new(implementation));
    }
}
