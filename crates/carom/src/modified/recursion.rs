//! The Hamilton–Jacobi recursion.

use super::jet::Algebra;

/// H₂, H₃, … from the jet of η = H₁. [DLM Theorem 2, eqs. 28–30; Hairer, Lubich & Wanner 2006, Thm. IX.3.2]
///
/// The generating function S(q, p, t) of the flow of H̃ solves
///
/// ```text
/// ∂S/∂t = H̃(q + ∂S/∂p, p),   S(q, p, 0) = 0,   S(q, p, h) = h η(q, p)
/// ```
///
/// With H̃ = Σ εᵇ H_{b+1} and S = Σ tᵃ εᵇ S_ab, where ε = t = h at the end, the equation gives for a ≥ 1
///
/// ```text
/// (a + 1) S_{a+1,b} = [tᵃεᵇ] Σ_α 1/α! · ∂_q^α H̃ · (∂S/∂p)^α
/// ```
///
/// and comparing powers of h gives H_i = S_{1,i−1} = −Σ_{a=2}^{i} S_{a,i−a}. Terms of weight a + b depend only on terms of
/// lower weight, and each unit of weight needs one more derivative of η.
#[derive(Clone, Debug)]
pub(super) struct Recursion {
    n: usize,
    order: usize,
    /// The degree of the jet of η, at least `order` − 1.
    degree: usize,
    /// S_ab; S_{1,b} = H_{b+1}.
    action: Grid,
    /// ∂S_ab/∂p_v.
    shift: Vec<Grid>,
    exponents: Vec<Exponent>,
    scratch: Vec<f64>,
}

/// A multi-index α ≠ 0, stored as an earlier one plus one variable.
#[derive(Clone, Debug)]
struct Exponent {
    /// The index of the earlier one; None for |α| = 1.
    parent: Option<usize>,
    variable: usize,
    /// |α|
    total: usize,
    /// 1/α!
    factor: f64,
    /// (∂S/∂p)^α; unused for |α| = 1.
    power: Grid,
    /// ∂_q^α H_{b+1} for each b.
    slopes: Vec<Vec<f64>>,
}

/// Jets, indexed by powers of t and ε.
#[derive(Clone, Debug)]
struct Grid {
    width: usize,
    jets: Vec<Vec<f64>>,
}

impl Grid {
    /// Allocates entries for a ≥ `least` and a + b ≤ `weight`; an entry of weight w has `size(w)` coefficients.
    fn new(least: usize, weight: usize, size: impl Fn(usize) -> usize) -> Grid {
        let width = weight + 1;
        let jet = |i: usize| {
            let (a, b) = (i / width, i % width);
            vec![0.0; if a >= least && a + b <= weight { size(a + b) } else { 0 }]
        };
        Grid { width, jets: (0..width * width).map(jet).collect() }
    }

    fn at(&self, a: usize, b: usize) -> &[f64] {
        &self.jets[a * self.width + b]
    }

    fn at_mut(&mut self, a: usize, b: usize) -> &mut Vec<f64> {
        &mut self.jets[a * self.width + b]
    }
}

impl Recursion {
    /// For H₁ … H_order with n degrees of freedom, from a jet of η of the algebra's degree.
    pub(super) fn new(n: usize, order: usize, algebra: &Algebra) -> Recursion {
        let degree = algebra.degree();
        let size = |less: usize| algebra.size(degree.saturating_sub(less));
        let exponents = exponents(n, order).into_iter().map(|(parent, variable, total, factor)| {
            let power = if total > 1 { Grid::new(total, order - 1, size) } else { Grid::new(1, 0, size) };
            let slopes = (0..order - total).map(|b| vec![0.0; size(b + total)]).collect();
            Exponent { parent, variable, total, factor, power, slopes }
        });
        Recursion {
            n,
            order,
            degree,
            action: Grid::new(1, order, |weight| size(weight - 1)),
            shift: (0..n).map(|_| Grid::new(1, order - 1, size)).collect(),
            exponents: exponents.collect(),
            scratch: vec![0.0; size(0)],
        }
    }

    /// The jet of H_i, after `run`.
    pub(super) fn term(&self, i: usize) -> &[f64] {
        self.action.at(1, i - 1)
    }

    /// Computes H₂, … from the jet of η. The last term keeps as many derivatives as `degree` allows.
    pub(super) fn run(&mut self, algebra: &Algebra, eta: &[f64], degree: usize) {
        self.degree = degree;
        let size = algebra.size(degree);
        self.action.at_mut(1, 0)[..size].copy_from_slice(&eta[..size]);
        for i in 2..=self.order {
            self.differentiate(algebra, i - 1);
            self.raise(algebra, i - 1);
            let size = algebra.size(degree + 1 - i);
            let mut term = std::mem::take(self.action.at_mut(1, i - 1));
            term[..size].fill(0.0);
            for a in 2..=i {
                self.expand(algebra, a - 1, i - a);
                term.iter_mut().zip(&self.action.at(a, i - a)[..size]).for_each(|(h, s)| *h -= s);
            }
            *self.action.at_mut(1, i - 1) = term;
        }
    }

