//! Evaluates Hamilton's equations at all stages of a step at once.

use super::vector::Buffer;
use crate::error::Result;
use crate::expr::Expr;
use crate::kernel::{LaneKernel, Lanes, Tape};
use crate::mechanics::{Field, Mechanics, slopes_of_field};
use crate::modified::ModifiedHamiltonian;
use crate::phase::Phase;
use crate::solve::NoSolution;
use crate::system::time;

/// With more coordinates than this, evaluating the slopes ∂f/∂z costs more than it saves.
pub(super) const MOST_COORDINATES: usize = 3;
/// The slopes may take at most this many times the instructions of the rates.
const MOST_WORK: usize = 5;

/// Evaluates f = (q̇, ṗ) at several states. Component i of state k is at i·width + k.
#[derive(Clone)]
pub(super) struct Stages {
    pub(super) width: usize,
    /// The number of lanes in use; the others repeat the first.
    s: usize,
    /// The times, then the states.
    inputs: Buffer,
    rates: Rates,
    /// f and ∂f/∂z by columns, if the slopes are worth their cost.
    slopes: Option<Box<LaneKernel>>,
    /// The components of a state on which f depends: the slopes by the others are zero, and are left out.
    pub(super) columns: Vec<usize>,
    /// One state, for evaluations that take one state at a time.
    point: Phase,
}

/// How the rates are computed.
#[derive(Clone)]
enum Rates {
    /// All states in one call, on vector lanes.
    Lanes { rates: Box<LaneKernel>, energy: Box<LaneKernel>, parameters: Vec<f64> },
    /// One state at a time.
    Field(Box<Field>),
    /// One state at a time, from a modified Hamiltonian for the full step h.
    Modified { ham_mod: Box<dyn ModifiedHamiltonian>, h: f64, gradient: Vec<f64> },
}

impl Stages {
    /// Compiles the equations of a system, for s stages.
    pub(super) fn new(mechanics: &Mechanics, s: usize, parameters: &[f64]) -> Result<Stages> {
        let size = 2 * mechanics.n();
        let lanes = Lanes::for_states(s).unwrap_or(Lanes::Eight);
        let compiled = Field::expressions(mechanics).and_then(|all| {
            let inputs = inputs(mechanics);
            let kernel = |outputs: &[Expr]| {
                LaneKernel::contracted(&inputs, &mechanics.parameters, outputs, lanes, mechanics.backend).ok()
            };
            let parameters = parameters.to_vec();
            let (rates, energy) = (Box::new(kernel(&all[..size])?), Box::new(kernel(&all[size..])?));
            let slopes =
                slopes(mechanics, &all[..size]).and_then(|(outputs, columns)| Some((kernel(&outputs)?, columns)));
            Some((Rates::Lanes { rates, energy, parameters }, slopes))
        });
        let (rates, slopes) = match compiled {
            Some(compiled) => compiled,
            None => (Rates::Field(Box::new(Field::new(mechanics, parameters)?)), None),
        };
        let (slopes, columns) =
            slopes.map_or((None, Vec::new()), |(kernel, columns)| (Some(Box::new(kernel)), columns));
        Ok(Stages { slopes, columns, ..Stages::of(rates, s, size) })
    }

    /// Uses the equations of a modified Hamiltonian.
    pub(super) fn of_modified(ham_mod: Box<dyn ModifiedHamiltonian>, s: usize, size: usize) -> Stages {
        Stages::of(Rates::Modified { ham_mod, h: 0.0, gradient: vec![0.0; size] }, s, size)
    }

    fn of(rates: Rates, s: usize, size: usize) -> Stages {
        let width = Lanes::for_states(s).unwrap_or(Lanes::Eight).count();
        let point = Phase { t: 0.0, z: vec![0.0; size] };
        let inputs = Buffer::zeros((size + 1) * width);
        Stages { width, s, inputs, rates, slopes: None, columns: Vec::new(), point }
    }

    /// Sets the parameter values.
    pub(super) fn set_parameters(&mut self, values: &[f64]) {
        match &mut self.rates {
            Rates::Lanes { parameters, .. } => parameters.copy_from_slice(values),
            Rates::Field(field) => field.set_parameters(values),
            Rates::Modified { ham_mod, .. } => ham_mod.set_parameters(values),
        }
    }

    /// Forgets the last point, which is the initial guess for an implicit velocity.
    pub(super) fn forget(&mut self) {
        if let Rates::Field(field) = &mut self.rates {
            field.forget();
        }
    }

    /// Sets the full step, on which a modified Hamiltonian depends. Returns true if it changed.
    pub(super) fn set_full_step(&mut self, full: f64) -> bool {
        match &mut self.rates {
            Rates::Modified { h, .. } if *h != full => {
                *h = full;
                true
            }
            _ => false,
        }
    }

    /// The number of values of f and ∂f/∂z, over all states.
    pub(super) fn values(&self) -> usize {
        let size = self.point.z.len();
        (size + size * self.columns.len()) * self.width
    }

    /// True if ∂f/∂z is available.
    pub(super) fn has_slopes(&self) -> bool {
        self.slopes.is_some()
    }

