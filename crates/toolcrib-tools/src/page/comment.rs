//! Reads the comment with which a module opens.

/// The comment, divided by its headings.
#[derive(Debug)]
pub(super) struct Comment {
    /// What stands before the first heading.
    pub(super) introduction: String,
    sections: Vec<(String, String)>,
}

impl Comment {
    /// Reads the `//!` lines at the beginning of a source text. Links within the documentation become plain names.
    pub(super) fn read(source: &str) -> Self {
        let lines = source.lines().map_while(|line| line.strip_prefix("//!"));
        let mut parts: Vec<(String, String)> = vec![Default::default()];
        for line in lines {
            let line = line.strip_prefix(' ').unwrap_or(line);
            match line.strip_prefix("# ") {
                Some(heading) => parts.push((heading.trim().to_owned(), String::new())),
                None => {
                    if let Some((_, text)) = parts.last_mut() {
                        text.push_str(&line.replace("[`", "`").replace("`]", "`"));
                        text.push('\n');
                    }
                }
            }
        }
        let mut parts = parts.into_iter().map(|(heading, text)| (heading, text.trim().to_owned()));
        let introduction = parts.next().map(|(_, text)| text).unwrap_or_default();
        Self { introduction, sections: parts.collect() }
    }

    /// The text below a heading; empty when there is no such heading.
    pub(super) fn section(&self, heading: &str) -> &str {
        self.sections.iter().find(|(known, _)| known == heading).map_or("", |(_, text)| text)
    }
}
