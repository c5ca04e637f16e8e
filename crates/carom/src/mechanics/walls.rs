//! Evaluation of the walls.

use std::sync::Arc;

use super::{Field, Inputs, Mechanics, sum_of_terms};
use crate::error::{Diagnostic, Result};
use crate::expr::{Expr, any_depends_on, grad};
use crate::kernel::{Backend, Kernel, LaneKernel, Lanes};
use crate::phase::{MOMENTS, Moments, Phase, copy};
use crate::solve::NoSolution;
use crate::system::time;

/// From this number of walls on, the field does not compute their gaps: it is asked for velocities far more often.
const MANY: usize = 16;
/// From this number of walls on, kernels of single walls are interpreted: every impact looks at all walls, and compiling the code of
/// a wall takes longer than some hundred interpretations.
const VERY_MANY: usize = 256;

/// Evaluates φ and φ̇ of all walls at the two ends of a step; of one wall at all moments inside the step; and of one wall at a
/// state, with φ_t and ∇φ.
#[derive(Clone)]
pub(crate) struct Walls {
    code: Arc<Code>,
    /// The inputs at a state, and that state.
    inputs: Inputs,
    placed: Phase,
    /// The outputs of the kernel of one wall at that state, and the wall; none if they are not known there.
    values: Vec<f64>,
    at: Option<usize>,
    ends: [End; 2],
    /// The moments inside the step, once they have been computed.
    pub(crate) moments: Moments,
    gaps: [f64; 2 * MOMENTS],
}

/// The compiled gaps, shared by all clones.
struct Code {
    depends_on_time: bool,
    /// (parameters, t, q, v) → φ, φ̇ of each wall; none if the field computes them.
    all: Option<Kernel>,
    /// For each wall, (parameters, t, q, v) → φ, φ̇, φ_t, the sum of the absolute terms of φ, ∇φ.
    each: Vec<Kernel>,
    /// For each wall, (t, q, v) at all moments, and the parameters → φ, φ̇.
    inside: Vec<LaneKernel>,
}

const LANES: Lanes = Lanes::Eight;

/// One end of a step: the state, and φ, φ̇ of each wall; from the field also the two sizes of [`at_end`].
#[derive(Clone)]
struct End {
    z: Phase,
    values: Vec<f64>,
}

/// What the field computes of each wall at the end of a step: φ, φ̇, the size of what adds up to φ without the motion of a step,
/// |terms of φ| + Σ|∂φ/∂qᵢ qᵢ| + |φ_t t|, and that of what adds up to φ̇, |φ_t| + Σ|∂φ/∂qᵢ vᵢ|.
const AT_END: usize = 4;

/// The functions that the field is asked for: [`AT_END`] for each wall; none if there are many walls.
pub(crate) fn at_end(mechanics: &Mechanics, walls: &[Expr]) -> Vec<Expr> {
    if walls.len() >= MANY {
        return Vec::new();
    }
    let of_wall = |&phi: &Expr| {
        let all = gap_and_slopes(mechanics, phi);
        let (phi_t, grad_phi) = (all[2], &all[4..]);
        let along = |x: &[Expr]| grad_phi.iter().zip(x).map(|(&slope, &x)| (slope * x).abs()).sum::<Expr>();
        let size = all[3] + along(&mechanics.q) + (phi_t * time()).abs();
        [all[0], all[1], size, phi_t.abs() + along(&mechanics.v)]
    };
    walls.iter().flat_map(of_wall).collect()
}