    /// Sets the times t + c·h of all lanes.
    pub(super) fn set_times(&mut self, t: f64, c: &[f64], h: f64) {
        self.inputs.iter_mut().zip(c).for_each(|(time, c)| *time = t + c * h);
    }

    /// The states.
    pub(super) fn states(&self) -> &[f64] {
        &self.inputs[self.width..]
    }

    /// The states, writable.
    pub(super) fn states_mut(&mut self) -> &mut [f64] {
        let width = self.width;
        &mut self.inputs[width..]
    }

    /// Computes f at the states.
    pub(super) fn rates(&mut self, out: &mut [f64]) -> std::result::Result<(), NoSolution> {
        let (width, size) = (self.width, self.point.z.len());
        let out = &mut out[..size * width];
        if let Rates::Lanes { rates, parameters, .. } = &self.rates {
            rates.eval(&self.inputs, parameters, out);
            return Ok(());
        }
        for k in 0..self.s {
            self.point_of(k);
            self.one_at(k, out)?;
        }
        for lanes in out.chunks_mut(width) {
            let (used, rest) = lanes.split_at_mut(self.s);
            rest.fill(used[0]);
        }
        Ok(())
    }

    /// Computes f and ∂f/∂z, by columns, at the states.
    pub(super) fn rates_and_slopes(&mut self, out: &mut [f64]) -> std::result::Result<(), NoSolution> {
        match (&self.rates, &self.slopes) {
            (Rates::Lanes { parameters, .. }, Some(slopes)) => slopes.eval(&self.inputs, parameters, out),
            _ => return self.rates(out),
        }
        Ok(())
    }

    /// Computes H at the states. None if the rates come from H̃.
    pub(super) fn energies(&mut self, out: &mut [f64]) -> Option<()> {
        for k in 0..self.s {
            if let Rates::Lanes { energy, parameters, .. } = &self.rates {
                energy.eval(&self.inputs, parameters, out);
                break;
            }
            self.point_of(k);
            let Rates::Field(field) = &mut self.rates else { return None };
            out[k] = field.energy(self.point.t, &self.point.z).ok()?;
        }
        Some(())
    }

    /// Copies state k to `point`.
    fn point_of(&mut self, k: usize) {
        let width = self.width;
        self.point.t = self.inputs[k];
        self.point.z.iter_mut().enumerate().for_each(|(i, x)| *x = self.inputs[(1 + i) * width + k]);
    }

    /// Writes the rates at `point` into lane k.
    fn one_at(&mut self, k: usize, out: &mut [f64]) -> std::result::Result<(), NoSolution> {
        let (width, n) = (self.width, self.point.q().len());
        match &mut self.rates {
            Rates::Field(field) => {
                let values = field.at(self.point.t, &self.point.z)?;
                (0..2 * n).for_each(|i| out[i * width + k] = values[i]);
            }
            Rates::Modified { ham_mod, h, gradient } => {
                ham_mod.gradient(&self.point, *h, gradient)?;
                // (H_q, H_p) → (H_p, −H_q)
                for i in 0..n {
                    out[i * width + k] = gradient[n + i];
                    out[(n + i) * width + k] = -gradient[i];
                }
            }
            Rates::Lanes { .. } => {}
        }
        Ok(())
    }
}

/// f and ∂f/∂z by columns, and the components to which the columns belong. None if they are too expensive.
fn slopes(mechanics: &Mechanics, rates: &[Expr]) -> Option<(Vec<Expr>, Vec<usize>)> {
    if mechanics.n() > MOST_COORDINATES {
        return None;
    }
    let inputs = inputs(mechanics);
    let rows = slopes_of_field(mechanics)?;
    let columns: Vec<usize> = (0..rates.len()).filter(|&j| rows.iter().any(|row| !row[j].is_zero())).collect();
    let by_columns = columns.iter().flat_map(|&j| rows.iter().map(move |row| row[j]));
    let outputs: Vec<Expr> = rates.iter().copied().chain(by_columns).collect();
    let length = |outputs: &[Expr]| {
        Tape::new(&[&inputs[..], &mechanics.parameters].concat(), outputs).map_or(usize::MAX, |tape| tape.len())
    };
    (length(&outputs) <= MOST_WORK * length(rates)).then_some((outputs, columns))
}

/// The time, the coordinates, the momenta.
fn inputs(mechanics: &Mechanics) -> Vec<Expr> {
    [time()].into_iter().chain(mechanics.q.iter().copied()).chain(mechanics.p()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::find;
    use crate::model::Model;

    /// No force on the cart depends on its height.
    #[test]
    fn slopes_by_cyclic_coordinates_are_left_out() {
        let text = find("cart-pendulum").expect("it ships").text;
        let mechanics = Mechanics::new(&Model::from_text("cart-pendulum", text, &[]).expect("it is right").system);
        let parameters = vec![1.0; mechanics.parameters.len()];
        let stages = Stages::new(&mechanics, 4, &parameters).expect("it compiles");
        assert_eq!(stages.columns, [1, 2, 3]);
    }
}
