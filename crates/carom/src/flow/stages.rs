//! Hamilton's equations at all stages of a step at once.

use super::{Field, Phase};
use crate::error::Result;
use crate::expr::Expr;
use crate::kernel::{LaneKernel, Lanes};
use crate::mechanics::Mechanics;
use crate::modified::ModifiedHamiltonian;
use crate::solve::NoSolution;
use crate::system::time;

/// (q̇, ṗ) at several states. Component i of state k stands at i·width + k.
#[derive(Clone)]
pub(super) struct Stages {
    pub(super) width: usize,
    rates: Rates,
    /// One state, for the ways that take one at a time.
    point: Phase,
}

/// How the rates are computed.
#[derive(Clone)]
enum Rates {
    /// All states in one call, as lanes of a vector. The lane inputs are t, then z.
    Lanes { kernel: Box<LaneKernel>, parameters: Vec<f64>, inputs: Vec<f64> },
    /// One state after the other.
    Field(Box<Field>),
    /// One after the other, of a modified Hamiltonian of the full step h.
    Modified { ham_mod: Box<dyn ModifiedHamiltonian>, h: f64, gradient: Vec<f64> },
}

impl Stages {
    /// Of a system with s stages.
    pub(super) fn new(mechanics: &Mechanics, s: usize, parameters: &[f64]) -> Result<Stages> {
        let size = 2 * mechanics.n();
        let lanes = Lanes::for_states(s).unwrap_or(Lanes::Eight);
        let point = Phase { t: 0.0, z: vec![0.0; size] };
        let kernel = Field::expressions(mechanics).and_then(|rates| {
            let z: Vec<Expr> = [time()].into_iter().chain(mechanics.q.iter().copied()).chain(mechanics.p()).collect();
            LaneKernel::with_backend(&z, &mechanics.parameters, &rates[..size], lanes, mechanics.backend).ok()
        });
        let rates = match kernel {
            Some(kernel) => Rates::Lanes {
                kernel: Box::new(kernel),
                parameters: parameters.to_vec(),
                inputs: vec![0.0; (size + 1) * lanes.count()],
            },
            None => Rates::Field(Box::new(Field::new(mechanics, parameters)?)),
        };
        Ok(Stages { width: lanes.count(), rates, point })
    }

    /// Of a modified Hamiltonian.
    pub(super) fn of_modified(ham_mod: Box<dyn ModifiedHamiltonian>, s: usize, size: usize) -> Stages {
        let rates = Rates::Modified { ham_mod, h: 0.0, gradient: vec![0.0; size] };
        Stages {
            width: Lanes::for_states(s).unwrap_or(Lanes::Eight).count(),
            rates,
            point: Phase { t: 0.0, z: vec![0.0; size] },
        }
    }

    /// The full step, on which a modified Hamiltonian depends. True if that is another than before.
    pub(super) fn set_full_step(&mut self, full: f64) -> bool {
        match &mut self.rates {
            Rates::Modified { h, .. } if *h != full => {
                *h = full;
                true
            }
            _ => false,
        }
    }

    /// The rates at the states z, at the times t; lanes beyond these repeat the first.
    pub(super) fn at(&mut self, times: &[f64], z: &[f64], out: &mut [f64]) -> std::result::Result<(), NoSolution> {
        let width = self.width;
        if let Rates::Lanes { kernel, parameters, inputs } = &mut self.rates {
            inputs[..times.len()].copy_from_slice(times);
            inputs[times.len()..width].fill(times[0]);
            inputs[width..].copy_from_slice(z);
            kernel.eval(inputs, parameters, out);
            return Ok(());
        }
        for (k, &t) in times.iter().enumerate() {
            self.point.t = t;
            self.point.z.iter_mut().enumerate().for_each(|(i, x)| *x = z[i * width + k]);
            self.one_at(k, out)?;
        }
        for lanes in out.chunks_mut(width) {
            let (used, rest) = lanes.split_at_mut(times.len());
            rest.fill(used[0]);
        }
        Ok(())
    }

    /// The rates at `point`, into lane k.
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
