//! Labels, as they are kept: three columns that only rise.

use toolcrib_runtime::confidence::Confidence;
use toolcrib_runtime::labels::Labels;
use toolcrib_runtime::policy::OutboundRestriction;

use super::trace::ContentError;

/// The rank of a restriction in its column.
pub(crate) fn outbound_to_stored(outbound: OutboundRestriction) -> i64 {
    match outbound {
        OutboundRestriction::Unrestricted => 0,
        OutboundRestriction::LinksFromChat => 1,
        OutboundRestriction::ConfiguredServices => 2,
    }
}

/// The level in a column.
pub(crate) fn confidence_from_stored(number: i64) -> Result<Confidence, ContentError> {
    let level = u16::try_from(number).ok().and_then(Confidence::from_value);
    level.ok_or_else(|| ContentError::Value { column: "required_confidence", value: number.to_string() })
}

/// The labels in their columns.
pub(crate) fn from_stored(
    required_confidence: i64,
    untrusted: bool,
    outbound: i64,
) -> Result<Labels, ContentError> {
    let outbound = match outbound {
        0 => OutboundRestriction::Unrestricted,
        1 => OutboundRestriction::LinksFromChat,
        2 => OutboundRestriction::ConfiguredServices,
        other => return Err(ContentError::Value { column: "outbound", value: other.to_string() }),
    };
    Ok(Labels { required_confidence: confidence_from_stored(required_confidence)?, untrusted, outbound })
}
