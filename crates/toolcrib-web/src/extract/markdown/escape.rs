//! Plain text as Markdown that reads as the same plain text.
//!
//! Invariant: only what a GFM reader would take for markup is escaped, so that text stays readable as it is.

/// Appends `text` with its inline markup characters escaped. `brackets` also escapes `[` and `]`, as link
/// texts need it.
pub(in crate::extract) fn push_escaped(out: &mut String, text: &str, brackets: bool) {
    let mut characters = text.chars().peekable();
    let mut previous = out.chars().next_back();
    while let Some(character) = characters.next() {
        let next = characters.peek().copied();
        if needs_escape(character, previous, next, brackets) {
            out.push('\\');
        }
        out.push(character);
        previous = Some(character);
    }
}

fn needs_escape(character: char, previous: Option<char>, next: Option<char>, brackets: bool) -> bool {
    let is_space = |side: Option<char>| side.is_none_or(char::is_whitespace);
    let is_word = |side: Option<char>| side.is_some_and(char::is_alphanumeric);
    match character {
        '`' => true,
        '*' => !(is_space(previous) && is_space(next)),
        '_' => {
            let within_word = is_word(previous) && is_word(next);
            let alone = is_space(previous) && is_space(next);
            !(within_word || alone)
        }
        '[' | ']' if brackets => true,
        '[' => next == Some('^'),
        ']' => matches!(next, Some('(')),
        '\\' => next.is_some_and(|next| next.is_ascii_punctuation()),
        '<' => next.is_some_and(|next| next.is_ascii_alphabetic() || matches!(next, '/' | '!' | '?')),
        '&' => next.is_some_and(|next| next == '#'),
        '~' => next == Some('~') || previous == Some('~'),
        _ => false,
    }
}

/// Escapes what would turn the beginning of a line into a heading, list, quote, rule or fence.
pub(in crate::extract) fn escape_line_start(line: &str) -> String {
    let mut characters = line.chars();
    let first = characters.next();
    let second = characters.next();
    let needs = match first {
        Some('#') => {
            let rest = line.trim_start_matches('#');
            line.len() - rest.len() <= 6 && (rest.is_empty() || rest.starts_with(' '))
        }
        Some('-' | '+' | '*') => second.is_none_or(|second| second == ' ') || is_rule(line),
        Some('=') => line.chars().all(|character| character == '='),
        Some('>') => true,
        Some('~') => line.starts_with("~~~"),
        Some(digit) if digit.is_ascii_digit() => return escape_number(line),
        _ => false,
    };
    if needs { format!("\\{line}") } else { line.to_owned() }
}

fn is_rule(line: &str) -> bool {
    line.chars().all(|character| matches!(character, '-' | ' ')) && line.len() >= 3
}

/// `1986. A year` would start a list.
fn escape_number(line: &str) -> String {
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    let rest = &line[digits..];
    let starts_list =
        digits <= 9 && (rest.starts_with(". ") || rest.starts_with(") ") || rest == "." || rest == ")");
    if starts_list { format!("{}\\{rest}", &line[..digits]) } else { line.to_owned() }
}

/// Text as inline code, fenced by more backticks than it holds.
pub(in crate::extract) fn inline_code(text: &str) -> String {
    let longest = longest_run(text, '`');
    let fence = "`".repeat(longest + 1);
    let pad = if text.starts_with('`') || text.ends_with('`') { " " } else { "" };
    format!("{fence}{pad}{text}{pad}{fence}")
}

/// The length of the longest run of `wanted`.
pub(in crate::extract) fn longest_run(text: &str, wanted: char) -> usize {
    let (mut longest, mut current) = (0, 0);
    for character in text.chars() {
        current = if character == wanted { current + 1 } else { 0 };
        longest = longest.max(current);
    }
    longest
}

#[cfg(test)]
mod tests;
