//! Gauss collocation.

use super::collocation::Collocation;
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
/// The stages are found by fixed-point iteration to roundoff. The first guess continues the polynomial of the last step.
#[derive(Clone)]
pub struct Gauss {
    s: usize,
    /// 2n
    size: usize,
    rule: Collocation,
    field: Rates,
    /// f at the stages, stage after stage.
    rates: Vec<f64>,
    /// H at the stages.
    energies: Vec<f64>,
    stages: Vec<f64>,
    guess: Vec<f64>,
    interpolation: Vec<f64>,
    /// ∫₀^x ℓⱼ at the moments x inside a step, by rows.
    moments: Vec<f64>,
    last: Last,
}

/// What the stages follow.
#[derive(Clone)]
enum Rates {
    /// Hamilton's equations of H.
    Field(Field),
    /// Those of a modified Hamiltonian of the full step.
    Modified { ham_mod: Box<dyn ModifiedHamiltonian>, h: f64, point: Phase, values: Vec<f64> },
}

impl Rates {
    /// (q̇, ṗ, H) at (t, z).
    fn at(&mut self, t: f64, z: &[f64]) -> std::result::Result<&[f64], NoSolution> {
        match self {
            Rates::Field(field) => field.at(t, z),
            Rates::Modified { ham_mod, h, point, values } => {
                let n = z.len() / 2;
                point.t = t;
                point.z.copy_from_slice(z);
                values[2 * n] = ham_mod.gradient(point, *h, &mut values[..2 * n])?;
                // (H_q, H_p) → (H_p, −H_q)
                let (q, p) = values[..2 * n].split_at_mut(n);
                q.swap_with_slice(p);
                p.iter_mut().for_each(|x| *x = -*x);
                Ok(values)
            }
        }
    }
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
        let field = Rates::Field(Field::new(mechanics, parameters)?);
        Ok(Gauss::following(field, stages, 2 * mechanics.n()))
    }

    /// Follows Hamilton's equations of a modified Hamiltonian; `size` is that of a state.
    pub fn of_modified(ham_mod: Box<dyn ModifiedHamiltonian>, stages: usize, size: usize) -> Gauss {
        let point = Phase { t: 0.0, z: vec![0.0; size] };
        let field = Rates::Modified { ham_mod, h: 0.0, point, values: vec![0.0; size + 1] };
        Gauss::following(field, stages, size)
    }

    fn following(field: Rates, s: usize, size: usize) -> Gauss {
        let nowhere = Phase { t: f64::NAN, z: vec![0.0; size] };
        let rule = Collocation::gauss(s);
        let inside = (1..s.max(2)).map(|k| k as f64 / s.max(2) as f64);
        Gauss {
            s,
            size,
            moments: inside.flat_map(|x| rule.integrals(x)).collect(),
            rule,
            field,
            rates: vec![0.0; s * size],
            energies: vec![0.0; s],
            stages: vec![0.0; s * size],
            guess: vec![0.0; s * size],
            interpolation: vec![0.0; s * s],
            last: Last { h: 0.0, begin: nowhere.clone(), end: nowhere },
        }
    }

    /// Fills `rates` with a first guess: the last step's polynomial where it begins or ends here, else f(z0).
    fn predict(&mut self, z0: &Phase, h: f64) -> std::result::Result<(), NoSolution> {
        let (s, size) = (self.s, self.size);
        // A polynomial is not followed far beyond its own step.
        let ratio = h / self.last.h;
        let near = ratio.abs() <= 2.0;
        let start = if near && *z0 == self.last.end {
            1.0
        } else if near && *z0 == self.last.begin {
            0.0
        } else {
            let rates = &self.field.at(z0.t, &z0.z)?[..size];
            self.rates.chunks_mut(size).for_each(|stage| stage.copy_from_slice(rates));
            return Ok(());
        };
        self.rule.interpolation(self.rule.c.iter().map(|c| start + c * ratio), &mut self.interpolation);
        combine(&self.interpolation, &self.rates, size, s, &mut self.guess);
        std::mem::swap(&mut self.guess, &mut self.rates);
        Ok(())
    }

    /// One round of the iteration; returns how far the stages moved, relative to the state.
    fn iterate(&mut self, z0: &Phase, h: f64) -> std::result::Result<f64, NoSolution> {
        let (s, size) = (self.s, self.size);
        combine(&self.rule.a, &self.rates, size, s, &mut self.stages);
        // A sum, not a maximum: NaN must not get lost.
        let mut moved = 0.0f64;
        let scale: f64 = z0.z.iter().map(|x| x.abs()).sum();
        for i in 0..s {
            let stage = &mut self.stages[i * size..(i + 1) * size];
            stage.iter_mut().zip(&z0.z).for_each(|(x, z)| *x = z + h * *x);
            let values = self.field.at(z0.t + self.rule.c[i] * h, stage)?;
            let rates = &mut self.rates[i * size..(i + 1) * size];
            for (rate, &value) in rates.iter_mut().zip(values) {
                moved += (value - *rate).abs();
                *rate = value;
            }
            self.energies[i] = values[size];
        }
        Ok(moved * h.abs() / (scale * s as f64))
    }
}

