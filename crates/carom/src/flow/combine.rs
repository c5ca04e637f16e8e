//! The linear part of a collocation step, on lanes.

/// For each component: out = start + h·M·x, where x and out have a lane for each stage and M stands by columns, each as
/// wide as the lanes. Without a start it is zero.
pub(super) fn combine(width: usize, m: &[f64], x: &[f64], start: Option<&[f64]>, h: f64, out: &mut [f64]) {
    match width {
        2 => of_width::<2>(m, x, start, h, out),
        4 => of_width::<4>(m, x, start, h, out),
        _ => of_width::<8>(m, x, start, h, out),
    }
}

fn of_width<const K: usize>(m: &[f64], x: &[f64], start: Option<&[f64]>, h: f64, out: &mut [f64]) {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") && std::arch::is_x86_feature_detected!("fma") {
        // SAFETY: the machine has what the function is compiled for.
        return unsafe { with_avx2::<K>(m, x, start, h, out) };
    }
    products::<K>(m, x, start, h, out, |a, b, c| a * b + c);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
unsafe fn with_avx2<const K: usize>(m: &[f64], x: &[f64], start: Option<&[f64]>, h: f64, out: &mut [f64]) {
    products::<K>(m, x, start, h, out, |a, b, c| a.mul_add(b, c));
}

#[inline(always)]
fn products<const K: usize>(
    m: &[f64],
    x: &[f64],
    start: Option<&[f64]>,
    h: f64,
    out: &mut [f64],
    multiply_add: impl Fn(f64, f64, f64) -> f64,
) {
    let (columns, _) = m.as_chunks::<K>();
    let ((xs, _), (outs, _)) = (x.as_chunks::<K>(), out.as_chunks_mut::<K>());
    for (i, (x, out)) in xs.iter().zip(outs).enumerate() {
        let mut sum = [0.0; K];
        for (column, &x) in columns.iter().zip(x) {
            for k in 0..K {
                sum[k] = multiply_add(column[k], x, sum[k]);
            }
        }
        let start = start.map_or(0.0, |start| start[i]);
        for k in 0..K {
            out[k] = multiply_add(h, sum[k], start);
        }
    }
}

/// Σ|a − b| over all lanes. A sum, not a maximum: NaN must not get lost.
pub(super) fn distance(width: usize, a: &[f64], b: &[f64]) -> f64 {
    match width {
        2 => lane_distance::<2>(a, b),
        4 => lane_distance::<4>(a, b),
        _ => lane_distance::<8>(a, b),
    }
}

fn lane_distance<const K: usize>(a: &[f64], b: &[f64]) -> f64 {
    let mut sum = [0.0; K];
    for (a, b) in a.as_chunks::<K>().0.iter().zip(b.as_chunks::<K>().0) {
        for k in 0..K {
            sum[k] += (a[k] - b[k]).abs();
        }
    }
    sum.iter().sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lanes_are_combined_as_by_hand() {
        // Two stages in two lanes, two components: M = [[1, 2], [3, 4]] by columns.
        let (m, x, mut out) = ([1.0, 3.0, 2.0, 4.0], [10.0, 1.0, 0.5, -1.0], [0.0; 4]);
        combine(2, &m, &x, Some(&[100.0, 200.0]), 2.0, &mut out);
        assert_eq!(out, [124.0, 168.0, 197.0, 195.0]);
        // Three stages in four lanes.
        let m = [1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0];
        let mut out = [9.0; 4];
        combine(4, &m, &[1.0, 2.0, 3.0, 77.0], None, 1.0, &mut out);
        assert_eq!(out, [1.0, 2.0, 3.0, 0.0]);
    }
}
