//! Functions of time that vary within less than a step.
//!
//! A step looks at a force at a few times only. A kick between them goes unseen, also by a finer run. So the functions of time in the
//! equations are bounded over the whole span: where they are no polynomials on a step, the mesh gets more nodes. The steps that the
//! user gives are not changed; the user is warned.

use std::sync::Arc;

use super::Simulation;
use crate::error::{Diagnostic, Result};
use crate::interval::{Interval, Piece, Question};
use crate::limits::{MANY_NODES, MOST_STEPS, RESOLUTION_BUDGET, VISIBLE, VISIBLE_ORDER};
use crate::mechanics::{BoundedTerm, TimedTerm};
use crate::step::{Scheme, State};

/// What is known of the functions of time in the equations.
pub(super) struct Short {
    /// The parts of the time with the longest steps there; none if the user gives the step.
    pub(super) pieces: Arc<[Piece]>,
    /// False if something may go unseen.
    pub(super) is_complete: bool,
    /// What may go unseen.
    pub(super) warning: Option<String>,
}

/// Bounds the functions of time from a state on.
pub(super) fn find(simulation: &Simulation, scheme: &Scheme, state: &State, until: f64) -> Result<Short> {
    let functions = scheme.plant.functions_of_time()?;
    let mut short = Short { pieces: Arc::default(), is_complete: true, warning: None };
    if functions.is_empty() {
        return Ok(short);
    }
    let span = Interval::new(state.z.t, until);
    let time_span = until - state.z.t;
    // Equal steps are no longer than an eighth of the time, and see what is longer than half of one.
    let (accuracy, order, enough) = match simulation.step {
        Some(step) => (VISIBLE, VISIBLE_ORDER, step),
        None => (simulation.tolerance, scheme.order().max(VISIBLE_ORDER), time_span / 16.0),
    };
    let mut all: Vec<Piece> = Vec::new();
    let mut worst: Option<(TimedTerm, Piece)> = None;
    for terms in functions.iter() {
        let mut bounds: Vec<BoundedTerm> =
            terms.iter().map(|&term| functions.bounded(term, &state.parameters)).collect();
        let sizes: Vec<f64> = bounds.iter_mut().map(|term| term.size(span, RESOLUTION_BUDGET / 10)).collect();
        let largest = sizes.iter().copied().fold(0.0, f64::max);
        for ((term, bounds), size) in terms.iter().zip(&mut bounds).zip(sizes) {
            // What is below the roundoff of a sum does not matter.
            let error = (accuracy * size).max(f64::EPSILON * largest);
            let mut pieces = bounds.resolve(span, Question { error, order, enough, budget: RESOLUTION_BUDGET });
            if let Some(step) = simulation.step {
                pieces = without_lone_jumps(&pieces, step);
            }
            let shortest = pieces.iter().min_by(|a, b| a.length.total_cmp(&b.length));
            if let Some(&piece) = shortest.filter(|piece| worst.is_none_or(|(_, worst)| piece.length < worst.length)) {
                worst = Some((*term, piece));
            }
            all = merged(&all, &pieces);
        }
    }
    let Some((term, piece)) = worst else { return Ok(short) };
    let count: f64 = all.iter().map(Piece::count).sum();
    let remark = match simulation.step {
        Some(step) => hidden(simulation, term, piece, step),
        None if piece.length == 0.0 || count > MOST_STEPS => unresolved(simulation, term, piece),
        None => {
            short.pieces = all.into();
            return Ok(short);
        }
    };
    short.is_complete = false;
    short.warning = Some(remark.body());
    Ok(short)
}

/// The pieces without those in which a function jumps once and then stays as it is for longer than a step: no step misses that.
fn without_lone_jumps(pieces: &[Piece], step: f64) -> Vec<Piece> {
    let is_lone = |i: usize, piece: &Piece| {
        // A jump between two pieces is in both.
        let before = pieces[..i].iter().rfind(|other| other.end < piece.begin);
        let after = pieces[i..].iter().find(|other| other.begin > piece.end);
        let is_far = before.is_none_or(|other| piece.begin - other.end > step);
        piece.count() <= 1.0 && is_far && after.is_none_or(|other| other.begin - piece.end > step)
    };
    pieces.iter().enumerate().filter(|(i, piece)| !is_lone(*i, piece)).map(|(_, piece)| *piece).collect()
}

/// The given step is too long to see a function.
fn hidden(simulation: &Simulation, term: TimedTerm, piece: Piece, step: f64) -> Diagnostic {
    let at = 0.5 * (piece.begin + piece.end);
    let message = format!("varies within less than the step {step:e} near t = {at:.6}: the steps may miss it");
    let help = "give a shorter step, or none and let carom choose";
    simulation.model.remark(term.expression(), &message).with_help(help)
}

/// No number of steps is known to resolve a function.
fn unresolved(simulation: &Simulation, term: TimedTerm, piece: Piece) -> Diagnostic {
    let at = 0.5 * (piece.begin + piece.end);
    let message = format!(
        "could not be bounded near t = {at:.6}: the steps may miss how it varies, and there is no estimate of the error"
    );
    let help = "check that it is finite for all times of the run, or give the step";
    simulation.model.remark(term.expression(), &message).with_help(help)
}

/// The parts of two lists, apart from each other, with the shorter length where they overlap.
fn merged(a: &[Piece], b: &[Piece]) -> Vec<Piece> {
    let mut cuts: Vec<f64> = a.iter().chain(b).flat_map(|piece| [piece.begin, piece.end]).collect();
    cuts.sort_by(f64::total_cmp);
    cuts.dedup();
    let over = |list: &[Piece], begin: f64| {
        let at = list.partition_point(|piece| piece.end <= begin);
        list.get(at).filter(|piece| piece.begin <= begin).map_or(f64::INFINITY, |piece| piece.length)
    };
    let part = |pair: &[f64]| {
        let length = over(a, pair[0]).min(over(b, pair[0]));
        Piece { begin: pair[0], end: pair[1], length }
    };
    cuts.windows(2).map(part).filter(|piece| piece.length.is_finite()).collect()
}

/// The longest step to try: an eighth of the time. Where functions of time would ask for more nodes in most of the time, or for very
/// many, it is shorter.
pub(super) fn longest(short: &[Piece], time: f64) -> f64 {
    let mut h = time / 8.0;
    let has_room = |h: f64| {
        let fine = || short.iter().filter(|piece| 2.0 * piece.length < h);
        let covered: f64 = fine().map(|piece| piece.end - piece.begin).sum();
        covered <= 0.5 * time && fine().map(Piece::count).sum::<f64>() <= MANY_NODES.max(2.0 * time / h)
    };
    while !has_room(h) {
        h *= 0.5;
    }
    h
}
