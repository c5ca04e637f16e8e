//! Derivatives through impacts against references in 44 digits: of the discrete map itself, and of the exact motion.

use carom::analysis::{Derivatives, Fixed, Mode};
use carom::{Model, Simulation};
use carom_tests::reference::{number, numbers};
use serde_json::Value;

fn references() -> Value {
    serde_json::from_str(include_str!("reference/derivatives.json")).expect("JSON")
}

fn text(value: &Value) -> &str {
    value.as_str().expect("a string")
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

/// The model of a case, with its settings.
fn model(case: &Value, all: &Value) -> Model {
    let settings: Vec<String> = list(&case["set"]).iter().map(|s| text(s).to_string()).collect();
    if let Some(text) = case["model_text"].as_str() {
        return Model::from_text("reference.toml", text, &settings).expect("the model is right");
    }
    let name = text(&case["model"]);
    let source = match all["models"][name].as_str() {
        Some(text) => text,
        None => carom::EXAMPLES.iter().find(|e| e.name == name).expect("it ships").text,
    };
    Model::from_text(&format!("{name}.toml"), source, &settings).expect("the model is right")
}

/// Compares derivatives with a reference, relative to 1 + |value|. Returns the largest difference.
fn compare(found: &[Vec<f64>], expected: &[Vec<f64>], tolerance: f64, what: &str) -> f64 {
    assert_eq!(found.len(), expected.len(), "{what}: rows");
    let mut largest = 0.0f64;
    for (i, (found, expected)) in found.iter().zip(expected).enumerate() {
        assert_eq!(found.len(), expected.len(), "{what}: columns");
        for (j, (a, b)) in found.iter().zip(expected).enumerate() {
            let error = (a - b).abs() / (1.0 + b.abs());
            assert!(error <= tolerance, "{what}, entry ({i}, {j}): {a}, not {b}; relative error {error:e}");
            largest = largest.max(error);
        }
    }
    largest
}

fn matrix(value: &Value) -> Vec<Vec<f64>> {
    list(value).iter().map(numbers).collect()
}

fn names(part: &str, letter: char, n: usize) -> String {
    (0..n).map(|i| format!("{part}.{letter}[{i}]")).collect::<Vec<_>>().join(",")
}

fn run(simulation: &Simulation, of: &str, by: &str, fixed: Option<Fixed>) -> Derivatives {
    let sensitivity = simulation.sensitivity().of(of).by(by);
    let sensitivity = fixed.into_iter().fold(sensitivity, |s, fixed| s.fixed(fixed));
    sensitivity.run().expect("it runs")
}

/// All derivatives of a reference: `letter` is v for those in (q, v), p for those in (q, p).
fn check(simulation: &Simulation, expected: &Value, case: &Value, letter: char, tolerance: f64, what: &str) {
    let n = list(&expected["final"]["q"]).len();
    let parameters: Vec<&str> = list(&case["parameters"]).iter().map(text).collect();
    let (of, start) = (
        format!("{},{}", names("final", 'q', n), names("final", letter, n)),
        format!("{},{}", names("initial", 'q', n), names("initial", letter, n)),
    );
    let fixed = if letter == 'v' { Fixed::Velocity } else { Fixed::Momentum };
    let impacts = list(&expected["impacts"]);
    let (at, by_start) = if letter == 'v' { ("at_x0", "dx0") } else { ("at_z0", "dz0") };
    let d = if letter == 'v' { "dx" } else { "dz" };
    let mut worst = 0.0f64;
    for (by, fixed, key, impact_key) in [
        (start.clone(), Some(fixed), format!("{d}_d{}", &by_start[1..]), by_start.to_string()),
        (parameters.join(","), Some(fixed), format!("{d}_dparam_{at}"), format!("dparam_{at}")),
        (parameters.join(","), None, format!("{d}_dparam_total"), "dparam_total".to_string()),
    ] {
        if expected[&key].is_null() {
            continue;
        }
        let found = run(simulation, &of, &by, fixed);
        worst = worst.max(compare(&found.derivatives, &matrix(&expected[&key]), tolerance, &format!("{what}: {key}")));
        assert!(impacts.is_empty() || found.impacts.len() == impacts.len(), "{what}: the number of impacts");
        for (k, impact) in impacts.iter().enumerate() {
            let found = run(simulation, &format!("impacts[{k}].t,impacts[{k}].lambda"), &by, fixed);
            let rows: Vec<Vec<f64>> =
                ["dt", "dlambda"].iter().map(|d| numbers(&impact[format!("{d}_{impact_key}")])).collect();
            let what = format!("{what}: impact {k}, {impact_key}");
            worst = worst.max(compare(&found.derivatives, &rows, tolerance, &what));
        }
    }
    eprintln!("{what}: largest relative difference {worst:.1e}");
}

/// With constraints the start cannot be moved in every direction: only the totals are compared.
fn has_constraints(case: &Value) -> bool {
    matches!(text(&case["name"]), "rod-pendulum" | "constrained-bar")
}

#[test]
fn the_discrete_map_is_differentiated_exactly() {
    let all = references();
    for case in list(&all["cases"]) {
        let model = model(case, &all);
        for discrete in list(&case["discrete"]) {
            let (name, method) = (text(&case["name"]), text(&discrete["method"]));
            let simulation =
                model.simulation().method(method).step(number(&discrete["step"])).until(number(&discrete["until"]));
            let tolerance = match name {
                "near-grazing" => 1e-7,
                "cart-pendulum" => 1e-8,
                _ => 1e-9,
            };
            check(&simulation, discrete, case, 'p', tolerance, &format!("{name} by {method}"));
        }
    }
}

/// The derivatives of a flow of high order against those of the exact motion.
#[test]
fn the_exact_motion_is_approached() {
    let all = references();
    for case in list(&all["cases"]) {
        let (model, name) = (model(case, &all), text(&case["name"]));
        let step = if name == "moving-floor" { 0.001 } else { 0.005 };
        let simulation = model.simulation().method("gauss4+ctec").step(step).until(number(&case["until"]));
        let tolerance = if name == "near-grazing" { 1e-7 } else { 1e-9 };
        if has_constraints(case) {
            check(&simulation, &case["exact"]["constrained"], case, 'v', tolerance, &format!("{name}, exact"));
        } else {
            check(&simulation, &case["exact"], case, 'v', tolerance, &format!("{name}, exact"));
            check(&simulation, &case["exact"], case, 'p', tolerance, &format!("{name}, exact"));
        }
    }
}

/// Rest after infinitely many bounces, and release from a table that moves, in closed form.
#[test]
fn rest_and_release_are_differentiated() {
    let all = references();
    for case in list(&all["held"]) {
        let (model, name) = (model(case, &all), text(&case["name"]));
        let parameters: Vec<&str> = list(&case["parameters"]).iter().map(text).collect();
        let event = if name == "rest" { "rest[0].t" } else { "rest[1].t" };
        for method in ["gauss4+ctec", "cva"] {
            let simulation = model.simulation().method(method).step(0.005).until(number(&case["until"]));
            let of = format!("{event},final.q[0],final.v[0],final.p[0]");
            let found = run(&simulation, &of, &parameters.join(","), None);
            // A ball under gravity moves exactly by every flow; a table that it lies on is followed to the order of the flow.
            let tolerance = if method == "cva" && name == "release" { 1e-4 } else { 1e-9 };
            let error = (found.values[0] - number(&case["t"])).abs();
            assert!(error < 10.0 * tolerance, "{name} by {method}: {event} is off by {error:e}");
            let mut expected = vec![numbers(&case["dt_dparam_total"])];
            if name == "rest" {
                expected.extend(vec![vec![0.0; parameters.len()]; 3]);
            } else {
                expected.extend(matrix(&case["dx_dparam_total"]));
                expected.push(matrix(&case["dz_dparam_total"])[1].clone());
            }
            let worst = compare(&found.derivatives, &expected, tolerance, &format!("{name} by {method}"));
            eprintln!("{name} by {method}: largest relative difference {worst:.1e}");
        }
    }
}

/// The bug reports of other simulators, and tasks of arXiv:2207.05060 in closed form.
#[test]
fn what_other_simulators_get_wrong_is_right() {
    // google/brax issue 317: a ball that bounces once ends at v T − h + 2r.
    let ball = Model::load("floating-ball").expect("it ships");
    for method in ["cva", "gauss2+ctec", "vci"] {
        let simulation = ball.simulation().method(method).step(0.0321).until(1.0);
        let found = run(&simulation, "final.q[0],final.v[0]", "h,v,r,m,initial.q[0],initial.v[0]", None);
        let expected = vec![vec![-1.0, 1.0, 2.0, 0.0, -1.0, -1.0], vec![0.0, 1.0, 0.0, 0.0, 0.0, -1.0]];
        compare(&found.derivatives, &expected, 1e-12, method);
    }
    // keenon/nimblephysics issue 97: (1, 0, 1, 0), reported as (0.75, 0.25, 0.91, 0.08).
    let balls = Model::load("two-balls").expect("it ships");
    for method in ["cva", "gauss2+ctec", "vci"] {
        let simulation = balls.simulation().method(method).step(0.01).until(1.0);
        let found = run(&simulation, "final.q[1]", "initial.q[0],initial.q[1],initial.v[0],initial.v[1]", None);
        compare(&found.derivatives, &[vec![1.0, 0.0, 1.0, 0.0]], 1e-12, method);
    }
    // keenon/nimblephysics issue 143: several balls at one instant. Momentum and energy are kept by every disturbance that keeps
    // the symmetry, and the first ball goes back with v/5.
    let three = Model::load("three-balls").expect("it ships");
    let simulation = three.simulation().method("gauss2+ctec").step(0.01);
    let found = run(&simulation, "final.v[0],final.v[1],final.v[2],final.v[4],final.v[5]", "v", None);
    let (back, along, aside) = (-0.2, 0.6, 3f64.sqrt() / 5.0);
    compare(
        &found.derivatives,
        &[vec![back], vec![along], vec![along], vec![aside], vec![-aside]],
        1e-11,
        "three balls",
    );
    // arXiv:2207.05060, tasks 1 and 2: a ball that bounces on the ground and on a wall, by position, velocity and control. The
    // second half of the mirrored motion has the opposite force, so that by a constant force u, at u = 0 and with the impact at t1,
    // y changes by −(t1²/2 + t1(T − t1)) + (T − t1)²/2.
    let text = r#"
        coordinates = ["x", "y"]
        parameters = {x0 = -1.0, y0 = 1.0, vx = 2.0, vy = -2.0, r = 0.1, X = 0.7, u = 0.0}
        lagrangian = {T = "(x'^2 + y'^2)/2"}
        forces = {y = "u"}
        wall = [{name = "ground", phi = "y - r"}, {name = "wall", phi = "X - r - x"}]
        initial = {q = ["x0", "y0"], v = ["vx", "vy"]}
        run = {until = 1.0}
    "#;
    let model = Model::from_text("bounce.toml", text, &[]).expect("the model is right");
    let simulation = model.simulation().method("cva").step(1.0 / 480.0);
    let found = run(&simulation, "final.q[0],final.q[1]", "x0,y0,vx,vy,u", None);
    let (t1, t2) = (0.45, 0.55);
    let by_force = -(0.5 * t1 * t1 + t1 * t2) + 0.5 * t2 * t2;
    let expected = [vec![-1.0, 0.0, -1.0, 0.0, 0.0], vec![0.0, -1.0, 0.0, -1.0, by_force]];
    compare(&found.derivatives, &expected, 1e-12, "arXiv:2207.05060, tasks 1 and 2");
    // Task 3, along the line of the two balls: the first is pushed with a and hits the second, which ends at
    // s2 + a t1 (T − t1) with a t1²/2 = s2 − s1 − 2r.
    let text = r#"
        coordinates = ["b", "c"]
        parameters = {s1 = "-2*sqrt(2)", s2 = "-sqrt(2)", r = 0.2, a = "3*sqrt(2)"}
        lagrangian = {T = "(b'^2 + c'^2)/2"}
        forces = {b = "a"}
        wall = [{name = "balls", phi = "c - b - 2*r"}]
        initial = {q = ["s1", "s2"], v = [0, 0]}
        run = {until = 1.0}
    "#;
    let model = Model::from_text("pushed.toml", text, &[]).expect("the model is right");
    let simulation = model.simulation().method("cva").step(1.0 / 480.0);
    let found = run(&simulation, "final.q[1]", "a,s1,s2", None);
    let (a, gap) = (3.0 * 2f64.sqrt(), 2f64.sqrt() - 0.4);
    let t1 = (2.0 * gap / a).sqrt();
    let by_t1 = a * (1.0 - 2.0 * t1);
    let expected = vec![t1 * (1.0 - t1) - by_t1 * 0.5 * t1 / a, -by_t1 / (a * t1), 1.0 + by_t1 / (a * t1)];
    compare(&found.derivatives, &[expected], 1e-12, "arXiv:2207.05060, task 3");
}

/// det ∂z/∂z0 = Π e² for motions that are exact between impacts.
#[test]
fn phase_space_shrinks_by_the_square_of_e_at_each_impact() {
    let all = references();
    for (name, source, settings, until) in [
        ("bouncing-ball", None, vec!["e=0.8"], 2.4),
        ("corner", all["models"]["corner"].as_str(), vec![], 1.0),
        ("moving-floor", all["models"]["moving-floor"].as_str(), vec![], 2.0),
    ] {
        let source = source.unwrap_or_else(|| carom::EXAMPLES.iter().find(|e| e.name == name).expect("it ships").text);
        let settings: Vec<String> = settings.iter().map(|s| s.to_string()).collect();
        let model = Model::from_text(name, source, &settings).expect("the model is right");
        let n = model.system.coordinates.len();
        let simulation = model.simulation().method("cva").step(0.032).until(until);
        let of = format!("{},{}", names("final", 'q', n), names("final", 'p', n));
        let found = run(&simulation, &of, "initial", Some(Fixed::Momentum));
        let parameter = |name: &str| model.system.parameters.iter().find(|p| p.name == name).map_or(1.0, |p| p.value);
        let restitution = |wall: usize| match (name, wall) {
            ("corner", 0) => parameter("e1"),
            ("corner", _) => parameter("e2"),
            _ => parameter("e"),
        };
        let expected: f64 = found.impacts.iter().map(|impact| restitution(impact.wall).powi(2)).product();
        let determinant = determinant(found.derivatives);
        assert!((determinant - expected).abs() < 1e-12, "{name}: {determinant}, not {expected}");
        assert!(found.impacts.len() > 1, "{name}");
    }
}

/// With e = 1 the tangent of `dtec` is symplectic through impacts to roundoff; that of `ctec` is not.
#[test]
fn discrete_energy_makes_impacts_symplectic() {
    for flow in ["svc", "sva", "svb", "se1", "se2", "midpoint", "galerkin4", "gauss2", "gauss3", "suzuki4"] {
        for name in ["double-pendulum", "cart-pendulum"] {
            let model = Model::load(name).expect("it ships");
            let defect = |rule: &str| {
                let simulation = model.simulation().method(&format!("{flow}+{rule}")).step(0.032).until(2.5);
                let found = run(&simulation, "final.q,final.p", "initial", Some(Fixed::Momentum));
                assert!(!found.impacts.is_empty(), "{name}");
                symplectic_defect(&found.derivatives)
            };
            let discrete = defect("dtec");
            assert!(discrete < 1e-10, "{flow}+dtec on {name}: {discrete:e}");
            if flow == "svc" {
                let continuous = defect("ctec");
                eprintln!("{name}: dtec {discrete:.1e}, ctec {continuous:.1e}");
                assert!(continuous > 1e-4, "{flow}+ctec on {name}: {continuous:e}");
            }
        }
    }
}

/// Forward and adjoint agree.
#[test]
fn the_adjoint_agrees_with_forward() {
    let all = references();
    for case in list(&all["cases"]).iter().chain(list(&all["held"])) {
        let (model, name) = (model(case, &all), text(&case["name"]));
        for method in ["cva", "gauss3+ctec", "vci"] {
            // With the rule of discrete energies the ball goes on bouncing.
            if (name, method) == ("rest", "vci") {
                continue;
            }
            let until = number(&case["until"]);
            let simulation = model.simulation().method(method).step(0.01).until(until);
            let of = if name == "rest" { "rest[0].t,impacts[3].t,final" } else { "final,impacts" };
            let by = if has_constraints(case) { "parameters" } else { "parameters,initial" };
            let Ok(forward) = simulation.sensitivity().of(of).by(by).run() else {
                assert_eq!(method, "vci", "{name}");
                continue;
            };
            let adjoint = simulation.sensitivity().of(of).by(by).mode(Mode::Adjoint).run().expect("it runs");
            assert_eq!(forward.of, adjoint.of);
            let what = format!("{name} by {method}");
            for (i, (a, b)) in forward.derivatives.iter().zip(&adjoint.derivatives).enumerate() {
                let scale = a.iter().fold(1.0f64, |m, x| m.max(x.abs()));
                for (x, y) in a.iter().zip(b) {
                    let are_null = x.is_nan() && y.is_nan();
                    assert!(are_null || (x - y).abs() <= 1e-12 * scale, "{what}, {}: {x} and {y}", forward.of[i]);
                }
            }
        }
    }
}

fn determinant(mut a: Vec<Vec<f64>>) -> f64 {
    let (n, mut product) = (a.len(), 1.0);
    for k in 0..n {
        let pivot = (k..n).max_by(|&i, &j| a[i][k].abs().total_cmp(&a[j][k].abs())).expect("not empty");
        if pivot != k {
            a.swap(pivot, k);
            product = -product;
        }
        product *= a[k][k];
        for i in k + 1..n {
            let factor = a[i][k] / a[k][k];
            for j in k..n {
                a[i][j] -= factor * a[k][j];
            }
        }
    }
    product
}

/// The largest entry of DᵀΩD − Ω.
fn symplectic_defect(d: &[Vec<f64>]) -> f64 {
    let n = d.len() / 2;
    let mut largest = 0.0f64;
    for j in 0..2 * n {
        for k in 0..2 * n {
            let form: f64 = (0..n).map(|i| d[i][j] * d[n + i][k] - d[n + i][j] * d[i][k]).sum();
            let due = f64::from(k == j + n) - f64::from(j == k + n);
            largest = largest.max((form - due).abs());
        }
    }
    largest
}
