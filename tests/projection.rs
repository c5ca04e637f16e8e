//! The map P of the projected principle: its properties, the bound k_c of its constant, and the report of `carom check`.

use carom::lab::catalogue::find;
use carom::lab::mechanics::Mechanics;
use carom::lab::method::Method;
use carom::lab::model::Model;
use carom::lab::projection::{HypothesisVerdict, Map, NormalForm, Principle, Projector, Study, fold, report};
use carom::lab::simulation::{Simulation, study};
use carom_tests::Random;
use carom_tests::motion::{model, shipped};
use carom_tests::projected::{HILLS, SINH, distance};
use carom_tests::reference::{number, numbers, projections_and_constraints};

fn projector(model: &Model, k: f64) -> Projector {
    let mechanics = Mechanics::new(&model.system);
    let free = study(model).expect("it can be studied").form.expect("a normal form").coordinate;
    let map = Map::global(&NormalForm::new(&mechanics, free), k).expect("φ can be solved");
    let parameters: Vec<f64> = model.system.parameters.iter().map(|p| p.value).collect();
    Projector::new(&map, &mechanics, &parameters).expect("it compiles")
}

/// Systems with constants a little above k_c.
fn systems() -> [(Model, f64); 4] {
    [(shipped("bar", &[]), 37.0), (shipped("wavy-floor", &[]), 4.1), (model(HILLS, &[]), 40.0), (model(SINH, &[]), 3.0)]
}

/// Random configurations on one side of the wall.
fn configurations(p: &mut Projector, n: usize, behind: bool) -> Vec<Vec<f64>> {
    let mut random = Random::new(7);
    let all = (0..300).map(|_| (0..n).map(|_| random.between(-2.0, 2.0)).collect::<Vec<f64>>());
    let some: Vec<Vec<f64>> = all.filter(|z| (p.phi(z) < 0.0) == behind).collect();
    assert!(some.len() > 50, "only {} configurations", some.len());
    some
}

/// P = id on C, and P∘P⁻¹ = id there.
#[test]
fn feasible_configurations_stay() {
    for (model, k) in systems() {
        let mut p = projector(&model, k);
        for q in configurations(&mut p, model.system.coordinates.len(), false) {
            assert_eq!(p.project(&q), q, "{}", model.title);
            let back = p.inverse(&q).unwrap_or_else(|| panic!("{}: no P⁻¹ at {q:?}", model.title));
            assert!(p.phi(&back) <= 0.0, "{}: P⁻¹({q:?}) is not behind the wall", model.title);
            let off = distance(&p.project(&back), &q);
            assert!(off < 1e-10, "{}: P(P⁻¹) is {off:e} off at {q:?}", model.title);
        }
    }
}

/// P∘P = P, φ(P(z)) = −φ(z), P⁻¹∘P = id, and P' is the derivative of P.
#[test]
fn infeasible_configurations_are_projected() {
    for (model, k) in systems() {
        let (mut p, n) = (projector(&model, k), model.system.coordinates.len());
        for z in configurations(&mut p, n, true) {
            let (q, phi) = (p.project(&z), p.phi(&z));
            assert_eq!(p.project(&q), q, "{}: P is not idempotent at {z:?}", model.title);
            assert!((p.phi(&q) + phi).abs() < 1e-12, "{}: φ(P(z)) = {}, φ(z) = {phi}", model.title, p.phi(&q));
            let back = p.inverse(&q).unwrap_or_else(|| panic!("{}: no P⁻¹ at {q:?}", model.title));
            assert!(distance(&back, &z) < 1e-6, "{}: P⁻¹(P(z)) = {back:?}, z = {z:?}", model.title);
            let slopes = p.jac_project(&z);
            for j in (0..n).filter(|_| phi < -1e-5) {
                let moved = |dx: f64| [&z[..j], &[z[j] + dx], &z[j + 1..]].concat();
                let (ahead, before) = (p.project(&moved(1e-6)), p.project(&moved(-1e-6)));
                let column: Vec<f64> = (0..n).map(|i| slopes[i * n + j]).collect();
                let found: Vec<f64> = (0..n).map(|i| (ahead[i] - before[i]) / 2e-6).collect();
                let off = distance(&column, &found);
                assert!(off < 1e-6, "{}: P' is {off:e} off at {z:?}", model.title);
            }
        }
    }
}

