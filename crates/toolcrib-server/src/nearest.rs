//! "Did you mean …": the known name that was probably meant.

/// How alike two names have to be (Jaro-Winkler similarity, from 0 to 1).
const LIKE_ENOUGH: f64 = 0.75;

/// The candidate most like `name`, when one is like enough to be meant. Letter case does not count.
pub(crate) fn nearest<'c>(name: &str, candidates: impl IntoIterator<Item = &'c str>) -> Option<&'c str> {
    nearest_by(name, candidates.into_iter().map(|candidate| (candidate.to_owned(), candidate)))
}

/// The same for candidates that are known by a text.
pub(crate) fn nearest_by<T>(name: &str, candidates: impl IntoIterator<Item = (String, T)>) -> Option<T> {
    let name = name.to_lowercase();
    candidates
        .into_iter()
        .map(|(text, candidate)| (strsim::jaro_winkler(&name, &text.to_lowercase()), candidate))
        .filter(|(likeness, _)| *likeness >= LIKE_ENOUGH)
        .max_by(|left, right| left.0.total_cmp(&right.0))
        .map(|(_, candidate)| candidate)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_typing_error_finds_its_name_and_an_unlike_one_nothing() {
        assert_eq!(nearest("Calculat", ["read_web_page", "calculate"]), Some("calculate"));
        assert_eq!(nearest("zzz", ["read_web_page", "calculate"]), None);
    }
}
