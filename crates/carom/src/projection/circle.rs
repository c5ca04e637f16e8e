//! The projection for configurations on a circle.

use std::f64::consts::{PI, TAU};

use crate::expr::{Expr, Func, eval};
use crate::solve::root;

/// An arc C = [c − a, c + a] of the circle. The projection maps the rest of the circle onto it. [GP §V-A]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CircleArc {
    /// The midpoint c.
    pub center: f64,
    /// Half the length, a; for φ = cos θ − x_c this is arccos x_c.
    pub half: f64,
}

/// The reason why there is no arc.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum NoArc {
    /// φ(θ + 2π) differs from φ(θ) at this θ.
    NotPeriodic(f64),
    /// φ has this number of zeros on the circle instead of two.
    Zeros(usize),
}

/// The number of points of the circle at which zeros of φ are searched.
const PLACES: usize = 4096;

impl CircleArc {
    /// The arc φ ≥ 0 around `start`.
    pub fn new(phi: Expr, theta: Expr, known: &[(Expr, f64)], start: f64) -> Result<CircleArc, NoArc> {
        let value = |x: f64| {
            let at: Vec<(Expr, f64)> = known.iter().copied().chain([(theta, x)]).collect();
            eval(&[phi], &at)[0]
        };
        // Start at the opposite point, so that the arc is not split at the ends of the search.
        let places: Vec<f64> = (0..=PLACES).map(|k| start - PI + TAU * k as f64 / PLACES as f64).collect();
        let values: Vec<f64> = places.iter().map(|&x| value(x)).collect();
        let size = values.iter().fold(0.0, |size: f64, value| size.max(value.abs()));
        if let Some(&x) = places.iter().step_by(64).find(|&&x| (value(x) - value(x + TAU)).abs() > 1e-9 * size) {
            return Err(NoArc::NotPeriodic(x));
        }
        let mut ends = Vec::new();
        for k in 0..PLACES {
            let (a, b) = ((places[k], values[k]), (places[k + 1], values[k + 1]));
            if (a.1 >= 0.0) != (b.1 >= 0.0) {
                let slope = (b.1 - a.1) / (b.0 - a.0);
                let f = |x: f64| Ok::<_, ()>((value(x), slope));
                ends.push(root::bracketed(f, a, b, a.0 - a.1 / slope).unwrap_or(a.0));
            }
        }
        match ends[..] {
            [low, high] if values[0] < 0.0 => Ok(CircleArc { center: 0.5 * (low + high), half: 0.5 * (high - low) }),
            // The opposite point is also feasible: the arc goes the other way round.
            [high, low] => {
                Ok(CircleArc { center: 0.5 * (low + high + TAU), half: 0.5 * (high + TAU - low) }.around(start))
            }
            _ => Err(NoArc::Zeros(ends.len())),
        }
    }

    /// Shifts the midpoint by whole turns until it is at most half a turn from `start`; the points of the arc stay.
    fn around(self, start: f64) -> CircleArc {
        let turns = ((start - self.center) / TAU).round();
        CircleArc { center: self.center + TAU * turns, ..self }
    }

    /// True if the paper's cubic is used for P. Otherwise it would not be monotone.
    pub fn is_cubic(self) -> bool {
        self.half > 0.25 * PI
    }

    /// P outside C, in the chart c + a < θ < c + 2π − a, with u = θ − c − π:
    ///
    /// ```text
    /// a > π/4:  P = c + b₁u + b₃u³,   b₁ = (π − 4a)/(2(π − a)),   b₃ = (2a − π)/(2(π − a)³)
    /// a ≤ π/4:  P = c + (a/2)(s + s|s|^(p−1)),   s = −u/(π − a),   p = 2(π − a)/a − 1
    /// ```
    ///
    /// DIFFERENCE: the paper prints π − 2a in b₃, which gives P(a) ≠ a; and its P is monotone only for a > π/4.
    pub fn project(self, theta: Expr) -> Expr {
        let [center, half] = [self.center, self.half].map(Expr::constant);
        self.project_with(center, half, theta)
    }

    /// P as an expression of symbols for c and a.
    pub(super) fn project_with(self, center: Expr, half: Expr, theta: Expr) -> Expr {
        let (a, rest) = (half, PI - half);
        let u = theta - (center + PI);
        if self.is_cubic() {
            let b1 = (PI - 4.0 * a) / (2.0 * rest);
            let b3 = (2.0 * a - PI) / (2.0 * rest.pow(3));
            return b1 * u + b3 * u.pow(3) + center;
        }
        let s = -u / rest;
        let p = 2.0 * rest / a - 1.0;
        0.5 * a * (s + s.apply(Func::Sign) * s.abs().pow(p)) + center
    }

    /// Shifts θ into the chart c − π … c + π of C, or the chart c … c + 2π of its complement.
    pub fn chart(self, theta: f64, outside: bool) -> f64 {
        let low = if outside { self.center } else { self.center - PI };
        theta - TAU * ((theta - low) / TAU).floor()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// P(a) = a, P'(a) = −1, P(2π − a) = −a and P' < 0, for every x_c.
    #[test]
    fn the_projection_fits_its_arc() {
        let theta = Expr::symbol("theta");
        for xc in [-0.95, -0.5, 0.0, 0.3, 0.7, 0.71, 0.9, 0.99] {
            let arc = CircleArc::new(theta.cos() - xc, theta, &[], 0.01).expect("one arc");
            assert!((arc.half - f64::acos(xc)).abs() < 1e-12 && arc.center.abs() < 1e-12, "{xc}: {arc:?}");
            let p = arc.project(theta);
            let at = |x: f64| eval(&[p, p.diff(theta)], &[(theta, x)]);
            let (low, high) = (at(arc.half), at(TAU - arc.half));
            assert!((low[0] - arc.half).abs() < 1e-12 && (low[1] + 1.0).abs() < 1e-10, "{xc}: {low:?}");
            assert!((high[0] + arc.half).abs() < 1e-12 && (high[1] + 1.0).abs() < 1e-10, "{xc}: {high:?}");
            for k in 0..100 {
                let x = arc.half + (TAU - 2.0 * arc.half) * f64::from(k) / 100.0;
                assert!(at(x)[1] < 0.0, "{xc}: P' = {} at {x}", at(x)[1]);
            }
        }
    }

    #[test]
    fn arcs_elsewhere() {
        let theta = Expr::symbol("theta");
        let arc = CircleArc::new((theta - 2.0).cos() + 0.9, theta, &[], -1.0).expect("one arc");
        assert!((arc.half - f64::acos(-0.9)).abs() < 1e-12, "{arc:?}");
        assert!((arc.center - 2.0).abs() < 1e-12, "{arc:?}");
        let far = CircleArc::new(theta.cos() - 0.3, theta, &[], 4.0 * PI + 1.0).expect("one arc");
        assert!((far.center - 4.0 * PI).abs() < 1e-9, "{far:?}");
        assert_eq!(CircleArc::new((2.0 * theta).cos(), theta, &[], 0.0), Err(NoArc::Zeros(4)));
        assert!(matches!(CircleArc::new(theta - 0.3, theta, &[], 0.5), Err(NoArc::NotPeriodic(_))));
        assert!(matches!(CircleArc::new(theta.cos() + 2.0, theta, &[], 0.5), Err(NoArc::Zeros(0))));
    }
}
