//! How far a model provider is trusted: the levels, and the schemes that assign them.

use std::fmt;

/// A level of trust. Levels are ordered; a tool or a conversation demands a minimum.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Confidence {
    /// No demand: every provider satisfies it.
    #[default]
    None,
    /// The provider must not see anything that matters.
    Untrusted,
    /// Nobody has said. It can never be selected or configured.
    Unknown,
    /// Very low trust.
    VeryLow,
    /// Low trust.
    Low,
    /// Moderate trust.
    Moderate,
    /// Medium trust.
    Medium,
    /// Fully trusted, usually because the operator runs it.
    High,
}

/// How a provider's level is found when its own configuration names none.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ConfidenceScheme {
    /// Self-hosted HIGH, the rest MEDIUM.
    #[default]
    TrustAll,
    /// Self-hosted HIGH, the rest `VERY_LOW`.
    LocalTrustOnly,
    /// Self-hosted HIGH, European providers MEDIUM, the rest LOW.
    TrustEurope,
    /// Self-hosted HIGH, providers in the United States MEDIUM, the rest LOW.
    TrustUsa,
    /// Self-hosted HIGH, European and United States providers MEDIUM, the rest LOW.
    TrustUsaEurope,
    /// Self-hosted HIGH, Asian providers MEDIUM, the rest LOW.
    TrustAsia,
    /// Each provider has its own value; one without is UNKNOWN.
    Custom,
}

/// Where a provider is established.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Region {
    /// The European Union, the wider Europe and Switzerland.
    Europe,
    /// The United States.
    Usa,
    /// Asia.
    Asia,
}

impl Confidence {
    /// Every level, from the lowest to the highest.
    pub const ALL: [Self; 8] = [
        Self::None,
        Self::Untrusted,
        Self::Unknown,
        Self::VeryLow,
        Self::Low,
        Self::Moderate,
        Self::Medium,
        Self::High,
    ];

    /// The name in configuration and definitions, for example `VERY_LOW`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "NONE",
            Self::Untrusted => "UNTRUSTED",
            Self::Unknown => "UNKNOWN",
            Self::VeryLow => "VERY_LOW",
            Self::Low => "LOW",
            Self::Moderate => "MODERATE",
            Self::Medium => "MEDIUM",
            Self::High => "HIGH",
        }
    }

    /// The stored number of the level (NONE 0 to HIGH 300).
    pub const fn value(self) -> u16 {
        match self {
            Self::None => 0,
            Self::Untrusted => 1,
            Self::Unknown => 10,
            Self::VeryLow => 90,
            Self::Low => 100,
            Self::Moderate => 150,
            Self::Medium => 200,
            Self::High => 300,
        }
    }

    /// The level with this name, in any letter case. `UNKNOWN` is not a level that can be configured.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL
            .into_iter()
            .filter(|level| *level != Self::Unknown)
            .find(|level| level.name().eq_ignore_ascii_case(name.trim()))
    }

    /// The level stored as this number.
    pub fn from_value(value: u16) -> Option<Self> {
        Self::ALL.into_iter().find(|level| level.value() == value)
    }
}

impl fmt::Display for Confidence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl ConfidenceScheme {
    /// The names in configuration, in the order of the variants.
    pub const NAMES: [(&'static str, Self); 7] = [
        ("trust_all", Self::TrustAll),
        ("local_trust_only", Self::LocalTrustOnly),
        ("trust_europe", Self::TrustEurope),
        ("trust_usa", Self::TrustUsa),
        ("trust_usa_europe", Self::TrustUsaEurope),
        ("trust_asia", Self::TrustAsia),
        ("custom", Self::Custom),
    ];

    /// The scheme with this configuration name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::NAMES.into_iter().find(|(known, _)| *known == name).map(|(_, scheme)| scheme)
    }

    /// The level of a provider: its own configured value, else what the scheme says.
    pub fn level(self, own: Option<Confidence>, self_hosted: bool, region: Option<Region>) -> Confidence {
        if let Some(own) = own {
            return own;
        }
        if self == Self::Custom {
            return Confidence::Unknown;
        }
        if self_hosted {
            return Confidence::High;
        }
        let trusted: &[Region] = match self {
            Self::TrustAll => return Confidence::Medium,
            Self::LocalTrustOnly | Self::Custom => return Confidence::VeryLow,
            Self::TrustEurope => &[Region::Europe],
            Self::TrustUsa => &[Region::Usa],
            Self::TrustUsaEurope => &[Region::Usa, Region::Europe],
            Self::TrustAsia => &[Region::Asia],
        };
        if region.is_some_and(|region| trusted.contains(&region)) {
            Confidence::Medium
        } else {
            Confidence::Low
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_are_ordered_as_their_stored_numbers() {
        let values: Vec<_> = Confidence::ALL.iter().map(|level| level.value()).collect();
        assert!(values.is_sorted());
        assert!(Confidence::ALL.is_sorted());
        assert!(Confidence::ALL.iter().all(|level| Confidence::from_value(level.value()) == Some(*level)));
    }

    #[test]
    fn unknown_cannot_be_configured() {
        assert_eq!(Confidence::parse("UNKNOWN"), None);
        assert_eq!(Confidence::parse("very_low"), Some(Confidence::VeryLow));
    }

    #[test]
    fn schemes_assign_levels() {
        let check = |scheme: ConfidenceScheme, self_hosted, region, expected| {
            assert_eq!(
                scheme.level(None, self_hosted, region),
                expected,
                "{scheme:?} {self_hosted} {region:?}"
            );
        };
        check(ConfidenceScheme::TrustAll, true, None, Confidence::High);
        check(ConfidenceScheme::TrustAll, false, None, Confidence::Medium);
        check(ConfidenceScheme::LocalTrustOnly, false, Some(Region::Europe), Confidence::VeryLow);
        check(ConfidenceScheme::TrustEurope, false, Some(Region::Europe), Confidence::Medium);
        check(ConfidenceScheme::TrustEurope, false, Some(Region::Usa), Confidence::Low);
        check(ConfidenceScheme::TrustAsia, false, None, Confidence::Low);
        check(ConfidenceScheme::Custom, true, None, Confidence::Unknown);
        assert_eq!(
            ConfidenceScheme::TrustAll.level(Some(Confidence::Untrusted), true, None),
            Confidence::Untrusted,
            "an instance's own value wins"
        );
    }
}
