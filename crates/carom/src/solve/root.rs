//! Roots of one equation in one unknown.

/// A root of f between a and b, where f changes sign, to the last bit. Uses Newton's method with the slope that `f` returns
/// together with its value, safeguarded by a shrinking bracket.
pub fn bracketed<E>(
    mut f: impl FnMut(f64) -> Result<(f64, f64), E>,
    (mut a, mut fa): (f64, f64),
    (mut b, mut fb): (f64, f64),
    first: f64,
) -> Result<f64, E> {
    if fa == 0.0 || fb == 0.0 {
        return Ok(if fa == 0.0 { a } else { b });
    }
    let mut x = if first > a.min(b) && first < a.max(b) { first } else { 0.5 * (a + b) };
    let mut best = if fa.abs() < fb.abs() { (a, fa) } else { (b, fb) };
    for round in 0..200 {
        let (fx, slope) = f(x)?;
        if fx.abs() <= best.1.abs() {
            best = (x, fx);
        }
        if fx == 0.0 {
            break;
        }
        if (fx > 0.0) == (fa > 0.0) {
            (a, fa) = (x, fx);
        } else {
            (b, fb) = (x, fx);
        }
        // Newton's method from the best point so far; every third iteration the secant method or bisection, so that both ends
        // move.
        let mut next = x - fx / slope;
        if round % 3 == 2 {
            next = if round % 2 == 0 { 0.5 * (a + b) } else { (a * fb - b * fa) / (fb - fa) };
        }
        let inside = next > a.min(b) && next < a.max(b);
        if (next - x).abs() <= f64::EPSILON * x.abs() || (b - a).abs() <= f64::EPSILON * a.abs().max(b.abs()) {
            break;
        }
        x = if inside { next } else { 0.5 * (a + b) };
    }
    Ok(best.0)
}

/// A root of f near x, by the secant method from x and x + dx, to roundoff; `None` if it does not converge.
pub fn secant<E>(mut f: impl FnMut(f64) -> Result<f64, E>, x: f64, dx: f64) -> Result<Option<f64>, E> {
    let (mut x0, mut f0) = (x, f(x)?);
    let (mut x1, mut f1) = (x + dx, f(x + dx)?);
    if f1.abs() > f0.abs() {
        (x0, f0, x1, f1) = (x1, f1, x0, f0);
    }
    for _ in 0..60 {
        if f1 == 0.0 || f1 == f0 {
            return Ok(Some(x1));
        }
        let step = f1 * (x1 - x0) / (f1 - f0);
        if !step.is_finite() {
            return Ok(None);
        }
        let x2 = x1 - step;
        if step.abs() <= 2.0 * f64::EPSILON * x2.abs() {
            return Ok(Some(x2));
        }
        let f2 = f(x2)?;
        // Near the root the values are roundoff: stop when they no longer decrease.
        if f2.abs() >= f1.abs() && step.abs() <= 1e-12 * x2.abs() {
            return Ok(Some(x1));
        }
        (x0, f0, x1, f1) = (x1, f1, x2, f2);
    }
    Ok(None)
}

/// A root of f near x > 0, found by searching for a sign change at increasing distances from x.
pub fn around<E>(mut f: impl FnMut(f64) -> Result<f64, E>, x: f64) -> Result<Option<f64>, E> {
    let middle = (x, f(x)?);
    let (mut below, mut above) = (middle, middle);
    let mut reach = 1e-4;
    while reach < 0.5 {
        for (end, side) in [(&mut below, x * (1.0 - reach)), (&mut above, x * (1.0 + reach))] {
            let next = (side, f(side)?);
            if (next.1 > 0.0) != (end.1 > 0.0) {
                let (a, b) = (*end, next);
                let slope = (b.1 - a.1) / (b.0 - a.0);
                return bracketed(|x| Ok((f(x)?, slope)), a, b, a.0 - a.1 / slope).map(Some);
            }
            *end = next;
        }
        reach *= 2.0;
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bracketed_root_is_exact_also_with_a_bad_slope() {
        for slope in [0.3, 1.0, -2.0, 50.0, 0.0] {
            let f = |x: f64| Ok::<_, ()>((x * x - 2.0, slope));
            let root = bracketed(f, (0.0, -2.0), (2.0, 2.0), 0.1).expect("f does not fail");
            assert!((root - 2f64.sqrt()).abs() <= 4.0 * f64::EPSILON, "slope {slope}: {root}");
        }
    }

    #[test]
    fn the_secant_method_finds_a_near_root() {
        let root = secant(|x: f64| Ok::<_, ()>(x.exp() - 3.0), 1.0, 1e-3).expect("f does not fail");
        assert!((root.expect("it converges") - 3f64.ln()).abs() < 1e-15);
    }
}
