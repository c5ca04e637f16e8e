//! Models and numbers for the tests of the projected principle.

use carom::catalogue::find;
use carom::model::Model;
use serde_json::Value;

/// A particle in space over a hilly floor: Λ has all its entries.
pub const HILLS: &str = r#"
coordinates = ["x", "y", "z"]
[lagrangian]
T = "(x'^2 + y'^2 + z'^2)/2 + x'*y'/4"
V = "9.81*z"
[[wall]]
phi = "z + sin(x)*cos(2*y)/2"
[initial]
q = [0.3, 0.2, 1.5]
v = [0.4, -0.3, 0]
[run]
until = 3
"#;

/// A wall that is not linear in the coordinate it is solved for.
pub const SINH: &str = r#"
coordinates = ["y", "x"]
[lagrangian]
T = "(x'^2 + (2 + sin(x))*y'^2)/2"
V = "4*y + x^2"
[[wall]]
phi = "sinh(y/2) + 0.3*x"
[initial]
q = [1, 0.4]
v = [0, 0.3]
[run]
until = 4
[projection]
k = 3
"#;

/// The reference numbers.
pub fn reference() -> Value {
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

/// A model from its text.
pub fn read(text: &str, settings: &[&str]) -> Model {
    let settings: Vec<String> = settings.iter().map(|s| s.to_string()).collect();
    Model::from_text("model.toml", text, &settings).expect("it is right")
}

/// A shipped model.
pub fn shipped(name: &str, settings: &[&str]) -> Model {
    read(find(name).expect("it ships").text, settings)
}

/// Σ |aᵢ − bᵢ|.
pub fn distance(a: &[f64], b: &[f64]) -> f64 {
    assert_eq!(a.len(), b.len());
    a.iter().zip(b).map(|(a, b)| (a - b).abs()).sum()
}
