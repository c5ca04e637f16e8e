//! How a number is written: as the fraction or the short decimal that it is within a few units in the last place.

/// A nonnegative number as a person would write it.
#[derive(Clone, Debug, PartialEq)]
pub enum Number {
    /// p/q in lowest terms; q is 1 for a whole number.
    Ratio(u64, u64),
    /// Digits times a power of ten; the power is 0 where the digits alone are short.
    Decimal(String, i32),
}

/// Beyond this a whole number is written with a power of ten.
const LARGEST_WHOLE: f64 = 1e9;
/// Numerators and denominators of fractions that people write.
const LARGEST_TERM: u64 = 1000;

/// True if x is y to within `ulps` units in the last place.
fn is_near(x: f64, y: f64, ulps: f64) -> bool {
    (x - y).abs() <= ulps * f64::EPSILON * x.abs()
}

/// The fraction p/q with small p and q that x ≥ 0 is within 4 units in the last place, by continued fractions.
pub fn as_ratio(x: f64) -> Option<(u64, u64)> {
    if x < LARGEST_WHOLE && is_near(x, x.round(), 4.0) {
        return Some((x.round() as u64, 1));
    }
    let (mut p0, mut q0, mut p1, mut q1) = (0u64, 1u64, 1u64, 0u64);
    let mut rest = x;
    for _ in 0..12 {
        let whole = rest.floor();
        if !(0.0..1e6).contains(&whole) {
            return None;
        }
        (p0, p1) = (p1, whole as u64 * p1 + p0);
        (q0, q1) = (q1, whole as u64 * q1 + q0);
        if q1 > LARGEST_TERM || p1 > 1000 * LARGEST_TERM {
            return None;
        }
        if is_near(x, p1 as f64 / q1 as f64, 4.0) {
            return Some((p1, q1));
        }
        rest = 1.0 / (rest - whole);
    }
    None
}

/// True if p/q has a short decimal that reads better: 9.81 rather than 981/100, but ½, ¾ and ⅛.
fn reads_as_decimal(p: u64, q: u64) -> bool {
    let mut rest = q;
    for prime in [2, 5] {
        while rest.is_multiple_of(prime) {
            rest /= prime;
        }
    }
    rest == 1 && !(q.is_power_of_two() && q <= 64 && p < 128)
}

/// The number as it is written; x ≥ 0.
pub fn write(x: f64) -> Number {
    if let Some((p, q)) = as_ratio(x)
        && !reads_as_decimal(p, q)
        && (q == 1 || (p < LARGEST_TERM && q <= LARGEST_TERM))
    {
        return Number::Ratio(p, q);
    }
    decimal(x)
}

/// The shortest decimal within 4 units in the last place: 0.1 + 0.2 is 0.3.
fn decimal(x: f64) -> Number {
    if !x.is_finite() {
        return Number::Decimal(if x.is_nan() { "NaN" } else { "∞" }.into(), 0);
    }
    let digits = (0..17).map(|n| format!("{x:.n$e}"));
    let short = digits.into_iter().find(|s| s.parse().is_ok_and(|y: f64| is_near(x, y, 4.0)));
    let short = short.unwrap_or_else(|| format!("{x:e}"));
    let (mantissa, exponent) = short.split_once('e').unwrap_or((&short, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if (-4..9).contains(&exponent) {
        let places = mantissa.len().saturating_sub(2) as i32 - exponent;
        return Number::Decimal(format!("{x:.n$}", n = places.max(0) as usize), 0);
    }
    Number::Decimal(mantissa.to_owned(), exponent)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_as_people_write_them() {
        let ratio = |x: f64, p, q| assert_eq!(write(x), Number::Ratio(p, q), "{x}");
        let decimal = |x: f64, s: &str, n| assert_eq!(write(x), Number::Decimal(s.into(), n), "{x}");
        ratio(0.5, 1, 2);
        ratio(1.0 / 12.0, 1, 12);
        ratio(1.0 / 3.0 + 1.0 / 3.0, 2, 3);
        ratio(0.0, 0, 1);
        ratio(17.0, 17, 1);
        decimal(9.81, "9.81", 0);
        decimal(0.1 + 0.2, "0.3", 0);
        decimal(1e-12, "1", -12);
        decimal(2.5e20, "2.5", 20);
        decimal(0.058, "0.058", 0);
        decimal(1.8, "1.8", 0);
        decimal(f64::INFINITY, "∞", 0);
        decimal(std::f64::consts::E, "2.718281828459045", 0);
    }
}
