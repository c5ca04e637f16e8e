//! Steps whose length follows from their error.

use super::algorithm::EventDriven;
use super::control::Control;
use super::event::{Encounter, Kind};
use super::events::Events;
use super::log::StepLog;
use super::stages::Shown;
use super::state::Memory;
use crate::limits::{DIFFERENCE, FIRST_STEP, LOOK_AHEAD, NEXT_PREDICTION, REPEATED, SHORTEST_STEP};
use crate::phase::{Goal, Phase, Predicted, Quick};
use crate::solve::{NoSolution, Solved};

/// 2^(m/4) for m from −2 to 2: the ratios of steps for which predictions are tabulated.
const RUNGS: [f64; 5] =
    [std::f64::consts::FRAC_1_SQRT_2, 0.840_896_415_253_714_5, 1.0, 1.189_207_115_002_721, std::f64::consts::SQRT_2];
/// The error of a prediction goes with this power of the step: one rung changes it by 2^(9/4) = 4.8.
const ORDER_OF_PREDICTION: f64 = 9.0;
/// The end of an arc is moved at most this often to where the gap is zero.
const ARRIVALS: usize = 6;

impl EventDriven {
    /// One step of Algorithm 1 that ends at `until` or earlier: each smooth arc is as long as the control allows, and the step
    /// ends with the first arc that meets no wall. A step may have been `tried` that long, with this prediction.
    pub(super) fn advance_controlled(
        &mut self,
        until: f64,
        mut tried: Option<(f64, Predicted)>,
        log: &mut StepLog,
    ) -> Solved<()> {
        if let Some(quick) = self.maps.full().quick().filter(|_| tried.is_none()) {
            quick.forget_last();
        }
        self.leaving.clear();
        let (mut left, mut interval, mut events) = (None, 0.0, Events::default());
        loop {
            let Memory::Control(control) = &mut log.end.memory else { return Err(NoSolution::Diverged) };
            let rest = until - self.z.t - control.late;
            if rest <= 0.0 {
                // The last event is at the end time.
                self.z1.copy_from(&self.z);
                (self.z1.t, control.late) = (until, 0.0);
                return Ok(());
            }
            // In a sequence of bounces the next event follows after about the same interval.
            let near = if interval > 0.0 { LOOK_AHEAD * interval } else { f64::INFINITY };
            let h = self.solve_controlled(rest.min(near), tried.take(), log)?;
            let encounter = match self.shown_by_stages(h, left) {
                Shown::Open => None,
                Shown::Meets(met) => Some(met.at(met.about())),
                Shown::Unclear => self.first_encounter(h, left, &log.end)?,
            };
            let Some(encounter) = encounter else {
                self.keep_polynomial(h, log);
                let is_quick = self.maps.full().quick().is_some();
                let (control, polynomial) = log.control_and_polynomial();
                if let Some(control) = control {
                    // Only quick steps are predicted.
                    match polynomial.filter(|_| is_quick) {
                        Some(polynomial) => control.past.copy_from(polynomial),
                        None => control.past.forget(),
                    }
                    self.z1.t = control.after(self.z.t, h);
                    if h == rest {
                        (self.z1.t, control.late) = (until, 0.0);
                    }
                }
                return Ok(());
            };
            events.count(&encounter, self.z.t, h)?;
            let pace = self.resolver.hit.h;
            let stop = self.resolve(&encounter, h, &events, pace, log)?;
            if let Some(wait) = stop {
                return self.maps.partial().step(&self.z, wait.min(until - self.z.t), &mut self.z1);
            }
            (left, interval) = (Some(encounter.wall), events.interval(&encounter));
        }
    }

    /// Makes a step from z to z1 that is no longer than `limit` and whose local error is within the tolerance, and returns its
    /// length.
    fn solve_controlled(&mut self, limit: f64, mut before: Option<(f64, Predicted)>, log: &mut StepLog) -> Solved<f64> {
        let Memory::Control(control) = &mut log.end.memory else { return Err(NoSolution::Diverged) };
        let EventDriven { maps, spectrum, z, z1, resolver, evaluator, .. } = self;
        let flow = maps.full();
        let order = flow.order();
        if control.h == 0.0 {
            control.h = match flow.quick() {
                Some(quick) => quick.first_step(z, control.goal())?,
                None => FIRST_STEP * limit,
            };
        }
        let wanted = control.h.min(control.longest);
        let (mut h, mut is_first) = (wanted.min(limit), true);
        loop {
            if h < limit && h <= SHORTEST_STEP * z.t.abs().max(limit) {
                return Err(NoSolution::TooShort);
            }
            let tried = match flow.quick() {
                Some(quick) => match before.take().filter(|before| before.0 == h) {
                    Some((_, predicted)) => finish(quick, z, h, predicted, control, z1),
                    None => attempt(quick, (z, evaluator.velocity(z)?), h, control, z1),
                },
                None => match flow.step(z, h, z1) {
                    Ok(()) if flow.write_moments(z, h, &mut spectrum.moments) => {
                        let error = spectrum.error(h, order, control);
                        let is_good = error <= control.tolerance;
                        let factor = if is_good { control.factor(error, order) } else { control.shrink(error, order) };
                        Tried { is_good, factor }
                    }
                    Ok(()) => return Err(NoSolution::Diverged),
                    Err(_) => Tried { is_good: false, factor: control.shrink(f64::NAN, order) },
                },
            };
            if tried.is_good {
                let next = h * tried.factor;
                // A step that was cut at the limit does not make the next one shorter, and bounces are low relative to the
                // way of a step that is not cut.
                let is_cut = is_first && h < wanted;
                control.h = if is_cut { next.max(wanted) } else { next };
                resolver.hit.h = if is_cut { wanted } else { h };
                log.h = h;
                return Ok(h);
            }
            h *= tried.factor;
            is_first = false;
        }
    }