/// out_i = Σⱼ mᵢⱼ xⱼ for blocks x of `size`.
fn combine(m: &[f64], x: &[f64], size: usize, s: usize, out: &mut [f64]) {
    for (row, out) in m.chunks(s).zip(out.chunks_mut(size)) {
        out.fill(0.0);
        for (weight, block) in row.iter().zip(x.chunks(size)) {
            out.iter_mut().zip(block).for_each(|(sum, x)| *sum += weight * x);
        }
    }
}

impl Flow for Gauss {
    fn step(&mut self, z0: &Phase, h: f64, z1: &mut Phase) -> std::result::Result<(), NoSolution> {
        self.predict(z0, h)?;
        let mut previous = f64::INFINITY;
        let mut rounds = 0;
        loop {
            let moved = self.iterate(z0, h)?;
            rounds += 1;
            // At roundoff the changes stop to shrink.
            if moved <= 0.5 * f64::EPSILON || (moved >= previous && moved <= 1e-13) {
                break;
            }
            if !moved.is_finite() || rounds > MAX_ITERATIONS {
                self.last.begin.t = f64::NAN;
                self.last.end.t = f64::NAN;
                return Err(NoSolution::Diverged);
            }
            previous = moved;
        }
        z1.t = z0.t + h;
        for (k, (z, start)) in z1.z.iter_mut().zip(&z0.z).enumerate() {
            let rise: f64 = (0..self.s).map(|i| self.rule.b[i] * self.rates[i * self.size + k]).sum();
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
        let (s, n) = (self.s, self.size / 2);
        combine(&self.rule.a, &self.rates, self.size, s, &mut self.guess);
        let (mut mean, mut energy) = (0.0, 0.0);
        for i in 0..s {
            let (v, force) = self.rates[i * self.size..(i + 1) * self.size].split_at(n);
            let p = &self.stages[i * self.size + n..(i + 1) * self.size];
            let rise = &self.guess[i * self.size..i * self.size + n];
            let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
            mean += self.rule.b[i] * (dot(p, v) - self.energies[i]);
            energy += self.rule.b[i] * (dot(self.last.end.p(), v) - self.last.h * dot(force, rise));
        }
        Some(Discrete { action: self.last.h * mean, energy: energy - mean })
    }

    fn set_full_step(&mut self, full: f64) {
        if let Rates::Modified { h, .. } = &mut self.field
            && *h != full
        {
            *h = full;
            self.last.begin.t = f64::NAN;
            self.last.end.t = f64::NAN;
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
        for (i, (z, start)) in z.z.iter_mut().zip(&z0.z).enumerate() {
            let rise: f64 = weights.iter().enumerate().map(|(j, w)| w * self.rates[j * self.size + i]).sum();
            *z = start + h * rise;
        }
        true
    }

    fn boxed_clone(&self) -> Box<dyn Flow> {
        Box::new(self.clone())
    }
}
