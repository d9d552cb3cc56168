//! Whether a schema accepts every value that another one accepts.
//!
//! The comparison is structural and errs on the side of refusal: when it finds nothing, every value that the old
//! schema accepts is accepted by the new one; when it finds something, that may only mean that it could not tell.

use std::cmp::Ordering;

use serde_json::{Map, Number, Value};

use super::reader::{describe, join};

mod objects;
#[cfg(test)]
mod tests;

/// Keywords that tell something and refuse nothing (JSON Schema 2020-12, validation, section 9).
const ANNOTATIONS: [&str; 13] = [
    "$anchor",
    "$comment",
    "$defs",
    "$id",
    "$schema",
    "default",
    "definitions",
    "deprecated",
    "description",
    "examples",
    "readOnly",
    "title",
    "writeOnly",
];
/// Keywords that are compared one by one.
const COMPARED: [&str; 23] = [
    "additionalProperties",
    "anyOf",
    "const",
    "enum",
    "exclusiveMaximum",
    "exclusiveMinimum",
    "items",
    "maxItems",
    "maxLength",
    "maxProperties",
    "maximum",
    "minItems",
    "minLength",
    "minProperties",
    "minimum",
    "multipleOf",
    "patternProperties",
    "prefixItems",
    "properties",
    "required",
    "type",
    "uniqueItems",
    "pattern",
];
/// Keywords whose meaning depends on keywords beside them: all of a group are equal, or the schemas differ.
const GROUPS: [(&str, &[&str]); 2] =
    [("if", &["if", "then", "else"]), ("contains", &["contains", "minContains", "maxContains"])];
/// Keywords whose meaning depends on everything around or behind them.
const ENTANGLED: [&str; 5] =
    ["$dynamicRef", "$recursiveRef", "$ref", "unevaluatedItems", "unevaluatedProperties"];
/// Comparisons of two schemas that are made at most: alternatives within alternatives multiply.
const MAX_COMPARISONS: usize = 20_000;
/// How deep schemas are compared.
const MAX_DEPTH: usize = 64;

/// One place where the new schema may refuse what the old one accepts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Incompatibility {
    /// JSON pointer (RFC 6901) into the new schema, to where it refuses.
    pub pointer: String,
    /// What it refuses.
    pub reason: String,
}

/// Every place where `new` may refuse a value that `old` accepts; nothing when `new` accepts them all.
pub fn incompatibilities(old: &Value, new: &Value) -> Vec<Incompatibility> {
    if without_annotations(old) == without_annotations(new) && !(mentions_reference(new) && old != new) {
        return Vec::new();
    }
    for schema in [old, new] {
        if mentions_entangled(schema) {
            return vec![Incompatibility {
                pointer: String::new(),
                reason:
                    "schemas with references or \"unevaluated…\" can only be compared when they are equal"
                        .to_owned(),
            }];
        }
    }
    let mut comparison = Comparison { left: MAX_COMPARISONS, found: Vec::new() };
    comparison.compare(old, new, "", 0);
    comparison.found
}

struct Comparison {
    left: usize,
    found: Vec<Incompatibility>,
}

impl Comparison {
    fn add(&mut self, pointer: &str, reason: impl Into<String>) {
        self.found.push(Incompatibility { pointer: pointer.to_owned(), reason: reason.into() });
    }

    /// Whether the schemas are compatible, without noting why they are not.
    fn fits(&mut self, old: &Value, new: &Value, pointer: &str, depth: usize) -> bool {
        let before = self.found.len();
        self.compare(old, new, pointer, depth);
        let fits = self.found.len() == before;
        self.found.truncate(before);
        fits
    }

    fn compare(&mut self, old: &Value, new: &Value, pointer: &str, depth: usize) {
        if self.left == 0 || depth > MAX_DEPTH {
            return self.add(pointer, "the schemas are too intricate to compare");
        }
        self.left -= 1;
        let nothing = Map::new();
        let (old_fields, new_fields) = match (old, new) {
            (Value::Bool(false), _) | (_, Value::Bool(true)) => return,
            (_, Value::Bool(false)) => return self.add(pointer, "nothing is accepted here any more"),
            (Value::Object(old), Value::Object(new)) => (old, new),
            (_, Value::Object(new)) => (&nothing, new),
            _ => return self.add(pointer, "this is no schema"),
        };
        if let Some(values) = listed(old_fields) {
            return self.values(values, old, new, pointer);
        }
        let before = self.found.len();
        self.keywords(old_fields, new_fields, pointer, depth);
        if self.found.len() > before && self.every_case_fits(old_fields, new, pointer, depth) {
            self.found.truncate(before);
        }
    }

    /// The old schema lists its values, so each one can be tried.
    fn values(&mut self, values: &[Value], old: &Value, new: &Value, pointer: &str) {
        let (Ok(old), Ok(new)) = (jsonschema::draft202012::new(old), jsonschema::draft202012::new(new))
        else {
            return self.add(pointer, "the schema cannot be compiled");
        };
        for value in values.iter().filter(|value| old.is_valid(value) && !new.is_valid(value)) {
            self.add(pointer, format!("{} is no longer accepted", describe(value)));
        }
    }

