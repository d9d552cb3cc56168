//! "Did you mean …": the nearest known name to one that was not found.

/// How alike two names have to be (Jaro-Winkler similarity, from 0 to 1).
const LIKE_ENOUGH: f64 = 0.75;

/// The candidate most like `name`, when one is like enough to be meant. Letter case does not count.
pub fn nearest<'c>(name: &str, candidates: impl IntoIterator<Item = &'c str>) -> Option<&'c str> {
    nearest_by(name, candidates.into_iter().map(|candidate| (candidate, candidate)))
}

/// The same for candidates that are known by a text.
pub fn nearest_by<T, S: AsRef<str>>(name: &str, candidates: impl IntoIterator<Item = (S, T)>) -> Option<T> {
    let name = name.to_lowercase();
    candidates
        .into_iter()
        .map(|(text, candidate)| (strsim::jaro_winkler(&name, &text.as_ref().to_lowercase()), candidate))
        .filter(|(likeness, _)| *likeness >= LIKE_ENOUGH)
        .max_by(|left, right| left.0.total_cmp(&right.0))
        .map(|(_, candidate)| candidate)
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn a_typing_error_finds_its_name() {
        assert_eq!(nearest("celcius", ["fahrenheit", "celsius"]), Some("celsius"));
        assert_eq!(nearest("Chat", ["api", "chat"]), Some("chat"));
    }

    #[test]
    fn an_unlike_name_suggests_nothing() {
        assert_eq!(nearest("zzz", ["chat", "api"]), None);
        assert_eq!(nearest("anything", []), None);
    }
}
