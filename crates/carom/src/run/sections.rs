//! Crossings of sections, which may end a run.

use super::observer::Look;
use crate::model::Direction;
use crate::solve::{Solved, root};
use crate::step::StepLog;

/// Each arc is searched in this many parts, so that two crossings close together are both found.
const PARTS: usize = 4;

/// The sections of a model.
#[derive(Clone, Debug, Default)]
pub struct Sections {
    /// For each section, the direction of crossings that count, and whether a crossing ends the run.
    pub list: Vec<(Direction, bool)>,
    /// True if only the crossings that end the run are looked for.
    pub only_ends: bool,
}

impl Sections {
    /// These sections, for a run of which only the end counts.
    pub fn ending(&self) -> Sections {
        Sections { only_ends: true, ..self.clone() }
    }

    /// Finds the crossings in a step and adds them to its log. Truncates the step at the first crossing that ends the run, and
    /// returns the index of that section.
    pub fn see(&mut self, log: &mut StepLog, look: &mut Look) -> Solved<Option<usize>> {
        let is_wanted = |ends: bool| ends || !self.only_ends;
        if !self.list.iter().any(|&(_, ends)| is_wanted(ends)) {
            return Ok(None);
        }
        let mut found = std::mem::take(&mut log.crossings);
        for arc in 0..log.arcs().len() {
            for (section, &(direction, _)) in self.list.iter().enumerate().filter(|(_, (_, ends))| is_wanted(*ends)) {
                find(log, arc, section, direction, look, &mut found)?;
            }
        }
        found.sort_by(|a, b| a.0.total_cmp(&b.0));
        let stop = found.iter().position(|&(_, section)| self.list[section].1);
        if let Some(k) = stop {
            found.truncate(k + 1);
            let t = found[k].0;
            let arc = log.arc_at(t);
            let Look { looker, evaluator, z } = look;
            looker.on_arc(log, arc, t, z)?;
            log.cut(arc, z, looker.path());
            log.note_energies(&mut **evaluator)?;
        }
        log.crossings = found;
        Ok(stop.map(|k| log.crossings[k].1))
    }
}

/// The times at which an arc crosses a section.
fn find(
    log: &StepLog,
    arc: usize,
    section: usize,
    direction: Direction,
    look: &mut Look,
    found: &mut Vec<(f64, usize)>,
) -> Solved<()> {
    let (begin, end) = (log.arcs()[arc].start.t, log.end_of(arc));
    let mut value = |t: f64| -> Solved<f64> {
        look.looker.on_arc(log, arc, t, &mut look.z)?;
        Ok(look.evaluator.sections(&look.z)?[section])
    };
    let mut a = (begin, value(begin)?);
    for k in 1..=PARTS {
        let t = begin + (end - begin) * k as f64 / PARTS as f64;
        let b = (t, value(t)?);
        if crosses(a.1, b.1, direction) {
            let slope = (b.1 - a.1) / (b.0 - a.0);
            let at = |t: f64| value(t).map(|g| (g, slope));
            found.push((root::bracketed(at, a, b, a.0 - a.1 / slope)?, section));
        }
        a = b;
    }
    Ok(())
}

/// A zero at the start of a part counts for the part before it.
fn crosses(a: f64, b: f64, direction: Direction) -> bool {
    let (rising, falling) = (a < 0.0 && b >= 0.0, a > 0.0 && b <= 0.0);
    match direction {
        Direction::Rising => rising,
        Direction::Falling => falling,
        Direction::Both => rising || falling,
    }
}
