//! The equations of a step in a contact mode, and their Jacobian.

use std::ops::Range;
use std::sync::Arc;

use super::border::Border;
use super::code::HeldCode;
use crate::limits::RESIDUAL_ROUNDOFF;
use crate::mechanics::{Bordered, Local};
use crate::phase::Phase;
use crate::solve::{MarkowitzLu, largest_part};
use crate::system::Enforce;

/// The equations of [`crate::flow::Variational`] with one-point constraints, two-point constraints and walls, assembled
/// numerically.
///
/// With ṗ = L_q + F and the coefficients of [`HeldCode`], the derivatives f_e of the action at the points e = 0, …, last of a
/// step are
///
/// ```text
/// f_e = Σᵢ bᵢ (h αᵢ_e ṗᵢ + βᵢ_e L_v,ᵢ),   αᵢ_0 = 1 − Σ_k αᵢ_k,   βᵢ_0 = −Σ_k βᵢ_k
/// p0 + f_0 − λ_0 Dg(q0) = 0,   f_e − λ_e Dg(Q_e) = 0,   g(Q_e)/h = 0,   p1 = f_last
/// ```
///
/// Their Jacobian is bordered by the gradients of the rows at the constrained points:
///
/// ```text
/// ∂f_e/∂U_l = Σᵢ bᵢ [h αᵢ_e (h αᵢ_l ṗ_q + βᵢ_l ṗ_v) + βᵢ_e (h αᵢ_l L_vq + βᵢ_l L_vv)],   ∂(λDg(Q_e))/∂U_e = h λ ∇²g
/// ```
#[derive(Clone, Debug)]
pub(super) struct Equations {
    pub(super) code: Arc<HeldCode>,
    pub(super) local: Local,
    /// The rows that are enforced at points (one-point), and those enforced between points (two-point).
    pub(super) one_point: Vec<usize>,
    two_point: Vec<usize>,
    /// U of the points 1, 2, …, then the multipliers: of `one_point` at each point where they act, then of `two_point`.
    pub(super) unknowns: Vec<f64>,
    pub(super) correction: Vec<f64>,
    residuals: Vec<f64>,
    /// The sum of the absolute terms of each residual; from [`Equations::largest_part`] on also of the terms ∂rᵢ/∂xⱼ·xⱼ.
    sizes: Vec<f64>,
    /// f at the last point: p1 before its projection onto the tangent space.
    pub(super) p1: Vec<f64>,
    /// True if p1 is linear in U, as the matrices of [`crate::mechanics::LocalCode`] are constant, and there are no inner points, whose
    /// evaluation would take most of the time anyway.
    is_linear: bool,
    /// The gradients of the one-point rows at q0, each on its support.
    normals: Vec<f64>,
    matrix: Vec<f64>,
    pub(super) lu: MarkowitzLu,
}

impl Equations {
    pub(super) fn new(code: &Arc<HeldCode>, walls: &[usize], parameters: &[f64]) -> Equations {
        let local = &code.local;
        let walls = walls.iter().map(|&wall| local.row_of_wall(wall));
        let one_point: Vec<usize> = local.tangent_rows().chain(walls).collect();
        let two_point: Vec<usize> =
            (0..local.enforce.len()).filter(|&row| local.enforce[row] != Enforce::OnePoint).collect();
        let size = local.n * code.last() + one_point.len() * code.constrained.len() + two_point.len();
        let is_linear = two_point.is_empty() && code.last() == 1 && local.are_matrices_constant();
        let zeros = vec![0.0; size];
        let normals = one_point.iter().map(|&row| local.support(row).len()).sum();
        let mut equations = Equations {
            local: Local::new(local, parameters),
            one_point,
            two_point,
            unknowns: zeros.clone(),
            correction: zeros.clone(),
            residuals: zeros.clone(),
            sizes: zeros,
            p1: vec![0.0; local.n],
            is_linear,
            normals: vec![0.0; normals],
            matrix: vec![0.0; size * size],
            lu: MarkowitzLu::new(0, Vec::new()),
            code: code.clone(),
        };
        equations.lu = MarkowitzLu::new(size, equations.entries());
        equations
    }

    /// True if a motion with constant acceleration solves the equations: every quadrature of order 2 integrates it exactly.
    pub(super) fn are_uniform(&self) -> bool {
        let Equations { code, one_point, two_point, .. } = self;
        code.order > 1 && code.has_polynomial() && two_point.is_empty() && code.local.is_uniform(one_point)
    }

    /// The number of multipliers.
    pub(super) fn multipliers(&self) -> usize {
        self.unknowns.len() - self.code.local.n * self.code.last()
    }

