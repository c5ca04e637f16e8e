//! The motion over one period, with its derivatives.

use crate::analysis::forward::Approached;
use crate::analysis::miss::Misses;
use crate::error::Result;
use crate::phase::Phase;
use crate::solve::{NoSolution, Solved};
use crate::step::{Scheme, State, StepLog, Stepper, Variant};
use crate::tangent::{Matrix, StepTangent, Tangent, add};

/// Makes runs over one period in equal steps.
pub(super) struct Shooter {
    scheme: Scheme,
    stepper: Box<dyn Stepper>,
    tangent: Tangent,
    log: StepLog,
    /// The number of steps of a period. It stays the same, so that an orbit depends smoothly on what varies.
    steps: usize,
    /// The number of parameters θ.
    theta: usize,
    /// Look for near misses.
    pub(super) looks_for_misses: bool,
}

/// A run over one period.
#[derive(Clone)]
pub(super) struct Shot {
    pub(super) end: Phase,
    /// The derivatives of the end by (z, T, θ).
    pub(super) slopes: Matrix,
    pub(super) impacts: Vec<(Approached, Phase)>,
    /// The largest absolute value of each component of z.
    pub(super) sizes: Vec<f64>,
    /// ż at the start, from the first step: for the phase condition.
    pub(super) rate: Vec<f64>,
    /// The smallest minimum of a gap that was no impact.
    pub(super) miss: Option<f64>,
}

impl Shooter {
    pub(super) fn new(scheme: &Scheme, tangent: Tangent, steps: usize) -> Result<Shooter> {
        let facts = scheme.plant.facts();
        let state = State::new(std::sync::Arc::from([]), facts.nowhere());
        Ok(Shooter {
            stepper: scheme.stepper(Variant::Whole)?,
            scheme: scheme.clone(),
            log: StepLog::new(&state, facts.is_one_point.len()),
            theta: tangent.code().parameters(),
            tangent,
            steps,
            looks_for_misses: false,
        })
    }

    /// The run from z over one period.
    pub(super) fn shoot(&mut self, parameters: &[f64], z: &Phase, period: f64) -> Solved<Shot> {
        let steps = self.steps;
        let (size, columns) = (z.z.len(), z.z.len() + 1 + self.theta);
        let mut misses = None;
        if self.looks_for_misses {
            misses = Some(Misses::new(&self.scheme, parameters).map_err(|_| NoSolution::NoGap)?);
        }
        self.stepper.begin(parameters);
        self.tangent.begin(parameters);
        let mut state = State::new(parameters.into(), z.clone());
        let h = period / steps as f64;
        self.stepper.start(&mut state, h)?;
        let mut slopes = Matrix::zeros(size, columns);
        slopes.set_unit();
        let mut shot = Shot {
            end: z.clone(),
            slopes: slopes.clone(),
            impacts: Vec::new(),
            sizes: z.z.iter().map(|x| x.abs()).collect(),
            rate: vec![0.0; size],
            miss: None,
        };
        let mut step = StepTangent::default();
        for k in 0..steps {
            let until = z.t + period * (k + 1) as f64 / steps as f64;
            self.stepper.step(&state, until, &mut self.log)?;
            self.tangent.follow(&self.log, &mut step)?;
            if let Some(misses) = &mut misses {
                misses.see(&self.log)?;
            }
            // Each node moves with the period.
            let (passed, part) = (k as f64 / steps as f64, 1.0 / steps as f64);
            let mut next = Matrix::zeros(size, columns);
            for i in 0..size {
                let (row, to) = (step.end.row(i), next.row_mut(i));
                (0..size).for_each(|j| add(to, row[j], slopes.row(j)));
                to[size] += passed * row[size] + part * row[size + 1];
                add(&mut to[size + 1..], 1.0, &row[size + 2..]);
            }
            slopes = next;
            for (impact, logged) in step.impacts.iter().zip(self.log.impacts()) {
                shot.impacts.push((Approached::of(impact), logged.plus.clone()));
            }
            if k == 0 {
                let z1 = &self.log.end.z.z;
                shot.rate.iter_mut().zip(z1.iter().zip(&state.z.z)).for_each(|(rate, (b, a))| *rate = (b - a) / h);
            }
            shot.sizes.iter_mut().zip(&self.log.end.z.z).for_each(|(size, x)| *size = size.max(x.abs()));
            state.copy_from(&self.log.end);
        }
        shot.end = state.z;
        shot.slopes = slopes;
        shot.miss = misses.and_then(|misses| misses.nearest).map(|miss| miss.phi);
        Ok(shot)
    }
}

impl Shot {
    /// ∂P/∂z.
    pub(super) fn monodromy(&self) -> Matrix {
        let size = self.end.z.len();
        let data = (0..size).flat_map(|i| self.slopes.row(i)[..size].iter().copied()).collect();
        Matrix { columns: size, data }
    }

    /// The smallest margin of an impact, or the nearest miss, whichever is smaller.
    pub(super) fn clearance(&self) -> f64 {
        let margins = self.impacts.iter().filter_map(|(impact, _)| impact.margin());
        margins.chain(self.miss).fold(f64::INFINITY, f64::min)
    }
}
