//! What people read of a registered tool, in their language.
//!
//! The definition's texts in that language come first, then what the implementation says, then the definition's in
//! English; there is always a text.

use super::RegisteredTool;
use crate::tool::definition::{Definition, LocalizedDisplay};
use crate::tool::{Display, FieldTexts, Tool, look_up};

/// The language of logs and traces.
pub(super) const ENGLISH: &str = "en";

impl RegisteredTool {
    /// Name, description and icon for people, in the language of a BCP 47 tag.
    pub fn display(&self, locale: &str) -> Display {
        display(&self.definition, self.implementation.as_deref(), locale)
    }

    /// Label and help of a field of the settings, in the language of a BCP 47 tag. A field that nobody describes is
    /// labeled with its name.
    pub fn setting_texts(&self, field: &str, locale: &str) -> FieldTexts {
        let label = |locale| texts(&self.definition, locale)?.field_labels.get(field).cloned();
        let own = self.implementation.as_ref().and_then(|tool| tool.setting_texts(field, locale));
        let (own_label, own_help) = own.map(|texts| (texts.label, texts.help)).unzip();
        let described = self.definition.settings_schema.field(field);
        FieldTexts {
            label: label(locale)
                .or(own_label)
                .or_else(|| label(ENGLISH))
                .or_else(|| described?.title.clone())
                .unwrap_or_else(|| field.to_owned()),
            help: own_help.or_else(|| described?.description.clone()).unwrap_or_default(),
        }
    }
}

/// How a definition with this implementation is shown.
pub(super) fn display(
    definition: &Definition,
    implementation: Option<&(dyn Tool + 'static)>,
    locale: &str,
) -> Display {
    let here = texts(definition, locale);
    let english = texts(definition, ENGLISH);
    let own = implementation.map(|tool| tool.display(locale));
    let choose = |of_definition: fn(&LocalizedDisplay) -> &Option<String>,
                  of_tool: fn(&Display) -> &String| {
        here.and_then(|texts| of_definition(texts).as_ref())
            .or_else(|| own.as_ref().map(of_tool))
            .or_else(|| english.and_then(|texts| of_definition(texts).as_ref()))
            .cloned()
    };
    Display {
        name: choose(|texts| &texts.name, |own| &own.name).unwrap_or_else(|| definition.id.clone()),
        description: choose(|texts| &texts.description, |own| &own.description)
            .unwrap_or_else(|| definition.function.description.clone()),
        icon: choose(|texts| &texts.icon, |own| &own.icon).unwrap_or_else(|| "🔧".to_owned()),
    }
}

fn texts<'d>(definition: &'d Definition, locale: &str) -> Option<&'d LocalizedDisplay> {
    look_up(locale, &definition.display)
}

#[cfg(test)]
mod tests;