    /// Computes ∂S_ab/∂p for a + b = weight, and ∂_q^α of H_weight.
    fn differentiate(&mut self, algebra: &Algebra, weight: usize) {
        for a in 1..=weight {
            for (v, shift) in self.shift.iter_mut().enumerate() {
                let (from, to) = (self.action.at(a, weight - a), shift.at_mut(a, weight - a));
                algebra.derivative(from, self.n + v, to, self.degree - weight);
            }
        }
        let b = weight - 1;
        for k in 0..self.exponents.len() {
            let (before, rest) = self.exponents.split_at_mut(k);
            let alpha = &mut rest[0];
            if alpha.total + b < self.order {
                let from = alpha.parent.map_or(self.action.at(1, b), |parent| &before[parent].slopes[b]);
                algebra.derivative(from, alpha.variable, &mut alpha.slopes[b], self.degree - b - alpha.total);
            }
        }
    }

    /// Computes (∂S/∂p)^α at a + b = weight, as a product of two known powers.
    fn raise(&mut self, algebra: &Algebra, weight: usize) {
        let degree = self.degree - weight;
        for k in 0..self.exponents.len() {
            let (before, rest) = self.exponents.split_at_mut(k);
            let alpha = &mut rest[0];
            let Some(parent) = alpha.parent else { continue };
            let parent = &before[parent];
            for a in alpha.total..=weight {
                let b = weight - a;
                let out = alpha.power.at_mut(a, b);
                out[..algebra.size(degree)].fill(0.0);
                for (a1, b1) in (parent.total..a).flat_map(|a1| (0..=b).map(move |b1| (a1, b1))) {
                    let first = parent.power_of(&self.shift, a1, b1);
                    let second = self.shift[alpha.variable].at(a - a1, b - b1);
                    algebra.add_product(1.0, first, second, out, degree);
                }
            }
        }
    }

    /// Computes S_{a+1,b} from the equation.
    fn expand(&mut self, algebra: &Algebra, a: usize, b: usize) {
        let degree = self.degree - a - b;
        let sum = &mut self.scratch[..algebra.size(degree)];
        sum.fill(0.0);
        for alpha in self.exponents.iter().filter(|alpha| alpha.total <= a) {
            for l in 0..=b.min(self.order - alpha.total - 1) {
                let power = alpha.power_of(&self.shift, a, b - l);
                algebra.add_product(alpha.factor, &alpha.slopes[l], power, sum, degree);
            }
        }
        let out = self.action.at_mut(a + 1, b);
        out.iter_mut().zip(sum).for_each(|(s, x)| *s = *x / (a + 1) as f64);
    }
}

impl Exponent {
    /// The coefficient of tᵃεᵇ in (∂S/∂p)^α.
    fn power_of<'a>(&'a self, shift: &'a [Grid], a: usize, b: usize) -> &'a [f64] {
        if self.total == 1 { shift[self.variable].at(a, b) } else { self.power.at(a, b) }
    }
}

/// All α with 1 ≤ |α| < order in n variables: parent, variable, |α|, 1/α!.
fn exponents(n: usize, order: usize) -> Vec<(Option<usize>, usize, usize, f64)> {
    let mut all: Vec<(Option<usize>, usize, usize, f64)> = Vec::new();
    // The multiplicity of the last variable of each.
    let mut repeats: Vec<usize> = Vec::new();
    if order > 1 {
        all.extend((0..n).map(|v| (None, v, 1, 1.0)));
        repeats.extend((0..n).map(|_| 1));
    }
    let mut k = 0;
    while k < all.len() && all[k].2 + 1 < order {
        let (_, last, total, factor) = all[k];
        for v in last..n {
            let count = if v == last { repeats[k] + 1 } else { 1 };
            all.push((Some(k), v, total + 1, factor / count as f64));
            repeats.push(count);
        }
        k += 1;
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_exponent_stands_once() {
        let all = exponents(2, 4);
        assert_eq!(all.len(), 2 + 3 + 4);
        let of_degree = |d: usize| all.iter().filter(|e| e.2 == d).map(|e| e.3).sum::<f64>();
        // Σ_{|α| = d} 1/α! = nᵈ/d!
        assert_eq!((of_degree(1), of_degree(2)), (2.0, 2.0));
        assert!((of_degree(3) - 8.0 / 6.0).abs() < 1e-15);
    }

    /// η = (q² + p²)/2 gives H₂ = −qp/2 and H₃ = (q² + p²)/12.
    #[test]
    fn symplectic_euler_for_the_oscillator() {
        let algebra = Algebra::new(2, 4);
        let (q, p) = (0.3, -0.8);
        let mut eta = vec![0.0; algebra.size(4)];
        eta[0] = (q * q + p * p) / 2.0;
        (eta[1], eta[2]) = (q, p);
        let square = |v: usize| {
            let mut x = vec![0.0; algebra.size(4)];
            x[1 + v] = 1.0;
            let mut out = vec![0.0; algebra.size(4)];
            algebra.mul(&x, &x, &mut out, 4);
            out
        };
        let half: Vec<f64> = square(0).iter().zip(square(1)).map(|(a, b)| 0.5 * (a + b)).collect();
        eta.iter_mut().zip(half).for_each(|(e, h)| *e += h);
        let mut recursion = Recursion::new(1, 4, &algebra);
        recursion.run(&algebra, &eta, 4);
        assert!((recursion.term(2)[0] + q * p / 2.0).abs() < 1e-16);
        assert!((recursion.term(3)[0] - (q * q + p * p) / 12.0).abs() < 1e-16);
    }
}
