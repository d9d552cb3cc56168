//! Times and whole numbers, as databases keep them.
//!
//! A time is a number of microseconds since 1970: both databases compare such numbers as they compare times.

use jiff::Timestamp;

/// The stored number of a time.
pub(crate) fn to_stored(time: Timestamp) -> i64 {
    time.as_microsecond()
}

/// The time of a stored number; `None` when it is outside the years that can be written down.
pub(crate) fn from_stored(number: i64) -> Option<Timestamp> {
    Timestamp::from_microsecond(number).ok()
}

/// A count as databases keep it. What is beyond nine quintillion is kept as that.
pub(crate) fn count_to_stored(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

/// The count of a stored number.
pub(crate) fn count_from_stored(number: i64) -> u64 {
    u64::try_from(number).unwrap_or(0)
}
