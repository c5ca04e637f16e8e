//! Numbers with one value in each lane.

use std::ops::{Deref, DerefMut, Index, IndexMut};

use crate::flow::vector::Buffer;

/// Rows of numbers: row i of lane k is at i·K + k.
pub(super) struct Rows {
    data: Buffer,
    k: usize,
}

impl Rows {
    pub(super) fn zeros(rows: usize, k: usize) -> Rows {
        Rows { data: Buffer::zeros(rows * k), k }
    }

    /// The numbers of the first rows.
    pub(super) fn first(&self, rows: usize) -> &[f64] {
        &self.data[..rows * self.k]
    }
}

/// All numbers.
impl Deref for Rows {
    type Target = [f64];

    fn deref(&self) -> &[f64] {
        &self.data
    }
}

impl DerefMut for Rows {
    fn deref_mut(&mut self) -> &mut [f64] {
        &mut self.data
    }
}

/// Row i of a lane is at `[(i, lane)]`.
impl Index<(usize, usize)> for Rows {
    type Output = f64;

    #[inline]
    fn index(&self, (row, lane): (usize, usize)) -> &f64 {
        &self.data[row * self.k + lane]
    }
}

impl IndexMut<(usize, usize)> for Rows {
    #[inline]
    fn index_mut(&mut self, (row, lane): (usize, usize)) -> &mut f64 {
        &mut self.data[row * self.k + lane]
    }
}