    /// Takes the old schema apart (into its types, or its alternatives) and compares each part alone.
    fn every_case_fits(
        &mut self,
        old: &Map<String, Value>,
        new: &Value,
        pointer: &str,
        depth: usize,
    ) -> bool {
        for keyword in ["anyOf", "oneOf"] {
            let Some(cases) = old.get(keyword).and_then(Value::as_array).filter(|cases| !cases.is_empty())
            else {
                continue;
            };
            if cases.iter().all(|case| self.fits(case, new, pointer, depth + 1)) {
                return true;
            }
        }
        let Some(types) = old.get("type").and_then(Value::as_array).filter(|types| types.len() > 1) else {
            return false;
        };
        types.iter().all(|kind| {
            let mut case = old.clone();
            case.insert("type".to_owned(), kind.clone());
            self.fits(&Value::Object(case), new, pointer, depth + 1)
        })
    }

    fn keywords(&mut self, old: &Map<String, Value>, new: &Map<String, Value>, pointer: &str, depth: usize) {
        if listed(new).is_some() {
            self.add(pointer, "only listed values are accepted, and before there was no list");
        }
        let (old_types, new_types) = (types(old), types(new));
        for kind in &old_types {
            let kept = new_types.contains(kind) || (*kind == "integer" && new_types.contains(&"number"));
            if !kept {
                self.add(&join(pointer, "type"), format!("the type {kind} is no longer accepted"));
            }
        }
        let has = |kind: &str| old_types.contains(&kind);
        if has("number") || has("integer") {
            self.numbers(old, new, pointer);
        }
        if has("string") {
            self.lengths(old, new, ["minLength", "maxLength"], pointer);
            self.equal(old, new, &["pattern"], pointer);
        }
        if has("array") {
            self.lengths(old, new, ["minItems", "maxItems"], pointer);
            self.arrays(old, new, pointer, depth);
        }
        if has("object") {
            self.lengths(old, new, ["minProperties", "maxProperties"], pointer);
            self.objects(old, new, pointer, depth);
        }
        if let Some(cases) = new.get("anyOf")
            && !same(old.get("anyOf"), Some(cases))
        {
            let whole = Value::Object(old.clone());
            let cases = cases.as_array().map(Vec::as_slice).unwrap_or_default();
            if !cases.iter().any(|case| self.fits(&whole, case, pointer, depth + 1)) {
                self.add(&join(pointer, "anyOf"), "none of the alternatives accepts all that was accepted");
            }
        }
        for (first, group) in GROUPS {
            if new.contains_key(first)
                && group.iter().any(|keyword| !same(old.get(*keyword), new.get(*keyword)))
            {
                self.add(&join(pointer, first), format!("{first:?} differs, and cannot be compared"));
            }
        }
        let grouped = |keyword: &str| GROUPS.iter().any(|(_, group)| group.contains(&keyword));
        let others = new.keys().map(String::as_str).filter(|keyword| {
            !ANNOTATIONS.contains(keyword) && !COMPARED.contains(keyword) && !grouped(keyword)
        });
        self.equal(old, new, &others.collect::<Vec<_>>(), pointer);
    }

    /// These keywords must say the same where the new schema has them.
    fn equal(
        &mut self,
        old: &Map<String, Value>,
        new: &Map<String, Value>,
        keywords: &[&str],
        pointer: &str,
    ) {
        for keyword in keywords {
            if new.contains_key(*keyword) && !same(old.get(*keyword), new.get(*keyword)) {
                self.add(&join(pointer, keyword), format!("{keyword:?} differs, and cannot be compared"));
            }
        }
    }

    fn numbers(&mut self, old: &Map<String, Value>, new: &Map<String, Value>, pointer: &str) {
        let sides = [
            ("minimum", "exclusiveMinimum", Ordering::Greater, "smaller"),
            ("maximum", "exclusiveMaximum", Ordering::Less, "larger"),
        ];
        for (closed, open, inside, what) in sides {
            let (old_closed, old_open) = (number(old, closed), number(old, open));
            let within = |bound: Option<&Number>, limit: &Number, touching: bool| {
                let order = bound.and_then(|bound| order(bound, limit));
                order == Some(inside) || (touching && order == Some(Ordering::Equal))
            };
            for (keyword, touching) in [(closed, true), (open, false)] {
                let Some(limit) = number(new, keyword) else { continue };
                if !within(old_closed, limit, touching) && !within(old_open, limit, true) {
                    let reason = format!("{what} numbers than {limit} were accepted before");
                    self.add(&join(pointer, keyword), reason);
                }
            }
        }
        self.equal(old, new, &["multipleOf"], pointer);
    }

