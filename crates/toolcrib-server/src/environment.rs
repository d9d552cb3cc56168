//! The process environment, read once by the program and passed in.

use std::collections::BTreeMap;

/// Environment variables. Empty values count as unset.
#[derive(Clone, Default)]
pub struct Environment(BTreeMap<String, String>);

impl Environment {
    /// The value of a variable.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str).filter(|value| is_set(value))
    }

    /// All variables that are set and whose name begins with `prefix`, without it.
    pub fn with_prefix<'a>(&'a self, prefix: &'a str) -> impl Iterator<Item = (&'a str, &'a str)> {
        let set = self.0.iter().filter(|(_, value)| is_set(value));
        set.filter_map(move |(name, value)| Some((name.strip_prefix(prefix)?, value.as_str())))
    }
}

fn is_set(value: &str) -> bool {
    !value.trim().is_empty()
}

impl FromIterator<(String, String)> for Environment {
    fn from_iter<T: IntoIterator<Item = (String, String)>>(variables: T) -> Self {
        Self(variables.into_iter().collect())
    }
}
