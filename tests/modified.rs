//! Modified Hamiltonians: reference numbers, and the law that defines them: H̃ cut at h^s varies along the numerical
//! solution as h^s.

use carom::lab::catalogue::find;
use carom::lab::discrete::{self, DiscreteLagrangian};
use carom::lab::flow::Variational;
use carom::lab::mechanics::Field;
use carom::lab::mechanics::Mechanics;
use carom::lab::model::Model;
use carom::lab::modified::{Cheap, Closed, Formula, ModifiedHamiltonian, Series, Shadow, Symmetric};
use carom::lab::phase::{Flow, Phase};
use carom_tests::Random;
use carom_tests::reference::{number, numbers};
use serde_json::Value;

/// The equations of a shipped model, and its parameters.
fn mechanics(example: &str) -> (Mechanics, Vec<f64>) {
    let model = Model::from_text(example, find(example).expect("it ships").text, &[]).expect("it is right");
    let parameters = model.parameter_values().into_iter().map(|(_, value)| value).collect();
    (Mechanics::new(&model.system), parameters)
}

fn rule(name: &str) -> Box<dyn DiscreteLagrangian> {
    discrete::registry(0.5).into_iter().find(|rule| rule.name() == name).expect("it is registered")
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

/// Where the starts of each example lie: the middle and the reach of (q, p). Free motion goes on through walls.
const STARTS: [(&str, [f64; 4], [f64; 4]); 2] = [
    ("double-pendulum", [0.0, 0.0, 0.0, 0.0], [0.4, 0.5, 1.5, 0.75]),
    ("cart-pendulum", [4.0, 0.0, 3.0, 0.0], [1.0, 1.5, 3.0, 3.0]),
];

/// Random starts.
fn starts(middle: [f64; 4], reach: [f64; 4]) -> Vec<Vec<f64>> {
    let mut random = Random::new(1);
    let mut start = || middle.iter().zip(reach).map(|(m, r)| m + random.between(-r, r)).collect();
    (0..9).map(|_| start()).collect()
}

/// How much an energy varies over one second of free motion, relative to its value: the root of the mean square of its
/// change since the start, at eight times that do not depend on the step.
fn variation(flow: &mut dyn Flow, start: &[f64], steps: usize, mut energy: impl FnMut(&Phase) -> f64) -> f64 {
    let mut z = Phase { t: 0.0, z: start.to_vec() };
    let mut next = z.clone();
    let (first, mut sum) = (energy(&z), 0.0);
    for step in 1..=steps {
        flow.step(&z, 1.0 / steps as f64, &mut next).expect("the step is short");
        std::mem::swap(&mut z, &mut next);
        if step % (steps / 8) == 0 {
            sum += (energy(&z) - first).powi(2);
        }
    }
    (sum / 8.0).sqrt() / first.abs().max(1.0)
}

/// Below this a variation is roundoff.
const FLOOR: f64 = 5e-14;

/// For each start the slope of log(variation) against log(h) between the smallest two steps, one half of the other, at which
/// the variation is not roundoff; and that slope extrapolated to h = 0 as if it were linear in h.
fn slopes(flow: &mut dyn Flow, starts: &[Vec<f64>], mut energy: impl FnMut(&Phase, f64) -> f64) -> [Vec<f64>; 2] {
    let (mut last, mut limit) = (Vec::new(), Vec::new());
    for start in starts {
        let mut found: Vec<f64> = Vec::new();
        for steps in [16, 24, 32, 48, 64, 96, 128, 192, 256, 384] {
            let next = variation(flow, start, steps, |z| energy(z, 1.0 / steps as f64));
            if next < FLOOR {
                break;
            }
            found.push(next);
        }
        if let [.., coarse, _, fine] = found[..] {
            last.push((coarse / fine).log2());
        }
        if let [.., coarse, _, middle, _, fine] = found[..] {
            limit.push(2.0 * (middle / fine).log2() - (coarse / middle).log2());
        }
    }
    [last, limit]
}

/// The median over the starts, since for one start a leading term may be small by accident; most must have told.
fn median(mut values: Vec<f64>, starts: &[Vec<f64>]) -> f64 {
    assert!(2 * values.len() > starts.len(), "roundoff already at large steps");
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// The slope at the smallest steps.
fn slope(flow: &mut dyn Flow, starts: &[Vec<f64>], energy: impl FnMut(&Phase, f64) -> f64) -> f64 {
    median(slopes(flow, starts, energy)[0].clone(), starts)
}

/// The slope extrapolated to h = 0: above order 6 roundoff begins where the next term, O(h) of the first, is still seen.
fn limit_of_slope(flow: &mut dyn Flow, starts: &[Vec<f64>], energy: impl FnMut(&Phase, f64) -> f64) -> f64 {
    median(slopes(flow, starts, energy)[1].clone(), starts)
}

fn assert_slope(found: f64, expected: usize, what: &str) {
    assert_slope_to(if expected > 6 { 0.25 } else { 0.2 }, found, expected, what);
}

fn assert_slope_to(tolerance: f64, found: f64, expected: usize, what: &str) {
    println!("{what}: {found:.3}");
    assert!((found - expected as f64).abs() < tolerance, "{what}: varies as h^{found:.3}, not h^{expected}");
}

#[test]
fn each_truncation_varies_with_its_order() {
    for (example, middle, reach) in STARTS {
        let starts = starts(middle, reach);
        let (mechanics, parameters) = mechanics(example);
        for rule in discrete::registry(0.5) {
            let mut flow = Variational::new(&mechanics, &*rule, &parameters).expect("it compiles");
            for order in 1..=7 {
                let mut series = Series::new(&mechanics, &*rule, &parameters, order).expect("it compiles");
                let energy = |z: &Phase, h: f64| series.value(z, h).expect("it has a value");
                let found = match order {
                    1..=6 => slope(&mut flow, &starts, energy),
                    _ => limit_of_slope(&mut flow, &starts, energy),
                };
                assert_slope(found, order, &format!("{} on {example}", series.name()));
            }
        }
    }
}

#[test]
fn the_symmetric_mean_gains_an_order() {
    for (example, middle, reach) in STARTS {
        let starts = starts(middle, reach);
        let (mechanics, parameters) = mechanics(example);
        for rule in discrete::registry(0.5).into_iter().filter(|rule| rule.is_symmetric()) {
            let mut flow = Variational::new(&mechanics, &*rule, &parameters).expect("it compiles");
            for order in [1, 3, 5] {
                let mut mean = Symmetric::new(&mechanics, &*rule, &parameters, order).expect("it compiles");
                let found = slope(&mut flow, &starts, |z, h| mean.value(z, h).expect("it has a value"));
                assert_slope(found, order + 1, &format!("{} on {example}", mean.name()));
            }
        }
    }
}

#[test]
fn closed_forms_are_of_order_four_for_their_own_map_only() {
    for (example, middle, reach) in STARTS {
        let starts = starts(middle, reach);
        let (mechanics, parameters) = mechanics(example);
        for formula in Formula::ALL {
            let mut closed = Closed::new(&mechanics, formula, &parameters).expect("it compiles");
            for name in Formula::ALL.map(Formula::name) {
                let mut flow = Variational::new(&mechanics, &*rule(name), &parameters).expect("it compiles");
                let found = slope(&mut flow, &starts, |z, h| closed.value(z, h).expect("it has a value"));
                let order = if name == formula.name() { 4 } else { 2 };
                assert_slope(found, order, &format!("{} along {name} on {example}", closed.name()));
            }
        }
    }
}

#[test]
fn the_steps_at_a_node_give_two_orders_more_than_the_map() {
    for (example, middle, reach) in STARTS {
        let starts = starts(middle, reach);
        let (mechanics, parameters) = mechanics(example);
        let field = Field::new(&mechanics, &parameters).expect("it compiles");
        for name in ["svc", "sva", "svb", "midpoint", "galerkin4"] {
            let mut flow = Variational::new(&mechanics, &*rule(name), &parameters).expect("it compiles");
            let (mut cheap, mut map) = (Cheap::new(field.clone()), flow.clone());
            let found = slope(&mut flow, &starts, |z, h| cheap.at(&mut map, z, h).expect("the steps are short"));
            assert_slope(found, flow.order() + 2, &format!("cheap, {name} on {example}"));
        }
    }
}

#[test]
fn the_shadow_is_of_order_2m() {
    for (example, middle, reach) in STARTS {
        let starts = starts(middle, reach);
        let (mechanics, parameters) = mechanics(example);
        for rule in discrete::registry(0.5) {
            let mut flow = Variational::new(&mechanics, &*rule, &parameters).expect("it compiles");
            for m in 1..=4 {
                let (mut shadow, mut map) = (Shadow::new(m), flow.clone());
                let energy = |z: &Phase, h: f64| shadow.at(&mut map, z, h).expect("the steps are short");
                let found = slope(&mut flow, &starts, energy);
                // With `se2` the slope on the cart-pendulum is 8.3 where roundoff begins: doubles have no smaller steps.
                let tolerance = if m == 4 && rule.name() == "se2" { 0.5 } else { 0.2 };
                assert_slope_to(tolerance, found, 2 * m, &format!("shadow {m} of {} on {example}", rule.name()));
            }
        }
    }
}

#[test]
fn a_step_back_undoes_a_step() {
    for (example, middle, reach) in STARTS {
        let start = starts(middle, reach).swap_remove(0);
        let (mechanics, parameters) = mechanics(example);
        for rule in discrete::registry(0.5) {
            let mut flow = Variational::new(&mechanics, &*rule, &parameters).expect("it compiles");
            let z = Phase { t: 0.3, z: start.clone() };
            let (mut next, mut back) = (z.clone(), z.clone());
            flow.step(&z, 0.03, &mut next).expect("the step is short");
            let there = flow.discrete().expect("it is variational");
            flow.step_back(&next, 0.03, &mut back).expect("the step is short");
            let again = flow.discrete().expect("it is variational");
            let error = z.z.iter().zip(&back.z).fold((z.t - back.t).abs(), |m, (a, b)| m.max((a - b).abs()));
            assert!(error < 1e-13, "{} on {example}: {error:e}", rule.name());
            let action = (there.action + again.action).abs() / there.action.abs();
            let energy = (there.energy - again.energy).abs() / there.energy.abs();
            assert!(action.max(energy) < 1e-12, "{} on {example}: {there:?}, {again:?}", rule.name());
        }
    }
}

/// Gradients against differences of high order: f′ ≈ Σ w_j (f(jd) − f(−jd))/d.
#[test]
fn gradients_are_derivatives_of_the_value() {
    let weights = [4.0 / 5.0, -1.0 / 5.0, 4.0 / 105.0, -1.0 / 280.0];
    for (example, middle, reach) in STARTS {
        let start = starts(middle, reach).swap_remove(0);
        let (mechanics, parameters) = mechanics(example);
        let mut all: Vec<Box<dyn ModifiedHamiltonian>> = Vec::new();
        for rule in discrete::registry(0.5) {
            for order in 1..=5 {
                all.push(Box::new(Series::new(&mechanics, &*rule, &parameters, order).expect("it compiles")));
            }
            if rule.is_symmetric() {
                all.push(Box::new(Symmetric::new(&mechanics, &*rule, &parameters, 3).expect("it compiles")));
            }
        }
        for formula in Formula::ALL {
            all.push(Box::new(Closed::new(&mechanics, formula, &parameters).expect("it compiles")));
        }
        let z = Phase { t: 0.0, z: start };
        for mut ham in all {
            let (h, d, mut gradient) = (0.032, 5e-3, [0.0; 4]);
            let value = ham.gradient(&z, h, &mut gradient).expect("it has a value");
            assert!((value - ham.value(&z, h).expect("it has a value")).abs() < 1e-13 * value.abs());
            for (i, found) in gradient.iter().enumerate() {
                let mut at = |x: f64| {
                    let mut z = z.clone();
                    z.z[i] += x;
                    ham.value(&z, h).expect("it has a value")
                };
                let pairs = (1..).zip(weights).map(|(j, w)| w * (at(f64::from(j) * d) - at(-f64::from(j) * d)));
                let expected = pairs.sum::<f64>() / d;
                let error = (found - expected).abs();
                assert!(error < 1e-9 * (1.0 + expected.abs()), "{} on {example}, {i}: {found} {expected}", ham.name());
            }
        }
    }
}

#[test]
fn the_energies_of_the_double_pendulum() {
    let file: Value = serde_json::from_str(include_str!("reference/double-pendulum.json")).expect("JSON");
    let smooth = &file["smooth_svc_right"];
    let h = number(&smooth["h"]);
    let (mechanics, parameters) = mechanics("double-pendulum");
    let mut flow = Variational::new(&mechanics, &*rule("svc"), &parameters).expect("it compiles");
    let mut field = Field::new(&mechanics, &parameters).expect("it compiles");
    let [mut right, mut printed] =
        [Formula::Svc, Formula::Sva].map(|f| Closed::new(&mechanics, f, &parameters).expect("it compiles"));
    let (mut cheap, mut shadow) = (Cheap::new(field.clone()), Shadow::windowed(8, 10));
    let nodes = smooth["nodes"].as_object().expect("nodes");
    assert_eq!(nodes.len(), 15);
    for (index, node) in nodes {
        let z = Phase { t: 0.0, z: numbers(&node["z"]) };
        let found = [
            ("H", field.energy(0.0, &z.z).expect("v exists")),
            ("Ht_printed", printed.value(&z, h).expect("it has a value")),
            ("Ht_SVC_correct", right.value(&z, h).expect("it has a value")),
            ("Ht_cheap4", cheap.at(&mut flow, &z, h).expect("the steps are short")),
            ("Ht_window_m8_W10", shadow.at(&mut flow, &z, h).expect("the steps are short")),
        ];
        for (key, value) in found {
            let error = (value - number(&node[key])).abs();
            println!("node {index} {key} {error:e}");
            assert!(error < 1e-11, "node {index}, {key}: {value}, reference {}", node[key]);
        }
    }
}

/// A relativistic particle in a field: L is not quadratic in v, and L_vv depends on v.
const RELATIVISTIC: &str = r#"
coordinates = ["x", "y"]
[lagrangian]
L = "-sqrt(1 - x'^2 - y'^2) - (x^2 + 2*y^2 + x*y^2)/2 + x*y'/3"
[initial]
q = [0.6, 0.2]
v = [0.1, 0.5]
[run]
until = 1.0
"#;

#[test]
fn a_lagrangian_that_is_not_quadratic_has_them_too() {
    let model = Model::from_text("relativistic", RELATIVISTIC, &[]).expect("it is right");
    let start = model.start().expect("it is right");
    let starts = [start.q.iter().chain(&start.p).copied().collect::<Vec<f64>>()];
    let mechanics = Mechanics::new(&model.system);
    for formula in Formula::ALL {
        let rule = rule(formula.name());
        let mut flow = Variational::new(&mechanics, &*rule, &[]).expect("it compiles");
        let mut closed = Closed::new(&mechanics, formula, &[]).expect("it compiles");
        let found = slope(&mut flow, &starts, |z, h| closed.value(z, h).expect("it has a value"));
        assert_slope(found, 4, &closed.name());
        for order in [3, 4, 5] {
            let mut series = Series::new(&mechanics, &*rule, &[], order).expect("it compiles");
            let found = slope(&mut flow, &starts, |z, h| series.value(z, h).expect("it has a value"));
            assert_slope(found, order, &series.name());
        }
    }
}

#[test]
fn what_has_no_modified_hamiltonian_is_refused() {
    let refusal = |text: &str| {
        let model = Model::from_text("model", text, &[]).expect("it is right");
        let mechanics = Mechanics::new(&model.system);
        let series = Series::new(&mechanics, &*rule("svc"), &[], 3).err().expect("it is refused");
        let closed = Closed::new(&mechanics, Formula::Svc, &[]).err().expect("it is refused");
        assert_eq!(series, closed);
        series.to_string()
    };
    let model = |l: &str, rest: &str| {
        format!(
            "coordinates = [\"x\"]\n[lagrangian]\nL = \"{l}\"\n{rest}[initial]\nq = [1]\nv = [0]\n[run]\nuntil = 1\n"
        )
    };
    let driven = refusal(&model("x'^2/2 - x*sin(t)", ""));
    assert!(driven.contains("the Lagrangian depends on the time"), "{driven}");
    let damped = refusal(&model("x'^2/2 - x^2/2", "[forces]\nx = \"-x'\"\n"));
    assert!(damped.contains("forces act on the system"), "{damped}");
    let (mechanics, parameters) = mechanics("chain-10");
    for order in [0, 12, 13] {
        let series = Series::new(&mechanics, &*rule("svc"), &parameters, order);
        assert!(series.is_err(), "order {order} of ten coordinates");
    }
    assert!(Symmetric::new(&mechanics, &*rule("se1"), &parameters, 3).is_err(), "not symmetric");
}

/// The right plot of Fig. 1 in [BEA]: H has spikes of 6 % there, no truncation and no number of iterates removes them,
/// and an average over a window does.
#[test]
fn a_window_removes_the_spikes_that_no_order_removes() {
    let (mechanics, parameters) = mechanics("double-pendulum");
    let mut flow = Variational::new(&mechanics, &*rule("svc"), &parameters).expect("it compiles");
    let mut field = Field::new(&mechanics, &parameters).expect("it compiles");
    let mut series = Series::new(&mechanics, &*rule("svc"), &parameters, 7).expect("it compiles");
    let (mut local, mut window) = (Shadow::new(8), Shadow::windowed(8, 10));
    let (h, mut z) = (0.058, Phase::new(0.0, &[0.2, -1.5], &[3.0, -1.8]));
    let mut bounds = [[f64::INFINITY, f64::NEG_INFINITY]; 4];
    for _ in 0..172 {
        let values = [
            field.energy(z.t, &z.z).expect("v exists"),
            series.value(&z, h).expect("it has a value"),
            local.at(&mut flow, &z, h).expect("it has a value"),
            window.at(&mut flow, &z, h).expect("it has a value"),
        ];
        bounds.iter_mut().zip(values).for_each(|(b, x)| *b = [b[0].min(x), b[1].max(x)]);
        let mut next = z.clone();
        flow.step(&z, h, &mut next).expect("the step is short");
        z = next;
    }
    let [ham, order7, order16, windowed] = bounds.map(|[low, high]| high - low);
    assert!(ham > 1.0 && order7 > 0.3 && order16 > 0.3, "{ham} {order7} {order16}");
    assert!(windowed < 0.006, "{windowed}");
}
