//! The walls that touch at an instant, and how well that can be told.
//!
//! No limit here depends on the unit of φ, of a length, of a mass or of the time. A gap is compared with the roundoff of its own
//! evaluation ([`Touching::roundoff`]), or with the way that the motion goes in a step ([`Touching::scale`]). A rate is divided by
//! √W, W = ∇φ·M⁻¹∇φ: its square is then an energy, which can be compared with that of other walls.

use super::moment::Moment;
use super::state::{Memory, State};
use crate::impact::{left_of_redundant, trial_impulse};
use crate::limits::{BOUNCE_OF_TOLERANCE, GAP_ROUNDOFF, NEARLY_REDUNDANT, SLOW};
use crate::phase::Phase;
use crate::plant::{Evaluator, Facts};
use crate::solve::Solved;

/// A list of walls that touch, and how their rates answer to impulses.
pub(super) struct Touching {
    /// The walls, each with its rate φ̇.
    pub(super) walls: Vec<(usize, f64)>,
    /// Impacts nearer in time than this are simultaneous.
    window: f64,
    /// How far a step moves the coordinates: positions are known to the roundoff of that.
    moved: Vec<f64>,
    /// ∇φ of a wall.
    gradient: Vec<f64>,
    /// How an impulse changes the velocities.
    change: Vec<f64>,
    /// How that of a wall does with which others are compared.
    pushed: Vec<f64>,
    /// Room for a state.
    next: Phase,
    /// √W of each wall in a state, as far as they were computed, else NaN; and that state.
    roots: Vec<f64>,
    at: Phase,
    /// √(M⁻¹)ᵢᵢ of each coordinate in a state, and that state.
    reaches: Vec<f64>,
    reached: Phase,
    /// True if W depends on the coordinates and the time only, and not on the momenta.
    is_quadratic: bool,
}

/// What limits the rates and gaps of a run are compared with.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pace {
    /// The largest |φ̇|/√W at an impact so far.
    pub(super) fastest: f64,
    /// The full step.
    pub(super) h: f64,
    /// The lowest bounce, relative to the way of the fastest motion in a step.
    pub(super) lowest: f64,
}

impl Pace {
    /// The pace of a run in a state, with full steps of length h and a lowest bounce. Where the length of steps is controlled, the last bounce is as
    /// low as the local tolerance asks for: what the bounces after it would have done is an error of the step.
    pub(super) fn of(state: &State, h: f64, lowest: f64) -> Pace {
        let lowest = match &state.memory {
            Memory::Control(control) => lowest.min(BOUNCE_OF_TOLERANCE * control.tolerance),
            _ => lowest,
        };
        Pace { fastest: state.fastest, h, lowest }
    }
}

/// What is small at a wall.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scale {
    /// √W.
    pub(super) root_w: f64,
    /// The gap, if it is wider than roundoff.
    pub(super) gap: f64,
    /// A rate below this is as good as none.
    pub(super) slow: f64,
    /// A gap below this is roundoff.
    pub(super) roundoff: f64,
    /// A gap below this, and a bounce lower than this, is none where the rate is small and energy is lost.
    pub(super) lowest: f64,
    /// No rate above this is roundoff of the motion of other coordinates.
    pub(super) slowest: f64,
}

impl Touching {
    pub(super) fn new(facts: &Facts) -> Touching {
        let zeros = vec![0.0; facts.n];
        let [moved, gradient, change, pushed, reaches] = [0; 5].map(|_| zeros.clone());
        let [next, at, reached] = [0; 3].map(|_| facts.nowhere());
        let (roots, is_quadratic) = (vec![f64::NAN; facts.walls], facts.is_quadratic);
        let (walls, window) = (Vec::new(), 0.0);
        Touching { walls, window, moved, gradient, change, pushed, next, roots, at, reaches, reached, is_quadratic }
    }