/// At the wall P' = 𝕀 − 2 M⁻¹∇φ∇φᵀ/(∇φᵀM⁻¹∇φ). (11)
#[test]
fn at_the_wall_the_projection_reflects() {
    let model = shipped("bar", &[]);
    let mut p = projector(&model, 40.0);
    for theta in [0.3, 1.2, 2.9, 4.4] {
        let z = [0.5 * f64::cos(theta) - 1e-9, 0.3, theta];
        let (slopes, normal, inverse) = (p.jac_project(&z), [1.0, 0.0, 0.5 * f64::sin(theta)], [1.0, 1.0, 12.0]);
        let size: f64 = (0..3).map(|i| normal[i] * normal[i] * inverse[i]).sum();
        for (i, j) in (0..3).flat_map(|i| (0..3).map(move |j| (i, j))) {
            let expected = f64::from(i == j) - 2.0 * inverse[i] * normal[i] * normal[j] / size;
            let found = slopes[i * 3 + j];
            assert!((found - expected).abs() < 1e-7, "θ = {theta}: P'[{i}][{j}] = {found}, not {expected}");
        }
    }
}

fn k_crit(model: &Model) -> f64 {
    study(model).expect("it can be studied").bound.expect("a bound").k_crit
}

/// k_c is sharp: 36/L_b² for the bar, 4 for the particle. For the guided bar a = 6(1 + max f'²)/L_b = 8.16; the number of the
/// file, from a search, falls short of its square by 1e-3.
#[test]
fn critical_constants() {
    for length in [1.0, 0.5, 2.5] {
        let found = k_crit(&shipped("bar", &[&format!("L_b={length:?}"), "initial.q[0]=3"]));
        let expected = 36.0 / (length * length);
        assert!((found - expected).abs() < 1e-6, "L_b = {length}: {found}, not {expected}");
    }
    let found = k_crit(&shipped("wavy-floor", &[]));
    assert!((found - number(&projections_and_constraints()["k_c"]["particle_y_plus_2sinx"])).abs() < 1e-6, "{found}");
    let (found, listed) = (
        k_crit(&shipped("constrained-bar", &[])),
        number(&projections_and_constraints()["k_c"]["bar_on_x_eq_0p3sin2y"]),
    );
    assert!((found - 8.16 * 8.16).abs() < 1e-6, "{found}");
    assert!(found > listed && found - listed < 1e-3, "{found}, {listed}");
}

/// Below k_c a search finds several configurations with one image, those of the reference; above it finds none.
#[test]
fn below_k_crit_the_projection_folds() {
    let file = projections_and_constraints();
    let folded = |model: &Model, k: f64| {
        let study = study(model).expect("it can be studied");
        let (form, bound) = (study.form.as_ref().expect("a form"), study.bound.as_ref().expect("a bound"));
        fold(form, &study.mechanics, &study.parameters(), &bound.region, k).expect("it compiles")
    };
    let cases = [("bar", 20.0, 2, "bar_k20_L1", "theta"), ("wavy-floor", 2.0, 1, "particle_k2", "x")];
    for (example, k, i, key, name) in cases {
        let model = shipped(example, &[]);
        let (found, expected) = (folded(&model, k).expect("a fold"), &file["noninjective"][key]);
        assert!((found.phi - number(&expected["z1"])).abs() < 1e-12, "{example}: φ = {}", found.phi);
        let values: Vec<f64> = found.z.iter().map(|z| z[i]).collect();
        assert!(distance(&values, &numbers(&expected[name])) < 1e-6, "{example}: {values:?}");
        let image = number(&expected[&format!("image_{name}")]);
        assert!((found.image[i] - image).abs() < 1e-6, "{example}: {:?}", found.image);
        let mut p = projector(&model, k);
        for z in &found.z {
            assert!(distance(&p.project(z), &found.image) < 1e-10, "{example}: P({z:?}) is not {:?}", found.image);
        }
        let sharp = k_crit(&model);
        assert!(folded(&model, 0.99 * sharp).is_some(), "{example}: just below k_c there is a fold");
        assert!(folded(&model, 1.01 * sharp).is_none(), "{example}: just above k_c there is none");
    }
    assert!(folded(&model(HILLS, &[]), 1.0).is_some_and(|fold| fold.z.len() > 1));
}

