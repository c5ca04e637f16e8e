//! Where a step first meets a wall.
//!
//! The gap φ of every wall is looked at at the two ends of a step; most walls are then out of reach. For the others it is
//! looked at on a few moments inside the step, which a flow with stages gives for nothing. Between two moments the gap may
//! close (φ changes its sign), or dip below zero and come back (φ̇ changes its sign from falling to rising, and the parabola
//! through the moments comes near zero). Either is then located on the partial flow itself, or on the polynomial of the step where
//! the flow has one; then the arc that ends there is solved again (`controlled.rs`).

use super::maps::Maps;
use super::moment::{Moment, cubic_root, is_out_of_reach, may_dip, stays_open};
use super::release::Looks;
use super::touching::{Pace, Scale, Touching};
use crate::limits::{GIVEN_WAY, HALVINGS, SINKS};
use crate::phase::{MOMENTS, Phase};
use crate::plant::Evaluator;
use crate::solve::NoSolution;

/// What happens at a wall, and how far into the step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Encounter {
    pub(super) wall: usize,
    pub(super) dtau: f64,
    pub(super) kind: Kind,
    /// Nothing holds the motion, and all other walls are out of reach in the step.
    pub(super) is_alone: bool,
}

impl Encounter {
    /// An event at a wall while others may be near.
    pub(super) fn new(wall: usize, dtau: f64, kind: Kind) -> Encounter {
        Encounter { wall, dtau, kind, is_alone: false }
    }
}

/// What happens at a wall.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    /// Its gap closes.
    Meets,
    /// The motion touches it without any speed, and goes into it: the limit of infinitely many small bounces is contact.
    Presses,
    /// Its force would pull.
    LetsGo,
    /// It has let go, and a step in parts leaves it where a whole one would enter it.
    Opens,
    /// It is a kink of the equations, and the motion goes on on its other side.
    Passes,
}

/// A wall that is open at the start of a step and may be met in it.
#[derive(Clone, Copy)]
pub(super) struct Ahead {
    wall: usize,
    /// About when.
    tau: f64,
    /// It is open until this moment.
    from: f64,
    /// The moment after that, if its gap is shut there, and does not only dip before it.
    shut: Option<f64>,
}

/// The search for the first event of a step, in the contact mode that the maps are in.
pub(super) struct Search<'a> {
    pub(super) maps: &'a mut Maps,
    pub(super) evaluator: &'a mut dyn Evaluator,
    /// Room for a state.
    pub(super) probe: &'a mut Phase,
    pub(super) touching: &'a mut Touching,
    pub(super) looks: &'a mut Looks,
    /// Room for the walls that may be met.
    pub(super) ahead: &'a mut Vec<Ahead>,
    /// The number of walls.
    pub(super) walls: usize,
    /// The sides of the kinks, whose arguments follow the walls.
    pub(super) sides: &'a [f64],
    /// How many of the kinks, the last ones, have arguments that contain velocities.
    pub(super) of_velocities: usize,
    pub(super) pace: Pace,
    /// The motion can rest on walls.
    pub(super) can_rest: bool,
    /// The walls that have let go, as long as nothing else has happened in the step.
    pub(super) leaving: &'a [usize],
    /// A wall that is touched may be entered by this much before it is met.
    pub(super) sinks: f64,
    /// The gap of a wall that is touched is not shut down to minus this: it is roundoff.
    pub(super) noise: f64,
}

