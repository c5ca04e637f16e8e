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
    /// Σ y over the children that do not follow a body; zero between sweeps.
    y: Vec<[f64; R]>,
    /// x of bodies with such children.
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
    #[inline(always)]
    pub(super) fn factor(&mut self, tree: &Tree, equation: impl Fn(usize, &mut [Column<R, C>]) -> Mat3) -> Solved<()> {
        // Y, then M, which stays for the next body if that is the parent.
        let mut y = [[0.0; C]; R];
        for (i, link) in tree.links.iter().enumerate().rev() {
            let columns = &mut self.columns[link.v..link.v + link.freedoms];
            let e = equation(i, columns);
            y.iter_mut().zip(&self.blocks[i]).for_each(|(y, block)| add_scaled(y, block, 1.0));
            match columns {
                [] => {}
                [column] => {
                    let Column { alpha, b: mut sum, way, .. } = *column;
                    let mut gamma = [0.0; R];
                    for r in 0..R {
                        add_scaled(&mut sum, &y[r], alpha[r]);
                        gamma[r] = dot(&y[r], &way);
                    }
                    let inverse = 1.0 / (dot(&sum, &way) + e.0.0);
                    if !inverse.is_finite() {
                        return Err(NoSolution::Singular);
                    }
                    let scaled = sum.map(|b| b * inverse);
                    for r in 0..R {
                        add_scaled(&mut y[r], &scaled, -gamma[r]);
                    }
                    self.pivots[i].0.0 = inverse;
                    (column.b, column.gamma) = (sum, gamma);
                }
                columns => {
                    for column in columns.iter_mut() {
                        for r in 0..R {
                            add_scaled(&mut column.b, &y[r], column.alpha[r]);
                            column.gamma[r] = dot(&y[r], &column.way);
                        }
                    }
                    let row = |a: usize| Vec3::from([0, 1, 2].map(|k| dot(&columns[a].b, &columns[k].way)));
                    let pivot = Mat3(row(0), row(1), row(2)) + e;
                    let inverse = pivot.inverse().ok_or(NoSolution::Singular)?;
                    self.pivots[i] = inverse;
                    for (column, Vec3(x0, x1, x2)) in columns.iter().zip(inverse.rows()) {
                        let mut scaled = [0.0; C];
                        for (j, scaled) in scaled.iter_mut().enumerate() {
                            *scaled = x0 * columns[0].b[j] + x1 * columns[1].b[j] + x2 * columns[2].b[j];
                        }
                        for r in 0..R {
                            add_scaled(&mut y[r], &scaled, -column.gamma[r]);
                        }
                    }
                }
            }
            match link.body.parent {
                Some(_) if link.follows => continue,
                Some(parent) => {
                    self.blocks[parent].iter_mut().zip(&y).for_each(|(sum, row)| add_scaled(sum, row, 1.0));
                }
                None => {}
            }
            y = [[0.0; C]; R];
        }
        Ok(())
    }

    /// ρ ← δ.
    pub(super) fn solve(&mut self, tree: &Tree, rho: &mut [f64]) {
        let mut y = [0.0; R];
        for (i, link) in tree.links.iter().enumerate().rev() {
            let columns = &self.columns[link.v..link.v + link.freedoms];
            if link.gathers {
                add_scaled(&mut y, &std::mem::replace(&mut self.y[i], [0.0; R]), 1.0);
            }
            match columns {
                [] => {}
                [column] => {
                    let s = self.pivots[i].0.0 * (rho[link.v] - dot(&column.alpha, &y));
                    rho[link.v] = s;
                    add_scaled(&mut y, &column.gamma, s);
                }
                columns => {
                    let rho = &mut rho[link.v..link.v + 3];
                    let left = Vec3::from([0, 1, 2].map(|k| rho[k] - dot(&columns[k].alpha, &y)));
                    let s = (self.pivots[i] * left).array();
                    rho.copy_from_slice(&s);
                    columns.iter().zip(s).for_each(|(column, s)| add_scaled(&mut y, &column.gamma, s));
                }
            }
            match link.body.parent {
                Some(_) if link.follows => continue,
                Some(parent) => add_scaled(&mut self.y[parent], &y, 1.0),
                None => {}
            }
            y = [0.0; R];
        }
        let mut x = [0.0; C];
        for (i, link) in tree.links.iter().enumerate() {
            let columns = &self.columns[link.v..link.v + link.freedoms];
            if !link.follows {
                x = link.body.parent.map_or([0.0; C], |parent| self.x[parent]);
            }
            match columns {
                [] => {}
                [column] => {
                    let delta = rho[link.v] - self.pivots[i].0.0 * dot(&column.b, &x);
                    rho[link.v] = delta;
                    add_scaled(&mut x, &column.way, delta);
                }
                columns => {
                    let carried = Vec3::from([0, 1, 2].map(|k| dot(&columns[k].b, &x)));
                    let change = (self.pivots[i] * carried).array();
                    let rho = &mut rho[link.v..link.v + 3];
                    rho.iter_mut().zip(change).for_each(|(s, change)| *s -= change);
                    columns.iter().zip(&*rho).for_each(|(column, delta)| add_scaled(&mut x, &column.way, *delta));
                }
            }
            if link.gathers {
                self.x[i] = x;
            }
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
