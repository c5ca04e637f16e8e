//! Bodies that rock from one contact to the other before they rest.

use carom_tests::motion::{self, model};

/// A block on two feet that falls on a floor. With a foot nearly below its centre of mass, that foot bears nearly all of the weight.
const BLOCK: &str = r#"
coordinates = ["y", "turn"]
[parameters]
a = 1e-5
b = 1.0
I = 0.3
e = 0.5
[lagrangian]
T = "(y'^2 + I*turn'^2)/2"
V = "9.81*y"
[[wall]]
name = "left"
phi = "y - a*turn"
restitution = "e"
[[wall]]
name = "right"
phi = "y + b*turn"
restitution = "e"
[initial]
q = [0.5, 0.1]
v = [0, 0]
[run]
until = 1
"#;

const G: f64 = 9.81;
const INERTIA: f64 = 0.3;

/// The block, event by event: between two impacts its feet move on parabolas.
struct Block {
    t: f64,
    gaps: [f64; 2],
    rates: [f64; 2],
    /// The foot that rests while the other one is in flight.
    rests: Option<usize>,
    /// W.
    w: [[f64; 2]; 2],
    e: f64,
}

impl Block {
    fn new(a: f64, b: f64, e: f64) -> Block {
        let w = [[1.0 + a * a / INERTIA, 1.0 - a * b / INERTIA], [1.0 - a * b / INERTIA, 1.0 + b * b / INERTIA]];
        Block { t: 0.0, gaps: [0.5 - 0.1 * a, 0.5 + 0.1 * b], rates: [0.0; 2], rests: None, w, e }
    }

    fn accelerations(&self) -> [f64; 2] {
        let force = |i: usize, k: usize| -G + self.w[i][k] * G / self.w[k][k];
        match self.rests {
            Some(k) => [force(0, k), force(1, k)],
            None => [-G; 2],
        }
    }

    fn fly(&mut self, tau: f64) {
        let a = self.accelerations();
        for i in (0..2).filter(|&i| self.rests != Some(i)) {
            self.gaps[i] += tau * (self.rates[i] + 0.5 * tau * a[i]);
            self.rates[i] += tau * a[i];
        }
        self.t += tau;
    }

    /// The next foot to land, and how long it takes.
    fn next(&self) -> (usize, f64) {
        let a = self.accelerations();
        let lands = |i: usize| {
            let root = (self.rates[i].powi(2) - 2.0 * a[i] * self.gaps[i]).sqrt();
            // Without cancellation.
            if self.rates[i] > 0.0 {
                (self.rates[i] + root) / -a[i]
            } else {
                2.0 * self.gaps[i] / (root - self.rates[i])
            }
        };
        let feet = (0..2).filter(|&i| self.rests != Some(i)).map(|i| (i, lands(i)));
        feet.reduce(|first, other| if other.1 < first.1 { other } else { first }).expect("one foot is in flight")
    }

    /// The impact of a foot, which lifts the other one too. A foot whose bounces have no length any more rests: the remaining bounces of one
    /// foot, while the other is in flight, change nothing but its own rate.
    fn land(&mut self, k: usize) {
        let lambda = -(1.0 + self.e) * self.rates[k] / self.w[k][k];
        (0..2).for_each(|i| self.rates[i] += self.w[i][k] * lambda);
        (self.gaps[k], self.rests) = (0.0, None);
        let (own, other) = (self.rates[k], self.rates[1 - k]);
        if own < 1e-6 * other.abs() {
            self.rates[1 - k] -= self.w[1 - k][k] / self.w[k][k] * own;
            (self.rates[k], self.rests) = (0.0, Some(k));
        }
    }

    /// The bound T = 2√(2E (W⁻¹)_kk)/N_k on the longest flight that is still possible.
    fn longest(&self) -> f64 {
        let [[p, c], [_, r]] = self.w;
        let (det, [x, y]) = (p * r - c * c, self.rates);
        let twice = (r * x * x - 2.0 * c * x * y + p * y * y) / det;
        let flight = |mass: f64, force: f64| 2.0 * (twice * mass / det).sqrt() / force;
        flight(r, G * (r - c) / det).max(flight(p, G * (p - c) / det))
    }
}

/// It rests where its rocks accumulate, as near as the last of them is long, and is where it is on the way there.
#[test]
fn a_block_on_two_feet_rests_where_its_rocks_accumulate() {
    for (a, e, steps) in
        [(1e-5, 0.5, [0.1, 0.02, 0.005]), (1e-5, 0.1, [0.1, 0.02, 0.005]), (1e-3, 0.1, [0.02, 0.002, 5e-4])]
    {
        let times: Vec<f64> = (1..=20).map(|k| f64::from(k) * if a < 1e-4 { 2.0 } else { 0.2 }).collect();
        let mut block = Block::new(a, 1.0, e);
        let mut places = Vec::new();
        loop {
            let (foot, tau) = block.next();
            while places.len() < times.len() && times[places.len()] < block.t + tau {
                let mut at = Block { w: block.w, ..block };
                at.fly(times[places.len()] - block.t);
                places.push(at.gaps);
            }
            block.fly(tau);
            block.land(foot);
            // The other foot lies there too if its gap is closed.
            if block.longest() < 1e-10 && block.gaps[1 - foot] < 1e-18 {
                break;
            }
        }
        let due = block.t;
        for method in ["gauss4+ctec", "svc+ctec", "midpoint+ctec", "galerkin6+ctec"] {
            for h in steps {
                let what = format!("a = {a}, e = {e}, {method}, h = {h}");
                let model = model(BLOCK, &[&format!("a={a:e}"), &format!("e={e}")]);
                let motion = motion::run(&model, method, h, 1.1 * due).completed();
                let mut held = [f64::INFINITY; 2];
                for holding in &motion.holdings {
                    held[holding.wall] = if holding.begins { holding.t } else { f64::INFINITY };
                }
                let rests = held[0].max(held[1]);
                // Later rocks are no higher than this, 1e-8 of the way of a step of the foot that flies.
                let height = 1e-8 * h * (2.0 * G * 0.6 * block.w[1][1]).sqrt();
                let last = (8.0 * height / -Block { rests: Some(0), w: block.w, ..block }.accelerations()[1]).sqrt();
                let error = (rests - due).abs();
                assert!(
                    error < last / (1.0 - e),
                    "{what}: rests at {rests}, not at {due}; the last rock takes {last:e}"
                );
                for node in &motion.nodes {
                    let Some(k) = times[..places.len()].iter().position(|t| (t - node.t).abs() < 1e-9) else {
                        continue;
                    };
                    let gaps = [node.q[0] - a * node.q[1], node.q[0] + node.q[1]];
                    for (gap, due) in gaps.iter().zip(places[k]) {
                        assert!((gap - due).abs() < 10.0 * height, "{what}: {gap:e} and {due:e} at t = {}", node.t);
                    }
                }
            }
        }
    }
}
