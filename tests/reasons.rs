//! The reasons that a search for a step gives if it does not meet its tolerance, and which runs fail.

use carom::lab::catalogue::EXAMPLES;
use carom::{Model, RunError, Trajectory};
use carom_tests::double_double::Dd;
use carom_tests::exact::{Exact, State};

fn model(text: &str) -> Model {
    Model::from_text("model", text, &[]).expect("it is right")
}

fn warnings(run: &Trajectory) -> String {
    run.warnings().collect::<Vec<_>>().join("\n")
}

const KEPLER: &str = r#"
coordinates = ["x", "y"]
[lagrangian]
T = "(x'^2 + y'^2)/2"
V = "-1/sqrt(x^2 + y^2)"
[[wall]]
phi = "x + 0.8"
[initial]
q = [0.5, 0]
v = [0, "sqrt(3)"]
[run]
until = 30.0
"#;

/// The impacts on the wall lead the orbit so near to the centre that a run with equal steps would need 10⁷ of them.
#[test]
fn a_close_encounter_is_named() {
    names_the_encounter(KEPLER);
}

/// Nor does that depend on the last bits of the start, and so not on those of any sum: steps that are too long for the encounter end
/// anywhere, with any energy.
#[test]
fn a_close_encounter_is_named_whatever_the_last_bits_are() {
    for k in 151..=200 {
        // Two sequences that fill [−1, 1] evenly.
        let [x, v] = [0.6180339887498949, 0.7548776662466927].map(|part| 2.0 * (f64::from(k) * part).fract() - 1.0);
        let (x, v) = (0.5 * (1.0 + 1e-13 * x), 3f64.sqrt() * (1.0 + 1e-13 * v));
        names_the_encounter(
            &KEPLER.replace("[0.5, 0]", &format!("[{x:?}, 0]")).replace("\"sqrt(3)\"", &format!("{v:?}")),
        );
    }
}

fn names_the_encounter(text: &str) {
    let run = model(text).simulation().method("gauss6+ctec").run().unwrap_or_else(|error| panic!("{text}{error}"));
    let warnings = warnings(&run);
    assert!(warnings.contains("close encounter") && warnings.contains("near t = 3.2"), "{text}{warnings}");
    assert!(!warnings.contains("chaotic") && !warnings.contains("roundoff"), "{text}{warnings}");
    assert!(run.outcome().steps < 100_000, "{} steps", run.outcome().steps);
}

/// A chaotic motion is called so, and not after millions of steps: of errors as large as the motion, that of the shorter step is
/// examined.
#[test]
fn chaos_is_found_in_a_few_tries() {
    // A method of order 2 would need more steps than it can make until its error is that of roundoff: the default tells.
    let cases = [("svc", 200_001), ("gauss6", 100_000)].map(|(method, most)| (method, 100.0, 1e-9, most));
    for (method, until, tolerance, most) in
        cases.into_iter().chain([("auto", 300.0, 1e-12, 100_000), ("auto", 1000.0, 1e-9, 100_000)])
    {
        let model = Model::load("double-pendulum").expect("it ships");
        let simulation = model.simulation().method(method).until(until).tolerance(tolerance).estimate();
        let run = simulation.run().expect("it runs");
        let (warnings, steps) = (warnings(&run), run.outcome().steps);
        assert!(warnings.contains("chaotic"), "{method} to {until} at {tolerance:e}: {warnings}");
        assert!(steps < most, "{method} to {until} at {tolerance:e}: {steps} steps");
        assert!(run.error_estimate().is_some_and(|error| error > 0.01), "{method}: {:?}", run.error_estimate());
    }
}

