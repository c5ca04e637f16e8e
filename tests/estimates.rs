//! How far estimated errors are to be trusted: on random chaotic systems, against reference motions of 25 digits.
//!
//! `CAROM_ESTIMATES=1000 cargo test -p carom-tests --test estimates -- --nocapture` takes 1,000 systems and prints a table.
//! Of the first 616 none has an error above 10 times its estimate; the median of estimate/error is 19.

use carom::Model;
use carom_tests::Random;
use carom_tests::chaos::{Chaotic, random_system};
use carom_tests::double_double::Dd;
use carom_tests::exact::{Exact, State};

/// The coordinates are compared at so many equally spaced times.
const TIMES: usize = 16;

/// A system that was run, its estimated and its true error.
struct Checked {
    kind: &'static str,
    text: String,
    estimate: f64,
    error: f64,
}

/// The reference motion, and by what factor it amplifies a small displacement of the start.
fn reference(model: &Model, system: &Chaotic) -> (Exact, Vec<State>, f64) {
    let mut exact = Exact::new(model);
    let start = State {
        q: system.q.iter().map(|q| Dd::from(*q)).collect(),
        v: system.v.iter().map(|v| Dd::from(*v)).collect(),
    };
    let (mut moved, by) = (start.clone(), Dd::from(1e-24));
    moved.q.iter_mut().for_each(|q| *q = *q + by);
    let other = exact.motion(moved, system.until, 1);
    let states = exact.motion(start, system.until, TIMES);
    let apart = |(a, b): (&Dd, &Dd)| ((*a - *b) / by).to_f64().abs();
    let growth = states[TIMES - 1].q.iter().zip(&other[0].q).map(apart).fold(0.0, f64::max);
    (exact, states, growth)
}

/// Runs a system by default; none if it does not amplify displacements by a factor in a range.
fn check(system: Chaotic, range: std::ops::Range<f64>) -> Option<Checked> {
    let model = Model::from_text(system.kind, &system.text, &[]).unwrap_or_else(|e| panic!("{e}\n{}", system.text));
    let (exact, states, growth) = reference(&model, &system);
    if !range.contains(&growth) {
        return None;
    }
    let run = model.simulate().unwrap_or_else(|e| panic!("{e}\n{}", system.text));
    let scale = run.outcome().error_scale.clone().expect("it completes");
    let mut error = 0.0;
    let mut compare = |found: &[f64], due: &[Dd], scale: &[f64]| {
        for ((found, due), scale) in found.iter().zip(due).zip(scale) {
            error = f64::max(error, (Dd::from(*found) - *due).to_f64().abs() / scale);
        }
    };
    for (k, state) in states.iter().enumerate() {
        let t = system.until * (k + 1) as f64 / TIMES as f64;
        compare(&run.at(t).expect("it is recorded").q, &state.q, &scale.q);
    }
    compare(run.state().z.p(), &exact.momenta(&states[TIMES - 1]), &scale.p);
    let estimate = run.error_estimate().expect("it completes");
    println!("{:<15} growth {growth:.1e}, error {error:.1e}, estimate {estimate:.1e}", system.kind);
    Some(Checked { kind: system.kind, text: system.text, estimate, error })
}

/// The true error is above 10 times the estimate in fewer than 1 of 1,000 runs, and the estimate is not far above it.
#[test]
fn estimates_can_be_trusted() {
    let count = std::env::var("CAROM_ESTIMATES").ok().and_then(|text| text.parse().ok()).unwrap_or(24);
    let mut random = Random::new(7);
    let systems = std::iter::repeat_with(|| random_system(&mut random));
    let mut checked: Vec<Checked> = systems.filter_map(|system| check(system, 1e3..1e11)).take(count).collect();
    checked.sort_by(|a, b| (a.estimate / a.error).total_cmp(&(b.estimate / b.error)));
    for Checked { kind, text, estimate, error } in checked.iter().take(3) {
        println!("{kind}: error {error:.1e}, estimate {estimate:.1e}\n{text}");
    }
    let ratio = |part: f64| {
        let Checked { estimate, error, .. } = &checked[((count - 1) as f64 * part) as usize];
        estimate / error
    };
    println!(
        "estimate/error: least {:.2e}, 1 % {:.2e}, median {:.2e}, 99 % {:.2e}",
        ratio(0.0),
        ratio(0.01),
        ratio(0.5),
        ratio(0.99)
    );
    let wrong = checked.iter().filter(|run| run.error > 10.0 * run.estimate).count();
    assert!(wrong * 1000 <= count.saturating_sub(1), "{wrong} of {count} errors are above 10 times their estimates");
    assert!(ratio(0.5) < 30.0, "the median of estimate/error is {:.1}", ratio(0.5));
}

