//! The elimination of Newton's equations over a tree. It knows no mechanics: R rows and C columns of the blocks are 9 and 12 in
//! space, 4 and 6 in the plane.
//!
//! ```text
//! x_i = x_λ + B_i δ_i,    y_i = Σ_subtree N_j x_j,    row i:  α_iᵀy_i + β_iᵀx_i + E_i δ_i = ρ_i
//!
//! factor:  Y_i = N_i + Σ_children M_c,   b_i = Y_iᵀα_i + β_i,   γ_i = Y_i B_i,   D_i = b_iᵀB_i + E_i,   M_i = Y_i − γ_i D_i⁻¹ b_iᵀ
//! solve:   up    y_i = Σ_children (y_c + γ_c s_c),     s_i = D_i⁻¹(ρ_i − α_iᵀy_i)
//!          down  δ_i = s_i − D_i⁻¹ b_iᵀx_λ,     x_i = x_λ + B_i δ_i     (x_ground = 0)
//! ```

use crate::solve::{NoSolution, Solved};
use crate::tree::{Mat3, Tree, Vec3};

/// The numbers of one freedom.
#[derive(Clone, Copy, Debug)]
pub(super) struct Column<const R: usize, const C: usize> {
    /// α
    pub(super) alpha: [f64; R],
    /// β, then b.
    pub(super) b: [f64; C],
    /// B
    pub(super) way: [f64; C],
    /// γ
    gamma: [f64; R],
}

impl<const R: usize, const C: usize> Column<R, C> {
    pub(super) fn new(alpha: [f64; R], beta: [f64; C], way: [f64; C]) -> Column<R, C> {
        Column { alpha, b: beta, way, gamma: [0.0; R] }
    }
}

/// Memory and factors.
#[derive(Clone, Debug)]
pub(super) struct Elimination<const R: usize, const C: usize> {
    /// N, then Y, of each body.
    pub(super) blocks: Vec<[[f64; C]; R]>,
    /// One for each freedom.
    pub(super) columns: Vec<Column<R, C>>,
    /// D⁻¹ of each body; of one freedom in the first entry.
    pivots: Vec<Mat3>,
    y: Vec<[f64; R]>,
    x: Vec<[f64; C]>,
}

impl<const R: usize, const C: usize> Elimination<R, C> {
    pub(super) fn new(tree: &Tree) -> Elimination<R, C> {
        let n = tree.links.len();
        Elimination {
            blocks: vec![[[0.0; C]; R]; n],
            columns: vec![Column::new([0.0; R], [0.0; C], [0.0; C]); tree.freedoms],
            pivots: vec![Mat3::default(); n],
            y: vec![[0.0; R]; n],
            x: vec![[0.0; C]; n],
        }
    }

    /// Eliminates from the leaves to the roots. `equation` writes α, β, B and E of a body into its columns and returns E.
    pub(super) fn factor(
        &mut self,
        tree: &Tree,
        mut equation: impl FnMut(usize, &mut [Column<R, C>]) -> Mat3,
    ) -> Solved<()> {
        for (i, link) in tree.links.iter().enumerate().rev() {
            let columns = &mut self.columns[link.v..link.v + link.freedoms];
            let e = equation(i, columns);
            let (before, rest) = self.blocks.split_at_mut(i);
            let block = &mut rest[0];
            for column in columns.iter_mut() {
                for (row, (alpha, gamma)) in block.iter().zip(column.alpha.iter().zip(&mut column.gamma)) {
                    column.b.iter_mut().zip(row).for_each(|(b, y)| *b += alpha * y);
                    *gamma = dot(row, &column.way);
                }
            }
            match columns {
                [] => {}
                [column] => {
                    let inverse = 1.0 / (dot(&column.b, &column.way) + e.0.0);
                    if !inverse.is_finite() {
                        return Err(NoSolution::Singular);
                    }
                    self.pivots[i].0.0 = inverse;
                    subtract(block, &column.gamma, &column.b.map(|b| b * inverse));
                }
                columns => {
                    let row = |a: usize| Vec3::from([0, 1, 2].map(|k| dot(&columns[a].b, &columns[k].way)));
                    let pivot = Mat3(row(0), row(1), row(2)) + e;
                    let inverse = pivot.inverse().ok_or(NoSolution::Singular)?;
                    self.pivots[i] = inverse;
                    for (column, Vec3(x, y, z)) in columns.iter().zip(inverse.rows()) {
                        let mut scaled = [0.0; C];
                        for (j, scaled) in scaled.iter_mut().enumerate() {
                            *scaled = x * columns[0].b[j] + y * columns[1].b[j] + z * columns[2].b[j];
                        }
                        subtract(block, &column.gamma, &scaled);
                    }
                }
            }
            if let Some(parent) = link.body.parent {
                add(&mut before[parent], block);
            }
        }
        Ok(())
    }

