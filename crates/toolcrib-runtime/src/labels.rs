//! What a conversation's content demands from now on: labels that only rise.
//!
//! Nothing lowers a label: not a later round, not a later run, not a result that demands less. Labels are set by
//! tools' definitions, outputs and people, never by the text of a result.

use crate::confidence::Confidence;
use crate::policy::OutboundRestriction;

pub mod fingerprint;

/// The labels of a conversation, or of what one run has added to it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Labels {
    /// The confidence that a provider needs to be sent this content.
    pub required_confidence: Confidence,
    /// Something in it was written by people whom the user does not know.
    pub untrusted: bool,
    /// How far outgoing data is restricted.
    pub outbound: OutboundRestriction,
}

impl Labels {
    /// Labels that only demand a confidence.
    pub fn requiring(required_confidence: Confidence) -> Self {
        Self { required_confidence, ..Self::default() }
    }

    /// Both labels together: of each the stricter.
    #[must_use]
    pub fn raised_by(self, other: Self) -> Self {
        Self {
            required_confidence: self.required_confidence.max(other.required_confidence),
            untrusted: self.untrusted || other.untrusted,
            outbound: self.outbound.max(other.outbound),
        }
    }

    /// Whether content with these labels may be sent to a provider. An instance that is listed as trusted may see
    /// everything.
    pub fn may_be_seen_by(self, confidence: Confidence, trusted: bool) -> bool {
        trusted || confidence >= self.required_confidence
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn any_labels() -> impl Strategy<Value = Labels> {
        let outbound = [
            OutboundRestriction::Unrestricted,
            OutboundRestriction::LinksFromChat,
            OutboundRestriction::ConfiguredServices,
        ];
        (
            prop::sample::select(Confidence::ALL.to_vec()),
            any::<bool>(),
            prop::sample::select(outbound.to_vec()),
        )
            .prop_map(|(required_confidence, untrusted, outbound)| Labels {
                required_confidence,
                untrusted,
                outbound,
            })
    }

    proptest! {
        #[test]
        fn labels_never_drop_and_their_order_does_not_matter(all in prop::collection::vec(any_labels(), 1..8)) {
            let mut sum = Labels::default();
            for next in &all {
                let before = sum;
                sum = sum.raised_by(*next);
                prop_assert!(sum.required_confidence >= before.required_confidence);
                prop_assert!(sum.untrusted >= before.untrusted);
                prop_assert!(sum.outbound >= before.outbound);
            }
            let backwards = all.iter().rev().fold(Labels::default(), |sum, next| sum.raised_by(*next));
            prop_assert_eq!(sum, backwards);
        }

        #[test]
        fn raising_never_opens_content_to_more_providers(left in any_labels(), right in any_labels()) {
            for level in Confidence::ALL {
                let both = left.raised_by(right).may_be_seen_by(level, false);
                prop_assert_eq!(both, left.may_be_seen_by(level, false) && right.may_be_seen_by(level, false));
            }
        }
    }
}