    /// The two points of link k: the multiplier of a one-point row acts at the first point, so that the row holds at the
    /// second.
    fn link(&self, k: usize) -> [usize; 2] {
        [self.linked(k), self.linked(k + 1)]
    }

    /// Point k in the sequence of points at which one-point rows act or hold.
    fn linked(&self, k: usize) -> usize {
        if k == 0 { 0 } else { self.code.constrained[k - 1] }
    }

    /// The index of the first multiplier of one-point rows at a link.
    fn first(&self, link: usize) -> usize {
        self.code.local.n * self.code.last() + link * self.one_point.len()
    }

    /// The structurally nonzero positions of the Jacobian.
    fn entries(&self) -> Vec<usize> {
        let (n, last, size) = (self.code.local.n, self.code.last(), self.unknowns.len());
        let mut entries = Vec::new();
        let block = |e: usize, l: usize, i: usize, j: usize| (e * n + i) * size + (l - 1) * n + j;
        for (e, l) in (0..last).flat_map(|e| (1..=last).map(move |l| (e, l))) {
            entries.extend(self.code.local.entries.iter().flatten().map(|&(i, j)| block(e, l, i, j)));
        }
        let mut border = |row: usize, multiplier: usize, [from, to]: [usize; 2], bend: usize| {
            let support = self.code.local.support(row);
            for &i in support {
                entries.extend([(from * n + i) * size + multiplier, multiplier * size + (to - 1) * n + i]);
                if bend > 0 {
                    entries.extend(support.iter().map(|&j| block(from, bend, i, j)));
                }
            }
        };
        for link in 0..self.code.constrained.len() {
            let (first, points) = (self.first(link), self.link(link));
            self.one_point.iter().enumerate().for_each(|(k, &row)| border(row, first + k, points, points[0]));
        }
        let first = self.first(self.code.constrained.len());
        self.two_point.iter().enumerate().for_each(|(k, &row)| border(row, first + k, [0, last], last));
        entries
    }

    /// Sets the unknowns to those of a motion with this velocity, acceleration and multipliers of the one-point rows at its beginning;
    /// empty ones are zero. With w_e = Σᵢ bᵢαᵢ_e:
    ///
    /// ```text
    /// U_e = c_e (v + c_e h a/2),   λ_e = h w_e λ
    /// ```
    pub(super) fn follow(&mut self, h: f64, v: &[f64], a: &[f64], lambda: &[f64]) {
        let Equations { code, unknowns, one_point, .. } = self;
        let (points, multipliers) = unknowns.split_at_mut(code.local.n * code.last());
        for (u, c) in points.chunks_mut(v.len()).zip(&code.points.times[1..]) {
            u.iter_mut().zip(v).for_each(|(u, v)| *u = c * v);
            u.iter_mut().zip(a).for_each(|(u, a)| *u += 0.5 * c * c * h * a);
        }
        multipliers.fill(0.0);
        let at = [0].iter().chain(&code.constrained);
        for (links, point) in multipliers.chunks_mut(one_point.len().max(1)).zip(at).take(code.constrained.len()) {
            links.iter_mut().zip(lambda).for_each(|(link, lambda)| *link = h * code.weights[*point] * lambda);
        }
    }

    /// Sets the state of `local` to the point at fraction `part` of the way from q0 to point k, at time c·h of the step.
    fn go_to(local: &mut Local, unknowns: &[f64], k: usize, part: f64, z0: &Phase, (h, c): (f64, f64)) {
        let n = local.code.n;
        let q = local.state_mut(z0.t + c * h).0;
        q.copy_from_slice(z0.q());
        if k > 0 {
            q.iter_mut().zip(&unknowns[(k - 1) * n..]).for_each(|(q, u)| *q += h * part * u);
        }
    }

    /// Takes the gradients at q0 from the projection of a state there, or computes them.
    pub(super) fn begin(&mut self, z0: &Phase, h: f64, projection: Option<&Bordered>) {
        let Equations { code, local, one_point, normals, .. } = self;
        if projection.is_none() {
            Self::go_to(local, &self.unknowns, 0, 1.0, z0, (h, 0.0));
        }
        let mut normals = &mut normals[..];
        for (k, &row) in one_point.iter().enumerate() {
            let support = code.local.support(row);
            let (normal, others) = normals.split_at_mut(support.len());
            match projection {
                Some(known) => normal.iter_mut().zip(support).for_each(|(x, &i)| *x = known.slope(k, i)),
                None => normal.copy_from_slice(local.row(row).grad),
            }
            normals = others;
        }
    }

    /// Computes the residuals and the Jacobian at the unknowns.
    pub(super) fn evaluate(&mut self, z0: &Phase, h: f64) {
        self.lu.clear(&mut self.matrix);
        for number in 0..self.code.samples.len() {
            self.add_sample(number, z0, h);
        }
        self.add_one_point(z0, h);
        if !self.two_point.is_empty() {
            self.add_two_point(z0, h);
        }
    }

