//! Models and numbers for the tests of the projected principle.

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

/// Σ |aᵢ − bᵢ|.
pub fn distance(a: &[f64], b: &[f64]) -> f64 {
    assert_eq!(a.len(), b.len());
    a.iter().zip(b).map(|(a, b)| (a - b).abs()).sum()
}