    /// Forgets the last step, of whose length positions are known.
    pub(super) fn forget(&mut self) {
        self.moved.fill(0.0);
        self.window = 0.0;
        self.forget_responses();
    }

    /// Forgets √W of all walls, so that the next have the bits of first ones.
    pub(super) fn forget_responses(&mut self) {
        (self.at.t, self.reached.t) = (f64::NAN, f64::NAN);
    }

    /// A gap below this is roundoff: of its evaluation, and of the time at which a motion with this rate is looked at.
    pub(super) fn roundoff(&self, wall: usize, rate: f64, z: &Phase, evaluator: &mut dyn Evaluator) -> Solved<f64> {
        Ok(GAP_ROUNDOFF * (evaluator.size_of_gap(wall, z, &self.moved)? + (rate * z.t).abs()))
    }

    /// True if the gap of a wall at the start z of a step of length h is closed or roundoff. In most steps a bound that is already
    /// known shows that it is not, without another evaluation.
    pub(super) fn touches_at_start(
        &mut self,
        wall: usize,
        begin: Moment,
        z: &Phase,
        h: f64,
        evaluator: &mut dyn Evaluator,
    ) -> Solved<bool> {
        let most = GAP_ROUNDOFF * (evaluator.most_of_gap(wall, h) + (begin.rate * z.t).abs());
        if begin.gap > 2.0 * most {
            return Ok(false);
        }
        self.move_with(z, h, evaluator)?;
        Ok(begin.gap <= 0.0 || begin.gap <= self.roundoff(wall, begin.rate, z, evaluator)?)
    }

    /// Takes the velocities in z for those of a step of length h.
    pub(super) fn move_with(&mut self, z: &Phase, h: f64, evaluator: &mut dyn Evaluator) -> Solved<()> {
        let v = evaluator.velocity(z)?;
        self.moved.iter_mut().zip(v).for_each(|(moved, v)| *moved = h * v);
        Ok(())
    }

    /// What is small at a wall. The way of a step is h√W√(2K), with the larger of the kinetic energies of the motion and of the
    /// fastest impact.
    pub(super) fn scale(
        &mut self,
        wall: usize,
        rate: f64,
        z: &Phase,
        pace: Pace,
        evaluator: &mut dyn Evaluator,
    ) -> Solved<Scale> {
        let root_w = self.root_of_response(wall, z, evaluator)?;
        let motion = size_of_motion(z, evaluator)?;
        let way = pace.h.abs() * root_w * pace.fastest.max(motion);
        let roundoff = self.roundoff(wall, rate, z, evaluator)?;
        let slow = SLOW * (pace.fastest * root_w).max(evaluator.size_of_rate(wall, z)?);
        let slowest = slow.max(SLOW * root_w * motion);
        Ok(Scale { root_w, gap: 0.0, slow, roundoff, lowest: roundoff.max(pace.lowest * way), slowest })
    }

    /// Widens what is small at a wall by what the whole motion in the states z, h apart, adds up to the rate:
    ///
    /// ```text
    /// φ̇ = w·p + φ_t,   w = M⁻¹∇φ
    /// ```
    ///
    /// The terms wᵢpᵢ cancel where all bodies move together, as in free fall; the rate is then roundoff of them, and the gap of
    /// their way in the step. |w·p| ≤ √W√(2K) says where none of that can be.
    pub(super) fn widen(
        &mut self,
        scale: &mut Scale,
        wall: usize,
        rate: f64,
        (states, h): ([&Phase; 2], f64),
        evaluator: &mut dyn Evaluator,
    ) -> Solved<()> {
        if rate.abs() > scale.slowest {
            return Ok(());
        }
        let mut terms = 0.0;
        for z in states {
            let lambda = self.push(wall, z, evaluator)?;
            terms = f64::max(terms, sum_of_products(&self.change, z.p()) / lambda);
        }
        scale.slow = scale.slow.max(SLOW * terms);
        scale.roundoff += GAP_ROUNDOFF * h.abs() * terms;
        scale.lowest = scale.lowest.max(scale.roundoff);
        Ok(())
    }

