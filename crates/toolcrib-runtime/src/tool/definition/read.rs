//! The reader of definition files: every field of schema version 1, with every problem reported.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::Value;

use super::parameters::parameters;
use super::reader::{Fields, Place, Reader, describe, join};
use super::{
    Annotations, Approval, Concurrency, Cost, Definition, Function, LocalizedDisplay, Problem, Rate,
    SUPPORTED_SCHEMA_VERSIONS, SettingsSchema, Visibility,
};
use crate::caller::{Component, Components, canonical_capability};
use crate::confidence::Confidence;
use crate::nearest::nearest;

/// What a price may be for one of.
pub(super) const UNITS: [(&str, &str); 6] = [
    ("call", "call"),
    ("token", "token"),
    ("image", "image"),
    ("second", "second"),
    ("character", "character"),
    ("page", "page"),
];
pub(super) const CONCURRENCIES: [(&str, Concurrency); 2] =
    [("sequential", Concurrency::Sequential), ("parallel", Concurrency::Parallel)];
pub(super) const APPROVALS: [(&str, Approval); 3] =
    [("never", Approval::Never), ("always", Approval::Always), ("afterUntrusted", Approval::AfterUntrusted)];
pub(super) const MAX_TIMEOUT_SECONDS: i64 = 3_600;
pub(super) const MAX_RESULT_CHARACTERS: i64 = 1_000_000;
pub(super) const MAX_PRICE: i64 = i64::MAX / 1_000;

const NO_JSON: &str =
    "a definition is one JSON object without comments or trailing commas, nested at most 127 levels deep";

pub(super) fn definition(
    text: &str,
    file: &str,
    components: &Components,
) -> Result<Definition, Vec<Problem>> {
    let mut reader = Reader::new(file);
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let value: Value = match serde_json::from_str(text) {
        Ok(value) => value,
        Err(error) => {
            reader.error("", format!("no valid JSON ({error})"), NO_JSON);
            return Err(reader.problems);
        }
    };
    let definition = whole(&mut reader, &Place { value: &value, pointer: String::new() }, components);
    match definition {
        Some(definition) if reader.problems.is_empty() => Ok(definition),
        _ => Err(reader.problems),
    }
}

fn whole(reader: &mut Reader<'_>, place: &Place<'_>, known: &Components) -> Option<Definition> {
    let mut fields = reader.fields(place)?;
    schema_version(reader, &mut fields);
    let id = fields.require("id", reader).and_then(|place| identifier(reader, &place));
    let source = fields.take("source");
    let implementation_key = match fields.take("implementationKey") {
        Some(place) => reader.filled_text(&place),
        // A tool with a source of its own needs no compiled implementation to be named.
        None if source.is_some() => id.clone(),
        None => {
            reader.error(
                "",
                "no \"implementationKey\"",
                "\"implementationKey\" is required unless there is a \"source\"",
            );
            None
        }
    };
    let function = fields.require("function", reader).and_then(|place| function(reader, &place));
    let capability = fields.take("capability").and_then(|place| reader.filled_text(&place));
    let timeout =
        fields.take("timeoutSeconds").and_then(|place| reader.integer(&place, 1, MAX_TIMEOUT_SECONDS));
    let max_result =
        fields.take("maxResultCharacters").and_then(|place| reader.integer(&place, 1, MAX_RESULT_CHARACTERS));
    let read = Definition {
        implementation_key: implementation_key.unwrap_or_default(),
        visible_in: visible_in(reader, fields.take("visibleIn"), known),
        settings_schema: fields
            .take("settingsSchema")
            .map(|place| SettingsSchema::read(reader, &place))
            .unwrap_or_default(),
        system_prompt_instructions: fields
            .take("systemPromptInstructions")
            .and_then(|place| reader.text(&place))
            .filter(|text| !text.trim().is_empty()),
        capability_is_given: capability.is_some(),
        capability: capability
            .or_else(|| id.clone())
            .map(|name| canonical_capability(&name).to_owned())
            .unwrap_or_default(),
        contextual: flag(reader, fields.take("contextual"), false),
        annotations: annotations(reader, fields.take("annotations")),
        concurrency: fields
            .take("concurrency")
            .and_then(|place| reader.choice(&place, &CONCURRENCIES))
            .unwrap_or_default(),
        timeout: timeout.and_then(|seconds| u64::try_from(seconds).ok()).map(Duration::from_secs),
        max_result_characters: max_result.and_then(|count| usize::try_from(count).ok()),
        cost: fields.take("cost").map(|place| cost(reader, &place)).unwrap_or_default(),
        approval: fields
            .take("approval")
            .and_then(|place| reader.choice(&place, &APPROVALS))
            .unwrap_or_default(),
        returns_untrusted_content: flag(reader, fields.take("returnsUntrustedContent"), false),
        minimum_confidence: fields.take("minimumConfidence").and_then(|place| confidence(reader, &place)),
        sensitive_arguments: sensitive_arguments(
            reader,
            fields.take("sensitiveArguments"),
            function.as_ref(),
        ),
        replaces: fields.take("replaces").and_then(|place| identifier(reader, &place)),
        source: source.as_ref().and_then(|place| reader.object(place).cloned()),
        display: fields.take("display").map(|place| display(reader, &place)).unwrap_or_default(),
        id: id.unwrap_or_default(),
        function: function.unwrap_or_else(|| Function {
            name: String::new(),
            description: String::new(),
            strict: true,
            parameters: Value::Null,
        }),
    };
    fields.finish(reader);
    Some(read)
}

