//! The gates, one file each.

pub(super) mod component;
pub(super) mod confidence;
pub(super) mod credits;
pub(super) mod definition;
pub(super) mod enabled;
pub(super) mod model;
pub(super) mod name;
pub(super) mod organization;
pub(super) mod outbound;
pub(super) mod plan;
pub(super) mod preference;
pub(super) mod selection;
pub(super) mod temporary;
pub(super) mod tools;
