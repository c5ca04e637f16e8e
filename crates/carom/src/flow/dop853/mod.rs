//! The explicit Runge–Kutta pair 8(5,3) of Dormand and Prince.

mod stages;
mod tableau;

pub(crate) use stages::Stages;
pub(crate) use tableau::TABLEAU;

use crate::error::{Diagnostic, Result};
use crate::kernel::{Backend, Kernel, KernelError, LaneKernel, Lanes};
use crate::mechanics::{Field, Inputs, Mechanics};
use crate::phase::{Discrete, Flow, Phase};
use crate::solve::NoSolution;

/// The formula of order 8 on (q, v), with steps of given length; p = L_v is converted at both ends. Neither symplectic nor symmetric.
/// [Hairer, Nørsett & Wanner, II.10]
#[derive(Clone)]
pub struct Dop853 {
    velocities: Field,
    /// (t, q, v, parameters) → a, in two lanes, of which one is used.
    field: LaneKernel,
    /// (parameters, t, q, v) → L_v
    momenta: Kernel,
    inputs: Inputs,
    stages: Stages,
    z: Vec<f64>,
    a: Vec<f64>,
}

/// The lanes of a single motion: the emitter has no fewer.
const LANES: Lanes = Lanes::Two;

impl Dop853 {
    /// Compiles the equations of a system.
    pub fn new(mechanics: &Mechanics, parameters: &[f64]) -> Result<Dop853> {
        let n = mechanics.n();
        let size = (1 + 2 * n + parameters.len()) * LANES.count();
        let mut flow = Dop853 {
            velocities: Field::new(mechanics, parameters)?,
            field: field(mechanics, LANES)?,
            momenta: mechanics.kernel(&mechanics.state_symbols(), &mechanics.momenta())?,
            inputs: Inputs::new(parameters, n),
            stages: Stages::new(n, parameters.len(), LANES),
            z: vec![0.0; size],
            a: vec![0.0; n * LANES.count()],
        };
        flow.set_parameters(parameters);
        Ok(flow)
    }
}

/// The accelerations in lanes: (t, q, v, parameters) → a. All inputs have lanes, so that ensembles may vary any of them.
fn field(mechanics: &Mechanics, lanes: Lanes) -> Result<LaneKernel> {
    lane_kernel(mechanics, &mechanics.accelerations(), lanes)
}

/// A kernel of (t, q, v, parameters) in lanes. Its roundoff is that of the steps that are compiled as a whole.
pub(crate) fn lane_kernel(mechanics: &Mechanics, outputs: &[crate::expr::Expr], lanes: Lanes) -> Result<LaneKernel> {
    let inputs = [mechanics.state_symbols(), mechanics.parameters.clone()].concat();
    let made = match LaneKernel::contracted(&inputs, &[], outputs, lanes, Backend::Jit) {
        Err(KernelError::Unsupported(_)) => LaneKernel::contracted(&inputs, &[], outputs, lanes, Backend::Interpreter),
        made => made,
    };
    made.map_err(|e| Diagnostic::new(e.to_string()).into())
}

/// Writes a number to all lanes.
fn fill(lanes: &mut [f64], x: f64) {
    lanes.iter_mut().for_each(|lane| *lane = x);
}

impl Flow for Dop853 {
    fn step(&mut self, z0: &Phase, h: f64, z1: &mut Phase) -> std::result::Result<(), NoSolution> {
        let (n, k) = (z0.q().len(), LANES.count());
        let v = self.velocities.velocity(z0.t, &z0.z)?;
        let state = [z0.t].into_iter().chain(z0.q().iter().copied()).chain(v.iter().copied());
        self.z.chunks_mut(k).zip(state).for_each(|(lanes, x)| fill(lanes, x));
        self.field.eval(&self.z, &[], &mut self.a);
        let end = self.stages.step(&self.field, &self.z, &self.a, &[h; LANES as usize]);
        let (q, v) = self.inputs.state_mut(z0.t + h);
        q.iter_mut().zip(end[k..].chunks(k)).for_each(|(q, lanes)| *q = lanes[0]);
        v.iter_mut().zip(end[(1 + n) * k..].chunks(k)).for_each(|(v, lanes)| *v = lanes[0]);
        z1.t = z0.t + h;
        let (q1, p1) = z1.z.split_at_mut(n);
        q1.copy_from_slice(q);
        self.momenta.eval(self.inputs.all(), p1);
        Ok(())
    }

    fn set_parameters(&mut self, parameters: &[f64]) {
        self.velocities.set_parameters(parameters);
        self.inputs.set_parameters(parameters);
        let k = LANES.count();
        let at = self.z.len() - parameters.len() * k;
        self.z[at..].chunks_mut(k).zip(parameters).for_each(|(lanes, x)| fill(lanes, *x));
    }

    fn forget(&mut self) {
        self.velocities.forget();
    }

    fn discrete(&mut self) -> Option<Discrete> {
        None
    }

    fn order(&self) -> usize {
        8
    }

    fn boxed_clone(&self) -> Box<dyn Flow> {
        Box::new(self.clone())
    }
}