    /// The rate below which that of a wall is roundoff, of the motion of all bodies too.
    pub(super) fn slow(
        &mut self,
        wall: usize,
        rate: f64,
        z: &Phase,
        pace: Pace,
        evaluator: &mut dyn Evaluator,
    ) -> Solved<f64> {
        let mut scale = self.scale(wall, rate, z, pace, evaluator)?;
        self.widen(&mut scale, wall, rate, ([z, z], pace.h), evaluator)?;
        Ok(scale.slow)
    }

    /// True if the gap of a wall is wider than the lowest bounce, as a bound on √W shows, by the triangle inequality in the mass metric:
    ///
    /// ```text
    /// √W = ‖∇φ‖ ≤ Σᵢ |∂φ/∂qᵢ| √(M⁻¹)ᵢᵢ
    /// ```
    ///
    /// √(M⁻¹)ᵢᵢ is the same for all walls, which pays if there are more of them than coordinates.
    pub(super) fn is_far(
        &mut self,
        wall: usize,
        (gap, rate): (f64, f64),
        z: &Phase,
        pace: Pace,
        evaluator: &mut dyn Evaluator,
    ) -> Solved<bool> {
        if gap <= 0.0 || !self.is_quadratic || self.roots.len() <= self.moved.len() {
            return Ok(false);
        }
        if self.reached.t != z.t || self.reached.q() != z.q() {
            self.find_reaches(z, evaluator)?;
        }
        evaluator.normal(wall, z, &mut self.gradient);
        let root_w: f64 = self.gradient.iter().zip(&self.reaches).map(|(slope, reach)| slope.abs() * reach).sum();
        let way = pace.h.abs() * root_w * pace.fastest.max(size_of_motion(z, evaluator)?);
        Ok(gap > 2.0 * pace.lowest * way && gap > self.roundoff(wall, rate, z, evaluator)?)
    }

    /// √(M⁻¹)ᵢᵢ of each coordinate, by an impulse on each.
    fn find_reaches(&mut self, z: &Phase, evaluator: &mut dyn Evaluator) -> Solved<()> {
        let Touching { gradient, change, next, reaches, reached, .. } = self;
        reached.t = f64::NAN;
        change.copy_from_slice(evaluator.velocity(z)?);
        for i in 0..reaches.len() {
            gradient.fill(0.0);
            gradient[i] = 1.0;
            let lambda = trial_impulse(z, change, gradient);
            next.copy_from(z);
            next.p_mut()[i] += lambda;
            evaluator.project(next)?;
            reaches[i] = ((evaluator.velocity(next)?[i] - change[i]) / lambda).max(0.0).sqrt();
        }
        reached.copy_from(z);
        Ok(())
    }

    /// √W of a wall; 0 where constraints block its normal direction.
    pub(super) fn root_of_response(&mut self, wall: usize, z: &Phase, evaluator: &mut dyn Evaluator) -> Solved<f64> {
        let is_there = self.at.t == z.t && self.at.q() == z.q() && (self.is_quadratic || self.at.p() == z.p());
        if !is_there {
            self.roots.fill(f64::NAN);
            self.at.copy_from(z);
        }
        if self.roots[wall].is_nan() {
            let lambda = self.push(wall, z, evaluator)?;
            self.roots[wall] = (self.change_of_rate() / lambda).max(0.0).sqrt();
        }
        Ok(self.roots[wall])
    }

    /// ∇φ·(v⁺ − v⁻). A difference of rates would lose the small velocities of bodies beside fast ones, or at walls that move.
    fn change_of_rate(&self) -> f64 {
        self.gradient.iter().zip(&self.change).map(|(slope, change)| slope * change).sum()
    }

