//! The main entry point of the library: a model, a simulation, a trajectory.

use carom::lab::catalogue::EXAMPLES;
use carom::lab::kernel::compilations;
use carom::{Model, Record, RunError, Side, Simulation, Status, Trajectory};

fn load(name: &str) -> Model {
    Model::load(name).unwrap_or_else(|error| panic!("{error}"))
}

fn cart() -> Simulation {
    load("cart-pendulum").simulation().method("gauss4+ctec").step(0.02).until(5.0)
}

fn run(simulation: &Simulation) -> Trajectory {
    simulation.run().unwrap_or_else(|error| panic!("{error}"))
}

/// Columns, by the names of the model.
#[test]
fn a_trajectory_has_columns_by_name() {
    let run = run(&cart());
    assert_eq!(run.t().len(), 251);
    for column in [run.q("y"), run.v("theta"), run.p("y")] {
        assert_eq!(column.expect("it is a coordinate").len(), 251);
    }
    assert_eq!((run.t()[0], run.t()[250]), (0.0, 5.0));
    let drift = run.energy().iter().map(|e| (e - run.energy()[0]).abs()).fold(0.0, f64::max);
    assert!(drift < 1e-6 && drift == run.outcome().energy.max_drift, "{drift:e}");
    assert_eq!(run.impacts().len(), 3);
    assert_eq!(run.wall(&run.impacts()[0]), "floor");
    let unknown = run.q("thetta").expect_err("there is none").to_string();
    assert_eq!(unknown, "error: the model has no coordinate `thetta`\nhelp: did you mean `theta`?");
}

/// Dense output is that of the method, between nodes and on both sides of an impact.
#[test]
fn states_between_nodes_are_known() {
    let run = run(&cart());
    for (k, &t) in run.t().iter().enumerate().step_by(17) {
        let node = run.at(t).expect("it is inside the run");
        assert!((node.q[0] - run.q("y").expect("known")[k]).abs() < 1e-13, "at t = {t}");
    }
    for impact in run.impacts() {
        let t = impact.minus.t;
        let [before, after] = [Side::Before, Side::After].map(|side| run.at_side(t, side).expect("inside"));
        assert!((before.v[0] - impact.minus.v[0]).abs() < 1e-9, "{before:?}, not {:?}", impact.minus);
        assert_eq!((after.q.clone(), after.p.clone()), (impact.plus.q.clone(), impact.plus.p.clone()));
    }
    // Against a run whose nodes are there.
    let fine = cart().step(0.005).run().unwrap_or_else(|error| panic!("{error}"));
    let (found, due) = (run.at(1.235).expect("inside"), fine.at(1.235).expect("inside"));
    assert!((found.q[1] - due.q[1]).abs() < 1e-8, "{found:?}, not {due:?}");
    assert!(run.at(5.1).is_err() && run.at(f64::NAN).is_err());
}

#[test]
fn what_is_recorded_can_be_chosen() {
    let every = run(&cart().record(Record::Every(0.1)));
    assert_eq!(every.t().len(), 51);
    let impacts = run(&cart().record(Record::Impacts));
    assert!(impacts.t().is_empty() && impacts.impacts().len() == 3);
    assert!(impacts.at(1.0).is_err(), "there is nothing to look between");
    let nothing = run(&cart().record(Record::Nothing));
    assert!(nothing.impacts().is_empty() && nothing.outcome().impacts == 3);
    assert_eq!(nothing.state(), every.state(), "what is looked at does not change the motion");
}

/// A mistake in a setting is reported by the run, with a suggestion.
#[test]
fn mistakes_are_reported_by_the_run() {
    let message = |simulation: Simulation| simulation.run().expect_err("it is wrong").to_string();
    assert_eq!(message(cart().method("gaus4")), "error: unknown method `gaus4`\nhelp: did you mean `gauss4`?");
    assert_eq!(message(cart().set("m3", 1.0)), "error: the model has no parameter `m3`\nhelp: did you mean `m2`?");
    assert!(message(cart().set("m1", f64::NAN)).contains("must be a finite number"));
    assert!(message(cart().step(-1.0)).contains("the step must be positive, not -1"));
    assert!(message(cart().start(&[1.0], &[0.0])).contains("2 coordinates"));
    assert!(message(cart().set("m1", -1.0).set("m2", 1.0)).contains("singular"), "the start is checked again");
}

/// A parameter that is a bound of a repetition cannot be changed by `set`.
#[test]
fn a_bound_of_a_repetition_cannot_be_set() {
    let text = "coordinates = [\"x[1..n]\"]\n[parameters]\nn = 2\n[lagrangian]\nT = \"sum(i, 1, n, x[i]'^2/2)\"\n[initial]\n\
                q = {}\nv = {}\n";
    let model = Model::from_text("points.toml", text, &[]).expect("it is right");
    let error = model.simulation().step(0.1).until(1.0).set("n", 3.0).run().expect_err("it is a bound").to_string();
    assert!(error.contains("is the bound of a repetition"), "{error}");
}

