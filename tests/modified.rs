//! Modified Hamiltonians: reference numbers, and the law that defines them: H̃ cut at h^s varies along the numerical
//! solution as h^s.

use carom::catalogue::find;
use carom::discrete::{self, DiscreteLagrangian};
use carom::flow::Phase;
use carom::mechanics::Mechanics;
use carom::model::Model;
use carom::modified::Series;
use serde_json::Value;

/// A number that stands in the file as a number or as a string.
fn number(value: &Value) -> f64 {
    match value {
        Value::String(text) => text.parse().expect("a number in quotes"),
        other => other.as_f64().expect("a number"),
    }
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().expect("a list").iter().map(number).collect()
}

/// The equations of a shipped model, and its parameters.
fn mechanics(example: &str) -> (Mechanics, Vec<f64>) {
    let model = Model::from_text(example, find(example).expect("it ships").text, &[]).expect("it is right");
    let parameters = model.parameter_values().into_iter().map(|(_, value)| value).collect();
    (Mechanics::new(&model.system), parameters)
}

fn rule(name: &str) -> Box<dyn DiscreteLagrangian> {
    discrete::registry().into_iter().find(|rule| rule.name() == name).expect("it is registered")
}

#[test]
fn the_series_of_the_cart_pendulum() {
    let file: Value = serde_json::from_str(include_str!("reference/cart-pendulum.json")).expect("JSON");
    let cases = file["eta_series"].as_array().expect("a list");
    assert_eq!(cases.len(), 16);
    let (mechanics, parameters) = mechanics("cart-pendulum");
    for case in cases {
        let kind = case["kind"].as_str().expect("a name");
        let name = if kind == "MP" { "midpoint".into() } else { kind.to_lowercase() };
        let z = Phase { t: 0.0, z: numbers(&case["z"]) };
        let mut series = Series::new(&mechanics, &*rule(&name), &parameters, 4).expect("it compiles");
        let terms = series.terms(&z, number(&case["h"])).expect("q̄ exists").to_vec();
        for (found, key) in terms.iter().zip(["eta", "H2", "H3", "H4"]) {
            let expected = number(&case[key]);
            let error = (found - expected).abs();
            assert!(error <= 1e-12 * expected.abs() + 1e-13, "{kind} {key}: {found}, reference {expected}");
        }
    }
}
