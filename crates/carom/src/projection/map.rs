//! The projection P of all configurations onto the feasible ones.

use std::f64::consts::PI;

use super::circle::CircleArc;
use super::normal_form::NormalForm;
use crate::error::Result;
use crate::expr::{Expr, jacobian};
use crate::kernel::Kernel;
use crate::mechanics::Mechanics;
use crate::solve::{Lu, root};

/// P outside C, as expressions of z in the model's coordinates.
#[derive(Clone, Debug)]
pub struct Map {
    /// P(z).
    pub project: Vec<Expr>,
    /// The feasible arc, if the configurations are a circle.
    pub arc: Option<CircleArc>,
}

impl Map {
    /// The global projection of the normal form, transformed to the model's coordinates. [GP (14)–(16)]
    ///
    /// ```text
    /// z̄¹ ↦ −z̄¹,   z̄^i ↦ z̄^i − 2z̄¹/(1 + k(z̄¹)²)·Δ_i        P = Ψ⁻¹ ∘ P̄ ∘ Ψ
    /// ```
    ///
    /// `None` if Ψ has no inverse in closed form.
    pub fn global(form: &NormalForm, k: impl Into<Expr>) -> Option<Map> {
        let factor = 2.0 * form.phi / (1.0 + k.into() * form.phi.squared());
        let others: Vec<Expr> =
            form.others.iter().zip(&form.delta).map(|(&i, &delta)| form.q[i] - factor * delta).collect();
        Some(Map { project: form.inverse(-form.phi, &others)?, arc: None })
    }

    /// The projection of a circle onto an arc, with symbols for its midpoint c and half length a.
    pub fn on_circle(arc: CircleArc, [center, half]: [Expr; 2], theta: Expr) -> Map {
        Map { project: vec![arc.project_with(center, half, theta)], arc: Some(arc) }
    }
}

/// Evaluates P, P' and P⁻¹.
#[derive(Clone, Debug)]
pub struct Projector {
    n: usize,
    parameters: usize,
    arc: Option<CircleArc>,
    /// (parameters, z) → φ(z), P(z), P'(z) by rows, M_ii(z).
    kernel: Kernel,
    inputs: Vec<f64>,
    values: Vec<f64>,
    /// D⁻¹P'ᵀD and D⁻¹p_z, with D = diag √M_ii: in them units cancel.
    transposed: Vec<f64>,
    scaled: Vec<f64>,
    lu: Lu,
}

impl Projector {
    /// Compiles P for a system and its first wall.
    pub fn new(map: &Map, mechanics: &Mechanics, parameters: &[f64]) -> Result<Projector> {
        let n = mechanics.n();
        let slopes = jacobian(&map.project, &mechanics.q).concat();
        let masses = mechanics.mass().into_iter().enumerate().map(|(i, row)| row[i]).collect();
        let outputs = [vec![mechanics.walls[0]], map.project.clone(), slopes, masses].concat();
        let mut inputs = vec![0.0; parameters.len() + n];
        inputs[..parameters.len()].copy_from_slice(parameters);
        Ok(Projector {
            n,
            parameters: parameters.len(),
            arc: map.arc,
            kernel: mechanics.kernel(&mechanics.q, &outputs)?,
            inputs,
            values: vec![0.0; outputs.len()],
            transposed: vec![0.0; n * n],
            scaled: vec![0.0; n],
            lu: Lu::new(n),
        })
    }

    /// The same compiled map with another arc.
    pub(crate) fn with_arc(&self, arc: Option<CircleArc>) -> Projector {
        Projector { arc, ..self.clone() }
    }

    /// Sets the parameter values.
    pub fn set_parameters(&mut self, parameters: &[f64]) {
        self.inputs[..self.parameters].copy_from_slice(parameters);
    }

    fn evaluate(&mut self, z: &[f64]) {
        self.inputs[self.parameters..].copy_from_slice(z);
        self.kernel.eval(&self.inputs, &mut self.values);
    }

    /// φ(z).
    pub fn phi(&mut self, z: &[f64]) -> f64 {
        self.evaluate(z);
        self.values[0]
    }

    /// The formula for P outside C, evaluated even if z is inside.
    pub(crate) fn beyond(&mut self, z: &[f64]) -> (&[f64], &[f64]) {
        self.evaluate(z);
        self.values[1..1 + self.n + self.n * self.n].split_at(self.n)
    }

    /// P(z).
    pub fn project(&mut self, z: &[f64]) -> Vec<f64> {
        let z = self.in_chart(z);
        if self.phi(&z) >= 0.0 { z } else { self.beyond(&z).0.to_vec() }
    }

