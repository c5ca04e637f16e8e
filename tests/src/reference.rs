//! Reference numbers.

use serde_json::Value;

/// Those of projections, constraints and the lecture notes.
pub fn projections_and_constraints() -> Value {
    serde_json::from_str(include_str!("../reference/projections-constraints-notes.json")).expect("JSON")
}

/// A number that stands in the file as a number or as a string.
pub fn number(value: &Value) -> f64 {
    match value {
        Value::String(text) => text.parse().expect("a number in quotes"),
        other => other.as_f64().expect("a number"),
    }
}

/// A list of them.
pub fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().expect("a list").iter().map(number).collect()
}
