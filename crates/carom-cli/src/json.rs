//! A JSON writer that keeps every digit of every number.

use std::fmt::Write;

use carom::Impact;

/// A JSON object under construction, in the order in which its members are added.
#[derive(Default)]
pub struct Object(String);

impl Object {
    /// Adds the name of a member.
    fn key(&mut self, key: &str) {
        if !self.0.is_empty() {
            self.0.push_str(", ");
        }
        push_text(&mut self.0, key);
        self.0.push_str(": ");
    }

    /// Adds a member whose value is already JSON.
    pub fn raw(mut self, key: &str, value: &str) -> Object {
        self.key(key);
        self.0.push_str(value);
        self
    }

    /// Adds a list of values that are already JSON.
    pub fn list(mut self, key: &str, values: impl Iterator<Item = String>) -> Object {
        self.key(key);
        push_list(&mut self.0, values, |all, value| all.push_str(&value));
        self
    }

    /// Adds a number.
    pub fn number(mut self, key: &str, value: f64) -> Object {
        self.key(key);
        push_number(&mut self.0, value);
        self
    }

    /// Adds a list of numbers.
    pub fn numbers(mut self, key: &str, values: &[f64]) -> Object {
        self.key(key);
        push_list(&mut self.0, values, |all, &value| push_number(all, value));
        self
    }

    /// Adds a string.
    pub fn text(mut self, key: &str, value: &str) -> Object {
        self.key(key);
        push_text(&mut self.0, value);
        self
    }

    /// Returns the object as text.
    pub fn finish(mut self) -> String {
        self.0.insert(0, '{');
        self.0.push('}');
        self.0
    }
}

/// An impact on the wall of this name.
pub fn impact_object(wall: &str, impact: &Impact) -> String {
    Object::default()
        .number("t", impact.minus.t)
        .text("wall", wall)
        .number("lambda", impact.lambda)
        .numbers("q", &impact.minus.q)
        .numbers("v_minus", &impact.minus.v)
        .numbers("v_plus", &impact.plus.v)
        .numbers("p_minus", &impact.minus.p)
        .numbers("p_plus", &impact.plus.p)
        .finish()
}

/// A list of values that are already JSON.
pub fn list_of(values: &[String]) -> String {
    format!("[{}]", values.join(", "))
}

/// Adds a list.
fn push_list<T>(all: &mut String, values: impl IntoIterator<Item = T>, push: impl Fn(&mut String, T)) {
    all.push('[');
    for (k, value) in values.into_iter().enumerate() {
        if k > 0 {
            all.push_str(", ");
        }
        push(all, value);
    }
    all.push(']');
}

/// A number with the fewest digits that tell it from all others; NaN and infinities become null, because JSON has neither.
pub fn number(x: f64) -> String {
    let mut digits = String::new();
    push_number(&mut digits, x);
    digits
}

fn push_number(all: &mut String, x: f64) {
    let mut digits = zmij::Buffer::new();
    all.push_str(if x.is_finite() { digits.format_finite(x) } else { "null" });
}

/// A quoted string, for JSON and TOML.
pub fn text(value: &str) -> String {
    let mut quoted = String::new();
    push_text(&mut quoted, value);
    quoted
}

fn push_text(all: &mut String, value: &str) {
    all.push('"');
    for c in value.chars() {
        match c {
            '"' | '\\' => all.extend(['\\', c]),
            c if c.is_control() => {
                let _ = write!(all, "\\u{:04x}", u32::from(c));
            }
            c => all.push(c),
        }
    }
    all.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_keep_every_digit() {
        for x in [0.1, 1.0 / 3.0, 1e-7, 6.02e23, -2.5, 0.0, 123456789.12345679, f64::MIN_POSITIVE, 1e16] {
            assert_eq!(number(x).parse::<f64>(), Ok(x), "{}", number(x));
        }
        assert_eq!(number(0.058), "0.058");
        assert_eq!(number(8.0), "8.0");
        assert_eq!(number(f64::NAN), "null");
    }

    #[test]
    fn strings_are_escaped() {
        assert_eq!(Object::default().text("a\"b", "c\\d\n").finish(), r#"{"a\"b": "c\\d\u000a"}"#);
        assert_eq!(text("\u{9b}\u{7f}é"), r#""\u009b\u007fé""#);
    }
}
