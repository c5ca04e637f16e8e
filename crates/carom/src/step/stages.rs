//! Walls, as the stages of a step show them, so that most steps need no further search. In a quick step their gaps come with the
//! accelerations.

use super::algorithm::EventDriven;
use super::event::{Encounter, Kind};
use super::moment::{Moment, cubic_root, is_out_of_reach, may_dip, stays_open};
use crate::limits::{BEYOND_STAGES, GAP_ROUNDOFF};
use crate::phase::{Gaps, MOMENTS};
use crate::solve::Solved;

/// The fewest moments inside a step that show whether a gap closes.
const FEWEST: usize = 4;
/// The largest number of walls that are looked at one by one.
const MOST_WALLS: usize = 8;

/// What the stages of a step show.
pub(super) enum Shown {
    /// No wall is met.
    Open,
    /// One wall alone is met, from well open.
    Meets(Met),
    /// Too little: the search has to look.
    Unclear,
}

/// A wall that is met between two moments of a step, while all others stay open.
pub(super) struct Met {
    pub(super) wall: usize,
    pub(super) open: Moment,
    pub(super) shut: Moment,
}

impl Met {
    /// About when.
    pub(super) fn about(&self) -> f64 {
        self.open.tau + (self.shut.tau - self.open.tau) * cubic_root(self.open, self.shut)
    }

    /// The encounter, if it is so far into the step.
    pub(super) fn at(&self, dtau: f64) -> Encounter {
        Encounter { wall: self.wall, dtau, kind: Kind::Meets, is_alone: true }
    }
}

/// What they show of one wall.
enum Gap {
    Open,
    /// It closes between two moments.
    Closes(Moment, Moment),
    Unclear,
}

/// True if all walls are open in a step of length h, as its stages show.
pub(super) fn all_open(Gaps { c, of_walls }: Gaps, h: f64) -> bool {
    of_walls.iter().all(|[gaps, rates]| matches!(look(c, h, gaps, rates, false), Gap::Open))
}

/// True if a wall will be met in a next step of length `next`, if the acceleration of its gap remains that of this step.
pub(super) fn meets_next(Gaps { c, of_walls }: Gaps, h: f64, next: f64) -> bool {
    let (first, last) = (0, MOMENTS - 1);
    of_walls.iter().any(|[gaps, rates]| {
        let acceleration = (rates[last] - rates[first]) / (h * (c[last] - c[first]));
        gaps[last] + next * (rates[last] + 0.5 * next * acceleration) <= 0.0
    })
}

impl EventDriven {
    /// What the stages of the last full step, of length h, show of the walls. The motion has just left the wall `left`.
    pub(super) fn shown_by_stages(&mut self, h: f64, left: Option<usize>) -> Shown {
        if self.facts.kinks > 0 || !self.maps.holding().is_empty() {
            return Shown::Unclear;
        }
        let Some(Gaps { c, of_walls }) = self.maps.full().quick().and_then(|quick| quick.gaps()) else {
            return Shown::Unclear;
        };
        let mut met = None;
        for (wall, [gaps, rates]) in of_walls.iter().enumerate() {
            match look(c, h, gaps, rates, left == Some(wall)) {
                Gap::Open => {}
                Gap::Closes(open, shut) if met.is_none() => met = Some(Met { wall, open, shut }),
                _ => return Shown::Unclear,
            }
        }
        met.map_or(Shown::Open, Shown::Meets)
    }

    /// What the ends of the step from z to z1, of length h, and the moments inside it show of the walls. The motion has just left the
    /// wall `left`.
    pub(super) fn shown_by_moments(&mut self, h: f64, left: Option<usize>) -> Solved<Shown> {
        let EventDriven { maps, evaluator, facts, leaving, z, z1, .. } = self;
        let is_free = facts.kinks == 0 && maps.holding().is_empty() && leaving.is_empty();
        if !is_free {
            return Ok(Shown::Unclear);
        }
        evaluator.look_at_ends(z, z1)?;
        let has_moments = facts.walls <= MOST_WALLS && !maps.has_partial() && maps.full().moments() >= FEWEST;
        let mut met = None;
        for wall in 0..facts.walls {
            let [(gap, rate), (gap_1, rate_1)] = evaluator.ends(wall);
            let begin = Moment { tau: 0.0, gap, rate, is_exact: true };
            let end = Moment { tau: h, gap: gap_1, rate: rate_1, is_exact: true };
            if is_out_of_reach(begin, end) {
                continue;
            }
            if !has_moments {
                return Ok(Shown::Unclear);
            }
            let roundoff = GAP_ROUNDOFF * (evaluator.most_of_gap(wall, h) + (rate * z.t).abs());
            let moments = evaluator.moments();
            if moments.count == 0 && !maps.full().write_moments(z, h, moments) {
                return Ok(Shown::Unclear);
            }
            let (taus, count) = (moments.tau, moments.count);
            let inside = evaluator.inside(wall)?;
            let (gaps, rates) = (&inside[..count], &inside[MOMENTS..][..count]);
            let opens = if left == Some(wall) { rate > 0.0 && rates[0] > 0.0 } else { gap > 2.0 * roundoff };
            match (opens, between(begin, &taus[..count], gaps, rates, end)) {
                (true, Gap::Open) => {}
                (true, Gap::Closes(open, shut)) if open.tau > 0.0 && met.is_none() => {
                    met = Some(Met { wall, open, shut });
                }
                _ => return Ok(Shown::Unclear),
            }
        }
        Ok(met.map_or(Shown::Open, Shown::Meets))
    }
}

