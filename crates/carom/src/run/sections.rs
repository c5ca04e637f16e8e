//! Crossings of sections, which may end a run.

use super::observer::Look;
use crate::model::Direction;
use crate::phase::Phase;
use crate::plant::Evaluator;
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
    /// The least and the largest value of each section in a step.
    ranges: Vec<[f64; 2]>,
    /// The velocities at both ends of a step.
    velocities: Vec<f64>,
}

impl Sections {
    /// All crossings of sections with these directions, each of which may end the run.
    pub fn new(list: Vec<(Direction, bool)>) -> Sections {
        Sections { list, only_ends: false, ranges: Vec::new(), velocities: Vec::new() }
    }

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
        let is_smooth = log.arcs().len() == log.nodes() && !look.looker.is_projected();
        for arc in 0..log.arcs().len() {
            self.ranges.clear();
            if is_smooth && sample(log, arc, look, &mut self.ranges, &mut self.velocities).is_err() {
                self.ranges.clear();
            }
            for (section, &(direction, ends)) in self.list.iter().enumerate() {
                if is_wanted(ends) && !self.ranges.get(section).is_some_and(is_far) {
                    find(log, arc, section, direction, look, &mut found)?;
                }
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

/// The range of each section on an arc of a log without events: at its ends, and between them on the polynomial of the motion, or on a line
/// that has the velocities of both ends.
fn sample(
    log: &StepLog,
    arc: usize,
    look: &mut Look,
    ranges: &mut Vec<[f64; 2]>,
    velocities: &mut Vec<f64>,
) -> Solved<()> {
    let start = &log.arcs()[arc].start;
    let end = log.arcs().get(arc + 1).map_or(&log.end.z, |next| &next.start);
    let n = start.q().len();
    let Look { looker, evaluator, z } = look;
    let mut see = |z: &Phase, evaluator: &mut dyn Evaluator| -> Solved<()> {
        for (k, &g) in evaluator.sections(z)?.iter().enumerate() {
            match ranges.get_mut(k) {
                Some([least, most]) => (*least, *most) = (least.min(g), most.max(g)),
                None => ranges.push([g, g]),
            }
        }
        Ok(())
    };
    see(start, &mut **evaluator)?;
    see(end, &mut **evaluator)?;
    velocities.clear();
    velocities.extend_from_slice(evaluator.velocity(start)?);
    velocities.extend_from_slice(evaluator.velocity(end)?);
    let (v0, v1) = velocities.split_at(n);
    let h = end.t - start.t;
    for k in 1..PARTS {
        let s = k as f64 / PARTS as f64;
        let t = start.t + s * h;
        if !looker.read(log, arc, t, z)? {
            let r = 1.0 - s;
            z.t = t;
            for i in 0..n {
                let (line, bend) = (r * start.z[i] + s * end.z[i], end.z[i] - start.z[i]);
                z.z[i] = line + s * r * (r * (h * v0[i] - bend) - s * (h * v1[i] - bend));
                z.z[n + i] = r * start.z[n + i] + s * end.z[n + i];
            }
        }
        see(z, &mut **evaluator)?;
    }
    Ok(())
}

/// True if a section is farther from zero than it varies in the step.
fn is_far(&[least, most]: &[f64; 2]) -> bool {
    least.max(-most) > most - least
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