    /// An impulse of a wall in the state z, about as large as the momenta that it changes; v⁺ − v⁻ is in `change`.
    fn push(&mut self, wall: usize, z: &Phase, evaluator: &mut dyn Evaluator) -> Solved<f64> {
        let Touching { gradient, next, change, .. } = self;
        push(wall, z, [gradient, change], next, evaluator)
    }

    /// Begins with the impacts of an instant at which a wall is met in the state z. Returns the rate below which it is as good as none.
    pub(super) fn begin(&mut self, met: usize, z: &Phase, pace: Pace, evaluator: &mut dyn Evaluator) -> Solved<f64> {
        self.move_with(z, pace.h, evaluator)?;
        let rate = evaluator.gap_and_rate(met, z)?.1;
        let slow = self.slow(met, rate, z, pace, evaluator)?;
        let by_gap = if rate.abs() > slow { evaluator.size_of_gap(met, z, &self.moved)? / rate.abs() } else { 0.0 };
        self.window = GAP_ROUNDOFF * (z.t.abs() + by_gap);
        Ok(slow)
    }

    /// True if the gap of a wall is closed at this instant, within the roundoff of the gap and of the times of impact.
    pub(super) fn is_closed(
        &self,
        wall: usize,
        (gap, rate): (f64, f64),
        z: &Phase,
        evaluator: &mut dyn Evaluator,
    ) -> Solved<bool> {
        if gap <= 0.0 || gap <= rate.abs() * self.window {
            return Ok(true);
        }
        Ok(gap <= self.roundoff(wall, rate, z, evaluator)? + rate.abs() * self.window)
    }

    /// Lists the walls that touch in z, and the wall that is met there.
    pub(super) fn collect(&mut self, met: usize, z: &Phase, evaluator: &mut dyn Evaluator) -> Solved<()> {
        self.walls.clear();
        for wall in 0..evaluator.restitution().len() {
            let at = evaluator.gap_and_rate(wall, z)?;
            if wall == met || self.is_closed(wall, at, z, evaluator)? {
                self.walls.push((wall, at.1));
            }
        }
        Ok(())
    }

    /// W = G M⁻¹ Gᵀ by rows: how the rate of each wall of the list answers to an impulse of each in the state z.
    pub(super) fn responses(&mut self, z: &Phase, evaluator: &mut dyn Evaluator) -> Solved<Vec<f64>> {
        let m = self.walls.len();
        let mut w = vec![0.0; m * m];
        for j in 0..m {
            let lambda = self.push(self.walls[j].0, z, evaluator)?;
            for (i, (wall, before)) in self.walls.iter().enumerate() {
                w[i * m + j] = (evaluator.gap_and_rate(*wall, &self.next)?.1 - before) / lambda;
            }
        }
        Ok(w)
    }

    /// True if a wall that touches closes by no more than what its gradient differs by from a combination of those of the other
    /// walls that touch: these already keep the motion off it. A ball that slips between two others without play meets neither.
    pub(super) fn gives_way(
        &mut self,
        wall: usize,
        (gap, rate): (f64, f64),
        z: &Phase,
        pace: Pace,
        evaluator: &mut dyn Evaluator,
    ) -> Solved<bool> {
        let count = evaluator.restitution().len();
        if count == 1 {
            return Ok(false);
        }
        let motion = size_of_motion(z, evaluator)?;
        let Scale { root_w, lowest, .. } = self.scale(wall, rate, z, pace, evaluator)?;
        if gap.abs() > lowest || rate * rate > NEARLY_REDUNDANT * (root_w * motion).powi(2) {
            return Ok(false);
        }
        // What no touching wall answers to depends on none: mostly all is said with that.
        self.push(wall, z, evaluator)?;
        self.pushed.copy_from_slice(&self.change);
        let mut others = (0..count).filter(|&other| other != wall);
        let is_alone = loop {
            match others.next() {
                Some(other) if self.answers(other, z, evaluator) && self.touches(other, z, pace, evaluator)? => {
                    break false;
                }
                Some(_) => {}
                None => break true,
            }
        };
        if is_alone {
            return Ok(false);
        }
        self.walls.clear();
        for other in 0..count {
            if other == wall || self.touches(other, z, pace, evaluator)? {
                self.walls.push((other, evaluator.gap_and_rate(other, z)?.1));
            }
        }
        let w = self.responses(z, evaluator)?;
        let number = self.walls.iter().position(|(touching, _)| *touching == wall);
        let left = number.and_then(|number| left_of_redundant(&w, self.walls.len(), number));
        Ok(left.is_some_and(|left| rate * rate <= left * motion * motion))
    }