/// Λ is unbounded for a wall whose curvature is: the report says so, and the model is not refused.
fn report_of(model: &Model) -> Vec<String> {
    report(model, &study(model).expect("it can be studied"))
}

#[test]
fn an_unbounded_lambda_is_a_warning() {
    let text = HILLS.replace("sin(x)*cos(2*y)/2", "0.1*x^3*y");
    let model = model(&text, &[]);
    let study: Study = study(&model).expect("it can be studied");
    assert!(study.failure().is_none());
    let warnings = study.warnings();
    assert!(warnings.iter().any(|warning| warning.contains("unbounded")), "{warnings:?}");
    let method = Method::named("php", None).expect("it is registered");
    let simulation = Simulation::new(&model, &method, 0.01, 1.0).expect("it compiles");
    let told = simulation.watch(&mut ()).expect("it starts").warnings;
    assert!(warnings.iter().all(|warning| told.contains(warning)), "{told:?}");
}

/// Of several coordinates in which φ is monotone one is taken for which it can be solved.
#[test]
fn a_coordinate_is_found() {
    let text = HILLS.replace("z + sin(x)*cos(2*y)/2", "x + sin(x)/2 + z");
    let study: Study = study(&model(&text, &[])).expect("it can be studied");
    assert!(study.failure().is_none(), "{:?}", study.failure());
    assert_eq!(study.form.expect("a normal form").coordinate, 2);
}

#[test]
fn too_small_a_k_can_be_forced() {
    let text = format!("{}[projection]\nk = 20\n", find("bar").expect("it ships").text);
    let forced = model(&format!("{text}force = true\n"), &[]);
    let forced = study(&forced).expect("it can be studied");
    assert!(forced.hypotheses.iter().any(|h| h.verdict == HypothesisVerdict::Forced));
    assert!(Principle::new(&forced).is_ok());
    let error = Principle::new(&study(&model(&text, &[])).expect("it can be studied")).expect_err("k is small");
    assert!(error.to_string().contains("k must be larger than k_c = 36"), "{error}");
}

/// The report names lemma and verdict.
#[test]
fn the_report_says_what_is_met() {
    let lines = report_of(&shipped("constrained-bar", &[]));
    let has = |start: &str, end: &str| lines.iter().any(|line| line.starts_with(start) && line.contains(end));
    assert!(has("(12): φ is monotone in `y`, everywhere", "met"), "{lines:#?}");
    assert!(has("Lemma 1, corrected: Λ is bounded everywhere: sup |Λ| = 8.16", "k_c = 66.5856"), "{lines:#?}");
    assert!(has("Lemma 3", "fails"), "{lines:#?}");
    assert!(has("Lemma 2", "met"), "{lines:#?}");
    assert!(has("Δ = ", "sin(θ)"), "{lines:#?}");
    let straight = report_of(&shipped("constrained-bar", &["A=0"]));
    assert!(straight.iter().any(|line| line.starts_with("Lemma 3") && line.contains("met")), "{straight:#?}");
    let refused = report_of(&shipped("double-pendulum", &[]));
    assert!(refused.iter().any(|line| line.starts_with("(12)") && line.contains("fails")), "{refused:#?}");
}