impl Walls {
    /// Compiles the gaps of these walls, without those at the ends of a step if the field has them.
    pub(crate) fn new(mechanics: &Mechanics, walls: &[Expr], parameters: &[f64], field: &Field) -> Result<Walls> {
        let n = mechanics.n();
        let symbols = mechanics.state_symbols();
        let interpreted = mechanics.interpreted();
        let compiler = if walls.len() < VERY_MANY { mechanics } else { &interpreted };
        let each = walls.iter().map(|&phi| compiler.kernel(&symbols, &gap_and_slopes(mechanics, phi)));
        let inside = walls.iter().map(|&phi| {
            let outputs = gap_and_rate(mechanics, phi);
            let lanes = |backend| LaneKernel::with_backend(&symbols, &mechanics.parameters, &outputs, LANES, backend);
            let compiled = lanes(compiler.backend).or_else(|_| lanes(Backend::Interpreter));
            compiled.map_err(|e| Diagnostic::new(e.to_string()).into())
        });
        let gaps: Vec<Expr> = walls.iter().flat_map(|&phi| gap_and_rate(mechanics, phi)).collect();
        let nowhere = Phase { t: f64::NAN, z: vec![f64::NAN; 2 * n] };
        let per_wall = if field.has_extra() { AT_END } else { 2 };
        let end = End { z: nowhere, values: vec![0.0; per_wall * walls.len()] };
        let code = Code {
            depends_on_time: any_depends_on(&gaps, &[time()]),
            all: if field.has_extra() { None } else { Some(mechanics.kernel(&symbols, &gaps)?) },
            each: each.collect::<Result<_>>()?,
            inside: inside.collect::<Result<_>>()?,
        };
        Ok(Walls {
            code: Arc::new(code),
            inputs: Inputs::new(parameters, n),
            values: vec![0.0; n + 4],
            placed: end.z.clone(),
            at: None,
            ends: [end.clone(), end],
            moments: Moments::new(n),
            gaps: [0.0; 2 * MOMENTS],
        })
    }

    /// Sets the parameter values.
    pub(crate) fn set_parameters(&mut self, parameters: &[f64]) {
        self.inputs.set_parameters(parameters);
        self.forget();
    }

    /// Forgets the ends of the last step.
    pub(crate) fn forget(&mut self) {
        self.ends.iter_mut().for_each(|end| end.z.t = f64::NAN);
        self.ends.iter_mut().for_each(|end| end.z.z.fill(f64::NAN));
        self.placed.t = f64::NAN;
        self.at = None;
    }

    /// Computes φ and φ̇ of every wall at both ends of a step. The first end is usually the last end of the step before, and is
    /// reused.
    pub(crate) fn look_at_ends(
        &mut self,
        z0: &Phase,
        z1: &Phase,
        field: &mut Field,
    ) -> std::result::Result<(), NoSolution> {
        self.moments.count = 0;
        if !self.is_known(0, z0) {
            if self.is_known(1, z0) {
                self.ends.swap(0, 1);
            } else {
                self.look_at_end(0, z0, field)?;
            }
        }
        if self.is_known(1, z1) { Ok(()) } else { self.look_at_end(1, z1, field) }
    }

    fn is_known(&self, end: usize, z: &Phase) -> bool {
        let known = &self.ends[end].z;
        known.z == z.z && (known.t == z.t || !self.code.depends_on_time)
    }

    fn look_at_end(&mut self, end: usize, z: &Phase, field: &mut Field) -> std::result::Result<(), NoSolution> {
        if self.code.all.is_some() {
            self.place(z, field)?;
        }
        let End { z: known, values } = &mut self.ends[end];
        known.copy_from(z);
        match &self.code.all {
            Some(all) => all.eval(self.inputs.all(), values),
            None => copy(values, field.extra(z.t, &z.z)?),
        }
        // NaN must not count as an open gap. A sum propagates NaN.
        if values.iter().map(|x| 0.0 * x).sum::<f64>().is_nan() {
            known.t = f64::NAN;
            known.z.fill(f64::NAN);
            return Err(NoSolution::NoGap);
        }
        Ok(())
    }

    /// φ and φ̇ of a wall at the two ends of the step.
    pub(crate) fn ends(&self, wall: usize) -> [(f64, f64); 2] {
        let first = wall * self.per_wall();
        [0, 1].map(|end| (self.ends[end].values[first], self.ends[end].values[first + 1]))
    }

    /// At least the size of what adds up to φ at the start of a step of length h; infinite if it was not computed.
    pub(crate) fn most_of_gap(&self, wall: usize, h: f64) -> f64 {
        match self.code.all {
            Some(_) => f64::INFINITY,
            None => self.ends[0].values[AT_END * wall + 2] + h.abs() * self.ends[0].values[AT_END * wall + 3],
        }
    }

    fn per_wall(&self) -> usize {
        if self.code.all.is_some() { 2 } else { AT_END }
    }

    /// φ at all moments, then φ̇ at all moments, of one wall.
    pub(crate) fn inside(&mut self, wall: usize) -> std::result::Result<[f64; 2 * MOMENTS], NoSolution> {
        self.code.inside[wall].eval(&self.moments.lanes, self.inputs.parameters(), &mut self.gaps);
        let (phi, phi_dot) = self.gaps.split_at(MOMENTS);
        let count = self.moments.count;
        let is_number = phi[..count].iter().chain(&phi_dot[..count]).all(|x| !x.is_nan());
        if is_number { Ok(self.gaps) } else { Err(NoSolution::NoGap) }
    }

