//! Pages of lists: `limit` and `after`.

use toolcrib_storage::store::Page;

use crate::error::{ApiError, INVALID_REQUEST};

const DEFAULT_LIMIT: u32 = 50;
const LARGEST_LIMIT: u32 = 500;

/// The page that a query asks for.
pub(in crate::api::admin::v1) fn page(limit: Option<u32>, after: Option<String>) -> Result<Page, ApiError> {
    let limit = limit.unwrap_or(DEFAULT_LIMIT);
    if !(1..=LARGEST_LIMIT).contains(&limit) {
        let message = format!("`limit`: a number from 1 to {LARGEST_LIMIT} is expected");
        return Err(ApiError::new(INVALID_REQUEST, message).with_param("limit"));
    }
    Ok(Page { limit, after })
}
