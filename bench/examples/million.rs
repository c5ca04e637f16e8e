//! A million impacts with each rule:
//! `cargo run --release -p carom-bench --example million [-- N] [--seconds S] [--only TEXT]`.
//!
//! One line for each model and method: the impacts made (N, unless the run failed or S seconds of CPU time were over),
//! the steps, failures, the lowest gap φ at a node, the error of the energy (the largest and the last |H − H₀|/|H₀|), the
//! largest error of the modified energy of the method at every 1000th node, and the CPU time.

use carom::lab::catalogue::find;
use carom::lab::compare::{Stopwatch, kind_of_time};
use carom::lab::kernel::Kernel;
use carom::lab::mechanics::Mechanics;
use carom::lab::method::Method;
use carom::lab::model::Model;
use carom::lab::modified::{Closed, Formula, ModifiedHamiltonian, Series, Shadow};
use carom::lab::phase::{Flow, Phase};
use carom::lab::run::{Impact, Status, View, Watcher};
use carom::lab::simulation::Simulation;
use carom::lab::solve::larger;
use carom::lab::system::time;

/// Each method with its step on the cart-pendulum and on the double pendulum.
const METHODS: [(&str, [f64; 2]); 8] = [
    ("svc+ctec", [0.01, 0.01]),
    ("svc+dtec", [0.01, 0.01]),
    ("svc+mhc", [0.01, 0.01]),
    ("mcvac", [0.01, 0.01]),
    ("mcvaa", [0.01, 0.01]),
    ("svc+shadow", [0.01, 0.01]),
    ("gauss4+ctec", [0.05, 0.02]),
    ("gauss6+ctec", [0.1, 0.04]),
];
/// The modified energy is computed at every node whose number is a multiple of this.
const SELDOM: usize = 1000;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let (mut enough, mut seconds, mut only) = (1_000_000, 300.0, String::new());
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--seconds" => seconds = arguments.next().and_then(|s| s.parse().ok()).expect("a number of seconds"),
            "--only" => only = arguments.next().expect("a part of a name"),
            number => enough = number.parse().expect("the number of impacts"),
        }
    }
    println!(
        "| model | method | h | impacts | steps | failures | lowest φ | largest ΔH/H | last ΔH/H | largest ΔH̃/H̃ | {} s |",
        kind_of_time()
    );
    println!("|---|---|---|---|---|---|---|---|---|---|---|");
    for (column, name) in ["cart-pendulum", "double-pendulum"].into_iter().enumerate() {
        for (method, steps) in METHODS {
            if format!("{name} {method}").contains(&only) {
                println!("{}", row(name, method, steps[column], enough, seconds));
            }
        }
    }
}

/// The energy that the method conserves.
enum Kept {
    /// H itself: the long steps of Gauss methods keep it, and are too long for H̃ from iterates.
    Energy,
    Function(Box<dyn ModifiedHamiltonian>),
    Iterates(Shadow, Box<dyn Flow>),
}

impl Kept {
    /// The H̃ of the rule itself; where it keeps H, that from iterates.
    fn new(method: &Method, mechanics: &Mechanics, parameters: &[f64]) -> Kept {
        let closed =
            |formula| Kept::Function(Box::new(Closed::new(mechanics, formula, parameters).expect("it compiles")));
        match method.name.as_str() {
            "svc+mhc" => closed(Formula::Svc),
            "mcvaa" => closed(Formula::Sva),
            "mcvac" => {
                let rule = method.flow.discrete_lagrangian().expect("it is variational");
                Kept::Function(Box::new(Series::new(mechanics, rule, parameters, 3).expect("it compiles")))
            }
            name if name.starts_with("gauss") => Kept::Energy,
            _ => Kept::Iterates(Shadow::new(5), method.flow.build(mechanics, parameters).expect("it compiles")),
        }
    }

    fn at(&mut self, z: &Phase, h: f64) -> f64 {
        let value = match self {
            Kept::Energy => return f64::NAN,
            Kept::Function(ham_mod) => ham_mod.value(z, h),
            Kept::Iterates(shadow, flow) => shadow.at(&mut **flow, z, h),
        };
        value.unwrap_or(f64::NAN)
    }
}

/// Looks at the gap and the modified energy; stops at a number of impacts, or after a time.
struct Watch {
    phi: Kernel,
    inputs: Vec<f64>,
    gap: f64,
    kept: Kept,
    h: f64,
    initial: f64,
    drift: f64,
    nodes: usize,
    impacts: usize,
    enough: usize,
    clock: Stopwatch,
    seconds: f64,
}

impl Watcher for Watch {
    fn node(&mut self, view: &mut View) {
        let z = view.phase();
        let at = self.inputs.len() - 1 - z.q().len();
        self.inputs[at] = z.t;
        self.inputs[at + 1..].copy_from_slice(z.q());
        let mut gap = [0.0];
        self.phi.eval(&self.inputs, &mut gap);
        self.gap = self.gap.min(gap[0]);
        if self.nodes.is_multiple_of(SELDOM) {
            let value = self.kept.at(z, self.h);
            if self.nodes == 0 {
                self.initial = value;
            }
            self.drift = larger(self.drift, ((value - self.initial) / self.initial).abs());
        }
        self.nodes += 1;
    }

    fn impact(&mut self, _impact: Impact) {
        self.impacts += 1;
    }

    fn wants_to_stop(&self) -> bool {
        self.impacts >= self.enough || (self.nodes.is_multiple_of(SELDOM) && self.clock.seconds() > self.seconds)
    }
}

fn row(name: &str, method: &str, h: f64, enough: usize, seconds: f64) -> String {
    let model = Model::from_text(name, find(name).expect("it ships").text, &[]).expect("it is right");
    let mechanics = Mechanics::new(&model.system);
    let parameters: Vec<f64> = model.system.parameters.iter().map(|p| p.value).collect();
    let symbols: Vec<_> = [time()].iter().chain(&mechanics.q).copied().collect();
    let method = Method::named(method, None).expect("it is registered");
    let simulation = Simulation::new(&model, &method, h, 1e9).expect("it compiles");
    let mut watch = Watch {
        phi: mechanics.kernel(&symbols, &mechanics.walls).expect("it compiles"),
        inputs: [&parameters[..], &vec![0.0; symbols.len()]].concat(),
        gap: f64::INFINITY,
        kept: Kept::new(&method, &mechanics, &parameters),
        h,
        initial: f64::NAN,
        drift: 0.0,
        nodes: 0,
        impacts: 0,
        enough,
        clock: Stopwatch::start(),
        seconds,
    };
    let outcome = simulation.watch(&mut watch).expect("it starts");
    let used = watch.clock.seconds();
    let failure = match &outcome.status {
        Status::Failed(failure) => {
            eprintln!("{name} {}: {failure}", method.name);
            1
        }
        _ => 0,
    };
    let carom::Energy { initial, last: end, max_drift: largest, .. } = outcome.energy;
    let drift = if watch.drift.is_nan() { "–".into() } else { format!("{:.1e}", watch.drift) };
    format!(
        "| {name} | {} | {h} | {} | {} | {failure} | {:.1e} | {:.1e} | {:.1e} | {drift} | {used:.1} |",
        method.name,
        outcome.impacts,
        outcome.steps,
        watch.gap,
        (largest / initial).abs(),
        ((end - initial) / initial).abs(),
    )
}
