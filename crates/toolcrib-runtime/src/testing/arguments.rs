//! The reader of arguments alone, for measurements and fuzzing.

use serde_json::Value;

use crate::executor::arguments::ArgumentsSchema;

/// A compiled schema of arguments, which a tool otherwise keeps to itself.
pub struct CompiledArguments(ArgumentsSchema);

impl CompiledArguments {
    /// Compiles a JSON Schema (draft 2020-12).
    ///
    /// # Errors
    /// Why the schema cannot be compiled.
    pub fn compile(schema: &Value) -> Result<Self, String> {
        ArgumentsSchema::compile(schema).map(Self)
    }

    /// Parses, repairs and validates what a model wrote.
    ///
    /// # Errors
    /// What is wrong with it, in words for the model.
    pub fn read(&self, text: &str) -> Result<Value, String> {
        self.0.read(text, &|_| false).map(|arguments| arguments.value).map_err(|bad| bad.0)
    }
}
