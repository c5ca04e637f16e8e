//! The Taylor coefficients f^(k)(x)/k! of each function of one argument.

use crate::expr::Func;

/// Fills c with the coefficients of f at x; c has at least one entry.
pub fn coefficients(f: Func, x: f64, c: &mut [f64]) {
    match f {
        Func::Neg => linear(-x, -1.0, c),
        Func::Abs => linear(x.abs(), Func::Sign.apply(x), c),
        Func::Sign | Func::Floor => linear(f.apply(x), 0.0, c),
        Func::Sin => cyclic([x.sin(), x.cos(), -x.sin(), -x.cos()], c),
        Func::Cos => cyclic([x.cos(), -x.sin(), -x.cos(), x.sin()], c),
        Func::Sinh => cyclic([x.sinh(), x.cosh(), x.sinh(), x.cosh()], c),
        Func::Cosh => cyclic([x.cosh(), x.sinh(), x.cosh(), x.sinh()], c),
        Func::Exp => cyclic([x.exp(); 4], c),
        Func::Tan => riccati(x.tan(), 1.0, c),
        Func::Tanh => riccati(x.tanh(), -1.0, c),
        Func::Sqrt => power(x, 0.5, c),
        Func::Log => {
            c[0] = x.ln();
            (1..c.len()).for_each(|k| c[k] = -(-1.0 / x).powi(k as i32) / k as f64);
        }
        Func::Atan => atan(x, c),
        Func::Asin => asin(x, c),
        Func::Acos => {
            asin(x, c);
            c.iter_mut().for_each(|c| *c = -*c);
            c[0] = x.acos();
        }
    }
}

/// The coefficients of x^r: c_{k+1} = c_k (r − k)/((k + 1) x), in a form that is also correct for integer powers at x = 0.
pub fn power(x: f64, r: f64, c: &mut [f64]) {
    let mut binomial = 1.0;
    for (k, c) in c.iter_mut().enumerate() {
        let rest = r - k as f64;
        *c = if binomial == 0.0 { 0.0 } else { binomial * x.powf(rest) };
        binomial *= rest / (k + 1) as f64;
    }
}

fn linear(value: f64, slope: f64, c: &mut [f64]) {
    c.fill(0.0);
    c[0] = value;
    if let Some(c1) = c.get_mut(1) {
        *c1 = slope;
    }
}

/// Coefficients of a function whose derivatives repeat with period four.
fn cyclic(derivatives: [f64; 4], c: &mut [f64]) {
    let mut factorial = 1.0;
    for (k, c) in c.iter_mut().enumerate() {
        factorial *= k.max(1) as f64;
        *c = derivatives[k % 4] / factorial;
    }
}

/// y′ = 1 + sign·y².
fn riccati(y: f64, sign: f64, c: &mut [f64]) {
    c[0] = y;
    for k in 0..c.len() - 1 {
        let square: f64 = (0..=k).map(|i| c[i] * c[k - i]).sum();
        c[k + 1] = (f64::from(k == 0) + sign * square) / (k + 1) as f64;
    }
}

/// y′ = g with (1 + x²) g = 1.
fn atan(x: f64, c: &mut [f64]) {
    c[0] = x.atan();
    let first = 1.0 / (1.0 + x * x);
    let (mut before, mut g) = (0.0, first);
    for (k, c) in c.iter_mut().enumerate().skip(1) {
        *c = g / k as f64;
        (before, g) = (g, -(2.0 * x * g + before) * first);
    }
}

/// y′ = g with (1 − x²) g′ = x g.
fn asin(x: f64, c: &mut [f64]) {
    c[0] = x.asin();
    let rest = (1.0 - x) * (1.0 + x);
    let (mut before, mut g) = (0.0, 1.0 / rest.sqrt());
    for (k, c) in (0..).zip(c.iter_mut().skip(1)) {
        let k = f64::from(k);
        *c = g / (k + 1.0);
        (before, g) = (g, ((2.0 * k + 1.0) * x * g + k * before) / ((k + 1.0) * rest));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Compares f(x + e) from the coefficients at x with f itself.
    #[test]
    fn each_series_sums_to_its_function() {
        let (x, e) = (0.4, 0.01);
        for f in Func::NAMED.into_iter().chain([Func::Neg, Func::Sign]) {
            let mut c = [0.0; 9];
            coefficients(f, x, &mut c);
            let sum = c.iter().rev().fold(0.0, |sum, c| sum * e + c);
            let exact = f.apply(x + e);
            assert!((sum - exact).abs() < 4e-16 * (1.0 + exact.abs()), "{}: {sum:e}, {exact:e}", f.name());
        }
    }

    #[test]
    fn whole_powers_at_zero() {
        let mut c = [0.0; 4];
        power(0.0, 2.0, &mut c);
        assert_eq!(c, [0.0, 0.0, 1.0, 0.0]);
        power(2.0, -1.0, &mut c);
        assert_eq!(c, [0.5, -0.25, 0.125, -0.0625]);
    }
}
