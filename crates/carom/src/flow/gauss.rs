//! Gauss collocation.

use super::collocation::Collocation;
use super::combine::{combine, distance};
use super::stages::Stages;
use super::{Discrete, Field, Flow, Phase};
use crate::error::Result;
use crate::mechanics::Mechanics;
use crate::modified::ModifiedHamiltonian;
use crate::solve::NoSolution;

const MAX_ITERATIONS: usize = 100;

/// Gauss collocation with s stages on Hamilton's equations: order 2s, symplectic, symmetric. [Hairer, Lubich & Wanner, II.1]
///
/// ```text
/// Zᵢ = z0 + h Σⱼ aᵢⱼ f(t + cⱼh, Zⱼ),   z1 = z0 + h Σᵢ bᵢ f(t + cᵢh, Zᵢ)
/// ```
///
/// The stages are found by fixed-point iteration to roundoff, all stages at once as lanes of vectors. The first guess
/// continues the polynomial of the last step.
#[derive(Clone)]
pub struct Gauss {
    s: usize,
    /// 2n
    size: usize,
    rule: Collocation,
    /// a by columns, each as wide as the lanes; lanes beyond s repeat the first stage.
    a: Vec<f64>,
    /// ℓⱼ(1 + cᵢ) by columns: the polynomial of one step at the stages of the next.
    ahead: Vec<f64>,
    field: Stages,
    /// H, for the discrete energy; where the stages follow H̃ there is none.
    energy: Option<Field>,
    times: Vec<f64>,
    /// f at the stages: component i of stage k at i·width + k.
    rates: Vec<f64>,
    new_rates: Vec<f64>,
    stages: Vec<f64>,
    /// ℓⱼ at the stages of the next step, by columns.
    interpolation: Vec<f64>,
    /// ∫₀^x ℓⱼ at the moments x inside a step, by rows.
    moments: Vec<f64>,
    last: Last,
}

/// The step that `rates` belong to.
#[derive(Clone)]
struct Last {
    h: f64,
    begin: Phase,
    end: Phase,
}

impl Gauss {
    /// Compiles the field.
    pub fn new(mechanics: &Mechanics, stages: usize, parameters: &[f64]) -> Result<Gauss> {
        let field = Stages::new(mechanics, stages, parameters)?;
        let energy = Some(Field::new(mechanics, parameters)?);
        Ok(Gauss::following(field, energy, stages, 2 * mechanics.n()))
    }

    /// Follows Hamilton's equations of a modified Hamiltonian; `size` is that of a state.
    pub fn of_modified(ham_mod: Box<dyn ModifiedHamiltonian>, stages: usize, size: usize) -> Gauss {
        Gauss::following(Stages::of_modified(ham_mod, stages, size), None, stages, size)
    }

    fn following(field: Stages, energy: Option<Field>, s: usize, size: usize) -> Gauss {
        let nowhere = Phase { t: f64::NAN, z: vec![0.0; size] };
        let rule = Collocation::gauss(s);
        let width = field.width;
        let (mut a, mut ahead) = (vec![0.0; s * width], vec![0.0; s * width]);
        for (j, column) in a.chunks_mut(width).enumerate() {
            column.iter_mut().enumerate().for_each(|(k, a)| *a = rule.a[if k < s { k * s + j } else { j }]);
        }
        rule.interpolation(1.0, 1.0, width, &mut ahead);
        let inside = (1..s.max(2)).map(|k| k as f64 / s.max(2) as f64);
        Gauss {
            s,
            size,
            a,
            ahead,
            moments: inside.flat_map(|x| rule.integrals(x)).collect(),
            rule,
            field,
            energy,
            times: vec![0.0; s],
            rates: vec![0.0; width * size],
            new_rates: vec![0.0; width * size],
            stages: vec![0.0; width * size],
            interpolation: vec![0.0; s * width],
            last: Last { h: 0.0, begin: nowhere.clone(), end: nowhere },
        }
    }

    fn forget(&mut self) {
        self.last.begin.t = f64::NAN;
        self.last.end.t = f64::NAN;
    }

    /// Fills `rates` with a first guess: the last step's polynomial where it begins or ends here, else f(z0).
    fn predict(&mut self, z0: &Phase, h: f64) -> std::result::Result<(), NoSolution> {
        // A polynomial is not followed far beyond its own step.
        let (ratio, width) = (h / self.last.h, self.field.width);
        let near = ratio.abs() <= 2.0;
        let start = if near && *z0 == self.last.end {
            1.0
        } else if near && *z0 == self.last.begin {
            0.0
        } else {
            self.times.fill(z0.t);
            self.stages.chunks_mut(width).zip(&z0.z).for_each(|(lanes, z)| lanes.fill(*z));
            return self.field.at(&self.times, &self.stages, &mut self.rates);
        };
        let matrix = if start == 1.0 && ratio == 1.0 {
            &self.ahead
        } else {
            self.rule.interpolation(start, ratio, width, &mut self.interpolation);
            &self.interpolation
        };
        combine(width, matrix, &self.rates, None, 1.0, &mut self.new_rates);
        std::mem::swap(&mut self.new_rates, &mut self.rates);
        Ok(())
    }

