//! Writes the definition file that follows from a typed tool.

use serde_json::{Map, Value, json};

use super::{Rules, TypedTool, schema};
use crate::registry::DefinitionFile;
use crate::tool::definition::{Annotations, Approval, Concurrency, Cost, Visibility};

/// The definition of `T`. What has its default is left out, so that a person can read the file.
pub(super) fn derive<T: TypedTool>(rules: &Rules, accepted: &Value) -> DefinitionFile {
    let mut fields = Map::new();
    let mut set = |name: &str, value: Option<Value>| {
        fields.extend(value.map(|value| (name.to_owned(), value)));
    };
    set("schemaVersion", Some(json!(1)));
    set("id", Some(json!(T::KEY)));
    set("implementationKey", Some(json!(T::KEY)));
    set("visibleIn", rules.visible_in.as_ref().map(visible_in));
    set("settingsSchema", schema::settings::<T::Settings>());
    set("systemPromptInstructions", T::POLICY.map(Value::from));
    let parameters = if rules.strict { schema::strict(accepted) } else { accepted.clone() };
    set(
        "function",
        Some(json!({
            "name": T::KEY,
            "descriptionForLLM": T::DESCRIPTION,
            "strict": rules.strict,
            "parameters": parameters,
        })),
    );
    set("capability", rules.capability.as_deref().map(Value::from));
    set("contextual", rules.contextual.then_some(Value::Bool(true)));
    set("annotations", annotations(rules.annotations));
    set("concurrency", (rules.concurrency == Concurrency::Parallel).then(|| json!("parallel")));
    set("timeoutSeconds", rules.timeout.map(|timeout| json!(timeout.as_secs())));
    set("maxResultCharacters", rules.max_result_characters.map(Value::from));
    set("cost", (rules.cost != Cost::default()).then(|| cost(&rules.cost)));
    set("approval", approval(rules.approval));
    set("returnsUntrustedContent", rules.returns_untrusted_content.then_some(Value::Bool(true)));
    set("minimumConfidence", rules.minimum_confidence.map(|level| json!(level.name())));
    set(
        "sensitiveArguments",
        (!rules.sensitive_arguments.is_empty()).then(|| json!(rules.sensitive_arguments)),
    );
    let text = Value::Object(fields);
    DefinitionFile::built_in(format!("{} (derived from its types)", T::KEY), format!("{text:#}\n"))
}

fn visible_in(visibility: &Visibility) -> Value {
    let ids = |components: &[crate::caller::Component]| -> Vec<String> {
        components.iter().map(|component| component.id().to_owned()).collect()
    };
    json!({
        "chat": visibility.chat,
        "assistants": visibility.assistants,
        "allowedComponents": ids(&visibility.allowed),
        "deniedComponents": ids(&visibility.denied),
    })
}

fn annotations(annotations: Annotations) -> Option<Value> {
    let hints = [
        ("readOnly", annotations.read_only),
        ("destructive", annotations.destructive),
        ("idempotent", annotations.idempotent),
        ("openWorld", annotations.open_world),
    ];
    let given: Map<String, Value> = hints
        .into_iter()
        .filter(|(_, given)| *given)
        .map(|(name, _)| (name.to_owned(), true.into()))
        .collect();
    (!given.is_empty()).then_some(Value::Object(given))
}

fn cost(cost: &Cost) -> Value {
    let rates =
        cost.rates.iter().map(|rate| json!({"key": rate.key, "unit": rate.unit, "price": rate.price}));
    json!({"perCall": cost.per_call, "rates": rates.collect::<Vec<_>>(), "maximum": cost.maximum})
}

fn approval(approval: Approval) -> Option<Value> {
    match approval {
        Approval::Never => None,
        Approval::Always => Some(json!("always")),
        Approval::AfterUntrusted => Some(json!("afterUntrusted")),
    }
}
