//! Any schema and any text, with a line break between: what is accepted is accepted again, unchanged.

#![no_main]

use libfuzzer_sys::fuzz_target;
use toolcrib_runtime::testing::CompiledArguments;

fuzz_target!(|input: &str| {
    let Some((schema, text)) = input.split_once('\n') else { return };
    let Ok(schema) = serde_json::from_str(schema) else { return };
    let Ok(schema) = CompiledArguments::compile(&schema) else { return };
    if let Ok(value) = schema.read(text) {
        assert_eq!(schema.read(&value.to_string()), Ok(value));
    }
});