    /// ρ ← δ.
    pub(super) fn solve(&mut self, tree: &Tree, rho: &mut [f64]) {
        self.y.fill([0.0; R]);
        for (i, link) in tree.links.iter().enumerate().rev() {
            let columns = &self.columns[link.v..link.v + link.freedoms];
            let (before, rest) = self.y.split_at_mut(i);
            let y = &mut rest[0];
            let rho = &mut rho[link.v..link.v + link.freedoms];
            match columns {
                [] => {}
                [column] => {
                    rho[0] = self.pivots[i].0.0 * (rho[0] - dot(&column.alpha, y));
                    add_scaled(y, &column.gamma, rho[0]);
                }
                columns => {
                    let left = Vec3::from([0, 1, 2].map(|k| rho[k] - dot(&columns[k].alpha, y)));
                    let s = (self.pivots[i] * left).array();
                    rho.copy_from_slice(&s);
                    columns.iter().zip(s).for_each(|(column, s)| add_scaled(y, &column.gamma, s));
                }
            }
            if let Some(parent) = link.body.parent {
                add_scaled(&mut before[parent], y, 1.0);
            }
        }
        for (i, link) in tree.links.iter().enumerate() {
            let columns = &self.columns[link.v..link.v + link.freedoms];
            let mut x = link.body.parent.map_or([0.0; C], |parent| self.x[parent]);
            let rho = &mut rho[link.v..link.v + link.freedoms];
            match columns {
                [] => {}
                [column] => rho[0] -= self.pivots[i].0.0 * dot(&column.b, &x),
                columns => {
                    let carried = Vec3::from([0, 1, 2].map(|k| dot(&columns[k].b, &x)));
                    let change = (self.pivots[i] * carried).array();
                    rho.iter_mut().zip(change).for_each(|(s, change)| *s -= change);
                }
            }
            columns.iter().zip(&*rho).for_each(|(column, delta)| add_scaled(&mut x, &column.way, *delta));
            self.x[i] = x;
        }
    }
}

/// a · b, as sums over lanes that a compiler may keep in one register.
#[inline(always)]
fn dot<const N: usize>(a: &[f64; N], b: &[f64; N]) -> f64 {
    let mut lanes = [0.0; 4];
    for (k, (a, b)) in a.iter().zip(b).enumerate() {
        lanes[k % 4] += a * b;
    }
    (lanes[0] + lanes[1]) + (lanes[2] + lanes[3])
}

#[inline(always)]
fn add_scaled<const N: usize>(sum: &mut [f64; N], a: &[f64; N], factor: f64) {
    sum.iter_mut().zip(a).for_each(|(sum, a)| *sum += a * factor);
}

/// block ← block − γ bᵀ
#[inline(always)]
fn subtract<const R: usize, const C: usize>(block: &mut [[f64; C]; R], gamma: &[f64; R], b: &[f64; C]) {
    block.iter_mut().zip(gamma).for_each(|(row, gamma)| add_scaled(row, b, -gamma));
}

#[inline(always)]
fn add<const R: usize, const C: usize>(sum: &mut [[f64; C]; R], block: &[[f64; C]; R]) {
    sum.iter_mut().zip(block).for_each(|(sum, row)| add_scaled(sum, row, 1.0));
}

/// Writes a part of a block.
#[inline(always)]
pub(super) fn write<const R: usize, const C: usize>(block: &mut [[f64; C]; R], row: usize, column: usize, part: Mat3) {
    for (into, from) in block[row..row + 3].iter_mut().zip(part.rows()) {
        into[column..column + 3].copy_from_slice(&from.array());
    }
}

/// Writes vectors one after the other.
#[inline(always)]
pub(super) fn join<const K: usize, const N: usize>(parts: [Vec3; K]) -> [f64; N] {
    let mut all = [0.0; N];
    all.chunks_exact_mut(3).zip(parts).for_each(|(into, part)| into.copy_from_slice(&part.array()));
    all
}
