//! A JSON writer that keeps every digit of every number.

use std::fmt::Write;

use carom::Impact;

/// A JSON object under construction, in the order in which its members are added.
#[derive(Default)]
pub struct Object(String);

impl Object {
    /// Adds a member whose value is already JSON.
    pub fn raw(mut self, key: &str, value: &str) -> Object {
        let comma = if self.0.is_empty() { "" } else { ", " };
        let _ = write!(self.0, "{comma}{}: {value}", text(key));
        self
    }

    /// Adds a number.
    pub fn number(self, key: &str, value: f64) -> Object {
        self.raw(key, &number(value))
    }

    /// Adds a list of numbers.
    pub fn numbers(self, key: &str, values: &[f64]) -> Object {
        let list: Vec<String> = values.iter().map(|&x| number(x)).collect();
        self.raw(key, &list_of(&list))
    }

    /// Adds a string.
    pub fn text(self, key: &str, value: &str) -> Object {
        self.raw(key, &text(value))
    }

    /// Returns the object as text.
    pub fn finish(self) -> String {
        format!("{{{}}}", self.0)
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

/// A number with 17 significant digits; NaN and infinities become null, because JSON has neither.
pub fn number(x: f64) -> String {
    if !x.is_finite() {
        return "null".into();
    }
    let exponent = if x == 0.0 { 0 } else { x.abs().log10().floor() as i32 };
    if (-5..17).contains(&exponent) {
        let decimals = (16 - exponent).max(0) as usize;
        let plain = format!("{x:.decimals$}");
        let trimmed = if plain.contains('.') { plain.trim_end_matches('0').trim_end_matches('.') } else { &plain };
        return if trimmed.contains('.') { trimmed.into() } else { format!("{trimmed}.0") };
    }
    format!("{x:.16e}")
}

/// A quoted string, for JSON and TOML.
pub fn text(value: &str) -> String {
    let mut quoted = String::from("\"");
    for c in value.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            c if c.is_control() => {
                let _ = write!(quoted, "\\u{:04x}", u32::from(c));
            }
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_keep_every_digit() {
        for x in [0.1, 1.0 / 3.0, 1e-7, 6.02e23, -2.5, 0.0, 123456789.12345679, f64::MIN_POSITIVE, 1e16] {
            assert_eq!(number(x).parse::<f64>(), Ok(x), "{}", number(x));
        }
        assert_eq!(number(0.058), "0.058000000000000003");
        assert_eq!(number(8.0), "8.0");
        assert_eq!(number(f64::NAN), "null");
    }

    #[test]
    fn strings_are_escaped() {
        assert_eq!(Object::default().text("a\"b", "c\\d\n").finish(), r#"{"a\"b": "c\\d\u000a"}"#);
        assert_eq!(text("\u{9b}\u{7f}é"), r#""\u009b\u007fé""#);
    }
}
