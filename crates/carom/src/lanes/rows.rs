//! Numbers with one value in each lane.

use std::ops::{Deref, DerefMut, Index, IndexMut};

use crate::flow::vector::Buffer;

/// Rows of numbers in blocks of K lanes, K a power of two: row i of lane k of block b is at (b·rows + i)·K + k.
pub(super) struct Rows {
    data: Buffer,
    rows: usize,
    k: usize,
}

impl Rows {
    pub(super) fn zeros(rows: usize, [blocks, k]: [usize; 2]) -> Rows {
        Rows { data: Buffer::zeros(blocks * rows * k), rows, k }
    }

    /// The rows of a block.
    #[inline]
    pub(super) fn block(&self, block: usize) -> &[f64] {
        let size = self.rows * self.k;
        &self.data[block * size..][..size]
    }

    #[inline]
    pub(super) fn block_mut(&mut self, block: usize) -> &mut [f64] {
        let size = self.rows * self.k;
        &mut self.data[block * size..][..size]
    }

    /// All rows of a lane.
    #[inline]
    pub(super) fn lane(&self, lane: usize) -> Lane<'_> {
        Lane { data: &self.data[self.place(0, lane)..], shift: self.k.trailing_zeros() }
    }

    #[inline]
    pub(super) fn lane_mut(&mut self, lane: usize) -> LaneMut<'_> {
        let (first, shift) = (self.place(0, lane), self.k.trailing_zeros());
        LaneMut { data: &mut self.data[first..], shift }
    }

    #[inline]
    fn place(&self, row: usize, lane: usize) -> usize {
        let (shift, mask) = (self.k.trailing_zeros(), self.k - 1);
        ((lane >> shift) * self.rows + row) * self.k + (lane & mask)
    }
}

/// The rows of one lane, by their numbers: where it begins is computed once.
pub(super) struct Lane<'a> {
    data: &'a [f64],
    shift: u32,
}

/// The rows of a lane, writable.
pub(super) struct LaneMut<'a> {
    data: &'a mut [f64],
    shift: u32,
}

impl LaneMut<'_> {
    /// Writes consecutive rows.
    #[inline]
    pub(super) fn put(&mut self, first: usize, values: impl IntoIterator<Item = f64>) {
        values.into_iter().enumerate().for_each(|(i, x)| self[first + i] = x);
    }
}

impl Index<usize> for Lane<'_> {
    type Output = f64;

    #[inline]
    fn index(&self, row: usize) -> &f64 {
        &self.data[row << self.shift]
    }
}

impl Index<usize> for LaneMut<'_> {
    type Output = f64;

    #[inline]
    fn index(&self, row: usize) -> &f64 {
        &self.data[row << self.shift]
    }
}

impl IndexMut<usize> for LaneMut<'_> {
    #[inline]
    fn index_mut(&mut self, row: usize) -> &mut f64 {
        &mut self.data[row << self.shift]
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

/// Row i of a lane, counted over all blocks, is at `[(i, lane)]`.
impl Index<(usize, usize)> for Rows {
    type Output = f64;

    #[inline]
    fn index(&self, (row, lane): (usize, usize)) -> &f64 {
        &self.data[self.place(row, lane)]
    }
}

impl IndexMut<(usize, usize)> for Rows {
    #[inline]
    fn index_mut(&mut self, (row, lane): (usize, usize)) -> &mut f64 {
        let place = self.place(row, lane);
        &mut self.data[place]
    }
}
