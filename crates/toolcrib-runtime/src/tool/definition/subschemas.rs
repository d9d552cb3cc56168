//! The schemas within a schema, each with its place.

use serde_json::{Map, Value};

use super::reader::join;

/// Keywords that hold one schema (JSON Schema 2020-12, core, section 10 and 11).
const ONE: [&str; 11] = [
    "additionalProperties",
    "contains",
    "contentSchema",
    "else",
    "if",
    "items",
    "not",
    "propertyNames",
    "then",
    "unevaluatedItems",
    "unevaluatedProperties",
];
/// Keywords that hold a list of schemas.
const LISTS: [&str; 4] = ["allOf", "anyOf", "oneOf", "prefixItems"];
/// Keywords that hold schemas by name.
const BY_NAME: [&str; 5] = ["$defs", "definitions", "dependentSchemas", "patternProperties", "properties"];
/// Keywords that hold no schema.
const PLAIN: [&str; 39] = [
    "$anchor",
    "$comment",
    "$dynamicAnchor",
    "$dynamicRef",
    "$id",
    "$ref",
    "$schema",
    "$vocabulary",
    "const",
    "contentEncoding",
    "contentMediaType",
    "default",
    "dependentRequired",
    "dependencies",
    "deprecated",
    "description",
    "enum",
    "examples",
    "exclusiveMaximum",
    "exclusiveMinimum",
    "format",
    "maxContains",
    "maxItems",
    "maxLength",
    "maxProperties",
    "maximum",
    "minContains",
    "minItems",
    "minLength",
    "minProperties",
    "minimum",
    "multipleOf",
    "pattern",
    "readOnly",
    "required",
    "title",
    "type",
    "uniqueItems",
    "writeOnly",
];

/// A schema within a schema.
pub(super) struct Subschema<'s> {
    /// JSON pointer (RFC 6901) from the whole schema.
    pub(super) pointer: String,
    pub(super) fields: &'s Map<String, Value>,
}

/// The schema itself and every one within it, outer ones first. What is no object says nothing and is left out, so
/// that a schema with faults can be looked at too.
pub(super) fn subschemas(schema: &Value) -> Vec<Subschema<'_>> {
    let mut found = Vec::new();
    let mut open = vec![(String::new(), schema)];
    while let Some((pointer, value)) = open.pop() {
        let Some(fields) = value.as_object() else { continue };
        let start = open.len();
        for (keyword, value) in fields {
            let place = || join(&pointer, keyword);
            match keyword.as_str() {
                one if ONE.contains(&one) => open.push((place(), value)),
                list if LISTS.contains(&list) => {
                    let items = value.as_array().into_iter().flatten().enumerate();
                    open.extend(items.map(|(index, item)| (format!("{}/{index}", place()), item)));
                }
                named if BY_NAME.contains(&named) => {
                    let items = value.as_object().into_iter().flatten();
                    open.extend(items.map(|(name, item)| (join(&place(), name), item)));
                }
                _ => {}
            }
        }
        open[start..].reverse();
        found.push(Subschema { pointer, fields });
    }
    found
}

/// The keywords of draft 2020-12.
pub(super) fn keywords() -> impl Iterator<Item = &'static str> {
    ONE.into_iter().chain(LISTS).chain(BY_NAME).chain(PLAIN)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_schema_within_is_found_in_the_order_of_the_document() {
        let schema = json!({
            "type": "object",
            "properties": {"a/b": {"items": {"type": "string"}}, "open": true},
            "anyOf": [{"required": ["a/b"]}, {"not": {}}],
            "enum": [{"type": "no schema"}],
            "items": 5
        });
        let pointers: Vec<_> = subschemas(&schema).into_iter().map(|found| found.pointer).collect();
        let expected =
            ["", "/properties/a~1b", "/properties/a~1b/items", "/anyOf/0", "/anyOf/1", "/anyOf/1/not"];
        assert_eq!(pointers, expected);
    }
}
