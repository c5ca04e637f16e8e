//! Numbers of all stages as rows of lanes, and products with the matrices of collocation.

use super::super::combine::product;
use super::super::vector::{EightLanes, Vector};
use super::tables::S;

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
    let columns = rows::<S>(m);
    let mut loaded = [V::splat(0.0); S];
    for j in 0..S {
        loaded[j] = V::load(&columns[j]);
    }
    loaded
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
