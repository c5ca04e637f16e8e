//! The linear part of a collocation step, on vector lanes.
//!
//! A stage matrix M is stored by columns. The number of columns and their length equal the number K of lanes; columns beyond
//! the stages are zero. In a vector x over all stages, component i of stage k is at i·K + k.

use super::vector::Vector;

/// Loads the columns of h·M into registers.
#[inline(always)]
pub(super) fn columns<const K: usize, V: Vector<K>>(m: &[f64], h: f64) -> [V; K] {
    // No closures here: the compiler would not inline them with the registers of the caller.
    let mut columns = [V::splat(h); K];
    if let Some(m) = m.as_chunks::<K>().0.first_chunk::<K>() {
        for j in 0..K {
            columns[j] = V::load(&m[j]).mul(columns[j]);
        }
    }
    columns
}

/// out = start + M·x, for each component; `start` is zero if not given.
#[inline(always)]
pub(super) fn combine<const K: usize, V: Vector<K>>(m: &[V; K], x: &[f64], start: Option<&[f64]>, out: &mut [f64]) {
    let (xs, outs) = (x.as_chunks::<K>().0, out.as_chunks_mut::<K>().0);
    for (i, (x, out)) in xs.iter().zip(outs).enumerate() {
        let start = V::splat(start.map_or(0.0, |start| start[i]));
        product(m, x).add(start).store(out);
    }
}

/// M·x for one component, as two independent sums (better instruction-level parallelism).
#[inline(always)]
pub(super) fn product<const K: usize, V: Vector<K>>(m: &[V; K], x: &[f64; K]) -> V {
    let mut sums = [m[0].mul(V::splat(x[0])), m[1].mul(V::splat(x[1]))];
    for j in 2..K {
        sums[j % 2] = m[j].mul_add(V::splat(x[j]), sums[j % 2]);
    }
    sums[0].add(sums[1])
}

#[cfg(test)]
mod tests {
    use super::super::vector::{Registers, Work};
    use super::*;

    struct Combine<'a>(&'a [f64], &'a [f64], Option<&'a [f64]>, f64, &'a mut [f64]);

    impl Work for Combine<'_> {
        type Outcome = ();

        fn run<const K: usize, V: Vector<K>>(self) {
            combine::<K, V>(&columns(self.0, self.3), self.1, self.2, self.4);
        }
    }

    #[test]
    fn lanes_are_combined_as_by_hand() {
        for registers in [Registers::detect(), Registers::Any] {
            // Two stages in two lanes, two components: M = [[1, 2], [3, 4]] by columns.
            let (m, x, mut out) = ([1.0, 3.0, 2.0, 4.0], [10.0, 1.0, 0.5, -1.0], [0.0; 4]);
            registers.run(2, Combine(&m, &x, Some(&[100.0, 200.0]), 2.0, &mut out));
            assert_eq!(out, [124.0, 168.0, 197.0, 195.0]);
            // Three stages in four and in eight lanes.
            let (mut m, mut out) = ([0.0; 16], [9.0; 4]);
            (m[0], m[5], m[10]) = (1.0, 1.0, 1.0);
            registers.run(4, Combine(&m, &[1.0, 2.0, 3.0, 77.0], None, 1.0, &mut out));
            assert_eq!(out, [1.0, 2.0, 3.0, 0.0]);
            let (mut m, mut out) = ([0.0; 64], [9.0; 8]);
            (m[0], m[9], m[18]) = (1.0, 1.0, 1.0);
            registers.run(8, Combine(&m, &[1.0, 2.0, 3.0, 77.0, 0.0, 0.0, 0.0, 0.0], None, 1.0, &mut out));
            assert_eq!(out, [1.0, 2.0, 3.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
        }
    }
}
