//! Nodes and weights on [0, 1], and the polynomials through nodes.

/// Nodes c and weights b of a quadrature.
#[derive(Clone, Debug)]
pub(crate) struct Quadrature {
    pub(crate) c: Vec<f64>,
    pub(crate) b: Vec<f64>,
}

impl Quadrature {
    /// Gauss with s nodes: exact up to degree 2s − 1.
    pub(crate) fn gauss(s: usize) -> Quadrature {
        let roots = (0..s).map(|i| {
            let guess = -((4 * i + 3) as f64 / (4 * s + 2) as f64 * std::f64::consts::PI).cos();
            root(guess, |x| (legendre(s, x), legendre_slope(s, x)))
        });
        let weight = |x: f64| 1.0 / ((1.0 - x * x) * legendre_slope(s, x).powi(2));
        Quadrature::on_unit_interval(roots.map(|x| (x, weight(x))))
    }

    /// Gauss–Lobatto with s + 1 nodes, both ends among them: exact up to degree 2s − 1.
    pub(crate) fn lobatto(s: usize) -> Quadrature {
        // Between the ends are the roots of P_s′, whose slope is P_s″ = (2x P_s′ − s(s + 1) P_s)/(1 − x²).
        let size = (s * (s + 1)) as f64;
        let inner = (1..s).map(|i| {
            let guess = -(std::f64::consts::PI * i as f64 / s as f64).cos();
            root(guess, |x| {
                let slope = legendre_slope(s, x);
                (slope, (2.0 * x * slope - size * legendre(s, x)) / (1.0 - x * x))
            })
        });
        let nodes = std::iter::once(-1.0).chain(inner).chain([1.0]);
        Quadrature::on_unit_interval(nodes.map(|x| (x, 1.0 / (size * legendre(s, x).powi(2)))))
    }

    /// From [−1, 1] to [0, 1]. Roundoff in the sum of the weights would act as another step: it is taken out.
    fn on_unit_interval(nodes: impl Iterator<Item = (f64, f64)>) -> Quadrature {
        let (c, b): (Vec<f64>, Vec<f64>) = nodes.map(|(x, b)| (0.5 * (1.0 + x), b)).unzip();
        let sum: f64 = b.iter().sum();
        Quadrature { c, b: b.iter().map(|b| b / sum).collect() }
    }
}

/// ℓⱼ(x): the polynomial that is 1 at node j and 0 at the others.
pub(crate) fn lagrange(c: &[f64], j: usize, x: f64) -> f64 {
    let others = (0..c.len()).filter(|&m| m != j);
    others.map(|m| (x - c[m]) / (c[j] - c[m])).product()
}

/// ℓⱼ′(x).
pub(crate) fn lagrange_slope(c: &[f64], j: usize, x: f64) -> f64 {
    let others = |k: usize| (0..c.len()).filter(move |&m| m != j && m != k);
    let without = |k: usize| others(k).map(|m| (x - c[m]) / (c[j] - c[m])).product::<f64>();
    others(j).map(|k| without(k) / (c[j] - c[k])).sum()
}

/// The Legendre polynomial P_s(x).
pub(crate) fn legendre(s: usize, x: f64) -> f64 {
    if s == 0 { 1.0 } else { legendre_pair(s, x).1 }
}

/// P_s′(x) inside (−1, 1).
fn legendre_slope(s: usize, x: f64) -> f64 {
    let (below, value) = legendre_pair(s, x);
    s as f64 * (x * value - below) / (x * x - 1.0)
}

/// P_{s−1} and P_s, by Bonnet's recursion.
fn legendre_pair(s: usize, x: f64) -> (f64, f64) {
    (2..=s).fold((1.0, x), |(p0, p1), k| {
        let k = k as f64;
        (p1, ((2.0 * k - 1.0) * x * p1 - (k - 1.0) * p0) / k)
    })
}

/// A root by Newton's method.
fn root(guess: f64, f: impl Fn(f64) -> (f64, f64)) -> f64 {
    (0..20).fold(guess, |x, _| {
        let (value, slope) = f(x);
        x - value / slope
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quadratures_are_exact_up_to_their_degree() {
        for s in 1..=8 {
            for (rule, name) in [(Quadrature::gauss(s), "Gauss"), (Quadrature::lobatto(s), "Lobatto")] {
                for k in 0..2 * s {
                    let sum: f64 = rule.c.iter().zip(&rule.b).map(|(c, b)| b * c.powi(k as i32)).sum();
                    let error = sum - 1.0 / (k + 1) as f64;
                    assert!(error.abs() < 5e-16, "{name} {s}, degree {k}: {error:e}");
                }
            }
        }
    }

    #[test]
    fn slopes_are_those_of_the_polynomials() {
        let c = Quadrature::lobatto(4).c;
        for (j, x) in [(0, 0.0), (1, 0.3), (2, 0.5), (4, 1.0)] {
            let d = 1e-6;
            let difference = (lagrange(&c, j, x + d) - lagrange(&c, j, x - d)) / (2.0 * d);
            assert!((lagrange_slope(&c, j, x) - difference).abs() < 1e-7);
        }
    }
}
