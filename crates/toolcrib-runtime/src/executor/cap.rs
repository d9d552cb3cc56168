//! Caps a result, so that nothing unbounded enters a model's context; what is missing is stated in the text.

/// What says that something is missing where there is no room to say more.
const SHORT_MARKER: &str = "\n[Result cut]";

/// A text cut to a budget.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Capped {
    /// The text, with a marker at the end when something is missing.
    pub(crate) text: String,
    /// Unicode scalar values that are missing.
    pub(crate) missing: usize,
}

/// Cuts at the last blank line, else the last line end (either in the second half), else at a character.
///
/// The marker is part of the budget of `limit` Unicode scalar values; a small budget gets a short marker, and one that
/// cannot hold even that gets the text's beginning alone. `hint` says how to get the rest.
pub(crate) fn cap(text: String, limit: usize, hint: &str) -> Capped {
    // Bytes bound characters from above: most texts are let through without counting.
    let total = if text.len() <= limit { text.len() } else { text.chars().count() };
    if total <= limit {
        return Capped { text, missing: 0 };
    }
    let marker =
        |missing: usize| format!("\n\n[Result cut: {missing} of {total} characters are missing. {hint}]");
    let room = limit.saturating_sub(marker(total).chars().count());
    if room == 0 {
        let marker = if limit > SHORT_MARKER.len() { SHORT_MARKER } else { "" };
        let room = limit - marker.len();
        let kept: String = text.chars().take(room).collect();
        return Capped { text: kept + marker, missing: total - room };
    }
    let end = text.char_indices().nth(room).map_or(text.len(), |(end, _)| end);
    let head = &text[..end];
    let in_second_half = |position: &usize| *position >= end / 2;
    let cut = head.rfind("\n\n").filter(in_second_half).or_else(|| head.rfind('\n').filter(in_second_half));
    let kept = &head[..cut.unwrap_or(end)];
    let missing = total - kept.chars().count();
    Capped { text: format!("{kept}{}", marker(missing)), missing }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_short_text_stays_as_it_is() {
        assert_eq!(cap("äöü".to_owned(), 3, "x"), Capped { text: "äöü".to_owned(), missing: 0 });
    }

    #[test]
    fn a_long_text_is_cut_at_a_blank_line_and_says_what_is_missing() {
        let text = format!("{}\n\n{}", "a".repeat(150), "b".repeat(150));
        let capped = cap(text, 250, "Ask for less.");
        assert!(capped.text.starts_with(&"a".repeat(150)) && !capped.text.contains('b'), "{}", capped.text);
        assert!(capped.text.ends_with("[Result cut: 152 of 302 characters are missing. Ask for less.]"));
        assert_eq!(capped.missing, 152);
    }

    #[test]
    fn a_small_budget_still_says_that_something_is_missing() {
        let capped = cap("ü".repeat(1_000), 40, "Ask for less.");
        assert_eq!(capped.text, format!("{}\n[Result cut]", "ü".repeat(27)));
        assert_eq!(capped.missing, 973);
    }

    #[test]
    fn a_text_without_lines_is_cut_at_a_character() {
        let capped = cap("ü".repeat(1_000), 500, "Ask for less.");
        assert!((495..=500).contains(&capped.text.chars().count()), "{}", capped.text);
    }

    proptest! {
        #[test]
        fn a_result_never_passes_its_budget(text in "(\\PC|\n){0,400}", limit in 0usize..500) {
            let total = text.chars().count();
            let capped = cap(text.clone(), limit, "Ask for less.");
            prop_assert!(capped.text.chars().count() <= limit);
            prop_assert_eq!(capped.missing == 0, total <= limit);
        }
    }
}