    /// The largest residual relative to its terms, after an evaluation.
    pub(super) fn largest_part(&mut self) -> f64 {
        let (sizes, unknowns) = (&mut self.sizes, &self.unknowns);
        self.lu.for_each(&self.matrix, |i, j, slope| sizes[i] += (slope * unknowns[j]).abs());
        largest_part(&self.residuals, &self.sizes)
    }

    /// Adds the contribution of a sample to the residuals and the Jacobian.
    fn add_sample(&mut self, number: usize, z0: &Phase, h: f64) {
        let Equations { code, local, unknowns, residuals, sizes, p1, matrix, .. } = self;
        let (n, last, size) = (code.local.n, code.last(), unknowns.len());
        let sample = &code.samples[number];
        sample.place(local, unknowns, z0, h);
        let values = local.slopes(h);
        let (momenta, rest) = values.split_at(n);
        let (rates, mut rest) = rest.split_at(n);
        let p0 = &z0.p()[..n];
        for e in 0..=last {
            let [x, y] = sample.pull(e, h);
            if e == last {
                for i in 0..n {
                    let term = x * rates[i] + y * momenta[i];
                    p1[i] = if number == 0 { term } else { p1[i] + term };
                }
                continue;
            }
            let (pulls, terms) = (&mut residuals[e * n..][..n], &mut sizes[e * n..][..n]);
            for i in 0..n {
                let (rate, momentum) = (x * rates[i], y * momenta[i]);
                let (begin, size) = match (number, e) {
                    (0, 0) => (p0[i], p0[i].abs()),
                    (0, _) => (0.0, 0.0),
                    _ => (pulls[i], terms[i]),
                };
                (pulls[i], terms[i]) = (begin + (rate + momentum), size + (rate.abs() + momentum.abs()));
            }
        }
        let powers = [1.0, h, h * h, h];
        for (which, entries) in code.local.entries.iter().enumerate() {
            let (values, others) = rest.split_at(entries.len());
            rest = others;
            // Entries that are equal at all samples are added once.
            let constants = code.local.constants[which];
            let (is_first, varies) = (number == 0 && constants > 0, constants < entries.len());
            if !is_first && !varies {
                continue;
            }
            for (e, l) in (0..last).flat_map(|e| (1..=last).map(move |l| (e, l))) {
                let block = &mut matrix[e * n * size + (l - 1) * n..];
                let mut add = |factor: f64, range: Range<usize>| {
                    let pairs = entries[range.clone()].iter().zip(&values[range]);
                    pairs.for_each(|((i, j), value)| block[i * size + j] += factor * value);
                };
                if is_first {
                    add(powers[which] * code.sums[e][l][which], 0..constants);
                }
                if varies {
                    add(powers[which] * sample.products(e, l)[which], constants..entries.len());
                }
            }
        }
    }

    /// Adds the one-point rows: their forces λ Dg and the equations g = 0.
    fn add_one_point(&mut self, z0: &Phase, h: f64) {
        let (links, count) = (self.code.constrained.len(), self.one_point.len());
        let first = self.first(0);
        let mut border = Border::new(&mut self.residuals, &mut self.sizes, &mut self.matrix, self.code.local.n);
        let mut normals = &self.normals[..];
        for (number, &row) in self.one_point.iter().enumerate() {
            let support = self.code.local.support(row);
            let (normal, others) = normals.split_at(support.len());
            border.pull((support, normal), (first + number, self.unknowns[first + number]), 0, 1.0);
            normals = others;
        }
        for k in 1..=links {
            let (point, next) = (self.code.constrained[k - 1], first + k * count);
            Self::go_to(&mut self.local, &self.unknowns, point, 1.0, z0, (h, self.code.points.times[point]));
            for (number, &row) in self.one_point.iter().enumerate() {
                let row = self.local.row(row);
                border.hold(&row, next - count + number, point, 1.0, h);
                if k < links {
                    let multiplier = (next + number, self.unknowns[next + number]);
                    border.pull((row.support, row.grad), multiplier, point, 1.0);
                    border.bend(&row, multiplier.1, point, 1.0, (point, h));
                }
            }
        }
    }