/// An orbit in SI units, with two impacts: eccentric, not chaotic.
#[test]
fn an_eccentric_orbit_is_right() {
    let text = r#"
coordinates = ["x", "y"]
[lagrangian]
T = "(x'^2 + y'^2)/2"
V = "-1.32745586e20/sqrt(x^2 + y^2)"
[[wall]]
phi = "x + 1.2e11"
[initial]
q = [1.496e11, 0]
v = [0, 29780]
[run]
until = 4e7
"#;
    let model = model(text);
    let run = model.simulate().expect("it runs");
    let start = State { q: [1.496e11, 0.0].map(Dd::from).to_vec(), v: [0.0, 29780.0].map(Dd::from).to_vec() };
    let mut exact = Exact::new(&model);
    let due = exact.motion(start, 4e7, 1).remove(0);
    assert_eq!((run.impacts().len(), exact.impacts.len()), (2, 2));
    for (found, due) in run.state().z.q().iter().zip(&due.q) {
        let off = (Dd::from(*found) - *due).to_f64().abs() / 1.496e11;
        assert!(off < 1e-8, "off by {off:e}: {}", warnings(&run));
    }
    assert_eq!(run.warnings().next(), None);
}

/// An eccentric orbit of many turns, whose disturbances grow with the time but not exponentially.
#[test]
fn an_orbit_of_many_turns_is_not_chaotic() {
    let text = KEPLER.replace("[[wall]]\nphi = \"x + 0.8\"\n", "").replace("sqrt(3)", "1.8").replace("30.0", "300.0");
    let run = model(&text).simulate().expect("it runs");
    assert_eq!(run.warnings().next(), None);
}

/// Disturbances in Sinai's billiard grow exponentially: tenfold in about four times the mean free flight.
#[test]
fn chaos_is_measured() {
    let text = r#"
coordinates = ["x", "y"]
[lagrangian]
T = "(x'^2 + y'^2)/2"
[[contact]]
points = "p"
box = [[-1, -1], [1, 1]]
[[wall]]
phi = "x^2 + y^2 - 0.09"
[points]
p = ["x", "y"]
[initial]
q = [0.6, 0.1]
v = [0.8, 0.61]
[run]
until = 200.0
"#;
    let run = model(text).simulate().expect("it runs");
    let warnings = warnings(&run);
    let time = warnings.split("tenfold in ").nth(1).and_then(|text| text.split(',').next()?.parse::<f64>().ok());
    assert!(warnings.contains("chaotic") && time.is_some_and(|time| (2.0..8.0).contains(&time)), "{warnings}");
}

const FALL: &str = r#"
coordinates = ["x"]
[lagrangian]
T = "x'^2/2"
V = "-1/x"
[initial]
q = [1]
v = [0]
[run]
until = 3.0
"#;

/// x = 0 is reached at t = π/√8, beyond which there is no motion.
#[test]
fn a_run_into_a_singularity_fails() {
    let Err(RunError::Failed(run)) = model(FALL).simulate() else { panic!("there is no such motion") };
    let t = run.state().z.t;
    assert!(t <= std::f64::consts::PI / 8f64.sqrt(), "it goes on until {t}");
    assert!(run.energy().iter().all(|energy| (energy + 1.0).abs() < 0.1), "{:?}", run.energy());
}

/// Where no step helps, none is advised.
#[test]
fn a_failed_run_is_not_told_to_take_shorter_steps() {
    let Err(RunError::Failed(run)) = model(FALL).simulation().method("rk4").run() else {
        panic!("there is no such motion")
    };
    let warnings = warnings(&run);
    assert!(!warnings.contains("the step is too large"), "{warnings}");
}

/// With a step of the user's own that is a warning.
#[test]
fn a_broken_energy_is_a_warning_with_a_given_step() {
    let run = model(FALL).simulation().step(0.05).run().expect("it is the user's step");
    assert!(warnings(&run).contains("the energy should be conserved"), "{}", warnings(&run));
}

/// A run fails if a state is not finite, with any step.
#[test]
fn a_state_that_is_not_finite_fails() {
    let text = FALL.replace("-1/x", "-x^4").replace("3.0", "100.0");
    for simulation in [model(&text).simulation(), model(&text).simulation().method("rk4").step(0.1)] {
        let Err(RunError::Failed(run)) = simulation.run() else { panic!("x becomes infinite in a finite time") };
        assert!(run.state().z.z.iter().all(|x| x.is_finite()), "{:?}", run.state().z);
    }
}

