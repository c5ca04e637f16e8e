//! Systems on which laws are tested, and laws that hold with and without constraints.

use crate::order::{distance, travel};
use carom::lab::catalogue::find;
use carom::lab::flow::FlowKind;
use carom::lab::mechanics::Mechanics;
use carom::lab::model::Model;
use carom::lab::phase::{Flow, Phase};

/// A smooth system with a state to start from.
pub struct System {
    /// What it is called.
    pub name: &'static str,
    /// Its equations.
    pub mechanics: Mechanics,
    /// The values of its parameters.
    pub parameters: Vec<f64>,
    /// The start.
    pub start: Phase,
    /// A time over which its motion is neither trivial nor wild.
    pub time: f64,
}

impl System {
    /// A model, from its own start.
    pub fn new(name: &'static str, model: &Model) -> System {
        let start = model.start().expect("the start is right");
        System {
            name,
            mechanics: Mechanics::new(&model.system),
            parameters: model.system.parameters.iter().map(|p| p.value).collect(),
            start: Phase::new(0.0, &start.q, &start.p),
            time: 1.0,
        }
    }

    /// A shipped model.
    pub fn shipped(name: &'static str, settings: &[&str]) -> System {
        let settings: Vec<String> = settings.iter().map(|s| s.to_string()).collect();
        let text = find(name).expect("it ships").text;
        System::new(name, &Model::from_text(name, text, &settings).expect("it is right"))
    }

    /// Its flow.
    pub fn flow(&self, kind: &FlowKind) -> Box<dyn Flow> {
        kind.build(&self.mechanics, &self.parameters).expect("it compiles")
    }

    /// A step with which a flow of order 8 has errors that can be seen.
    pub fn coarse_step(&self) -> f64 {
        0.15 + 0.15 * self.time
    }

    /// There and back again: a flow comes back to the start if and only if it is symmetric.
    pub fn check_reversal(&self, kind: &FlowKind) {
        let mut flow = self.flow(kind);
        let (h, steps) = if kind.is_pair() { (self.coarse_step(), 1) } else { (0.05, 10) };
        let there = travel(&mut *flow, &self.start, h, steps);
        let back = travel(&mut *flow, &there, -h, steps);
        let gap = distance(&back, &self.start);
        if kind.is_symmetric {
            assert!(gap < 1e-10, "{} on {}: {gap:e}", kind.name, self.name);
        } else {
            assert!(gap.is_nan() || gap > 1e-9, "{} on {} is symmetric after all: {gap:e}", kind.name, self.name);
        }
    }
}

/// By how much Φ_h changes ω(u, v) of two tangents at z, at the most: of all pairs of coordinate lines, which `onto` moves onto
/// the constraints. Tangents are central differences of order 4.
pub fn symplectic_defect(flow: &mut dyn Flow, z: &Phase, h: f64, mut onto: impl FnMut(&mut Phase)) -> f64 {
    let (size, n, delta) = (z.z.len(), z.z.len() / 2, 1e-3);
    let mut tangents = Vec::new();
    for k in 0..size {
        let mut image = |shift: f64| {
            let mut moved = z.clone();
            moved.z[k] += shift * delta;
            onto(&mut moved);
            let end = travel(flow, &moved, h, 1);
            [moved.z, end.z]
        };
        let [a, b, c, d] = [image(-2.0), image(-1.0), image(1.0), image(2.0)];
        let slope = |at: usize, i: usize| (a[at][i] - 8.0 * b[at][i] + 8.0 * c[at][i] - d[at][i]) / (12.0 * delta);
        tangents.push([0, 1].map(|at| (0..size).map(|i| slope(at, i)).collect::<Vec<f64>>()));
    }
    let omega = |u: &[f64], v: &[f64]| (0..n).map(|i| u[i] * v[n + i] - u[n + i] * v[i]).sum::<f64>();
    let mut defect = 0.0;
    for [u0, u1] in &tangents {
        for [v0, v1] in &tangents {
            defect = carom::lab::solve::larger(defect, (omega(u1, v1) - omega(u0, v0)).abs());
        }
    }
    defect
}
