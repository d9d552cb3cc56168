//! "Did you mean …": the nearest known name to one that was not found.

/// The candidate most like `name`, when one is like enough to be meant.
pub(crate) fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let wanted = name.to_lowercase();
    candidates
        .into_iter()
        .map(|candidate| (strsim::jaro_winkler(&wanted, &candidate.to_lowercase()), candidate))
        .filter(|(likeness, _)| *likeness >= 0.75)
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