/// No shipped model fails, or is warned of its energy.
#[test]
fn shipped_models_keep_their_energy() {
    for example in EXAMPLES {
        let model = Model::from_text(example.name, example.text, &[]).expect("it is right");
        let run = model.simulate().unwrap_or_else(|error| panic!("{}: {error}", example.name));
        assert!(!warnings(&run).contains("energy"), "{}: {}", example.name, warnings(&run));
    }
}

/// An orbit that is bound, and unbound at the end of a run, is never without a warning.
#[test]
fn an_orbit_does_not_become_unbound_without_a_warning() {
    let mut unbound = 0;
    for k in 0..40 {
        // A step may also be too long to have a solution.
        let Ok(run) = model(KEPLER).simulation().method("cva").step(0.002 * 1.13f64.powi(k)).run() else { continue };
        let energy = run.outcome().energy;
        if energy.last > 0.0 {
            unbound += 1;
            assert!(warnings(&run).contains("energy"), "step {:?}: {energy:?}", run.step());
        }
    }
    assert!(unbound > 3, "{unbound} orbits became unbound");
}

/// A body that spins about a fixed axis turns by θ in a step of `bodies`, sin θ = ωh: a step longer than 1/ω has no solution, and the
/// solutions of shorter ones turn back there, to π − θ.
#[test]
fn a_step_too_long_to_have_a_solution_is_named() {
    for (rate, percent) in [(12.5, "80 %"), (20.0, "50 %"), (50.0, "20 %")] {
        let text = format!(
            "mechanism = {{dimension = 2}}\nbody = [{{name = \"rotor\", inertia = 2, mass = 1}}]\n\
             initial = {{q = [0], v = [{rate}]}}"
        );
        let Err(RunError::Failed(run)) = model(&text).simulation().method("bodies").step(0.1).until(1.0).run() else {
            panic!("sin θ = {}", 0.1 * rate)
        };
        let error = format!("{:?}", run.outcome().status);
        assert!(error.contains("a step this long has no solution") && error.contains(percent), "{rate}: {error}");
    }
}

/// A chain of links of 1 m and 1 kg that is let go from the side, with steps of 0.1 s. An independent continuation by arc length, on
/// dense equations in absolute angles, finds that the solutions of shorter steps turn back at these times and lengths.
#[test]
fn a_chain_fails_where_long_steps_have_no_solution() {
    for (links, time, percent) in [(10, 3.2, "53 %"), (30, 0.3, "27 %")] {
        let text = format!(
            "parameters = {{n = {links}}}\nmechanism = {{dimension = 2, gravity = [0, -9.81]}}\n[[body]]\n\
             name = \"link[1..n]\"\nparent = \"link[i-1]\"\nmass = 1\nat = [0, \"-min(i - 1, 1)\"]\ncom = [0, -0.5]\n\
             inertia = \"1/12\"\n[initial.q]\n\"link[1]\" = 0.8\n\"link[2]\" = 0.3\n"
        );
        let Err(RunError::Failed(run)) = model(&text).simulation().method("midpoint").step(0.1).until(10.0).run()
        else {
            panic!("{links} links: there is no solution at t = {time}")
        };
        let (t, error) = (run.outcome().last.t, format!("{:?}", run.outcome().status));
        assert!((t - time).abs() < 1e-9, "{links} links: fails at {t}");
        assert!(error.contains("turn back at") && error.contains(percent), "{links} links: {error}");
    }
}

/// A method of order 1 would need 3·10⁷ steps. A run with fewer tells so, and that the order is the reason.
#[test]
fn too_many_steps_are_foreseen() {
    let text = r#"
        coordinates = ["x", "y"]
        [lagrangian]
        T = "x'^2/2 + y'^2"
        [[wall]]
        phi = "y - 0.4"
        restitution = 0.9
        [forces]
        x = "log(2 + t^2)"
        [initial]
        q = [1, 0.5]
        v = [0.5, -1]
        [run]
        until = 1
        method = "midpoint"
        alpha = 0.4
    "#;
    let run = model(text).simulation().run().expect("it runs");
    let warnings = warnings(&run);
    assert!(warnings.contains("would take about") && warnings.contains("a method of higher order"), "{warnings}");
    assert!(run.outcome().steps <= 200_001, "{} steps", run.outcome().steps);
}
