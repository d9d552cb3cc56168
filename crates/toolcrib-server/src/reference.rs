//! Reference documents that are made from what is compiled in.

use std::collections::BTreeMap;

use toolcrib_egress::{Egress, EgressSettings, EgressSetupError};
use toolcrib_tools::builtin::builtin;

/// The page of each built-in tool by its id, as Markdown.
///
/// # Errors
/// The egress that tools are built with cannot be set up.
pub fn tool_pages() -> Result<BTreeMap<String, String>, EgressSetupError> {
    Ok(builtin(&Egress::new(EgressSettings::default())?).pages())
}