/// A wheel against a body, and a particle on a comb, once wrong without a warning.
#[test]
fn wheels_and_combs_have_the_error_that_they_say() {
    let gear = |depth: &str, teeth: usize, v: [f64; 2]| {
        let text = format!(
            "coordinates = [\"x\", \"th\"]\n[lagrangian]\nT = \"x'^2/2 + 2*th'^2/2\"\n[[wall]]\nphi = \"x - {depth}*cos({teeth}*th)\"\n\
             [[wall]]\nphi = \"2 - x\"\n[initial]\nq = [1, 0]\nv = {v:?}\n[run]\nuntil = 3.0\n"
        );
        Chaotic { kind: "gear", text, q: vec![1.0, 0.0], v: v.to_vec(), until: 3.0 }
    };
    for system in [gear("0.125", 5, [-1.0, 9.75]), gear("0.1", 6, [-0.5, 30.0]), comb(), tooth()] {
        let Checked { text, estimate, error, .. } = check(system, 0.0..f64::INFINITY).expect("it is in range");
        assert!(error <= estimate && estimate < 1e-4, "error {error:e}, estimate {estimate:e}\n{text}");
    }
}

/// Between two walls x is a triangular wave, which exact arithmetic knows after any number of impacts: times of many impacts add
/// up without the roundoff of each.
#[test]
fn times_of_impacts_add_up() {
    for (x, v, until) in
        [(0.25, 0.6875, 1000.0), (0.75, 1.375, 1000.0), (0.125, 0.9375, 4000.0), (0.3125, 1.4375, 99.0)]
    {
        for factor in ["1", "3", "0.9"] {
            // In other units the intervals between impacts are no short numbers.
            let text = format!(
                "coordinates = [\"x\"]\n[parameters]\nw = {factor}\n[lagrangian]\nT = \"x'^2/2\"\n[[wall]]\nphi = \"x\"\n[[wall]]\n\
                 phi = \"w - x\"\n[initial]\nq = [{x:?}]\nv = [{v:?}]\n[run]\nuntil = {until:?}\n"
            );
            let width: f64 = factor.parse().expect("a number");
            // x + vt is exact, and so is the rest of a division.
            let phase = (x + v * until) % (2.0 * width);
            let due = if phase <= width { phase } else { 2.0 * width - phase };
            let run = Model::from_text("box", &text, &[]).expect("it is right").simulate().expect("it runs");
            let error = (run.state().z.q()[0] - due).abs() / width;
            let estimate = run.error_estimate().expect("it completes");
            assert!(error <= 10.0 * estimate + 4e-16, "width {factor}, v = {v}: {error:e}, estimate {estimate:e}");
            assert!(error < 1e-12, "width {factor}, v = {v}: {error:e}");
        }
    }
}

/// A wheel of eight teeth, which ten of them pass in the longest step: the first that hits is in the way for 2 % of it.
fn tooth() -> Chaotic {
    let (q, v, until) = (vec![1.0, 4.039659598649086], vec![-0.33349552105444435, 17.77756793640726], 3.5830078125);
    let text = format!(
        "coordinates = [\"x\", \"y\"]\n[lagrangian]\nT = \"x'^2/2 + 2*y'^2/2\"\n[[wall]]\nphi = \"x - 0.0693359375*cos(8*y)\"\n\
         [[wall]]\nphi = \"2 - x\"\n[initial]\nq = {q:?}\nv = {v:?}\n[run]\nuntil = {until}\n"
    );
    Chaotic { kind: "gear", text, q, v, until }
}

fn comb() -> Chaotic {
    let text = "coordinates = [\"x\", \"y\"]\n[lagrangian]\nT = \"(x'^2 + y'^2)/2\"\nV = \"9.8125*y\"\n[[wall]]\n\
                phi = \"y - 0.0625*sin(16*x)\"\n[initial]\nq = [0, 0.5]\nv = [0.421875, 0]\n[run]\nuntil = 4.0\n";
    Chaotic { kind: "comb", text: text.into(), q: vec![0.0, 0.5], v: vec![0.421875, 0.0], until: 4.0 }
}

/// The error of the reference motion in `carom compare` includes its roundoff.
#[test]
fn the_reference_of_a_comparison_has_the_error_that_it_says() {
    let (system, h, count) = (comb(), 0.125, 32);
    let model = Model::from_text(system.kind, &system.text, &[]).expect("it is right");
    let found = carom::lab::compare::Exact::new(&model, h, system.until).expect("it runs");
    let start = State {
        q: system.q.iter().map(|q| Dd::from(*q)).collect(),
        v: system.v.iter().map(|v| Dd::from(*v)).collect(),
    };
    let due = Exact::new(&model).motion(start, system.until, count);
    let squares = due.iter().zip(&found.q[1..]).flat_map(|(due, found)| {
        due.q.iter().zip(found).map(|(due, found)| (Dd::from(*found) - *due).to_f64().powi(2))
    });
    let error = (h * squares.sum::<f64>()).sqrt();
    assert!(error <= found.error && found.error < 1e-5, "error {error:e}, estimate {:e}", found.error);
}