    /// True if the rate of a wall changes with the impulse in `pushed`.
    fn answers(&mut self, wall: usize, z: &Phase, evaluator: &mut dyn Evaluator) -> bool {
        evaluator.normal(wall, z, &mut self.gradient);
        self.gradient.iter().zip(&self.pushed).map(|(slope, change)| slope * change).sum::<f64>() != 0.0
    }

    /// True if the gap of a wall is as low as the last bounce.
    fn touches(&mut self, wall: usize, z: &Phase, pace: Pace, evaluator: &mut dyn Evaluator) -> Solved<bool> {
        let (gap, rate) = evaluator.gap_and_rate(wall, z)?;
        if gap > 0.0 && self.is_far(wall, (gap, rate), z, pace, evaluator)? {
            return Ok(false);
        }
        Ok(gap <= 0.0 || gap <= self.scale(wall, rate, z, pace, evaluator)?.lowest)
    }
}

/// The size of what adds up to a rate, Σ|wᵢpᵢ| with w = M⁻¹∇φ: see [`Touching::widen`].
pub(crate) fn terms_of_rate(wall: usize, z: &Phase, evaluator: &mut dyn Evaluator) -> Solved<f64> {
    let (mut next, mut gradient) = (z.clone(), z.p().to_vec());
    let mut change = gradient.clone();
    let lambda = push(wall, z, [&mut gradient, &mut change], &mut next, evaluator)?;
    Ok(sum_of_products(&change, z.p()) / lambda)
}

/// √W of a wall in the state z: see [`Touching::root_of_response`].
pub(super) fn root_of_response(wall: usize, z: &Phase, evaluator: &mut dyn Evaluator) -> Solved<f64> {
    let (mut next, mut gradient) = (z.clone(), z.p().to_vec());
    let mut change = gradient.clone();
    let lambda = push(wall, z, [&mut gradient, &mut change], &mut next, evaluator)?;
    let rate: f64 = gradient.iter().zip(&change).map(|(slope, change)| slope * change).sum();
    Ok((rate / lambda).max(0.0).sqrt())
}

/// An impulse of a wall in the state z, about as large as the momenta that it changes, with ∇φ, v⁺ − v⁻ and the state after it.
fn push(
    wall: usize,
    z: &Phase,
    [gradient, change]: [&mut Vec<f64>; 2],
    next: &mut Phase,
    evaluator: &mut dyn Evaluator,
) -> Solved<f64> {
    evaluator.normal(wall, z, gradient);
    let v = evaluator.velocity(z)?;
    change.copy_from_slice(v);
    let lambda = trial_impulse(z, v, gradient);
    next.copy_from(z);
    next.p_mut().iter_mut().zip(&*gradient).for_each(|(p, slope)| *p += lambda * slope);
    evaluator.project(next)?;
    let after = evaluator.velocity(next)?;
    change.iter_mut().zip(after).for_each(|(v, after)| *v = after - *v);
    Ok(lambda)
}

fn sum_of_products(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a * b).abs()).sum()
}

/// √(v·M v), or what it is where L is not quadratic in v.
pub(super) fn size_of_motion(z: &Phase, evaluator: &mut dyn Evaluator) -> Solved<f64> {
    let v = evaluator.velocity(z)?;
    Ok(z.p().iter().zip(v).map(|(p, v)| p * v).sum::<f64>().abs().sqrt())
}
