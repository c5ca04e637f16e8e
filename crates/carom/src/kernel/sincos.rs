//! The constants of sin and cos in compiled code, accurate to 1 ulp.
//!
//! The reduction of Cody and Waite gives x = n·π/2 + r − d with |r| ≤ π/4 and a tail d below the last place of r. Two
//! polynomials approximate sin(r − d) and cos(r − d); n mod 4 selects between them and determines the signs. Arguments beyond
//! [`LIMIT`], infinities and NaN are passed to the standard library, out of line.

/// The largest |x| that is reduced. It ensures n < 2²⁰, on which the lengths of the parts of π/2 below rely.
pub(super) const LIMIT: f64 = 1e6;
/// 1.5·2⁵²: adding it rounds to an integer n, which is then in the last bits of the sum.
pub(super) const ROUNDER: f64 = 6755399441055744.0;

/// π/2 as a sum of three `f64`, for products that are not rounded (FMA).
pub(super) const PI_2: [f64; 3] = [std::f64::consts::FRAC_PI_2, 6.123233995736766e-17, -1.4973849048591698e-33];
/// π/2 as a sum of three numbers of 33 bits, so that n times each is exact, and the rest.
pub(super) const PI_2_SHORT: [f64; 4] = [
    f64::from_bits(0x3FF9_21FB_5440_0000),
    f64::from_bits(0x3DD0_B461_1A60_0000),
    f64::from_bits(0x3BA3_198A_2E00_0000),
    f64::from_bits(0x397B_839A_2520_49C1),
];

/// (r − sin r)/r³ on [−π/4, π/4] in powers of r²: fdlibm, `k_sin.c` (Sun Microsystems, 1993), with the other sign.
pub(super) const SIN: [f64; 6] = [
    0.16666666666666632,
    -0.00833333333332249,
    0.0001984126982985795,
    -2.7557313707070068e-06,
    2.5050760253406863e-08,
    -1.58969099521155e-10,
];
/// (cos r − 1 + r²/2)/r⁴ on [−π/4, π/4] in powers of r²: fdlibm, `k_cos.c` (Sun Microsystems, 1993).
pub(super) const COS: [f64; 6] = [
    0.0416666666666666,
    -0.001388888888887411,
    2.480158728947673e-05,
    -2.7557314351390663e-07,
    2.087572321298175e-09,
    -1.1359647557788195e-11,
];

/// What the code of each compiler must satisfy.
#[cfg(test)]
pub(super) mod laws {
    use super::LIMIT;

    /// Compared with mpmath: multiples of π/2 and their nearest neighbours, limits of the reduction, huge and tiny arguments.
    pub(in crate::kernel) fn is_within_1_ulp_of_exact_values(variant: &str, sin_cos: impl Fn(f64) -> [f64; 2]) {
        let cases = include_str!("../../tests/data/sincos.txt");
        for line in cases.lines() {
            let bits = line.split(' ').map(|word| u64::from_str_radix(word, 16).expect("the file has hexadecimals"));
            let [x, sin, cos]: [u64; 3] = bits.collect::<Vec<_>>().try_into().expect("three in a line");
            let x = f64::from_bits(x);
            // Larger arguments use the system's functions; glibc is off by 8 ulp in the worst case, cos(5.3e255).
            let tolerance = if x <= LIMIT { 1 } else { 8 };
            for (sign, x) in [(0, x), (1 << 63, -x)] {
                for (got, exact) in sin_cos(x).map(f64::to_bits).into_iter().zip([sin ^ sign, cos]) {
                    assert!(got.abs_diff(exact) <= tolerance, "{variant}: {got:x} at {x:e}, not {exact:x}");
                }
            }
        }
    }

    /// sin keeps the sign of zero, and what is no number.
    pub(in crate::kernel) fn is_right_at_special_arguments(variant: &str, sin_cos: impl Fn(f64) -> [f64; 2]) {
        for zero in [0.0, -0.0f64] {
            assert_eq!(sin_cos(zero).map(f64::to_bits), [zero, 1.0].map(f64::to_bits), "{variant}");
        }
        for x in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            assert!(sin_cos(x).iter().all(|v| v.is_nan()), "{variant} at {x}");
        }
    }
}