fn schema_version(reader: &mut Reader<'_>, fields: &mut Fields<'_>) {
    let Some(place) = fields.require("schemaVersion", reader) else { return };
    if !place.value.as_u64().is_some_and(|version| SUPPORTED_SCHEMA_VERSIONS.contains(&version)) {
        let versions: Vec<_> = SUPPORTED_SCHEMA_VERSIONS.iter().map(u64::to_string).collect();
        let allowed = format!("supported schema versions: {}", versions.join(", "));
        reader.error(&place.pointer, describe(place.value), allowed);
    }
}

fn identifier(reader: &mut Reader<'_>, place: &Place<'_>) -> Option<String> {
    let text = reader.text(place)?;
    let mut characters = text.chars();
    let starts_well = characters.next().is_some_and(|first| first.is_ascii_lowercase());
    let goes_on_well =
        characters.all(|rest| rest.is_ascii_lowercase() || rest.is_ascii_digit() || rest == '_');
    if starts_well && goes_on_well && text.len() <= 64 {
        return Some(text);
    }
    let allowed =
        "an id is a lower-case letter followed by at most 63 lower-case letters, digits and underscores";
    reader.error(&place.pointer, describe(place.value), allowed);
    None
}

fn visible_in(reader: &mut Reader<'_>, place: Option<Place<'_>>, known: &Components) -> Visibility {
    let mut visibility = Visibility { chat: true, assistants: true, allowed: Vec::new(), denied: Vec::new() };
    let Some(mut fields) = place.and_then(|place| reader.fields(&place)) else { return visibility };
    visibility.chat = flag(reader, fields.take("chat"), true);
    visibility.assistants = flag(reader, fields.take("assistants"), true);
    visibility.allowed = components(reader, fields.take("allowedComponents"), known);
    visibility.denied = components(reader, fields.take("deniedComponents"), known);
    fields.finish(reader);
    visibility
}

fn components(reader: &mut Reader<'_>, place: Option<Place<'_>>, known: &Components) -> Vec<Component> {
    let names = place.map(|place| reader.texts(&place)).unwrap_or_default();
    let mut components = Vec::new();
    for (name, pointer) in names {
        match known.parse(&name) {
            Ok(component) => components.push(component),
            Err(unknown) => {
                let allowed = format!("known components: {}", unknown.known);
                let found = format!("the unknown component {name:?}");
                reader.error_near(&pointer, found, allowed, unknown.nearest.as_deref());
            }
        }
    }
    components
}

fn function(reader: &mut Reader<'_>, place: &Place<'_>) -> Option<Function> {
    let mut fields = reader.fields(place)?;
    let name = fields.require("name", reader).and_then(|place| function_name(reader, &place));
    let description =
        fields.take("descriptionForLLM").and_then(|place| reader.text(&place)).unwrap_or_default();
    let strict = flag(reader, fields.take("strict"), true);
    let parameters = fields.require("parameters", reader).and_then(|place| parameters(reader, &place));
    fields.finish(reader);
    Some(Function { name: name?, description, strict, parameters: parameters? })
}

fn function_name(reader: &mut Reader<'_>, place: &Place<'_>) -> Option<String> {
    let text = reader.text(place)?;
    let allowed_character = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if (1..=64).contains(&text.len()) && text.chars().all(allowed_character) {
        return Some(text);
    }
    let allowed = "a function name has 1 to 64 of the characters A-Z, a-z, 0-9, _ and -";
    reader.error(&place.pointer, describe(place.value), allowed);
    None
}