    /// φ and φ̇ at a state.
    pub(crate) fn gap_and_rate(
        &mut self,
        wall: usize,
        z: &Phase,
        field: &mut Field,
    ) -> std::result::Result<(f64, f64), NoSolution> {
        self.place(z, field)?;
        if self.at != Some(wall) {
            self.evaluate(wall);
        }
        checked(&self.values)
    }

    /// Evaluates the kernel of one wall at the inputs.
    fn evaluate(&mut self, wall: usize) {
        self.code.each[wall].eval(self.inputs.all(), &mut self.values);
        self.at = Some(wall);
    }

    /// The sum of absolute terms in φ̇ at a state: |φ_t| + Σ|∂φ/∂qᵢ vᵢ|. The roundoff of φ̇ is proportional to it.
    pub(crate) fn size_of_rate(
        &mut self,
        wall: usize,
        z: &Phase,
        field: &mut Field,
    ) -> std::result::Result<f64, NoSolution> {
        self.gap_and_rate(wall, z, field)?;
        let v = self.inputs.v();
        Ok(self.values[2].abs() + self.values[4..].iter().zip(v).map(|(slope, v)| (slope * v).abs()).sum::<f64>())
    }

    /// The size of what adds up to φ at a state, of which its roundoff is a part: the sum of its absolute terms, and what it owes
    /// to the coordinates and the time, Σ|∂φ/∂qᵢ|(|qᵢ| + |Δqᵢ|) + |φ_t t|, where the last step moved the coordinates by Δq.
    pub(crate) fn size_of_gap(
        &mut self,
        wall: usize,
        z: &Phase,
        moved: &[f64],
        field: &mut Field,
    ) -> std::result::Result<f64, NoSolution> {
        self.gap_and_rate(wall, z, field)?;
        let pairs = self.values[4..].iter().zip(z.q().iter().zip(moved));
        let by_q: f64 = pairs.map(|(slope, (q, moved))| slope.abs() * (q.abs() + moved.abs())).sum();
        Ok(self.values[3] + by_q + (self.values[2] * z.t).abs())
    }

    /// Returns φ_t and writes ∇φ into `gradient`.
    pub(crate) fn normal(&mut self, wall: usize, z: &Phase, gradient: &mut [f64]) -> f64 {
        if self.placed != *z {
            self.inputs.place_q(z.t, z.q());
            self.evaluate(wall);
            // The velocities are not those of z.
            self.placed.t = f64::NAN;
            self.at = None;
        } else if self.at != Some(wall) {
            self.evaluate(wall);
        }
        copy(gradient, &self.values[4..]);
        self.values[2]
    }

    /// Writes the inputs at a state.
    fn place(&mut self, z: &Phase, field: &mut Field) -> std::result::Result<(), NoSolution> {
        if self.placed != *z {
            self.at = None;
            self.placed.t = f64::NAN;
            self.inputs.place(z.t, z.q(), field.velocity(z.t, &z.z)?);
            self.placed.copy_from(z);
        }
        Ok(())
    }
}

/// Returns φ and φ̇, or an error if they are NaN: NaN must not count as an open gap.
fn checked(values: &[f64]) -> std::result::Result<(f64, f64), NoSolution> {
    if values[0].is_nan() || values[1].is_nan() { Err(NoSolution::NoGap) } else { Ok((values[0], values[1])) }
}

/// φ and φ̇ of a wall.
pub(crate) fn gap_and_rate(mechanics: &Mechanics, phi: Expr) -> [Expr; 2] {
    let all = gap_and_slopes(mechanics, phi);
    [all[0], all[1]]
}

/// φ, φ̇ = φ_t + ∇φ·v, φ_t, the sum of the absolute terms of φ, ∇φ.
fn gap_and_slopes(mechanics: &Mechanics, phi: Expr) -> Vec<Expr> {
    let (phi_t, grad_phi) = (phi.diff(time()), grad(phi, &mechanics.q));
    let swept: Expr = grad_phi.iter().zip(&mechanics.v).map(|(&slope, &v)| slope * v).sum();
    [phi, phi_t + swept, phi_t, sum_of_terms(phi)].into_iter().chain(grad_phi).collect()
}
