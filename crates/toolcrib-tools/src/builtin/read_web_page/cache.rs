//! The pages of running runs, so that reading on in a long page does not fetch it again.
//!
//! A page is only ever given to the run that fetched it, under the policy that it was fetched under. Entries and
//! bytes are bounded; what is older than a run can be is gone.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use toolcrib_egress::Policy;
use url::Url;

use super::{Page, has_private_hosts};

/// Pages that are kept.
const ENTRIES: usize = 128;
/// Bytes of all pages that are kept, by their Markdown and what goes with it.
const BYTES: usize = 64 * 1024 * 1024;
/// A run takes less than this; what is older belongs to none.
const AGE: Duration = Duration::from_mins(15);

/// Which page, for whom.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Key {
    run_id: String,
    url: String,
    private_hosts: bool,
}

/// The cache. The most recently used entry stands last.
#[derive(Debug, Default)]
pub(super) struct PageCache {
    entries: Mutex<Vec<Entry>>,
}

#[derive(Debug)]
struct Entry {
    key: Key,
    page: Page,
    bytes: usize,
    stored: Duration,
}

impl Key {
    /// The key of a URL; `None` for a text that is no plain URL, which has to take its way through the judge.
    pub(super) fn new(run_id: &str, url: &str, policy: &Policy) -> Option<Self> {
        let violations = std::cell::Cell::new(false);
        let note = |_| violations.set(true);
        let mut url = Url::options().syntax_violation_callback(Some(&note)).parse(url).ok()?;
        url.set_fragment(None);
        let key =
            Self { run_id: run_id.to_owned(), url: url.into(), private_hosts: has_private_hosts(policy) };
        (!violations.get()).then_some(key)
    }
}

impl PageCache {
    /// The page, when this run has fetched it. `now` is the time since a fixed point in the past.
    pub(super) fn get(&self, key: &Key, now: Duration) -> Option<Page> {
        let mut entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        drop_old(&mut entries, now);
        let index = entries.iter().position(|entry| entry.key == *key)?;
        let entry = entries.remove(index);
        let page = entry.page.clone();
        entries.push(entry);
        Some(page)
    }

    /// Keeps a page. Pages of other runs make way first, the ones that were not used for the longest time before
    /// others.
    pub(super) fn put(&self, key: Key, page: Page, now: Duration) {
        let bytes = weight(&page);
        if bytes > BYTES {
            return;
        }
        let mut entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        drop_old(&mut entries, now);
        entries.retain(|entry| entry.key != key);
        while entries.len() >= ENTRIES
            || entries.iter().map(|entry| entry.bytes).sum::<usize>() + bytes > BYTES
        {
            let other_run = entries.iter().position(|entry| entry.key.run_id != key.run_id);
            entries.remove(other_run.unwrap_or(0));
        }
        entries.push(Entry { key, page, bytes, stored: now });
    }
}

fn drop_old(entries: &mut Vec<Entry>, now: Duration) {
    entries.retain(|entry| now.saturating_sub(entry.stored) < AGE);
}

/// About how much memory a page takes.
fn weight(page: &Page) -> usize {
    const OVERHEAD: usize = 64;
    let document = &page.document;
    let links: usize =
        document.links.iter().map(|link| link.text.len() + link.url.as_str().len() + OVERHEAD).sum();
    let outline: usize = document.outline.iter().map(|heading| heading.text.len() + OVERHEAD).sum();
    document.markdown.len() + links + outline + 16 * OVERHEAD
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use jiff::Timestamp;
    use toolcrib_egress::HostList;
    use toolcrib_web::read_document;

    use super::*;

    fn page(characters: usize) -> Page {
        let url = Url::parse("https://example.org/").unwrap();
        let text = "word ".repeat(characters / 5);
        let document = read_document(text.as_bytes(), Some("text/plain"), &url).unwrap();
        Page { document: Arc::new(document), retrieved_at: Timestamp::UNIX_EPOCH }
    }

    fn key(run: &str, url: &str) -> Key {
        Key::new(run, url, &Policy::Public).unwrap()
    }

    const NOW: Duration = Duration::from_secs(1_000);

    #[test]
    fn a_page_is_found_by_its_own_run_under_the_same_policy() {
        let cache = PageCache::default();
        cache.put(key("a", "https://Example.org:443/page#part"), page(10), NOW);
        assert!(cache.get(&key("a", "https://example.org/page"), NOW).is_some());
        assert!(cache.get(&key("a", "https://example.org/page?q"), NOW).is_none());
        assert!(cache.get(&key("b", "https://example.org/page"), NOW).is_none());
        let hosts = Policy::PublicAndHosts(HostList::parse("wiki.example.org").unwrap());
        let other = Key::new("a", "https://example.org/page", &hosts).unwrap();
        assert!(cache.get(&other, NOW).is_none());
    }

    #[test]
    fn a_text_that_parsers_read_differently_has_no_key() {
        for url in
            ["https:/example.org/page", "https://example.org\\page", "not a URL", "https://exam\tple.org/"]
        {
            assert_eq!(Key::new("a", url, &Policy::Public), None, "{url}");
        }
    }

    #[test]
    fn pages_age() {
        let cache = PageCache::default();
        cache.put(key("a", "https://example.org/"), page(10), NOW);
        let key = key("a", "https://example.org/");
        assert!(cache.get(&key, NOW + AGE / 2).is_some());
        assert!(cache.get(&key, NOW + AGE).is_none());
    }

    #[test]
    fn entries_are_bounded_and_other_runs_make_way_first() {
        let cache = PageCache::default();
        cache.put(key("b", "https://example.org/"), page(10), NOW);
        for number in 0..ENTRIES {
            cache.put(key("a", &format!("https://example.org/{number}")), page(10), NOW);
        }
        assert!(cache.get(&key("b", "https://example.org/"), NOW).is_none());
        assert!(cache.get(&key("a", "https://example.org/0"), NOW).is_some());
        cache.put(key("a", "https://example.org/more"), page(10), NOW);
        assert!(cache.get(&key("a", "https://example.org/0"), NOW).is_some(), "it was used last");
        assert!(cache.get(&key("a", "https://example.org/1"), NOW).is_none());
        assert_eq!(cache.entries.lock().unwrap().len(), ENTRIES);
    }

    #[test]
    fn bytes_are_bounded() {
        let cache = PageCache::default();
        let large = page(20 * 1024 * 1024);
        for number in 0..5 {
            cache.put(key("a", &format!("https://example.org/{number}")), large.clone(), NOW);
        }
        let entries = cache.entries.lock().unwrap();
        assert_eq!(entries.len(), 3);
        assert!(entries.iter().map(|entry| entry.bytes).sum::<usize>() <= BYTES);
    }
}
