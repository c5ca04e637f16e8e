//! Quick steps: Gauss collocation on accelerations, solved to a tolerance, which is the default of small systems.
//!
//! `CAROM_STARTS=400 cargo test -p carom-tests --test one_pass -- --nocapture` takes 400 starts for each tolerance and prints the
//! quantiles of the error.

use carom::lab::flow::FlowKind;
use carom::lab::phase::{Flow, Phase};
use carom::lab::step::StepLog;
use carom::{Model, Simulation, Status};
use carom_tests::Random;

/// A shipped model without its method and its step.
fn unnamed(name: &str) -> Model {
    let text = carom::lab::catalogue::find(name).expect("it ships").text;
    let lines = text.lines().filter(|line| !line.starts_with("method") && !line.starts_with("step"));
    Model::from_text(name, &lines.collect::<Vec<_>>().join("\n"), &[]).expect("it is right")
}

/// The flow of a model, and its start.
fn flow(name: &str) -> (Box<dyn Flow>, Phase) {
    let simulation = unnamed(name).simulation();
    let state = simulation.initial().expect("it starts");
    let plant = simulation.compiled_scheme().expect("it compiles").plant;
    let mut flow = plant.flow(&FlowKind::one_pass()).expect("it is small");
    flow.set_parameters(&state.parameters);
    (flow, state.z)
}

/// Makes so many equal steps over a time.
fn run(flow: &mut dyn Flow, start: &Phase, time: f64, steps: usize) -> Phase {
    let (mut z, mut next) = (start.clone(), start.clone());
    for _ in 0..steps {
        flow.step(&z, time / steps as f64, &mut next).expect("it converges");
        std::mem::swap(&mut z, &mut next);
    }
    z
}

fn distance(a: &Phase, b: &Phase) -> f64 {
    a.z.iter().zip(&b.z).map(|(a, b)| (a - b).abs()).sum()
}

/// The error falls with the 16th power of the step.
#[test]
fn the_order_is_16() {
    let (mut flow, start) = flow("double-pendulum");
    let exact = run(&mut *flow, &start, 0.4, 32);
    let errors = [2, 3].map(|steps| distance(&run(&mut *flow, &start, 0.4, steps), &exact));
    let order = (errors[0] / errors[1]).ln() / 1.5_f64.ln();
    assert!(order > 14.0 && errors[1] < 1e-8, "{order}, {errors:?}");
}

/// A step back undoes a step.
#[test]
fn steps_are_symmetric() {
    for name in ["double-pendulum", "cart-pendulum", "pendulum"] {
        let (mut flow, start) = flow(name);
        let (mut there, mut back) = (start.clone(), start.clone());
        flow.step(&start, 0.3, &mut there).expect("it converges");
        flow.step(&there, -0.3, &mut back).expect("it converges");
        assert!(distance(&back, &start) < 1e-13, "{name}: {:e}", distance(&back, &start));
    }
}

/// A step is a function of its state: from any node on, a new stepper makes the same bits.
#[test]
fn a_run_goes_on_from_any_node_with_the_same_bits() {
    for name in ["double-pendulum", "cart-pendulum", "bouncing-ball", "wavy-floor"] {
        let simulation = unnamed(name).simulation().until(3.0).without_estimate();
        let whole = simulation.clone().run().expect("it runs");
        let again = simulation.clone().run().expect("it runs");
        assert_eq!(whole.state(), again.state(), "{name}");
        let mut nodes = Nodes(Vec::new());
        let ready = simulation.prepare().expect("it starts");
        ready.watch(&mut nodes).expect("it runs");
        for state in nodes.0.iter().step_by(3) {
            if state.z.t < 3.0 {
                // The longest step follows from the time that is left, so that only short steps are the same.
                let rest = simulation.clone().resume(state.clone()).run().expect("it runs");
                let apart = distance(&rest.state().z, &whole.state().z);
                assert!(apart < 1e-8, "{name} from t = {}: {apart:e}", state.z.t);
            }
        }
    }
}

/// The states at the nodes.
struct Nodes(Vec<carom::State>);

impl carom::Watcher for Nodes {
    fn step(&mut self, log: &StepLog) {
        self.0.push(log.end.clone());
    }
}

/// What a log says of nodes inside it: how many steps it counts, and the largest errors of their energies and of the ends of their
/// polynomials.
struct Inside {
    evaluator: Box<dyn carom::lab::plant::Evaluator>,
    flow: Box<dyn Flow>,
    steps: usize,
    nodes: usize,
    last: f64,
    energy: f64,
    apart: f64,
}