    /// The end of an arc at an event that was located on the polynomial of a longer step: a step of that length, then on its own
    /// polynomial to where the gap is zero. That polynomial is known at its end to the order of the flow. Returns the length of
    /// the arc; its end is in `hit.minus`.
    pub(super) fn arrive(&mut self, encounter: &Encounter, log: &mut StepLog) -> Solved<f64> {
        let Encounter { wall, dtau, kind, .. } = *encounter;
        let Memory::Control(control) = &log.end.memory else { return Err(NoSolution::Diverged) };
        let EventDriven { maps, evaluator, resolver, z, probe, facts, .. } = self;
        // The rate of an argument that contains velocities contains the acceleration.
        let is_of_velocities = wall >= facts.walls + facts.kinks - facts.kinks_of_velocities;
        let (goal, minus) = (control.goal(), &mut resolver.hit.minus);
        let (mut tau, mut solved) = (dtau, dtau);
        solve_again(maps.partial().quick(), z, tau, control, minus)?;
        let mut least = 0.5 * dtau;
        for _ in 0..ARRIVALS {
            let (gap, mut rate) = evaluator.gap_and_rate(wall, minus)?;
            if is_of_velocities {
                maps.partial().glance(z, (1.0 - DIFFERENCE) * tau, probe)?;
                rate = (gap - evaluator.gap_and_rate(wall, probe)?.0) / (DIFFERENCE * tau);
            }
            let left = -gap / rate;
            let is_closing = rate < 0.0 || kind == Kind::Passes;
            // Where it comes no nearer, the rest is the roundoff of the gap.
            if !is_closing || left.is_nan() || left.abs() <= f64::EPSILON * tau || left.abs() > least {
                break;
            }
            least = 0.5 * left.abs();
            tau += left;
            if (tau - solved).abs() <= goal.root * solved {
                maps.partial().glance(z, tau, minus)?;
            } else {
                solve_again(maps.partial().quick(), z, tau, control, minus)?;
                solved = tau;
            }
        }
        log.keep_polynomial(maps.partial(), z, solved);
        Ok(tau)
    }
}

/// Makes a step from where the last one began, with its polynomial as the guess.
fn solve_again(quick: Option<&mut dyn Quick>, z: &Phase, tau: f64, control: &Control, z1: &mut Phase) -> Solved<()> {
    quick.ok_or(NoSolution::Diverged)?.shorten(z, tau, control.goal(), z1)
}

/// A step that was tried: whether it is good, and by which factor the next, or this one, is to be longer.
pub(super) struct Tried {
    pub(super) is_good: bool,
    pub(super) factor: f64,
}

/// Tries a quick step. The prediction from the last step may be off by about the square root of the tolerance, so that the end of the
/// step is within the tolerance.
fn attempt(quick: &mut dyn Quick, start: (&Phase, &[f64]), h: f64, control: &mut Control, z1: &mut Phase) -> Tried {
    match quick.attempt(start, h, control.goal(), &control.past) {
        Ok(predicted) => finish(quick, start.0, h, predicted, control, z1),
        Err(_) => fail(control),
    }
}

/// Ends a quick step from z that was solved.
fn finish(
    quick: &mut dyn Quick,
    z: &Phase,
    h: f64,
    predicted: Predicted,
    control: &mut Control,
    z1: &mut Phase,
) -> Tried {
    let tried = judge(predicted, control.goal());
    if tried.is_good && quick.finish(z, h, z1).is_err() {
        return fail(control);
    }
    tried
}

/// A prediction that leads nowhere is not used again.
fn fail(control: &mut Control) -> Tried {
    control.past.forget();
    Tried { is_good: false, factor: 0.5 }
}

/// Judges a quick step by how well it was predicted.
pub(super) fn judge(Predicted { this, next }: Predicted, goal: Goal) -> Tried {
    let by_order = |error: f64| (1.0 / error).powf(1.0 / ORDER_OF_PREDICTION);
    let error = this.unwrap_or(next) / goal.prediction;
    if error.is_nan() || error > REPEATED {
        return Tried { is_good: false, factor: (0.8 * by_order(error)).clamp(0.1, 0.7) };
    }
    let error = error.max(NEXT_PREDICTION * next / goal.prediction);
    let rung = match error {
        e if e > 4.8 => 0,
        e if e > 1.0 => 1,
        e if e < 0.04 => 4,
        e if e < 0.2 => 3,
        _ => 2,
    };
    // What is not predicted anyway may grow faster: by more than 2, which is a root that few steps need.
    let grows = this.is_none() && error < 2f64.powi(-(ORDER_OF_PREDICTION as i32));
    Tried { is_good: true, factor: if grows { by_order(error).min(4.0) } else { RUNGS[rung] } }
}