/// What φ and φ̇ at the ends of a step and at moments inside it show of a wall.
fn between(begin: Moment, taus: &[f64], gaps: &[f64], rates: &[f64], end: Moment) -> Gap {
    if end.gap > 0.0 && stays_open(1.0, begin, gaps, rates, end, f64::MIN_POSITIVE) {
        return Gap::Open;
    }
    let inside = taus.iter().zip(gaps.iter().zip(rates));
    let inside = inside.map(|(&tau, (&gap, &rate))| Moment { tau, gap, rate, is_exact: false });
    let mut before = begin;
    for now in inside.chain([end]) {
        if now.gap <= 0.0 && before.rate < 0.0 && now.rate < 0.0 {
            return Gap::Closes(before, now);
        }
        if now.gap.is_nan() || now.gap <= 0.0 || may_dip(before, now) {
            return Gap::Unclear;
        }
        before = now;
    }
    Gap::Open
}

/// What φ and φ̇ at the moments c·h show of a wall. Before the first of them and after the last, the gap is open if it is wider than
/// what its rate covers there several times; a wall that was just left opens.
fn look(c: &[f64; MOMENTS], h: f64, gaps: &[f64; MOMENTS], rates: &[f64; MOMENTS], is_left: bool) -> Gap {
    const LAST: usize = MOMENTS - 1;
    let moment = |k: usize| Moment { tau: c[k] * h, gap: gaps[k], rate: rates[k], is_exact: false };
    let is_beyond = |k: usize, part: f64| gaps[k] > BEYOND_STAGES * part * h * rates[k].abs();
    let opens = if is_left { gaps[0] > 0.0 && rates[0] > 0.0 } else { is_beyond(0, c[0]) };
    if !opens {
        return Gap::Unclear;
    }
    let ends_open = is_beyond(LAST, 1.0 - c[LAST]);
    if ends_open && stays_open(1.0, moment(0), &gaps[1..LAST], &rates[1..LAST], moment(LAST), f64::MIN_POSITIVE) {
        return Gap::Open;
    }
    for k in 1..MOMENTS {
        let (before, now) = (moment(k - 1), moment(k));
        if now.gap <= 0.0 && before.rate < 0.0 && now.rate < 0.0 {
            return Gap::Closes(before, now);
        }
        if now.gap.is_nan() || now.gap <= 0.0 || may_dip(before, now) {
            return Gap::Unclear;
        }
    }
    if ends_open { Gap::Open } else { Gap::Unclear }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The Gauss points of order 16 on [0, 1].
    const C: [f64; MOMENTS] = [
        0.019855071751231884,
        0.10166676129318664,
        0.2372337950418355,
        0.4082826787521751,
        0.591_717_321_247_825,
        0.7627662049581645,
        0.8983332387068134,
        0.9801449282487681,
    ];

    /// What a gap with these coefficients in t shows in a step of length h.
    fn shown(gap: &[f64; 5], h: f64, is_left: bool) -> Gap {
        let rates = C.map(|c| (1..5).map(|m| m as f64 * gap[m] * (c * h).powi(m as i32 - 1)).sum());
        look(&C, h, &C.map(|c| at(gap, c * h)), &rates, is_left)
    }

    fn at(gap: &[f64; 5], t: f64) -> f64 {
        gap.iter().rev().fold(0.0, |sum, coefficient| sum * t + coefficient)
    }

    /// Random motions of degree 4: a wall that is shown to be open stays open, and one that is shown to be met is met then and not
    /// before.
    #[test]
    fn what_stages_show_is_true() {
        let mut seed = 1_u64;
        let mut random = || {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (seed >> 11) as f64 / (1_u64 << 53) as f64
        };
        let (mut open, mut closes) = (0, 0);
        for _ in 0..20_000 {
            let h = 10f64.powf(-9.0 * random());
            let is_left = random() < 0.3;
            let mut gap = [0.0; 5];
            for (m, coefficient) in gap.iter_mut().enumerate() {
                *coefficient = (2.0 * random() - 1.0) / h.powi(m as i32);
            }
            (gap[0], gap[1]) = if is_left { (0.0, gap[1].abs()) } else { (gap[0].abs(), gap[1]) };
            let stays_open = |until: f64| (1..1000).all(|k| at(&gap, until * f64::from(k) / 1000.0) > 0.0);
            match shown(&gap, h, is_left) {
                Gap::Open => {
                    assert!(stays_open(h), "{gap:?}, h = {h}");
                    open += 1;
                }
                Gap::Closes(open, shut) => {
                    let dtau = Met { wall: 0, open, shut }.about();
                    assert!(stays_open(0.998 * dtau), "{gap:?}, h = {h}, at {dtau}");
                    assert!(at(&gap, dtau + 0.002 * h) < 0.0, "{gap:?}, h = {h}, at {dtau}");
                    closes += 1;
                }
                Gap::Unclear => {}
            }
        }
        assert!(open > 5_000 && closes > 2_000, "{open} open, {closes} close");
    }

    #[test]
    fn gaps_that_are_no_numbers_are_unclear() {
        for bad in 0..MOMENTS {
            let mut gaps = [1.0; MOMENTS];
            gaps[bad] = f64::NAN;
            assert!(matches!(look(&C, 0.1, &gaps, &[0.0; MOMENTS], false), Gap::Unclear), "stage {bad}");
        }
    }
}