/// A run that fails is an error that carries the trajectory so far, with the message that the command shows.
#[test]
fn a_failed_run_carries_its_trajectory() {
    let text = "coordinates = [\"y\"]\n[lagrangian]\nT = \"y'^2/2\"\n[[wall]]\nphi = \"y\"\n[[wall]]\nphi = \"1 - t - y\"\n\
                [initial]\nq = [0.4]\nv = [0.3]\n";
    let model = Model::from_text("squeeze.toml", text, &[]).expect("it is right");
    let error = model.simulation().method("gauss4").step(0.01).until(2.0).run().expect_err("walls close");
    let RunError::Failed(run) = &error else { panic!("{error}") };
    assert!(matches!(run.status(), Status::Failed(_)) && run.t().len() > 80 && run.impacts().len() > 3);
    let text = error.to_string();
    assert!(text.starts_with("error: impacts accumulate") && text.contains("\nhelp: "), "{text}");
    assert_eq!(format!("{error:?}"), text, "`?` in `main` shows it to the user");
}

/// The same simulation, run twice, gives the same bits: every shipped model with its own method, and every method.
#[test]
fn a_second_run_has_the_same_bits() {
    let twice = |simulation: Simulation, name: &str| {
        let [first, second] = [(); 2].map(|()| simulation.run().unwrap_or_else(|error| panic!("{name}: {error}")));
        assert_eq!(first.state(), second.state(), "{name}");
        assert_eq!(first.impacts(), second.impacts(), "{name}");
        assert_eq!(first.energy(), second.energy(), "{name}");
    };
    for example in EXAMPLES {
        let model = load(example.name);
        let until = model.run.until.unwrap_or(1.0).min(1.0);
        let simulation = model.simulation().until(until);
        twice(if model.run.step.is_none() { simulation.step(until / 50.0) } else { simulation }, example.name);
    }
    for (group, entries) in carom::methods() {
        for entry in entries {
            let models: &[(&str, f64)] = match entry.name.as_str() {
                // A body turns by θ in a step of `bodies` where sin θ = ωh: for the top 120 h.
                "bodies" => &[("robot-arm", 0.01), ("top", 0.002), ("hanging-chain", 0.01)],
                name if name.starts_with("php") => &[("wavy-floor", 0.01)],
                _ => &[("cart-pendulum", 0.01)],
            };
            for &(model, step) in models {
                let simulation = load(model).simulation().method(&entry.name).step(step).until(1.5);
                twice(simulation, &format!("{} {model} ({group})", entry.name));
            }
        }
    }
}

/// A second run, a copy, a copy in another thread and another mass compile nothing.
#[test]
fn another_run_compiles_nothing() {
    for (name, method, (parameter, value)) in [
        ("cart-pendulum", "gauss6+ctec", ("m1", 1.01)),
        ("four-bar", "svc", ("m1", 1.01)),
        ("bouncing-ball", "gauss4", ("m", 1.01)),
        ("pendulum", "mcvaa", ("m", 1.01)),
        ("bar", "php", ("L_b", 1.01)),
        ("wavy-floor", "php", ("m", 1.01)),
        ("circle-pendulum", "php", ("x_c", 0.31)),
        ("constrained-bar", "php", ("A", 0.31)),
    ] {
        let simulation = load(name).simulation().method(method).step(0.02).until(0.9);
        let before = compilations();
        run(&simulation);
        assert!(compilations() > before, "{name}: the first run compiles");
        let before = compilations();
        run(&simulation);
        run(&simulation.clone());
        run(&simulation.clone().set(parameter, value));
        run(&simulation.clone().step(0.01).until(0.5));
        assert_eq!(compilations() - before, 0, "{name}");
        let copy = simulation.clone();
        let thread = std::thread::spawn(move || {
            run(&copy);
            compilations()
        });
        assert_eq!(thread.join().expect("it runs"), 0, "{name} in another thread");
    }
}

/// A parameter that is set gives the run of a model with that parameter, bit for bit.
#[test]
fn a_parameter_that_is_set_is_that_of_the_model() {
    for (name, method, parameter, value) in [
        ("cart-pendulum", "gauss6+ctec", "m2", 1.7),
        ("double-pendulum", "svc+mhc", "m2", 0.8),
        ("cart-pendulum", "mcvac", "m1", 1.1),
        ("four-bar", "gauss2", "g", 9.0),
        ("bouncing-ball", "gauss4", "e", 0.8),
        ("wavy-floor", "php", "g", 9.0),
        ("circle-pendulum", "php", "x_c", 0.6),
        ("bar", "php", "L_b", 0.9),
    ] {
        let model = load(name);
        let setting = format!("{parameter}={value:?}");
        let text = EXAMPLES.iter().find(|example| example.name == name).expect("it ships").text;
        let Ok(other) = Model::from_text(name, text, &[setting]) else { panic!("{name} has no {parameter}") };
        let of = |model: &Model| model.simulation().method(method).step(0.01).until(1.0);
        let first = of(&model);
        run(&first);
        let (set, fresh) = (run(&first.set(parameter, value)), run(&of(&other)));
        assert_eq!(set.state(), fresh.state(), "{name} with {parameter} = {value}");
        assert_eq!(set.impacts(), fresh.impacts(), "{name}");
    }
}

