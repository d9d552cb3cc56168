//! Texts for people in several languages.

use std::collections::BTreeMap;

/// One text by locale (BCP 47 tags). English is always there.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Texts(BTreeMap<String, String>);

impl Texts {
    /// The language that is always there.
    pub(crate) const ENGLISH: &'static str = "en";

    pub(super) fn new(by_locale: BTreeMap<String, String>) -> Self {
        Self(by_locale)
    }

    /// The text for a reader of this locale: `de-CH` is served by `de-CH`, else by `de`, else in English.
    pub(crate) fn in_locale(&self, locale: &str) -> &str {
        let by_tag = |tag: &str| self.0.iter().find(|(known, _)| known.eq_ignore_ascii_case(tag));
        let language = locale.split('-').next().unwrap_or_default();
        let found = by_tag(locale).or_else(|| by_tag(language)).or_else(|| by_tag(Self::ENGLISH));
        found.map(|(_, text)| text.as_str()).unwrap_or_default()
    }

    /// The text in English.
    pub(crate) fn english(&self) -> &str {
        self.in_locale(Self::ENGLISH)
    }

    /// The texts in all languages.
    pub(crate) fn all(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(locale, text)| (locale.as_str(), text.as_str()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reader_gets_the_nearest_language() {
        let by_locale = [("en", "Tone"), ("de", "Tonfall"), ("de-CH", "Ton")];
        let texts = Texts::new(by_locale.into_iter().map(|(l, t)| (l.to_owned(), t.to_owned())).collect());
        for (locale, text) in [
            ("en", "Tone"),
            ("en-US", "Tone"),
            ("de", "Tonfall"),
            ("de-AT", "Tonfall"),
            ("de-ch", "Ton"),
            ("fr", "Tone"),
            ("", "Tone"),
        ] {
            assert_eq!(texts.in_locale(locale), text, "{locale}");
        }
    }
}