impl carom::Watcher for Inside {
    fn step(&mut self, log: &StepLog) {
        self.steps += log.nodes();
        for (number, arc) in log.arcs().iter().enumerate() {
            let Some(energies) = arc.node else { continue };
            assert!(arc.start.t > self.last && log.events().is_empty());
            self.last = arc.start.t;
            self.nodes += 1;
            let (hamiltonian, twice_kinetic) =
                self.evaluator.hamiltonian_and_power(&arc.start).expect("it has energies");
            let off = (energies.hamiltonian - hamiltonian).abs() + (energies.twice_kinetic - twice_kinetic).abs();
            self.energy = self.energy.max(off / twice_kinetic.abs().max(hamiltonian.abs()));
            let mut end = arc.start.clone();
            let before = &log.arcs()[number - 1];
            assert!(self.flow.read(&before.start, &before.polynomial, arc.start.t - before.start.t, &mut end));
            self.apart = self.apart.max(distance(&end, &arc.start));
        }
    }
}

/// Free steps far from walls are made several at a time. Each of them ends at a node, with its energies, on its polynomial.
#[test]
fn steps_of_a_flight_end_at_nodes() {
    for name in ["double-pendulum", "cart-pendulum", "triple-pendulum"] {
        let simulation = unnamed(name).simulation().until(4.0).without_estimate();
        let mut evaluator = simulation.compiled_scheme().expect("it compiles").plant.evaluator();
        let (flow, start) = flow(name);
        evaluator.set_parameters(&simulation.initial().expect("it starts").parameters);
        let mut inside = Inside { evaluator, flow, steps: 0, nodes: 0, last: start.t, energy: 0.0, apart: 0.0 };
        let outcome = simulation.watch(&mut inside).expect("it runs");
        assert_eq!(inside.steps, outcome.steps, "{name}");
        assert!(2 * inside.nodes > inside.steps, "{name}: {} of {} nodes", inside.nodes, inside.steps);
        assert!(inside.energy < 1e-13 && inside.apart < 1e-12, "{name}: {:e}, {:e}", inside.energy, inside.apart);
        let run = simulation.run().expect("it runs");
        assert_eq!(run.t().len(), outcome.steps + 1, "{name}");
    }
}

/// Whether a step is stiff does not depend on where the coordinates are: two masses rest on springs.
#[test]
fn a_motion_at_rest_takes_few_steps() {
    let text = "coordinates = [\"x\", \"y\"]\nparameters = {k = 3}\nlagrangian = {T = \"(x'^2 + y'^2)/2\", \
        V = \"k*(y - x - 1)^2/2 + k*x^2/2\"}\ninitial = {q = [0, 1], v = [0, 0]}\nrun = {until = 5}\n";
    let model = Model::from_text("springs", text, &[]).expect("it is right");
    let outcome = model.simulation().without_estimate().watch(&mut ()).expect("it runs");
    assert!(outcome.status == Status::Completed && outcome.steps < 100, "{} steps", outcome.steps);
}

/// The times of nodes and samples, in the order in which a watcher is told of them.
struct Times(Vec<f64>);

impl carom::Watcher for Times {
    fn node(&mut self, view: &mut carom::lab::run::View) {
        self.0.push(view.t());
    }

    fn sample(&mut self, view: &mut carom::lab::run::View) {
        self.0.push(view.t());
    }
}

/// Samples come between the nodes, in the order of time, also where several steps are made at once.
#[test]
fn nodes_and_samples_come_in_the_order_of_time() {
    let mut times = Times(Vec::new());
    let ready = unnamed("double-pendulum").simulation().until(4.0).without_estimate().prepare().expect("it starts");
    ready.show(&mut [carom::lab::run::Audience { watcher: &mut times, every: Some(0.01) }]).expect("it runs");
    assert!(times.0.len() > 450, "{} times", times.0.len());
    let back = times.0.windows(2).find(|pair| pair[1] < pair[0] - 1e-12);
    assert!(back.is_none(), "{back:?}");
}

/// A start near that of the model.
fn moved(model: &Model, random: &mut Random, by: f64) -> Simulation {
    let start = model.start().expect("it has one");
    let mut near = |x: &f64| x + random.between(-by, by);
    let q: Vec<f64> = start.q.iter().map(&mut near).collect();
    let v: Vec<f64> = start.v.iter().map(&mut near).collect();
    model.simulation().until(5.0).start(&q, &v)
}

