//! Numbers of all stages as rows of lanes, and products with the matrices of collocation.

use super::super::combine::product;
use super::super::vector::{EightLanes, Vector};
use super::tables::{S, Tables};

/// to ← M·from, for each component; M by columns.
pub(super) struct Transform<'a> {
    pub(super) m: &'a [f64],
    pub(super) from: &'a [f64],
    pub(super) to: &'a mut [f64],
}

impl EightLanes for Transform<'_> {
    type Outcome = ();

    #[inline(always)]
    fn run<V: Vector<S>>(self) {
        let m = load_columns::<V>(self.m);
        for (from, to) in self.from.as_chunks::<S>().0.iter().zip(self.to.as_chunks_mut::<S>().0) {
            product(&m, from).store(to);
        }
    }
}

/// The columns of a matrix as vectors.
#[inline(always)]
pub(super) fn load_columns<V: Vector<S>>(m: &[f64]) -> [V; S] {
    let columns = matrix(m);
    let mut loaded = [V::splat(0.0); S];
    for j in 0..S {
        loaded[j] = V::load(&columns[j]);
    }
    loaded
}

/// A matrix by columns.
#[inline(always)]
fn matrix(m: &[f64]) -> &[[f64; S]; S] {
    rows(m)
}

/// The first M rows of all lanes.
#[inline(always)]
pub(super) fn rows<const M: usize>(x: &[f64]) -> &[[f64; S]; M] {
    match x.as_chunks::<S>().0.first_chunk() {
        Some(rows) => rows,
        None => unreachable!("the buffers have the size of the system"),
    }
}

/// The first M rows of all lanes, writable.
#[inline(always)]
pub(super) fn rows_mut<const M: usize>(x: &mut [f64]) -> &mut [[f64; S]; M] {
    match x.as_chunks_mut::<S>().0.first_chunk_mut() {
        Some(rows) => rows,
        None => unreachable!("the buffers have the size of the system"),
    }
}

/// A·x and A²·x, each as two independent sums. The matrices do not fit into registers, so that their columns are operands in memory;
/// each entry of x is used twice.
#[inline(always)]
pub(super) fn products<V: Vector<S>>(tables: &Tables, x: &[f64; S]) -> [V; 2] {
    let (once, twice) = (matrix(&tables.once), matrix(&tables.twice));
    let (mut by_v, mut by_q) = ([V::splat(0.0); 2], [V::splat(0.0); 2]);
    for j in 0..S {
        let xj = V::splat(x[j]);
        let (once, twice, sum) = (V::load(&once[j]), V::load(&twice[j]), j % 2);
        by_v[sum] = if j < 2 { once.mul(xj) } else { once.mul_add(xj, by_v[sum]) };
        by_q[sum] = if j < 2 { twice.mul(xj) } else { twice.mul_add(xj, by_q[sum]) };
    }
    [by_v[0].add(by_v[1]), by_q[0].add(by_q[1])]
}