    /// Adds the two-point rows: their forces λ Dg and the equations g = 0.
    fn add_two_point(&mut self, z0: &Phase, h: f64) {
        let (last, part, first) = (self.code.last(), self.code.part, self.first(self.code.constrained.len()));
        Self::go_to(&mut self.local, &self.unknowns, last, part, z0, (h, part));
        for (k, &row) in self.two_point.iter().enumerate() {
            let (row, at) = (self.local.row(row), first + k);
            let mut border = Border::new(&mut self.residuals, &mut self.sizes, &mut self.matrix, self.code.local.n);
            border.hold(&row, at, last, part, h);
            border.pull((row.support, row.grad), (at, self.unknowns[at]), 0, 1.0 - part);
            border.bend(&row, self.unknowns[at], 0, 1.0 - part, (last, h * part));
        }
    }

    /// Subtracts the Newton correction from the unknowns. Returns false if the Jacobian is singular.
    pub(super) fn correct(&mut self) -> bool {
        if !self.lu.factor(&self.matrix) {
            return false;
        }
        self.lu.solve(&mut self.residuals, &mut self.correction);
        self.unknowns.iter_mut().zip(&self.correction).for_each(|(x, dx)| *x -= dx);
        true
    }

    /// True if the residuals of the last evaluation are roundoff of the coordinates: each is within that of the terms
    /// ∂rᵢ/∂Uⱼ·qⱼ/h. Gradients that vanish by symmetry are differences of coordinates, which no term of rᵢ tells.
    #[cold]
    pub(super) fn is_roundoff_of_coordinates(&mut self, z0: &Phase, h: f64) -> bool {
        let Equations { code, lu, matrix, residuals, sizes, .. } = self;
        let (n, points) = (code.local.n, code.local.n * code.last());
        lu.for_each(matrix, |i, j, slope| {
            if j < points {
                sizes[i] += (slope * z0.q()[j % n] / h).abs();
            }
        });
        largest_part(residuals, sizes) <= RESIDUAL_ROUNDOFF
    }

    /// True if the last point is on the one-point rows, to roundoff.
    pub(super) fn ends_on_rows(&mut self, z0: &Phase, h: f64) -> bool {
        Self::go_to(&mut self.local, &self.unknowns, self.code.last(), 1.0, z0, (h, 1.0));
        self.one_point.iter().all(|&row| {
            let row = self.local.row(row);
            row.g.abs() <= RESIDUAL_ROUNDOFF * row.size
        })
    }

    /// Completes f at the last point. If it is linear in U, and the unknowns have been corrected by dU since the last evaluation,
    ///
    /// ```text
    /// f_last ← f_last − ∂f_last/∂U dU
    /// ```
    ///
    /// is exact; otherwise f is computed again.
    pub(super) fn finish(&mut self, z0: &Phase, h: f64, is_corrected: bool) {
        if !self.is_linear {
            self.end(z0, h);
        } else if is_corrected {
            let Equations { code, local, correction, p1, .. } = self;
            let (sums, mut rest) = (&code.sums[1][1], local.matrices());
            for ((entries, sum), power) in code.local.entries.iter().zip(sums).zip([1.0, h, h * h, h]) {
                let (values, others) = rest.split_at(entries.len());
                rest = others;
                entries.iter().zip(values).for_each(|(&(i, j), value)| p1[i] -= power * sum * value * correction[j]);
            }
        }
    }

    /// Computes f at the last point.
    pub(super) fn end(&mut self, z0: &Phase, h: f64) {
        let n = self.code.local.n;
        self.p1.fill(0.0);
        for sample in &self.code.samples {
            sample.place(&mut self.local, &self.unknowns, z0, h);
            let [x, y] = sample.pull(self.code.last(), h);
            let (momenta, rates) = self.local.motion()[2..].split_at(n);
            self.p1.iter_mut().zip(momenta.iter().zip(rates)).for_each(|(f, (p, rate))| *f += x * rate + y * p);
        }
        let (last, part, first) = (self.code.last(), self.code.part, self.first(self.code.constrained.len()));
        Self::go_to(&mut self.local, &self.unknowns, last, part, z0, (h, part));
        for (k, &row) in self.two_point.iter().enumerate() {
            self.local.row(row).add_to(-part * self.unknowns[first + k], &mut self.p1);
        }
    }

    /// L_d = h Σ bᵢLᵢ and −D₃L_d = Σ bᵢ (L_v·v − L − cᵢ h L_t)ᵢ of the step.
    pub(super) fn discrete(&mut self, z0: &Phase, h: f64) -> [f64; 2] {
        let (n, mut sums) = (self.code.local.n, [0.0; 2]);
        for sample in &self.code.samples {
            sample.place(&mut self.local, &self.unknowns, z0, h);
            let (motion, v) = self.local.motion_and_velocity();
            let power: f64 = motion[2..2 + n].iter().zip(v).map(|(p, v)| p * v).sum();
            sums[0] += h * sample.b * motion[0];
            sums[1] += sample.b * (power - motion[0] - sample.c * h * motion[1]);
        }
        sums
    }
}