fn annotations(reader: &mut Reader<'_>, place: Option<Place<'_>>) -> Annotations {
    let Some(mut fields) = place.and_then(|place| reader.fields(&place)) else {
        return Annotations::default();
    };
    let annotations = Annotations {
        read_only: flag(reader, fields.take("readOnly"), false),
        destructive: flag(reader, fields.take("destructive"), false),
        idempotent: flag(reader, fields.take("idempotent"), false),
        open_world: flag(reader, fields.take("openWorld"), false),
    };
    fields.finish(reader);
    annotations
}

fn cost(reader: &mut Reader<'_>, place: &Place<'_>) -> Cost {
    let Some(mut fields) = reader.fields(place) else { return Cost::default() };
    let price = |reader: &mut Reader<'_>, fields: &mut Fields<'_>, name| {
        fields.take(name).and_then(|place| reader.integer(&place, 0, MAX_PRICE))
    };
    let per_call = price(reader, &mut fields, "perCall").unwrap_or(0);
    let maximum = price(reader, &mut fields, "maximum");
    let places = fields.take("rates").map(|place| reader.items(&place)).unwrap_or_default();
    let rates: Vec<_> = places.iter().filter_map(|place| rate(reader, place)).collect();
    fields.finish(reader);
    if !rates.is_empty() && maximum.is_none() {
        reader.error(
            &place.pointer,
            "\"rates\" without \"maximum\"",
            "give the most that one call can cost, so that it can be held before the call",
        );
    }
    Cost { per_call, rates, maximum: maximum.unwrap_or(per_call).max(per_call) }
}

fn rate(reader: &mut Reader<'_>, place: &Place<'_>) -> Option<Rate> {
    let mut fields = reader.fields(place)?;
    let key = fields.require("key", reader).and_then(|place| reader.filled_text(&place));
    let unit = fields.require("unit", reader).and_then(|place| reader.choice(&place, &UNITS));
    let price = fields.require("price", reader).and_then(|place| reader.integer(&place, 0, MAX_PRICE));
    fields.finish(reader);
    Some(Rate { key: key?, unit: unit?.to_owned(), price: price? })
}

fn confidence(reader: &mut Reader<'_>, place: &Place<'_>) -> Option<Confidence> {
    let text = reader.text(place)?;
    let level = Confidence::parse(&text);
    if level.is_none() {
        let names =
            Confidence::ALL.into_iter().filter(|level| *level != Confidence::Unknown).map(Confidence::name);
        let names: Vec<_> = names.collect();
        let allowed = format!("one of {} is allowed", names.join(", "));
        reader.error_near(&place.pointer, format!("{text:?}"), allowed, nearest(&text, names));
    }
    level
}

fn sensitive_arguments(
    reader: &mut Reader<'_>,
    place: Option<Place<'_>>,
    function: Option<&Function>,
) -> Vec<String> {
    let named = place.map(|place| reader.texts(&place)).unwrap_or_default();
    let properties =
        function.and_then(|function| function.parameters.get("properties")).and_then(Value::as_object);
    if let Some(properties) = properties {
        for (name, pointer) in named.iter().filter(|(name, _)| !properties.contains_key(name)) {
            let names: Vec<_> = properties.keys().map(String::as_str).collect();
            let allowed = format!("a sensitive argument must be one of the parameters: {}", names.join(", "));
            reader.error_near(pointer, format!("{name:?}"), allowed, nearest(name, names.iter().copied()));
        }
    }
    named.into_iter().map(|(name, _)| name).collect()
}

fn display(reader: &mut Reader<'_>, place: &Place<'_>) -> BTreeMap<String, LocalizedDisplay> {
    let Some(locales) = reader.object(place) else { return BTreeMap::new() };
    let mut displays = BTreeMap::new();
    for (locale, value) in locales {
        let place = Place { value, pointer: join(&place.pointer, locale) };
        let Some(mut fields) = reader.fields(&place) else { continue };
        let mut display = LocalizedDisplay {
            name: fields.take("name").and_then(|place| reader.text(&place)),
            description: fields.take("description").and_then(|place| reader.text(&place)),
            icon: fields.take("icon").and_then(|place| reader.text(&place)),
            field_labels: BTreeMap::new(),
        };
        if let Some(labels) = fields.take("fieldLabels")
            && let Some(object) = reader.object(&labels)
        {
            for (field, value) in object {
                let place = Place { value, pointer: join(&labels.pointer, field) };
                display.field_labels.extend(reader.text(&place).map(|label| (field.clone(), label)));
            }
        }
        fields.finish(reader);
        displays.insert(locale.clone(), display);
    }
    displays
}

fn flag(reader: &mut Reader<'_>, place: Option<Place<'_>>, default: bool) -> bool {
    place.and_then(|place| reader.flag(&place)).unwrap_or(default)
}
