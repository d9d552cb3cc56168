//! The comparison of objects: which properties there may be, which there must be, and what they hold.

use serde_json::{Map, Value};

use super::{Comparison, join, same};

const ANYTHING: Value = Value::Bool(true);

impl Comparison {
    pub(super) fn objects(
        &mut self,
        old: &Map<String, Value>,
        new: &Map<String, Value>,
        pointer: &str,
        depth: usize,
    ) {
        self.required(old, new, pointer);
        let none = Map::new();
        let old_properties = old.get("properties").and_then(Value::as_object).unwrap_or(&none);
        let new_properties = new.get("properties").and_then(Value::as_object).unwrap_or(&none);
        let old_patterns = old.get("patternProperties");
        let new_patterns = new.get("patternProperties");
        if new_patterns.is_some() && !same(old_patterns, new_patterns) {
            let place = join(pointer, "patternProperties");
            return self.add(&place, "\"patternProperties\" differs, and cannot be compared");
        }
        let old_rest = old.get("additionalProperties").unwrap_or(&ANYTHING);
        let new_rest = new.get("additionalProperties").unwrap_or(&ANYTHING);
        for (name, schema) in new_properties {
            let place = join(&join(pointer, "properties"), name);
            let before = match old_properties.get(name) {
                Some(before) => before,
                // Which pattern the name fits is not looked at.
                None if old_patterns.is_some() => &ANYTHING,
                None => old_rest,
            };
            self.compare(before, schema, &place, depth + 1);
        }
        for (name, before) in old_properties {
            if !new_properties.contains_key(name) {
                let place = join(&join(pointer, "properties"), name);
                if *new_rest == Value::Bool(false) && *before != Value::Bool(false) {
                    self.add(&place, "the property is no longer accepted");
                } else {
                    self.compare(before, new_rest, &place, depth + 1);
                }
            }
        }
        let place = join(pointer, "additionalProperties");
        if old_patterns.is_some() && new_patterns.is_none() {
            self.compare(&ANYTHING, new_rest, &place, depth + 1);
        } else if *new_rest == Value::Bool(false) && *old_rest != Value::Bool(false) {
            self.add(&place, "further properties were accepted before");
        } else {
            self.compare(old_rest, new_rest, &place, depth + 1);
        }
    }

    fn required(&mut self, old: &Map<String, Value>, new: &Map<String, Value>, pointer: &str) {
        let names = |fields: &Map<String, Value>| -> Vec<String> {
            let names = fields.get("required").and_then(Value::as_array).into_iter().flatten();
            names.filter_map(Value::as_str).map(str::to_owned).collect()
        };
        let before = names(old);
        for name in names(new).into_iter().filter(|name| !before.contains(name)) {
            let place = join(&join(pointer, "properties"), &name);
            self.add(&place, "the property is required, and could be left out before");
        }
    }
}
