//! A gap at moments of a step, and between them.

/// A moment of a step: how far into it, φ, φ̇.
#[derive(Clone, Copy, Debug)]
pub(super) struct Moment {
    pub(super) tau: f64,
    pub(super) gap: f64,
    pub(super) rate: f64,
    /// On the partial flow itself, not on a polynomial near it.
    pub(super) is_exact: bool,
}

/// True if the gap cannot close between the ends of a step: it would have to fall by φ₀ and rise by φ₁ within it, at four times the
/// larger of the rates there.
pub(super) fn is_out_of_reach(a: Moment, b: Moment) -> bool {
    b.gap > 0.0 && a.gap + b.gap > 4.0 * b.tau * a.rate.abs().max(b.rate.abs())
}

/// True if a gap that is open at two moments may close in between: it first falls and then rises. A parabola with these slopes dips
/// below the lower end by at most τ(φ̇₁ − φ̇₀)/8; twice that is asked for.
pub(super) fn may_dip(a: Moment, b: Moment) -> bool {
    a.rate < 0.0 && b.rate > 0.0 && a.gap.min(b.gap) < 0.25 * (b.tau - a.tau) * (b.rate - a.rate)
}

/// True if the gap is not below a level at any moment after the first, and never turns from falling to rising. Gaps and rates between
/// the first and the last moment are multiplied by `side`. It has no branches, because it is true of most steps.
pub(super) fn stays_open(side: f64, first: Moment, gaps: &[f64], rates: &[f64], last: Moment, level: f64) -> bool {
    let (mut open, mut falls) = (last.gap >= level, first.rate < 0.0);
    let mut turns = false;
    for (gap, rate) in gaps.iter().zip(rates) {
        open &= side * gap >= level;
        turns |= falls & (side * rate > 0.0);
        falls = side * rate < 0.0;
    }
    open & !(turns | (falls & (last.rate > 0.0)))
}

/// Where between two moments, from 0 to 1, the cubic with their φ and φ̇ is zero. φ is positive at the first, and not at the
/// second.
pub(super) fn cubic_root(a: Moment, b: Moment) -> f64 {
    let length = b.tau - a.tau;
    let (slope_a, slope_b, rise) = (length * a.rate, length * b.rate, b.gap - a.gap);
    // φ(x) = φ₀ + x(φ₀′ + x(c + x·d))
    let (c, d) = (3.0 * rise - 2.0 * slope_a - slope_b, slope_a + slope_b - 2.0 * rise);
    let (mut low, mut high) = (0.0, 1.0);
    let mut x = a.gap / (a.gap - b.gap);
    for _ in 0..20 {
        let value = a.gap + x * (slope_a + x * (c + x * d));
        *(if value > 0.0 { &mut low } else { &mut high }) = x;
        let next = x - value / (slope_a + x * (2.0 * c + x * 3.0 * d));
        let next = if next > low && next < high { next } else { 0.5 * (low + high) };
        if (next - x).abs() <= 1e-9 {
            return next;
        }
        x = next;
    }
    x
}

/// Where the parabola through three points (τ, x) is least, if that is between them and below this part of the least x.
pub(super) fn dip([a, b, c]: [(f64, f64); 3], part: f64) -> Option<f64> {
    let [left, right] = [(b.1 - a.1) / (b.0 - a.0), (c.1 - b.1) / (c.0 - b.0)];
    let bend = (right - left) / (c.0 - a.0);
    // x = x_b + s(τ − τ_b) + bend(τ − τ_b)²
    let slope = left + bend * (b.0 - a.0);
    let (tau, least) = (b.0 - 0.5 * slope / bend, b.1 - 0.25 * slope * slope / bend);
    (bend > 0.0 && tau > a.0 && tau < c.0 && least < part * b.1.min(a.1).min(c.1)).then_some(tau)
}