/// The error is below the tolerance in 99 % of starts that were not used to choose any constant.
#[test]
fn the_tolerance_is_met_from_fresh_starts() {
    let starts = std::env::var("CAROM_STARTS").ok().and_then(|text| text.parse().ok()).unwrap_or(8);
    let tolerances = [1e-4, 1e-5, 1e-6, 1e-8, 1e-10, 1e-12];
    let mut misses = Vec::new();
    for name in ["cart-pendulum", "double-pendulum", "pendulum", "peg-pendulum", "impact-oscillator"] {
        let model = unnamed(name);
        let mut random = Random::new(1118);
        let mut ratios: Vec<Vec<f64>> = vec![Vec::new(); tolerances.len()];
        for _ in 0..starts {
            let simulation = moved(&model, &mut random, 0.1);
            let Ok(exact) = simulation.clone().tolerance(1e-13).without_estimate().run() else { continue };
            let scale =
                simulation.clone().run().expect("it runs").outcome().error_scale.clone().expect("it is estimated");
            for (ratios, tolerance) in ratios.iter_mut().zip(tolerances) {
                let run = simulation.clone().tolerance(tolerance).without_estimate().run().expect("it runs");
                let scales = scale.q.iter().chain(&scale.p);
                let pairs = run.state().z.z.iter().zip(&exact.state().z.z).zip(scales);
                let error = pairs.map(|((a, b), scale)| (a - b).abs() / scale).fold(0.0, f64::max);
                // The reference has an error too.
                ratios.push(error / f64::max(tolerance, 1e-11));
            }
        }
        for (ratios, tolerance) in ratios.iter_mut().zip(tolerances) {
            ratios.sort_by(f64::total_cmp);
            let at = |part: f64| ratios[((ratios.len() - 1) as f64 * part) as usize];
            println!(
                "{name} {tolerance:e}: error/tolerance {:.1e}, 90 % {:.1e}, 99 % {:.1e}, largest {:.1e}",
                at(0.5),
                at(0.9),
                at(0.99),
                at(1.0)
            );
            let above = ratios.iter().filter(|ratio| **ratio > 1.0).count();
            if 100 * above > ratios.len() {
                misses.push(format!("{name} {tolerance:e}: {above} of {}, up to {:.1e}", ratios.len(), at(1.0)));
            }
        }
    }
    assert!(misses.is_empty(), "{misses:?}");
}

/// The string goes slack at t = 1.442 for a time much shorter than a step, between moments at which its force is looked at.
#[test]
fn a_wall_lets_go_also_for_a_short_time() {
    let (q, v) = ([-0.03367871631391333, -0.5472252230448631], [-4.349258877961417, 0.08498224793515191]);
    let simulation = unnamed("peg-pendulum").simulation().until(5.0).start(&q, &v).without_estimate();
    let exact = simulation.clone().tolerance(1e-13).run().expect("it runs");
    for tolerance in [1e-6, 1e-7, 1e-8, 1e-9] {
        let run = simulation.clone().tolerance(tolerance).run().expect("it runs");
        let slack: Vec<f64> =
            run.contacts().iter().filter(|contact| !contact.begins).map(|contact| contact.t).collect();
        assert!(slack.iter().any(|t| (t - 1.4424042838).abs() < tolerance), "{tolerance:e}: slack at {slack:?}");
        let pairs = run.state().z.z.iter().zip(&exact.state().z.z);
        let error = pairs.map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(error < 0.1 * tolerance, "{tolerance:e}: {error:e}");
    }
}

/// Hundreds of impacts, at every tolerance.
#[test]
fn long_runs_come_to_their_end() {
    for name in ["cart-pendulum", "double-pendulum"] {
        for exponent in 4..=13 {
            let simulation =
                unnamed(name).simulation().until(1000.0).tolerance(0.1_f64.powi(exponent)).without_estimate();
            let outcome = simulation.watch(&mut ()).expect("it starts");
            assert_eq!(outcome.status, Status::Completed, "{name} to 1e-{exponent}, at t = {}", outcome.state.z.t);
            assert!(outcome.impacts > 500, "{name} to 1e-{exponent}: {} impacts", outcome.impacts);
        }
    }
}