    fn lengths(
        &mut self,
        old: &Map<String, Value>,
        new: &Map<String, Value>,
        names: [&str; 2],
        pointer: &str,
    ) {
        let [minimum, maximum] = names;
        let zero = Number::from(0);
        if let Some(limit) = number(new, minimum) {
            let before = number(old, minimum).unwrap_or(&zero);
            if !matches!(order(before, limit), Some(Ordering::Greater | Ordering::Equal)) {
                self.add(&join(pointer, minimum), format!("it was {before} before"));
            }
        }
        if let Some(limit) = number(new, maximum) {
            let before = number(old, maximum);
            let fits = before.and_then(|before| order(before, limit));
            if !matches!(fits, Some(Ordering::Less | Ordering::Equal)) {
                let before = before.map_or_else(|| "unlimited".to_owned(), Number::to_string);
                self.add(&join(pointer, maximum), format!("it was {before} before"));
            }
        }
    }

    fn arrays(&mut self, old: &Map<String, Value>, new: &Map<String, Value>, pointer: &str, depth: usize) {
        if new.get("uniqueItems") == Some(&Value::Bool(true))
            && old.get("uniqueItems") != new.get("uniqueItems")
        {
            self.add(&join(pointer, "uniqueItems"), "repeated items were accepted before");
        }
        if !same(old.get("prefixItems"), new.get("prefixItems")) {
            return self
                .add(&join(pointer, "prefixItems"), "\"prefixItems\" differs, and cannot be compared");
        }
        if let Some(items) = new.get("items") {
            let before = old.get("items").unwrap_or(&Value::Bool(true));
            self.compare(before, items, &join(pointer, "items"), depth + 1);
        }
    }
}

/// The values of a schema that lists them.
fn listed(fields: &Map<String, Value>) -> Option<&[Value]> {
    match (fields.get("const"), fields.get("enum")) {
        (Some(value), _) => Some(std::slice::from_ref(value)),
        (None, Some(Value::Array(values))) => Some(values),
        (None, _) => None,
    }
}

/// The types that a schema admits; `integer` only where `number` is not.
fn types(fields: &Map<String, Value>) -> Vec<&str> {
    match fields.get("type") {
        Some(Value::String(kind)) => vec![kind],
        Some(Value::Array(kinds)) => kinds.iter().filter_map(Value::as_str).collect(),
        _ => vec!["null", "boolean", "object", "array", "number", "string"],
    }
}

fn number<'s>(fields: &'s Map<String, Value>, keyword: &str) -> Option<&'s Number> {
    fields.get(keyword).and_then(Value::as_number)
}

/// The order of two numbers; `None` when it cannot be told exactly.
fn order(left: &Number, right: &Number) -> Option<Ordering> {
    let whole = |number: &Number| number.as_i64().map(i128::from).or_else(|| number.as_u64().map(i128::from));
    if let (Some(left), Some(right)) = (whole(left), whole(right)) {
        return Some(left.cmp(&right));
    }
    // Whole numbers beyond this lose digits as floating point (IEEE 754, binary64).
    let exact = |number: &Number| whole(number).is_none_or(|whole| whole.unsigned_abs() < 1 << 53);
    if !exact(left) || !exact(right) {
        return None;
    }
    left.as_f64()?.partial_cmp(&right.as_f64()?)
}

/// Whether two schemas, or lists or maps of schemas, say the same.
fn same(left: Option<&Value>, right: Option<&Value>) -> bool {
    left == right || left.map(without_annotations) == right.map(without_annotations)
}

/// A schema without what refuses nothing. Names of properties and listed values stay.
fn without_annotations(schema: &Value) -> Value {
    match schema {
        Value::Object(fields) => {
            let kept = fields.iter().filter(|(keyword, _)| !ANNOTATIONS.contains(&keyword.as_str()));
            let kept = kept.map(|(keyword, value)| {
                let value = match (keyword.as_str(), value) {
                    ("const" | "enum" | "required" | "dependentRequired", value) => value.clone(),
                    ("properties" | "patternProperties" | "dependentSchemas", Value::Object(schemas)) => {
                        let schemas = schemas.iter();
                        schemas.map(|(name, below)| (name.clone(), without_annotations(below))).collect()
                    }
                    (_, value) => without_annotations(value),
                };
                (keyword.clone(), value)
            });
            kept.collect()
        }
        Value::Array(items) => items.iter().map(without_annotations).collect(),
        other => other.clone(),
    }
}

fn mentions_reference(schema: &Value) -> bool {
    mentions(schema, &["$dynamicRef", "$recursiveRef", "$ref"])
}

fn mentions_entangled(schema: &Value) -> bool {
    mentions(schema, &ENTANGLED)
}

/// Whether one of the words is the name of anything in the schema, be it a keyword or not.
fn mentions(schema: &Value, words: &[&str]) -> bool {
    match schema {
        Value::Object(fields) => {
            fields.iter().any(|(name, value)| words.contains(&name.as_str()) || mentions(value, words))
        }
        Value::Array(items) => items.iter().any(|item| mentions(item, words)),
        _ => false,
    }
}
