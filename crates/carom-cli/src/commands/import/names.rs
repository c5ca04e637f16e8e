//! Names that a model can have.

use std::collections::HashSet;

use carom::lab::expr::parse::{is_name, is_reserved};

/// The names that have been given.
#[derive(Default)]
pub struct Names {
    taken: HashSet<String>,
    /// What was called otherwise.
    pub changed: Vec<(String, String)>,
}

impl Names {
    /// Keeps a name from being given.
    pub fn reserve(&mut self, name: String) {
        self.taken.insert(name);
    }

    /// A legal name that no other has, as near to `wanted` as can be.
    pub fn give(&mut self, wanted: &str) -> String {
        let mut name: String = wanted.chars().map(|c| if c.is_alphanumeric() || c == '_' { c } else { '_' }).collect();
        if !is_name(&name) {
            name.insert(0, '_');
        }
        if is_reserved(&name) || name == "ground" {
            name.push('_');
        }
        let is_free = |name: &str| !self.taken.contains(name);
        if !is_free(&name) {
            let numbered = (2..).map(|n| format!("{name}_{n}")).find(|name| is_free(name));
            name = numbered.unwrap_or(name);
        }
        self.taken.insert(name.clone());
        if name != wanted {
            self.changed.push((wanted.to_string(), name.clone()));
        }
        name
    }
}

/// A name as a key of TOML, in quotes where it must be.
pub fn key(name: &str) -> String {
    let is_bare = name.bytes().all(|c| c.is_ascii_alphanumeric() || c == b'_');
    if is_bare { name.to_string() } else { format!("\"{name}\"") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_legal_and_different() {
        let mut names = Names::default();
        let given = ["base-link", "base_link", "t", "2nd", "ground", "arm"].map(|name| names.give(name));
        assert_eq!(given, ["base_link", "base_link_2", "t_", "_2nd", "ground_", "arm"]);
        assert_eq!(names.changed.len(), 5);
    }
}
