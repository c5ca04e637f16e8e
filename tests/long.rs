//! Thousands of impacts: no failure, no wall missed, the energy kept. `CAROM_IMPACTS=1000000` makes it a million.

use carom::lab::catalogue::find;
use carom::lab::kernel::Kernel;
use carom::lab::mechanics::Mechanics;
use carom::lab::method::Method;
use carom::lab::model::Model;
use carom::lab::run::{Impact, Outcome, Status, View, Watcher};
use carom::lab::simulation::Simulation;
use carom::lab::system::time;

/// The smallest gap at a node, and how many impacts there were; stops at a number of them.
struct Lowest {
    phi: Kernel,
    inputs: Vec<f64>,
    parameters: usize,
    gap: f64,
    impacts: usize,
    enough: usize,
}

impl Watcher for Lowest {
    fn node(&mut self, view: &mut View) {
        self.inputs[self.parameters] = view.t();
        self.inputs[self.parameters + 1..].copy_from_slice(view.phase().q());
        let mut gap = [0.0];
        self.phi.eval(&self.inputs, &mut gap);
        self.gap = self.gap.min(gap[0]);
    }

    fn impact(&mut self, _impact: Impact) {
        self.impacts += 1;
    }

    fn wants_to_stop(&self) -> bool {
        self.impacts >= self.enough
    }
}

fn run(name: &str, method: &str, step: f64, enough: usize) -> (Outcome, Lowest) {
    let model = Model::from_text(name, find(name).expect("it ships").text, &[]).expect("it is right");
    let mechanics = Mechanics::new(&model.system);
    let parameters: Vec<f64> = model.system.parameters.iter().map(|p| p.value).collect();
    let symbols: Vec<_> = [time()].iter().chain(&mechanics.q).copied().collect();
    let phi = mechanics.kernel(&symbols, &mechanics.walls).expect("it compiles");
    let mut inputs = parameters.clone();
    inputs.resize(parameters.len() + symbols.len(), 0.0);
    let mut lowest = Lowest { phi, inputs, parameters: parameters.len(), gap: f64::INFINITY, impacts: 0, enough };
    let method = Method::named(method, None).expect("it is registered");
    let simulation = Simulation::new(&model, &method, step, 1e9).expect("it compiles");
    let outcome = simulation.watch(&mut lowest).expect("it runs");
    (outcome, lowest)
}

#[test]
fn thousands_of_impacts_leave_the_energy_where_it_was() {
    let enough = std::env::var("CAROM_IMPACTS").ok().and_then(|n| n.parse().ok()).unwrap_or(2_000);
    for name in ["cart-pendulum", "double-pendulum"] {
        for (method, promise) in [("gauss4+ctec", 1e-5), ("gauss6+ctec", 1e-7)] {
            let (outcome, lowest) = run(name, method, 0.02, enough);
            let carom::Energy { initial, last: end, max_drift: drift, .. } = outcome.energy;
            println!(
                "{name} {method}: {} impacts to t = {:.0}, lowest gap {:.1e}, energy error {:.1e} at the end, {:.1e} at most",
                outcome.impacts,
                outcome.last.t,
                lowest.gap,
                ((end - initial) / initial).abs(),
                drift / initial.abs()
            );
            assert_eq!(outcome.status, Status::Interrupted, "{name} with {method}");
            assert!(lowest.gap >= -1e-12, "{name} with {method}: a gap of {:e}", lowest.gap);
            assert!((end - initial).abs() <= promise * initial.abs(), "{name} with {method}: {end} after {initial}");
        }
    }
}