impl Search<'_> {
    /// The first wall that is met on the partial flow from z0 to z1 = Φ_τ(z0), and when. `left` is the wall that the
    /// motion has just left: its gap is zero at z0 and opens.
    pub(super) fn first_encounter(
        &mut self,
        z0: &Phase,
        z1: &Phase,
        tau: f64,
        left: Option<usize>,
    ) -> Result<Option<Encounter>, NoSolution> {
        if self.walls + self.sides.len() == 0 {
            return Ok(None);
        }
        self.evaluator.look_at_ends(z0, z1)?;
        self.ahead.clear();
        let mut first: Option<Encounter> = None;
        let mut within_reach = 0;
        for wall in 0..self.walls {
            if self.maps.holding().contains(&wall) {
                continue;
            }
            let [begin, end] = self.ends(wall, tau);
            if is_out_of_reach(begin, end) {
                continue;
            }
            within_reach += 1;
            let left = left == Some(wall);
            let until = first.map_or(f64::INFINITY, |contact| contact.dtau);
            let touches = self.touching.touches_at_start(wall, begin, z0, self.pace.h, self.evaluator)?;
            let mut kind = Kind::Meets;
            self.noise = 0.0;
            let dtau = if left || touches {
                self.touching.move_with(z0, self.pace.h, self.evaluator)?;
                let mut scale = self.touching.scale(wall, begin.rate, z0, self.pace, self.evaluator)?;
                let step = ([z0, z1], tau);
                self.touching.widen(&mut scale, wall, begin.rate, step, self.evaluator)?;
                self.noise = scale.roundoff;
                // A wall that is open and falls is left no more.
                let is_falling = begin.gap > scale.lowest && begin.rate < -scale.slow;
                let leaves = !is_falling && self.leaving.contains(&wall);
                let part = if leaves { self.opening_part(wall, z0, end, scale)? } else { None };
                if let Some(dtau) = part.filter(|&dtau| dtau < tau) {
                    kind = Kind::Opens;
                    Some(dtau)
                } else if part.is_none() && self.presses(wall, z0, begin, end, scale)? {
                    kind = Kind::Presses;
                    Some(0.0)
                } else {
                    self.contact_with_touched(wall, z0, [begin, end], until, left, scale)?
                }
            } else {
                self.look_inside(z0, tau)?;
                let ahead = self.look_ahead(wall, begin, end)?;
                self.ahead.extend(ahead);
                None
            };
            if let Some(dtau) = dtau.filter(|&dtau| dtau < until) {
                first = Some(Encounter::new(wall, dtau, kind));
            }
        }
        first = self.first_ahead(z0, tau, first)?;
        if let Some(contact) = &mut first {
            let is_free = self.maps.holding().is_empty() && self.sides.is_empty();
            contact.is_alone = is_free && within_reach == 1 && contact.kind == Kind::Meets;
        }
        let until = first.map_or(f64::INFINITY, |contact| contact.dtau);
        first = self.first_kink(z0, tau, left, until)?.or(first);
        let release = self.first_release(z0, z1, tau)?;
        Ok(release.filter(|release| first.is_none_or(|contact| release.dtau < contact.dtau)).or(first))
    }

    /// The moments at the ends of the step.
    fn ends(&mut self, wall: usize, tau: f64) -> [Moment; 2] {
        let is_exact = !self.maps.has_partial();
        let [begin, end] = self.evaluator.ends(wall);
        [
            Moment { tau: 0.0, gap: begin.0, rate: begin.1, is_exact: true },
            Moment { tau, gap: end.0, rate: end.1, is_exact },
        ]
    }

    /// When a wall that is open at the start may be met, as far as the moments tell; none if it stays open.
    fn look_ahead(&mut self, wall: usize, begin: Moment, end: Moment) -> Result<Option<Ahead>, NoSolution> {
        let (inside, moments) = (self.evaluator.inside(wall)?, self.evaluator.moments());
        let (taus, count) = (moments.tau, moments.count);
        let (gaps, rates) = inside.split_at(MOMENTS);
        if stays_open(1.0, begin, &gaps[..count], &rates[..count], end, 0.0) {
            return Ok(None);
        }
        let between = (0..count).map(|k| Moment { tau: taus[k], gap: gaps[k], rate: rates[k], is_exact: false });
        let mut before = begin;
        for next in between.chain([end]) {
            let from = before.tau;
            if next.gap < 0.0 {
                let tau = from + (next.tau - from) * cubic_root(before, next);
                return Ok(Some(Ahead { wall, tau, from, shut: Some(next.tau) }));
            }
            if may_dip(before, next) {
                return Ok(Some(Ahead { wall, tau: from, from, shut: None }));
            }
            before = next;
        }
        Ok(None)
    }

    /// The first contact with one of the walls ahead, if there is one before `first`. The one that seems to be the nearest comes first:
    /// the state in which it is met, which is needed anyway, shows of most others that they are still open.
    fn first_ahead(
        &mut self,
        z0: &Phase,
        tau: f64,
        mut first: Option<Encounter>,
    ) -> Result<Option<Encounter>, NoSolution> {
        self.noise = 0.0;
        self.ahead.sort_unstable_by(|a, b| a.tau.total_cmp(&b.tau).then(a.wall.cmp(&b.wall)));
        for k in 0..self.ahead.len() {
            let Ahead { wall, from, shut, .. } = self.ahead[k];
            let until = first.map_or(f64::INFINITY, |contact| contact.dtau);
            if until <= from {
                continue;
            }
            if let Some(shut) = shut.filter(|_| until < tau)
                && self.moment_after(wall, z0, until)?.gap > 0.0
            {
                // It may be open again, after it was shut by more than roundoff.
                let gap = if shut < until { self.moment_after(wall, z0, shut)?.gap } else { 0.0 };
                if gap >= 0.0 || self.is_roundoff(wall, gap)? {
                    continue;
                }
            }
            let [begin, end] = self.ends(wall, tau);
            let dtau = self.contact_with(wall, z0, begin, end, until, false)?;
            if let Some(dtau) = dtau.filter(|&dtau| dtau < until) {
                first = Some(Encounter::new(wall, dtau, Kind::Meets));
            }
        }
        Ok(first)
    }

    /// True if the motion touches a wall without any speed, to the roundoff of gap and rate, and goes into it: the first derivative
    /// of φ that is not zero is negative.
    fn presses(
        &mut self,
        wall: usize,
        z0: &Phase,
        begin: Moment,
        end: Moment,
        scale: Scale,
    ) -> Result<bool, NoSolution> {
        let lies = begin.gap.abs() <= scale.roundoff && begin.rate.abs() <= scale.slow;
        if !self.can_rest || end.gap >= 0.0 || !lies || are_together(begin, end, scale) {
            return Ok(false);
        }
        let mut moment = self.exact(wall, z0, end)?;
        while moment.gap < -scale.roundoff {
            moment = self.moment_by_step(wall, z0, 0.5 * moment.tau)?;
        }
        let presses = moment.tau < end.tau && moment.gap <= scale.roundoff;
        if !presses && moment.tau < end.tau {
            // The flow now remembers a shorter step, whose polynomial ends too soon.
            self.moment_by_step(wall, z0, end.tau)?;
        }
        Ok(presses)
    }

    /// The moment τ at the end of a step of that length. The polynomial of a longer step is not exact enough near its start, where
    /// a gap may be as small as τ³.
    fn moment_by_step(&mut self, wall: usize, z0: &Phase, tau: f64) -> Result<Moment, NoSolution> {
        if self.maps.partial().quick().is_none() {
            return self.moment_after(wall, z0, tau);
        }
        self.maps.partial().step(z0, tau, self.probe)?;
        let (gap, rate) = self.evaluator.gap_and_rate(wall, self.probe)?;
        Ok(Moment { tau, gap, rate, is_exact: true })
    }

    /// When a wall that is touched is met again.
    fn contact_with_touched(
        &mut self,
        wall: usize,
        z0: &Phase,
        [begin, end]: [Moment; 2],
        until: f64,
        left: bool,
        scale: Scale,
    ) -> Result<Option<f64>, NoSolution> {
        let Scale { slow, lowest, .. } = scale;
        self.sinks = SINKS * lowest;
        let dtau = if !left && begin.rate < -slow {
            Some(0.0)
        } else if are_together(begin, end, scale) {
            None
        } else {
            self.look_inside(z0, end.tau)?;
            self.contact_with(wall, z0, begin, end, until, true)?
        };
        match dtau {
            Some(met) if self.gives_way_after(wall, z0, met)? => {
                let level = -GIVEN_WAY * lowest;
                if end.gap < level { self.falling_to(level, wall, z0, begin, end) } else { Ok(None) }
            }
            dtau => Ok(dtau),
        }
    }

    /// True if a wall that is touched gives way to others at the moment τ.
    fn gives_way_after(&mut self, wall: usize, z0: &Phase, tau: f64) -> Result<bool, NoSolution> {
        if tau > 0.0 {
            self.maps.partial().glance(z0, tau, self.probe)?;
        } else {
            self.probe.copy_from(z0);
        }
        let at = self.evaluator.gap_and_rate(wall, self.probe)?;
        self.touching.gives_way(wall, at, self.probe, self.pace, self.evaluator)
    }

    /// When the gap of one wall first closes, if that is before `until`.
    pub(super) fn contact_with(
        &mut self,
        wall: usize,
        z0: &Phase,
        begin: Moment,
        end: Moment,
        until: f64,
        left: bool,
    ) -> Result<Option<f64>, NoSolution> {
        let side = self.side_of(wall);
        let (inside, moments) = (self.evaluator.inside(wall)?, self.evaluator.moments());
        let (taus, count) = (moments.tau, moments.count);
        let (gaps, rates) = inside.split_at(MOMENTS);
        if stays_open(side, begin, &gaps[..count], &rates[..count], end, -self.noise) {
            return Ok(None);
        }
        let mut before = begin;
        for k in 0..=count {
            let next = if k < count {
                let (gap, rate) = (side * inside[k], side * inside[MOMENTS + k]);
                Moment { tau: taus[k], gap, rate, is_exact: false }
            } else {
                end
            };
            if let Some(dtau) = self.between(wall, z0, before, next, left && k == 0)? {
                return Ok(Some(dtau));
            }
            if next.tau >= until {
                break;
            }
            before = next;
        }
        Ok(None)
    }

    /// Looks at the moments inside the last step, once for all walls; by partial steps where the map has none of this step.
    pub(super) fn look_inside(&mut self, z0: &Phase, tau: f64) -> Result<(), NoSolution> {
        let partial = self.maps.partial();
        let count = partial.moments();
        let moments = self.evaluator.moments();
        if moments.count == count || partial.write_moments(z0, tau, moments) {
            return Ok(());
        }
        for k in 0..count {
            let into = tau * (k + 1) as f64 / (count + 1) as f64;
            self.maps.partial().step(z0, into, self.probe)?;
            self.evaluator.write_moment(k, z0, into, self.probe)?;
        }
        self.evaluator.moments().count = count;
        Ok(())
    }

    /// The moment τ on the partial flow.
    pub(super) fn moment_after(&mut self, wall: usize, z0: &Phase, tau: f64) -> Result<Moment, NoSolution> {
        self.maps.partial().glance(z0, tau, self.probe)?;
        let (gap, rate) = self.evaluator.gap_and_rate(wall, self.probe)?;
        let side = self.side_of(wall);
        Ok(Moment { tau, gap: side * gap, rate: side * rate, is_exact: true })
    }

    /// 1 for a wall, whose gap is positive; for a kink its side, with which its argument is.
    pub(super) fn side_of(&self, wall: usize) -> f64 {
        if wall < self.walls { 1.0 } else { self.sides[wall - self.walls] }
    }

    /// This moment, evaluated on the partial flow itself: the polynomial may show a gap as shut where it is just open.
    pub(super) fn exact(&mut self, wall: usize, z0: &Phase, moment: Moment) -> Result<Moment, NoSolution> {
        if moment.is_exact { Ok(moment) } else { self.moment_after(wall, z0, moment.tau) }
    }

    /// When the gap closes between two moments.
    fn between(
        &mut self,
        wall: usize,
        z0: &Phase,
        a: Moment,
        b: Moment,
        left: bool,
    ) -> Result<Option<f64>, NoSolution> {
        if b.gap < -self.noise { self.shutting(wall, z0, a, b, left) } else { self.dip(wall, z0, a, b, left) }
    }

    /// When the gap closes on the way to a moment when it is shut. A wall that is touched has to open first, from where the
    /// motion stands in it, by more than roundoff; where it does not, it is met when the motion is deeper in it by more than that.
    fn shutting(
        &mut self,
        wall: usize,
        z0: &Phase,
        a: Moment,
        shut: Moment,
        left: bool,
    ) -> Result<Option<f64>, NoSolution> {
        if a.gap > 0.0 && !left {
            return self.closing(wall, z0, a, shut);
        }
        if let Some(open) = self.opening(wall, z0, a, shut, 0.0)? {
            return self.closing(wall, z0, open, shut);
        }
        let level = a.gap.min(0.0);
        let noise = if self.can_rest { self.sinks } else { 0.0 };
        let deeper = if level < 0.0 { self.opening(wall, z0, a, shut, level + noise)? } else { None };
        match deeper {
            Some(open) => self.falling_to(level, wall, z0, open, shut),
            // A motion that cannot rest on the wall meets it again at once.
            None if !self.can_rest => Ok(Some(a.tau)),
            None => self.falling_to(level - self.sinks, wall, z0, a, shut),
        }
    }

    /// A moment after a at which the gap is wider than `level`, as it is not at a. Where the gap opens at a, it is first looked
    /// for at the apex of the parabola with the rates of both moments.
    fn opening(
        &mut self,
        wall: usize,
        z0: &Phase,
        a: Moment,
        b: Moment,
        level: f64,
    ) -> Result<Option<Moment>, NoSolution> {
        let opens = a.rate > 0.0;
        let apex = if opens && b.rate < 0.0 { a.rate / (a.rate - b.rate) } else { 0.5 };
        let mut part = apex * (b.tau - a.tau);
        for _ in 0..if opens { HALVINGS } else { 1 } {
            let moment = self.moment_after(wall, z0, a.tau + part)?;
            if moment.gap > level {
                return Ok(Some(moment));
            }
            part *= 0.5;
        }
        Ok(None)
    }

    /// The gap is open at both moments: does it close in between? Only if it first falls and then rises; then the
    /// lowest gap is looked for, unless it is far above zero.
    fn dip(&mut self, wall: usize, z0: &Phase, a: Moment, b: Moment, left: bool) -> Result<Option<f64>, NoSolution> {
        if !may_dip(a, b) {
            return Ok(None);
        }
        let (mut falling, mut rising) = (a, b);
        for _ in 0..60 {
            let part = (falling.rate / (falling.rate - rising.rate)).clamp(0.1, 0.9);
            let middle = self.moment_after(wall, z0, falling.tau + part * (rising.tau - falling.tau))?;
            if middle.gap < -self.noise {
                return self.shutting(wall, z0, falling, middle, left && falling.tau == a.tau);
            }
            if middle.rate == 0.0 || rising.tau - falling.tau <= 1e-12 * b.tau {
                break;
            }
            *(if middle.rate < 0.0 { &mut falling } else { &mut rising }) = middle;
        }
        Ok(None)
    }
}

/// True for bodies that touch and move together: they do not press, and what is between them is roundoff.
fn are_together(begin: Moment, end: Moment, Scale { slow, lowest, .. }: Scale) -> bool {
    begin.gap.abs().max(end.gap.abs()) <= lowest && begin.rate.abs().max(end.rate.abs()) <= slow
}
