//! sin and cos in compiled code, in a few dozen operations, accurate to 1 ulp.
//!
//! The reduction of Cody and Waite gives x = n·π/2 + r − d with |r| ≤ π/4 and a tail d below the last place of r. Two
//! polynomials approximate sin(r − d) and cos(r − d); n mod 4 selects between them and determines the signs. Arguments beyond
//! [`LIMIT`], infinities and NaN are passed to the standard library, out of line.

/// The largest |x| that is reduced. It ensures n < 2²⁰, on which the lengths of the parts of π/2 below rely.
pub(super) const LIMIT: f64 = 1e6;
/// 1.5·2⁵²: adding it rounds to an integer n, which is then in the last bits of the sum.
const ROUNDER: f64 = 6755399441055744.0;

/// π/2 as a sum of three `f64`, for products that are not rounded (FMA).
const PI_2: [f64; 3] = [std::f64::consts::FRAC_PI_2, 6.123233995736766e-17, -1.4973849048591698e-33];
/// π/2 as a sum of three numbers of 33 bits, so that n times each is exact, and the rest.
const PI_2_SHORT: [f64; 4] = [
    f64::from_bits(0x3FF9_21FB_5440_0000),
    f64::from_bits(0x3DD0_B461_1A60_0000),
    f64::from_bits(0x3BA3_198A_2E00_0000),
    f64::from_bits(0x397B_839A_2520_49C1),
];

/// (r − sin r)/r³ on [−π/4, π/4] in powers of r²: fdlibm, `k_sin.c` (Sun Microsystems, 1993), with the other sign.
const SIN: [f64; 6] = [
    0.16666666666666632,
    -0.00833333333332249,
    0.0001984126982985795,
    -2.7557313707070068e-06,
    2.5050760253406863e-08,
    -1.58969099521155e-10,
];
/// (cos r − 1 + r²/2)/r⁴ on [−π/4, π/4] in powers of r²: fdlibm, `k_cos.c` (Sun Microsystems, 1993).
const COS: [f64; 6] = [
    0.0416666666666666,
    -0.001388888888887411,
    2.480158728947673e-05,
    -2.7557314351390663e-07,
    2.087572321298175e-09,
    -1.1359647557788195e-11,
];

/// Operations of a compiler, from which both write the same code.
pub(super) trait Emit {
    /// A number that the code computes.
    type Number: Copy;
    /// True if a·b + c is one instruction with one rounding.
    fn has_fma(&self) -> bool;
    fn constant(&mut self, value: f64) -> Self::Number;
    fn add(&mut self, a: Self::Number, b: Self::Number) -> Self::Number;
    fn sub(&mut self, a: Self::Number, b: Self::Number) -> Self::Number;
    fn mul(&mut self, a: Self::Number, b: Self::Number) -> Self::Number;
    /// a·b + c, fused if that is one instruction.
    fn mul_add(&mut self, a: Self::Number, b: Self::Number, c: Self::Number) -> Self::Number;
    /// a·b − c in one instruction.
    fn mul_sub(&mut self, a: Self::Number, b: Self::Number, c: Self::Number) -> Self::Number;
    /// c − a·b in one instruction.
    fn neg_mul_add(&mut self, a: Self::Number, b: Self::Number, c: Self::Number) -> Self::Number;
}

/// The sum whose last bits are those of n, and [sin, cos] of x − n·π/2.
#[inline(always)]
pub(super) fn reduced<E: Emit>(e: &mut E, x: E::Number) -> (E::Number, [E::Number; 2]) {
    let (two_over_pi, rounder) = (e.constant(std::f64::consts::FRAC_2_PI), e.constant(ROUNDER));
    let shifted = e.mul_add(x, two_over_pi, rounder);
    let n = e.sub(shifted, rounder);
    let (r, d) = if e.has_fma() { reduce_fused(e, x, n) } else { reduce_by_parts(e, x, n) };
    let z = e.mul(r, r);
    let z2 = e.mul(z, z);
    (shifted, [sin_kernel(e, r, d, z, z2), cos_kernel(e, r, d, z, z2)])
}

