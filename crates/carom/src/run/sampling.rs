//! What is looked at between the nodes: uniform samples and crossings of sections, each by a partial step from the last
//! node or impact, and so to the order of the flow.

use super::algorithm::Machine;
use super::lift::Lift;
use crate::model::Direction;
use crate::solve::{NoSolution, root};

impl Machine {
    /// Looks at the state at time t within the step that has just been made: it is in `probe`, and the machine in its mode of
    /// motion. At an impact it is the state after it.
    pub(super) fn look_at<T>(&mut self, t: f64, look: impl FnOnce(&mut Machine) -> T) -> Result<T, NoSolution> {
        self.look_on_piece(self.piece_at(t), t, look)
    }

    /// The smooth piece of the last step to which a time belongs.
    pub(super) fn piece_at(&self, t: f64) -> usize {
        self.pieces.list().iter().rposition(|piece| piece.t <= t).unwrap_or(0)
    }

    /// The same on a smooth piece of the step.
    fn look_on_piece<T>(
        &mut self,
        piece: usize,
        t: f64,
        look: impl FnOnce(&mut Machine) -> T,
    ) -> Result<T, NoSolution> {
        self.in_mode(self.pieces.mode(piece), |machine| machine.step_from_piece(piece, t).map(|()| look(machine)))
    }

    /// The state at time t on a piece, whose mode of motion the machine is in, into `probe`.
    fn step_from_piece(&mut self, piece: usize, t: f64) -> Result<(), NoSolution> {
        if let Some(projected) = &mut self.projected {
            return projected.state_on_piece(piece, t, &mut self.probe);
        }
        let partial = self.partial.as_mut().unwrap_or(&mut self.full);
        let begin = &self.pieces.list()[piece];
        if t > begin.t {
            return partial.step(begin, t - begin.t, &mut self.probe);
        }
        self.probe.copy_from(begin);
        Ok(())
    }

    /// The times in the last step, which ended at `end`, at which a section is crossed in its direction.
    pub(super) fn crossings(
        &mut self,
        lift: &mut Lift,
        directions: &[Direction],
        end: f64,
        found: &mut Vec<(f64, usize)>,
    ) -> Result<(), NoSolution> {
        found.clear();
        /// Each piece is looked at in so many parts, so that two crossings close together are both seen.
        const PARTS: usize = 4;
        for piece in 0..self.pieces.list().len() {
            let begin = self.pieces.list()[piece].t;
            let stop = self.pieces.list().get(piece + 1).map_or(end, |next| next.t);
            for (section, &direction) in directions.iter().enumerate() {
                let mut a = (begin, self.section(lift, piece, begin, section)?);
                for k in 1..=PARTS {
                    let t = begin + (stop - begin) * k as f64 / PARTS as f64;
                    let b = (t, self.section(lift, piece, t, section)?);
                    if crosses(a.1, b.1, direction) {
                        let slope = (b.1 - a.1) / (b.0 - a.0);
                        let value = |t: f64| self.section(lift, piece, t, section).map(|g| (g, slope));
                        let first = a.0 - a.1 / slope;
                        found.push((root::bracketed(value, a, b, first)?, section));
                    }
                    a = b;
                }
            }
        }
        found.sort_by(|a, b| a.0.total_cmp(&b.0));
        Ok(())
    }

    /// g of a section at time t on a piece of the step.
    fn section(&mut self, lift: &mut Lift, piece: usize, t: f64, section: usize) -> Result<f64, NoSolution> {
        self.look_on_piece(piece, t, |machine| lift.section_values(&machine.probe, &mut machine.field))??;
        Ok(lift.crossings[section])
    }
}

/// A zero at the beginning of a part belongs to the part before it.
fn crosses(a: f64, b: f64, direction: Direction) -> bool {
    let (rising, falling) = (a < 0.0 && b >= 0.0, a > 0.0 && b <= 0.0);
    match direction {
        Direction::Rising => rising,
        Direction::Falling => falling,
        Direction::Both => rising || falling,
    }
}
