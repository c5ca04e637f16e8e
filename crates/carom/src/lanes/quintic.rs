//! The first root of the quintic Hermite polynomial of a gap.

use crate::flow::vector::Vector;

/// The last change of a root, as a part of the step. Newton's method squares it, and the quintic is not as good as that.
const ENOUGH: f64 = 1e-4;

/// The coefficients, in Bernstein's basis on [0, 1], of the quintic with these values and two derivatives at both ends of a step of
/// length h. The polynomial lies between the least and the largest of them.
#[inline(always)]
pub(super) fn bernstein(h: f64, [f0, d0, s0]: [f64; 3], [f1, d1, s1]: [f64; 3]) -> [f64; 6] {
    let (slope, bend) = (0.2 * h, 0.05 * h * h);
    [f0, f0 + slope * d0, f0 + 2.0 * slope * d0 + bend * s0, f1 - 2.0 * slope * d1 + bend * s1, f1 - slope * d1, f1]
}

/// The Bernstein coefficients of [`bernstein`] in all lanes, where `slope` is h/5 and `bend` is h²/20.
#[inline(always)]
pub(super) fn bernstein_of<const K: usize, V: Vector<K>>(
    slope: V,
    bend: V,
    [f0, d0, s0]: [V; 3],
    [f1, d1, s1]: [V; 3],
) -> [V; 6] {
    let (forth, back) = (slope.mul_add(d0, f0), f1.sub(slope.mul(d1)));
    let (far, near) = (bend.mul_add(s0, slope.mul_add(d0, forth)), bend.mul_add(s1, back.sub(slope.mul(d1))));
    [f0, forth, far, near, back, f1]
}

/// Where the polynomial first becomes negative on [0, 1]; none if it does not.
pub(super) fn first_root(b: [f64; 6]) -> Option<f64> {
    search(b, 0.0, 1.0, 0)
}

/// The search on the part [at, at + width]: intervals without a change of sign have no root, those with one have one, and others are
/// halved.
fn search(b: [f64; 6], at: f64, width: f64, depth: usize) -> Option<f64> {
    let first = b.iter().position(|b| *b < 0.0)?;
    if first == 0 || depth > 50 {
        return Some(at);
    }
    // A zero at the beginning is a wall that was left: its root is not looked for.
    let zeros = b.iter().take_while(|b| **b == 0.0).count();
    if zeros == first {
        return Some(at);
    }
    if zeros <= 1 && b[first..].iter().all(|b| *b <= 0.0) && b[5] < 0.0 {
        return Some(at + width * single_root(&b, zeros));
    }
    let (mut left, mut right) = (b, b);
    for round in 1..6 {
        for i in 0..6 - round {
            right[i] = 0.5 * (right[i] + right[i + 1]);
        }
        left[round] = right[0];
    }
    let half = 0.5 * width;
    search(left, at, half, depth + 1).or_else(|| search(right, at + half, half, depth + 1))
}

/// The one root of a polynomial whose coefficients change sign once; the first `zeros` of them, at most one, vanish.
fn single_root(b: &[f64; 6], zeros: usize) -> f64 {
    // Powers of x: cₖ = (5 over k) Δᵏb₀. If b₀ = 0, the polynomial is divided by x.
    let (mut c, mut differences) = ([0.0; 6], *b);
    for (k, over) in [1.0, 5.0, 10.0, 10.0, 5.0, 1.0].into_iter().enumerate() {
        c[k] = over * differences[0];
        for i in 0..5 - k {
            differences[i] = differences[i + 1] - differences[i];
        }
    }
    if zeros == 1 {
        c.rotate_left(1);
    }
    let (mut low, mut high, end) = (0.0, 1.0, c.iter().sum::<f64>());
    // Gaps are nearly parabolas.
    let root = 2.0 * c[0] / ((c[1] * c[1] - 4.0 * c[0] * c[2]).sqrt() - c[1]);
    let mut x = if root > 0.0 && root < 1.0 { root } else { c[0] / (c[0] - end) };
    // Newton's method, or bisection where it leaves the bracket.
    for _ in 0..60 {
        // In pairs, which do not wait for each other.
        let x2 = x * x;
        let x4 = x2 * x2;
        let value = (c[0] + c[1] * x) + (c[2] + c[3] * x) * x2 + (c[4] + c[5] * x) * x4;
        let slope = (c[1] + 2.0 * c[2] * x) + (3.0 * c[3] + 4.0 * c[4] * x) * x2 + 5.0 * c[5] * x4;
        *(if value > 0.0 { &mut low } else { &mut high }) = x;
        let mut next = x - value / slope;
        if !(next > low && next < high) {
            next = 0.5 * (low + high);
        }
        if (next - x).abs() <= ENOUGH {
            return next;
        }
        x = next;
    }
    x
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Products of factors (x − r): the first root on [0, 1] at which the sign becomes negative.
    #[test]
    fn first_roots_are_found() {
        let cases: [(&[f64], f64, Option<f64>); 6] = [
            (&[0.3, 1.5, 1.7, 2.0, -1.0], -1.0, Some(0.3)),
            (&[0.2, 0.21, 1.5, 1.6, -0.5], -1.0, Some(0.2)),
            (&[1.2, 1.5, 1.7, 2.0, -1.0], -1.0, None),
            (&[0.0, 0.4, 1.7, 2.0, -1.0], -1.0, Some(0.4)),
            // This one is lifted: it comes near zero.
            (&[0.5, 0.5, 1.7, 2.0, -1.0], 1.0, None),
            (&[0.1, 0.4, 0.9, 2.0, -1.0], 1.0, Some(0.1)),
        ];
        for (roots, sign, expected) in cases {
            let lift = if roots[0] == roots[1] { 1e-6 } else { 0.0 };
            let f = |x: f64| sign * roots.iter().map(|r| x - r).product::<f64>() + lift;
            let d = |x: f64| (f(x + 1e-5) - f(x - 1e-5)) / 2e-5;
            let s = |x: f64| (f(x + 1e-4) - 2.0 * f(x) + f(x - 1e-4)) / 1e-8;
            let flip = if f(0.0) < 0.0 { -1.0 } else { 1.0 };
            let at = |x: f64| [flip * f(x), flip * d(x), flip * s(x)];
            let mut b = bernstein(1.0, at(0.0), at(1.0));
            if roots[0] == 0.0 {
                b[0] = 0.0;
            }
            let found = first_root(b);
            match (found, expected) {
                (Some(x), Some(r)) => assert!((x - r).abs() < 1e-5, "{roots:?}: {x}"),
                (None, None) => {}
                other => panic!("{roots:?}: {other:?}"),
            }
        }
    }
}