/// Like [`reduced`], in two thirds of the operations, where a·b + c is one instruction: within 2 ulp, or 10⁻²⁶ next to multiples
/// of π/2.
///
/// ```text
/// r = (x − n·p₁) − n·p₂,   sin r = r − r³·s(r²),   cos r = 1 + r²·(r²·c(r²) − ½)
/// ```
///
/// x − n·p₁ is exact, so that r is rounded once. sin(−0) is 0.
#[cfg_attr(not(all(feature = "jit", target_arch = "x86_64")), allow(dead_code))]
#[inline(always)]
pub(super) fn reduced_briefly<E: Emit>(e: &mut E, x: E::Number) -> (E::Number, [E::Number; 2]) {
    let (two_over_pi, rounder) = (e.constant(std::f64::consts::FRAC_2_PI), e.constant(ROUNDER));
    let shifted = e.mul_add(x, two_over_pi, rounder);
    let n = e.sub(shifted, rounder);
    let [p1, p2, _] = PI_2.map(|p| e.constant(p));
    let head = e.neg_mul_add(n, p1, x);
    let r = e.neg_mul_add(n, p2, head);
    let z = e.mul(r, r);
    let (s, c) = (horner(e, z, &SIN), horner(e, z, &COS));
    let v = e.mul(z, r);
    let sin = e.neg_mul_add(v, s, r);
    let (half, one) = (e.constant(0.5), e.constant(1.0));
    let inner = e.mul_sub(z, c, half);
    (shifted, [sin, e.mul_add(z, inner, one)])
}

/// x − n·π/2 = r − d, if n·p can be computed exactly.
///
/// x − n·p₁ is exact: it is below 1 and a multiple of 2⁻⁵³. It is also a multiple of the last place of w = n·p₂, so two
/// more subtractions give the error of subtracting w, even if x − n·π/2 nearly cancels.
#[inline(always)]
fn reduce_fused<E: Emit>(e: &mut E, x: E::Number, n: E::Number) -> (E::Number, E::Number) {
    let [p1, p2, p3] = PI_2.map(|p| e.constant(p));
    let head = e.neg_mul_add(n, p1, x);
    let w = e.mul(n, p2);
    let w_low = e.mul_sub(n, p2, w);
    let r = e.sub(head, w);
    let change = e.sub(r, head);
    let error = e.add(change, w);
    let rest = e.mul_add(n, p3, w_low);
    (r, e.add(error, rest))
}

/// Like `reduce_fused`, with products that are exact because their factors are short.
#[inline(always)]
fn reduce_by_parts<E: Emit>(e: &mut E, x: E::Number, n: E::Number) -> (E::Number, E::Number) {
    let [p1, p2, p3, tail] = PI_2_SHORT.map(|p| e.constant(p));
    let w = e.mul(n, p1);
    let head = e.sub(x, w);
    let (middle, error) = sub_exact(e, head, n, p2);
    let (r, error2) = sub_exact(e, middle, n, p3);
    let (error, rest) = (e.add(error, error2), e.mul(n, tail));
    (r, e.add(error, rest))
}

/// a − n·p, and the amount by which it is too large.
#[inline(always)]
fn sub_exact<E: Emit>(e: &mut E, a: E::Number, n: E::Number, p: E::Number) -> (E::Number, E::Number) {
    let w = e.mul(n, p);
    let r = e.sub(a, w);
    let change = e.sub(r, a);
    (r, e.add(change, w))
}

