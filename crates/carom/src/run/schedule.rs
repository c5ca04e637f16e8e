//! Parameters that change at given times: controls that are constant on each step.

use std::sync::Arc;

use crate::solve::Solved;
use crate::step::{State, StepLog, Stepper};

/// A step that ends within this part of a piece from its end ends there.
const SLIVER: f64 = 1e-9;

/// The values of all parameters on each piece of the time.
#[derive(Clone, Debug, Default)]
pub struct Schedule {
    /// When each piece begins, in rising order. The first begins before every time, the last never ends.
    from: Vec<f64>,
    parameters: Vec<Arc<[f64]>>,
}

impl Schedule {
    /// A schedule of these pieces, each with its beginning and the values of the last parameters from then on.
    pub fn new(parameters: &[f64], pieces: impl Iterator<Item = (f64, Vec<f64>)>) -> Schedule {
        let (mut schedule, mut all) = (Schedule::default(), parameters.to_vec());
        for (from, last) in pieces {
            let first = all.len() - last.len();
            all[first..].copy_from_slice(&last);
            schedule.from.push(from);
            schedule.parameters.push(Arc::from(&all[..]));
        }
        schedule
    }

    /// True if the parameters never change.
    pub fn is_empty(&self) -> bool {
        self.from.is_empty()
    }

    /// The parameters from t on; none if they never change.
    pub fn at(&self, t: f64) -> Option<&Arc<[f64]>> {
        self.parameters.get(self.piece(t))
    }

    /// When each piece begins.
    pub fn from(&self) -> &[f64] {
        &self.from
    }

    fn piece(&self, t: f64) -> usize {
        piece(&self.from, t)
    }

    /// The end of a step from t to `until`, which crosses no change.
    fn end(&self, t: f64, until: f64) -> f64 {
        match self.from.get(self.piece(t) + 1) {
            Some(&next) if next < until - SLIVER * (until - t) => next,
            _ => until,
        }
    }
}

/// The number of the piece to which t belongs, where pieces begin at these times.
pub fn piece(beginnings: &[f64], t: f64) -> usize {
    let begun = beginnings.partition_point(|&from| from <= t);
    let piece = begun.saturating_sub(1);
    // Roundoff must not make a sliver of a piece.
    match (beginnings.get(piece), beginnings.get(begun)) {
        (Some(from), Some(next)) if next - t <= SLIVER * (next - from) => begun,
        _ => piece,
    }
}

/// A stepper whose parameters follow a schedule. Its steps end where they change.
pub struct Scheduled<'a> {
    stepper: &'a mut dyn Stepper,
    schedule: &'a Schedule,
    /// Room for a state; none as long as the parameters have not changed.
    from: Option<State>,
}

impl<'a> Scheduled<'a> {
    /// A stepper whose parameters change at these times.
    pub fn new(stepper: &'a mut dyn Stepper, schedule: &'a Schedule) -> Scheduled<'a> {
        Scheduled { stepper, schedule, from: None }
    }
}

impl Stepper for Scheduled<'_> {
    fn begin(&mut self, parameters: &[f64]) {
        self.stepper.begin(parameters);
    }

    fn start(&mut self, state: &mut State, h: f64) -> Solved<()> {
        self.stepper.start(state, h)
    }

    fn step(&mut self, from: &State, until: f64, log: &mut StepLog) -> Solved<()> {
        let until = self.schedule.end(from.z.t, until);
        match self.schedule.at(from.z.t) {
            Some(parameters) if !Arc::ptr_eq(parameters, &from.parameters) => {
                let changed = self.from.get_or_insert_with(|| from.clone());
                changed.copy_from(from);
                changed.parameters = parameters.clone();
                self.stepper.begin(parameters);
                self.stepper.step(changed, until, log)
            }
            _ => self.stepper.step(from, until, log),
        }
    }

    fn step_along(&mut self, from: &State, nodes: &[f64], log: &mut StepLog) -> Solved<()> {
        match self.schedule.is_empty() {
            true => self.stepper.step_along(from, nodes, log),
            false => self.step(from, nodes[0], log),
        }
    }

    fn order(&self) -> usize {
        self.stepper.order()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_end_where_the_parameters_change() {
        let pieces = [(0.0, vec![5.0]), (1.0, vec![6.0]), (2.0, vec![7.0])];
        let schedule = Schedule::new(&[1.0, 0.0], pieces.into_iter());
        let at = |t: f64| schedule.at(t).map(|all| all[1]);
        assert_eq!([0.0, 0.5, 1.0 - 1e-12, 1.0, 2.5].map(at), [5.0, 5.0, 6.0, 6.0, 7.0].map(Some));
        assert_eq!(schedule.end(0.0, 3.0), 1.0);
        assert_eq!(schedule.end(0.5, 0.8), 0.8);
        assert_eq!(schedule.end(0.5, 1.0 + 1e-12), 1.0 + 1e-12);
        assert_eq!(schedule.end(2.0, 3.0), 3.0);
    }
}