    /// P'(z) by rows; at the wall, the one-sided value for φ > 0.
    pub fn jac_project(&mut self, z: &[f64]) -> Vec<f64> {
        let z = self.in_chart(z);
        if self.phi(&z) < 0.0 {
            return self.beyond(&z).1.to_vec();
        }
        (0..self.n * self.n).map(|k| if k % (self.n + 1) == 0 { 1.0 } else { 0.0 }).collect()
    }

    fn in_chart(&mut self, z: &[f64]) -> Vec<f64> {
        match self.arc {
            Some(arc) => {
                let outside = self.phi(z) < 0.0;
                vec![arc.chart(z[0], outside)]
            }
            None => z.to_vec(),
        }
    }

    /// Shifts z into the chart of a side.
    pub(crate) fn change_chart(&self, z: &mut [f64], outside: bool) {
        if let Some(arc) = self.arc {
            z[0] = arc.chart(z[0], outside);
        }
    }

    /// Computes q = P(z), and p from P'ᵀ p = p_z, for z outside C. Returns false if P' is singular.
    pub(crate) fn push(&mut self, z: &[f64], p_z: &[f64], q: &mut [f64], p: &mut [f64]) -> bool {
        let n = self.n;
        self.evaluate(z);
        let (project, rest) = self.values[1..].split_at(n);
        let (slopes, masses) = rest.split_at(n * n);
        q.copy_from_slice(project);
        for i in 0..n {
            for j in 0..n {
                self.transposed[j * n + i] = slopes[i * n + j] * (masses[i] / masses[j]).sqrt();
            }
        }
        let regular = self.lu.factor(&self.transposed);
        if regular {
            self.scaled.iter_mut().zip(p_z).zip(masses).for_each(|((scaled, p), mass)| *scaled = p / mass.sqrt());
            self.lu.solve(&self.scaled, p);
            p.iter_mut().zip(masses).for_each(|(p, mass)| *p *= mass.sqrt());
        }
        regular
    }

    /// P⁻¹(q) outside C for a configuration q inside. `None` if Newton's method does not converge.
    pub fn inverse(&mut self, q: &[f64]) -> Option<Vec<f64>> {
        if let Some(arc) = self.arc {
            let (low, high) = (arc.center + arc.half, arc.center + 2.0 * PI - arc.half);
            let ends = ((low, arc.center + arc.half - q[0]), (high, arc.center - arc.half - q[0]));
            let f = |x: f64| Ok::<_, ()>((self.beyond(&[x]).0[0] - q[0], -1.0));
            return root::bracketed(f, ends.0, ends.1, arc.center + PI).ok().map(|x| vec![x]);
        }
        // The same formula maps q close to z, because at the wall P' is its own inverse.
        let start = self.beyond(q).0.to_vec();
        self.solve(q, start)
    }

    /// Solves P(z) = q near `start` by Newton's method with step halving.
    pub(crate) fn solve(&mut self, q: &[f64], start: Vec<f64>) -> Option<Vec<f64>> {
        self.evaluate(q);
        let masses = self.values[1 + self.n + self.n * self.n..].to_vec();
        let length = |dq: &mut dyn Iterator<Item = f64>| dq.zip(&masses).map(|(dq, m)| m * dq * dq).sum::<f64>().sqrt();
        let distance = |a: &[f64], b: &[f64]| length(&mut a.iter().zip(b).map(|(a, b)| a - b));
        let (mut z, mut correction) = (start, vec![0.0; self.n]);
        let mut off = distance(self.beyond(&z).0, q);
        let close = 1e-12 * (length(&mut q.iter().copied()) + length(&mut z.iter().copied()));
        for _ in 0..100 {
            let (image, slopes) = self.beyond(&z);
            let residual: Vec<f64> = image.iter().zip(q).map(|(a, b)| a - b).collect();
            let slopes = slopes.to_vec();
            if !self.lu.factor(&slopes) {
                return None;
            }
            self.lu.solve(&residual, &mut correction);
            let mut part = 1.0;
            let (next, next_off) = loop {
                let next: Vec<f64> = z.iter().zip(&correction).map(|(z, dz)| z - part * dz).collect();
                let next_off = distance(self.beyond(&next).0, q);
                if next_off < off || part < 1e-8 {
                    break (next, next_off);
                }
                part *= 0.5;
            };
            if next_off.is_nan() || next_off >= off {
                break;
            }
            (z, off) = (next, next_off);
        }
        (off <= close).then_some(z)
    }
}
