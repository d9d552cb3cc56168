//! Lists in pages.
//!
//! A page goes on exactly after the last one: nothing that stays in its place is shown twice or left out, whatever
//! is added meanwhile.

use super::StoreProblem;

/// Which part of a list is wanted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    /// How many items at most; kept between 1 and [`Page::LARGEST`].
    pub limit: u32,
    /// The `next` of the page before; `None` for the first page.
    pub after: Option<String>,
}

/// A part of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listing<T> {
    /// The items, in the list's order.
    pub items: Vec<T>,
    /// Where the next page begins; `None` when this was the last one.
    pub next: Option<String>,
}

impl Page {
    /// The most items of one page.
    pub const LARGEST: u32 = 500;

    /// The first page.
    pub fn first(limit: u32) -> Self {
        Self { limit, after: None }
    }

    /// The page after a listing that ended with `next`.
    pub fn after(limit: u32, next: impl Into<String>) -> Self {
        Self { limit, after: Some(next.into()) }
    }

    /// The number of items that a page holds.
    pub(crate) fn size(&self) -> usize {
        self.limit.clamp(1, Self::LARGEST) as usize
    }

    /// The sort key and the id after which the page begins.
    pub(crate) fn place(&self) -> Result<Option<(i64, &str)>, StoreProblem> {
        let Some(after) = &self.after else { return Ok(None) };
        let place = after.split_once(':').and_then(|(key, id)| Some((key.parse().ok()?, id)));
        place.map(Some).ok_or_else(|| StoreProblem::UnknownPlace { after: after.clone() })
    }
}

impl<T> Listing<T> {
    /// A listing of `items`, of which one more than the page holds was looked for. `place` gives an item's sort key
    /// and id.
    pub(crate) fn cut(mut items: Vec<T>, page: &Page, place: impl Fn(&T) -> (i64, &str)) -> Self {
        let more = items.len() > page.size();
        items.truncate(page.size());
        let last = items.last().filter(|_| more).map(place);
        let next = last.map(|(key, id)| format!("{key}:{id}"));
        Self { items, next }
    }
}