/// sin(r − d) = r − (d + v·(s₁ + z·poly)), z = r², v = r³. This omits d·z/2, which is less than 0.2 ulp. The signs are
/// chosen so that sin(−0) = −0.
#[inline(always)]
fn sin_kernel<E: Emit>(e: &mut E, r: E::Number, d: E::Number, z: E::Number, z2: E::Number) -> E::Number {
    let [s1, s2, s3, s4, s5, s6] = SIN.map(|s| e.constant(s));
    let v = e.mul(z, r);
    let (low, high) = (e.mul_add(z, s3, s2), e.mul_add(z, s5, s4));
    let high = e.mul_add(z2, s6, high);
    let poly = e.mul_add(z2, high, low);
    let poly = e.mul_add(z, poly, s1);
    let rest = e.mul_add(v, poly, d);
    e.sub(r, rest)
}

/// cos(r − d) = w + (((1 − w) − z/2) + (z²·poly + r·d)), w = 1 − z/2, z = r².
#[inline(always)]
fn cos_kernel<E: Emit>(e: &mut E, r: E::Number, d: E::Number, z: E::Number, z2: E::Number) -> E::Number {
    let [c1, c2, c3, c4, c5, c6] = COS.map(|c| e.constant(c));
    let pairs = [(c2, c1), (c4, c3), (c6, c5)];
    let [low, middle, high] = pairs.map(|(slope, offset)| e.mul_add(z, slope, offset));
    let poly = e.mul_add(z2, high, middle);
    let poly = e.mul_add(z2, poly, low);
    let (half, one) = (e.constant(0.5), e.constant(1.0));
    let half_z = e.mul(z, half);
    let w = e.sub(one, half_z);
    let lost = e.sub(one, w);
    let lost = e.sub(lost, half_z);
    let tail = e.mul(r, d);
    let rest = e.mul_add(z2, poly, tail);
    let rest = e.add(lost, rest);
    e.add(w, rest)
}

/// A polynomial by its coefficients, that of z⁰ first. Each is read by the operation that adds it.
#[cfg_attr(not(all(feature = "jit", target_arch = "x86_64")), allow(dead_code))]
#[inline(always)]
fn horner<E: Emit>(e: &mut E, z: E::Number, coefficients: &[f64]) -> E::Number {
    let mut descending = coefficients.iter().rev();
    let first = descending.next().map_or(0.0, |c| *c);
    descending.fold(e.constant(first), |total, &c| {
        let c = e.constant(c);
        e.mul_add(total, z, c)
    })
}

/// Numbers themselves: what `reduced` computes without a compiler.
struct Plain;

impl Emit for Plain {
    type Number = f64;

    #[inline(always)]
    fn has_fma(&self) -> bool {
        false
    }
    #[inline(always)]
    fn constant(&mut self, value: f64) -> f64 {
        value
    }
    #[inline(always)]
    fn add(&mut self, a: f64, b: f64) -> f64 {
        a + b
    }
    #[inline(always)]
    fn sub(&mut self, a: f64, b: f64) -> f64 {
        a - b
    }
    #[inline(always)]
    fn mul(&mut self, a: f64, b: f64) -> f64 {
        a * b
    }
    #[inline(always)]
    fn mul_add(&mut self, a: f64, b: f64, c: f64) -> f64 {
        a * b + c
    }
    #[inline(always)]
    fn mul_sub(&mut self, a: f64, b: f64, c: f64) -> f64 {
        a * b - c
    }
    #[inline(always)]
    fn neg_mul_add(&mut self, a: f64, b: f64, c: f64) -> f64 {
        c - a * b
    }
}

/// Writes [cos x, sin x] of many x, within 1 ulp: without calls, so that a compiler can treat several at once.
#[inline(always)]
pub(crate) fn turns(xs: &[f64], into: &mut [[f64; 2]]) {
    let is_small = |x: f64| x.abs() <= LIMIT;
    let mut all_small = true;
    for (x, into) in xs.iter().zip(&mut *into) {
        all_small &= is_small(*x);
        let [sin, cos] = quadrant(reduced(&mut Plain, *x));
        *into = [cos, sin];
    }
    if !all_small {
        let large = xs.iter().zip(into).filter(|(x, _)| !is_small(**x));
        large.for_each(|(x, into)| *into = [x.cos(), x.sin()]);
    }
}