/// Without a step carom finds one, and estimates the error; with one it does so if asked.
#[test]
fn the_error_is_estimated() {
    let found = run(&load("pendulum").simulation().until(2.0));
    assert!(found.error_estimate().is_some_and(|error| error < 1e-9), "{:?}", found.error_estimate());
    assert!(cart().run().is_ok_and(|run| run.error_estimate().is_none()));
    let estimated = run(&cart().estimate());
    assert!(estimated.error_estimate().is_some_and(|error| error < 1e-7), "{:?}", estimated.error_estimate());
}

/// If a section stops a run, the energy, the account and the nodes end there too.
#[test]
fn a_run_ends_at_its_section() {
    let text = "coordinates = [\"y\"]\n[parameters]\nc = 0.5\n[lagrangian]\nT = \"y'^2/2\"\nV = \"9.81*y\"\n\
                [forces]\ny = \"-c*y'\"\n[[section]]\nname = \"low\"\ng = \"y - 1\"\nstop = true\n[initial]\nq = [2]\nv = [0]\n";
    let model = Model::from_text("fall.toml", text, &[]).expect("it is right");
    let run = run(&model.simulation().method("gauss4").step(0.1).until(3.0));
    assert_eq!(run.status(), &Status::Stopped(0));
    let last = &run.outcome().last;
    assert!((last.q[0] - 1.0).abs() < 1e-12, "{last:?}");
    assert_eq!(run.t().last(), Some(&last.t));
    let energy = last.v[0] * last.v[0] / 2.0 + 9.81 * last.q[0];
    assert!((run.outcome().energy.last - energy).abs() < 1e-12);
    let account = run.account().expect("a force acts");
    assert!(
        (account.work - (energy - run.energy()[0])).abs() < 1e-9 && account.unexplained.abs() < 1e-9,
        "{account:?}"
    );
}

/// `start` accepts numbers, and refuses a start inside a wall.
#[test]
fn a_start_can_be_given() {
    let simulation = cart();
    let run = run(&simulation.clone().start(&[2.0, 0.1], &[0.0, 0.5]));
    assert_eq!((run.q("y").expect("known")[0], run.v("theta").expect("known")[0]), (2.0, 0.5));
    let inside = simulation.start(&[-3.0, 0.0], &[0.0, 0.0]).run().expect_err("the cart is below the floor");
    assert!(inside.to_string().contains("inside the wall"), "{inside}");
}

/// A model that differs in numbers shares compiled code, and moves as it would with its own; one that differs in more has its own.
#[test]
fn shared_code_gives_the_same_bits() {
    let text = carom::EXAMPLES.iter().find(|example| example.name == "double-pendulum").expect("it is shipped").text;
    let read = |settings: &[&str]| {
        let settings: Vec<String> = settings.iter().map(ToString::to_string).collect();
        carom::Model::from_text("double-pendulum.toml", text, &settings).expect("it is right")
    };
    let base = read(&[]).simulation();
    let end = |simulation: &carom::Simulation| {
        let run = simulation.clone().method("cva").step(0.01).until(2.0).run().expect("it runs");
        (run.state().z.clone(), run.impacts().len())
    };
    let first = end(&base);
    for settings in
        [["m1=2.5"], ["initial.q[0]=0.3"], ["wall[0].restitution=0.5"], ["wall[0].phi=x2+0.5"], ["run.zeno=stop"]]
    {
        let own = end(&read(&settings).simulation());
        assert_eq!(end(&read(&settings).simulation().sharing(&base)), own, "{settings:?}");
        assert!(own != first || settings == ["run.zeno=stop"], "{settings:?} changes nothing");
    }
}

/// Sections that are crossed twice between two nodes: x = cos t is above 0.97 for 0.49, less than a step.
#[test]
fn crossings_between_nodes_are_found() {
    let text = r#"
        coordinates = ["x"]
        lagrangian = {T = "x'^2/2", V = "x^2/2"}
        section = [{g = "x - c", direction = "both"}]
        parameters = {c = 0.97}
        initial = {q = [1], v = [0]}
        run = {until = 60}
    "#;
    let model = Model::from_text("oscillator.toml", text, &[]).unwrap_or_else(|error| panic!("{error}"));
    for (method, step, c) in [("cva", 0.7, 0.97), ("svc", 0.7, 0.97), ("gauss4+ctec", 1.5, 0.9)] {
        let run = run(&model.simulation().method(method).step(step).set("c", c));
        assert_eq!(run.crossings().len(), 19, "{method}: down at first, and then twice in each of nine periods");
    }
}
