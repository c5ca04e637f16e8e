//! Functions of the places of points, and the tangent space on which they stay zero.

use super::{Articulated, Force, Pose, Surroundings, Tree};
use crate::solve::{Lu, NoSolution, Solved};

/// Functions g of the places of points, the coordinates and the time: the constraints and walls of a model.
pub trait Relations {
    /// How many there are.
    fn count(&self) -> usize;

    /// Evaluates them at a pose.
    fn evaluate(&mut self, tree: &Tree, pose: &Pose, q: &[f64], t: f64, values: RelationValues);
}

/// Where the values of [`Relations`] go.
pub struct RelationValues<'a> {
    /// g.
    pub g: &'a mut [f64],
    /// ∂g/∂t.
    pub g_t: &'a mut [f64],
    /// The gradients by the freedoms, one row for each function.
    pub rows: &'a mut [f64],
}

/// Velocities and momenta on the tangent space of constraints. [MECHANISMS section 7]
///
/// ```text
/// W = M⁻¹Gᵀ,   (G W) ν = G v + g_t,   p ← p − Gᵀν,   v ← v − W ν
/// ```
#[derive(Clone, Debug)]
pub struct TangentSpace {
    /// The pose, placed with the rates of the last evaluation.
    pub pose: Pose,
    /// The factors of M.
    pub mass: Articulated,
    /// g, g_t and G.
    pub g: Vec<f64>,
    /// See above.
    pub g_t: Vec<f64>,
    /// See above.
    pub rows: Vec<f64>,
    /// W, by columns.
    pub w: Vec<f64>,
    /// ν.
    pub nu: Vec<f64>,
    demand: Vec<f64>,
    schur: Vec<f64>,
    pub(super) lu: Lu,
    rest: Vec<f64>,
    driven: Vec<f64>,
    sums: Vec<Force>,
}

impl TangentSpace {
    /// Memory for a tree with this number of constraints.
    pub fn new(tree: &Tree, count: usize) -> TangentSpace {
        let n = tree.freedoms;
        TangentSpace {
            pose: Pose::new(tree),
            mass: Articulated::new(tree),
            g: vec![0.0; count],
            g_t: vec![0.0; count],
            rows: vec![0.0; count * n],
            w: vec![0.0; count * n],
            nu: vec![0.0; count],
            demand: vec![0.0; count],
            schur: vec![0.0; count * count],
            lu: Lu::new(count),
            rest: vec![0.0; n],
            driven: vec![0.0; n],
            sums: vec![Force::default(); tree.links.len()],
        }
    }

    /// Places the tree at q and factors M, and G M⁻¹Gᵀ.
    pub fn set(
        &mut self,
        tree: &Tree,
        around: &Surroundings,
        relations: &mut dyn Relations,
        q: &[f64],
        t: f64,
    ) -> Solved<()> {
        self.pose.place(tree, around, q, &self.rest);
        self.mass.factor(tree, &self.pose).map_err(|_| NoSolution::Singular)?;
        if tree.drives > 0 {
            self.pose.momenta(tree, &mut self.sums, &mut self.driven);
        }
        let (n, count) = (tree.freedoms, self.g.len());
        if count == 0 {
            return Ok(());
        }
        relations.evaluate(
            tree,
            &self.pose,
            q,
            t,
            RelationValues { g: &mut self.g, g_t: &mut self.g_t, rows: &mut self.rows },
        );
        self.w.copy_from_slice(&self.rows);
        self.w.chunks_exact_mut(n).for_each(|column| self.mass.solve(tree, &self.pose, column));
        for (a, row) in self.rows.chunks_exact(n).enumerate() {
            for (b, column) in self.w.chunks_exact(n).enumerate() {
                self.schur[a * count + b] = dot(row, column);
            }
        }
        if self.lu.factor(&self.schur) { Ok(()) } else { Err(NoSolution::Singular) }
    }

    /// Writes v = M⁻¹(p − p_driven), where the drives alone have the momentum p_driven; then moves p and v onto the tangent space.
    pub fn project(&mut self, tree: &Tree, p: &mut [f64], v: &mut [f64]) {
        self.velocity(tree, p, v);
        self.demand.copy_from_slice(&self.g_t);
        let n = tree.freedoms;
        self.demand.iter_mut().zip(self.rows.chunks_exact(n)).for_each(|(demand, row)| *demand += dot(row, v));
        self.lu.solve(&self.demand, &mut self.nu);
        let columns = self.rows.chunks_exact(n).zip(self.w.chunks_exact(n));
        for (nu, (row, column)) in self.nu.iter().zip(columns) {
            p.iter_mut().zip(row).for_each(|(p, g)| *p -= nu * g);
            v.iter_mut().zip(column).for_each(|(v, w)| *v -= nu * w);
        }
    }

    /// Writes v = M⁻¹(p − p_driven).
    pub fn velocity(&mut self, tree: &Tree, p: &[f64], v: &mut [f64]) {
        v.iter_mut().zip(p).zip(&self.driven).for_each(|((v, p), driven)| *v = p - driven);
        self.mass.solve(tree, &self.pose, v);
    }

    /// Writes how an impulse along a gradient changes the rates on the tangent space: w = M⁻¹∇φ − W (G W)⁻¹ G M⁻¹∇φ.
    pub fn respond(&mut self, tree: &Tree, gradient: &[f64], w: &mut [f64]) {
        w.copy_from_slice(gradient);
        self.mass.solve(tree, &self.pose, w);
        let n = tree.freedoms;
        self.demand.iter_mut().zip(self.rows.chunks_exact(n)).for_each(|(demand, row)| *demand = dot(row, w));
        self.lu.solve(&self.demand, &mut self.nu);
        for (nu, column) in self.nu.iter().zip(self.w.chunks_exact(n)) {
            w.iter_mut().zip(column).for_each(|(w, column)| *w -= nu * column);
        }
    }

    /// Solves (G W) x = b.
    pub fn solve(&self, b: &[f64], x: &mut [f64]) {
        self.lu.solve(b, x);
    }
}

pub(super) fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}