/// [sin x, cos x] from those of x − n·π/2: exchanged for odd n, with the signs of the quadrant. Without branches, which would be
/// mispredicted.
#[inline(always)]
fn quadrant((shifted, [sin, cos]): (f64, [f64; 2])) -> [f64; 2] {
    let (n, sin, cos) = (shifted.to_bits(), sin.to_bits(), cos.to_bits());
    let change = (sin ^ cos) & (n & 1).wrapping_neg();
    let sign = |n: u64| (n & 2) << 62;
    [sin ^ change ^ sign(n), cos ^ change ^ sign(n + 1)].map(f64::from_bits)
}

/// What the code of each compiler must satisfy.
#[cfg(test)]
pub(super) mod laws {
    use super::LIMIT;

    pub(in crate::kernel) fn is_within_1_ulp_of_exact_values(variant: &str, sin_cos: impl Fn(f64) -> [f64; 2]) {
        is_near_exact_values(variant, 1, 0.0, sin_cos);
    }

    /// Compared with mpmath: multiples of π/2 and their nearest neighbours, limits of the reduction, huge and tiny arguments. Errors
    /// are at most `ulps`, or the number `least`.
    pub(in crate::kernel) fn is_near_exact_values(
        variant: &str,
        ulps: u64,
        least: f64,
        sin_cos: impl Fn(f64) -> [f64; 2],
    ) {
        let cases = include_str!("../../tests/data/sincos.txt");
        for line in cases.lines() {
            let bits = line.split(' ').map(|word| u64::from_str_radix(word, 16).expect("the file has hexadecimals"));
            let [x, sin, cos]: [u64; 3] = bits.collect::<Vec<_>>().try_into().expect("three in a line");
            let x = f64::from_bits(x);
            // Larger arguments use the system's functions; glibc is off by 8 ulp in the worst case, cos(5.3e255).
            let tolerance = if x <= LIMIT { ulps } else { 8 };
            for (sign, x) in [(0, x), (1 << 63, -x)] {
                for (got, exact) in sin_cos(x).map(f64::to_bits).into_iter().zip([sin ^ sign, cos]) {
                    let error = (f64::from_bits(got) - f64::from_bits(exact)).abs();
                    let is_near = got.abs_diff(exact) <= tolerance || error < least;
                    assert!(is_near, "{variant}: {got:x} at {x:e}, not {exact:x}");
                }
            }
        }
    }

    /// sin keeps the sign of zero, and what is no number.
    pub(in crate::kernel) fn is_right_at_special_arguments(variant: &str, sin_cos: impl Fn(f64) -> [f64; 2]) {
        for zero in [0.0, -0.0f64] {
            assert_eq!(sin_cos(zero).map(f64::to_bits), [zero, 1.0].map(f64::to_bits), "{variant}");
        }
        is_no_number_where_it_should(variant, sin_cos);
    }

    /// sin and cos of what is no finite number are none.
    pub(in crate::kernel) fn is_no_number_where_it_should(variant: &str, sin_cos: impl Fn(f64) -> [f64; 2]) {
        for x in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            assert!(sin_cos(x).iter().all(|v| v.is_nan()), "{variant} at {x}");
        }
    }

    #[test]
    fn plain_numbers_satisfy_them() {
        let sin_cos = |x: f64| {
            let mut all = [[0.0; 2]; 5];
            super::turns(&[0.3, x, x, -2.0, x], &mut all);
            assert!(all[1] == all[2] && all[1] == all[4] || x.is_nan() || x.is_infinite());
            [all[4][1], all[4][0]]
        };
        is_within_1_ulp_of_exact_values("plain", sin_cos);
        is_right_at_special_arguments("plain", sin_cos);
    }
}