    /// One round of the iteration; returns how far the stages moved, relative to the state.
    fn iterate(&mut self, z0: &Phase, h: f64, scale: f64) -> std::result::Result<f64, NoSolution> {
        combine(self.field.width, &self.a, &self.rates, Some(&z0.z), h, &mut self.stages);
        self.field.at(&self.times, &self.stages, &mut self.new_rates)?;
        let moved = distance(self.field.width, &self.rates, &self.new_rates);
        std::mem::swap(&mut self.rates, &mut self.new_rates);
        Ok(moved * scale)
    }

    /// Iterates until the stages stand still at roundoff.
    fn converge(&mut self, z0: &Phase, h: f64) -> std::result::Result<(), NoSolution> {
        self.times.iter_mut().zip(&self.rule.c).for_each(|(t, c)| *t = z0.t + c * h);
        // Also at rest in the origin, where only the rates say what is small.
        let rise: f64 = self.rates.iter().map(|x| x.abs()).sum::<f64>() / self.field.width as f64;
        let size: f64 = z0.z.iter().map(|x| x.abs()).sum::<f64>() + h.abs() * rise;
        let scale = if size == 0.0 { 1.0 } else { h.abs() / (size * self.s as f64) };
        let mut previous = f64::INFINITY;
        for _ in 0..MAX_ITERATIONS {
            let moved = self.iterate(z0, h, scale)?;
            // At roundoff the changes stop to shrink; before that, the next one would be too small to matter.
            let next = if previous.is_finite() { moved * (moved / previous) } else { f64::INFINITY };
            if moved <= 0.5 * f64::EPSILON || next <= 0.05 * f64::EPSILON || (moved >= previous && moved <= 1e-13) {
                return Ok(());
            }
            if !moved.is_finite() {
                break;
            }
            previous = moved;
        }
        Err(NoSolution::Diverged)
    }
}

impl Flow for Gauss {
    fn step(&mut self, z0: &Phase, h: f64, z1: &mut Phase) -> std::result::Result<(), NoSolution> {
        self.predict(z0, h)?;
        if let Err(e) = self.converge(z0, h) {
            self.forget();
            return Err(e);
        }
        z1.t = z0.t + h;
        for (lanes, (z, start)) in self.rates.chunks(self.field.width).zip(z1.z.iter_mut().zip(&z0.z)) {
            let rise: f64 = self.rule.b.iter().zip(lanes).map(|(b, rate)| b * rate).sum();
            *z = start + h * rise;
        }
        self.last.h = h;
        self.last.begin.copy_from(z0);
        self.last.end.copy_from(z1);
        Ok(())
    }

    /// With p1 as the multiplier of q1 = q0 + h Σ bᵢVᵢ, and Lᵢ = Pᵢ·Vᵢ − Hᵢ:
    ///
    /// ```text
    /// L_d = h Σ bᵢLᵢ,   −D₃L_d = p1·Σ bᵢVᵢ − Σ bᵢLᵢ − h Σ bᵢ ṗᵢ·Σⱼ aᵢⱼVⱼ
    /// ```
    fn discrete(&mut self) -> Option<Discrete> {
        let (s, n, width) = (self.s, self.size / 2, self.field.width);
        let Last { h, begin, end } = &self.last;
        let mut point = begin.clone();
        let (mut mean, mut energy) = (0.0, 0.0);
        for k in 0..s {
            point.z.iter_mut().enumerate().for_each(|(i, x)| *x = self.stages[i * width + k]);
            let ham = self.energy.as_mut()?.energy(begin.t + self.rule.c[k] * h, &point.z).ok()?;
            let rate = |i: usize| self.rates[i * width + k];
            let swept: f64 = (0..n).map(|i| point.p()[i] * rate(i)).sum();
            // h Σⱼ aₖⱼVⱼ is how far the stage is from q0.
            let lifted: f64 = (0..n).map(|i| rate(n + i) * (point.z[i] - begin.z[i])).sum();
            mean += self.rule.b[k] * (swept - ham);
            energy += self.rule.b[k] * ((0..n).map(|i| end.p()[i] * rate(i)).sum::<f64>() - lifted);
        }
        Some(Discrete { action: h * mean, energy: energy - mean })
    }

    fn set_full_step(&mut self, full: f64) {
        if self.field.set_full_step(full) {
            self.forget();
        }
    }

    fn order(&self) -> usize {
        2 * self.s
    }

    fn moments(&self) -> usize {
        self.s.max(2)
    }

    fn interpolate(&self, z0: &Phase, h: f64, k: usize, z: &mut Phase) -> bool {
        if self.last.h != h || self.last.begin != *z0 {
            return false;
        }
        let weights = &self.moments[(k - 1) * self.s..k * self.s];
        z.t = z0.t + h * k as f64 / self.moments() as f64;
        for (lanes, (z, start)) in self.rates.chunks(self.field.width).zip(z.z.iter_mut().zip(&z0.z)) {
            let rise: f64 = weights.iter().zip(lanes).map(|(w, rate)| w * rate).sum();
            *z = start + h * rise;
        }
        true
    }

    fn boxed_clone(&self) -> Box<dyn Flow> {
        Box::new(self.clone())
    }
}
