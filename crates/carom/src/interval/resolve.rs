//! How finely a function of one variable varies, and where.
//!
//! The span is bisected where the bounds on the Taylor coefficients say too little. What is found is certain: the bounds may ask
//! for shorter steps than the function needs, never for longer ones.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use super::{Interval, Program};
use crate::expr::Expr;

/// A part of the span, and the length of intervals in it on which the function is a polynomial.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Piece {
    /// Where it begins.
    pub begin: f64,
    /// Where it ends.
    pub end: f64,
    /// The length of intervals; 0 where none is known.
    pub length: f64,
}

/// What to find out.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Question {
    /// How far the function may be from a polynomial.
    pub error: f64,
    /// The degrees of the polynomials are below this.
    pub order: usize,
    /// Longer intervals are as good as this.
    pub enough: f64,
    /// The number of evaluations.
    pub budget: usize,
}

/// A function is flat if it varies by less than this, relative to the error: flat parts may be much longer than a kick, and then a
/// little of its tail at one point of a long step counts as much.
const FLAT: f64 = 1e-3;
/// The integral of what varies in a part that may stay unresolved, relative to that of the error over the span: a kink or a jump. The
/// function may be another polynomial on each side of it, so that the part stays a piece of its own.
const NEGLIGIBLE: f64 = 1e-6;

impl Piece {
    /// The number of intervals in it.
    pub fn count(&self) -> f64 {
        if self.length > 0.0 { (self.end - self.begin) / self.length } else { f64::INFINITY }
    }
}

/// The pieces of a span in which intervals are shorter than is enough, in order. The function is that of `program` in the symbol
/// `t`. If the budget ends, the length of some pieces is 0.
pub fn resolve(program: &mut Program, t: Expr, span: Interval, question: Question) -> Vec<Piece> {
    let mut budget = question.budget;
    let whole = Task { piece: measure(program, t, span, span, question), stuck: 0.0 };
    let (mut open, mut done) = (BinaryHeap::from([whole]), Vec::new());
    while let Some(Task { piece, stuck }) = open.pop() {
        let (count, middle) = (piece.count(), 0.5 * (piece.begin + piece.end));
        let is_done = piece.length >= question.enough || count <= 1.0;
        // Where the function is the same everywhere, further parts say nothing new. The more is at stake, the longer they are tried.
        let is_stuck = stuck > 1.0 + 0.5 * count.log2();
        if is_done || is_stuck || budget < 2 || middle <= piece.begin || middle >= piece.end {
            done.push(piece);
            continue;
        }
        budget -= 2;
        let halves = [(piece.begin, middle), (middle, piece.end)]
            .map(|(begin, end)| measure(program, t, Interval::new(begin, end), span, question));
        let helps = count.is_infinite() || halves[0].count() + halves[1].count() < 0.8 * count;
        let stuck = if helps { 0.0 } else { stuck + 1.0 };
        open.extend(halves.map(|piece| Task { piece, stuck }));
    }
    done.retain(|piece| piece.length < question.enough);
    done.sort_by(|a, b| a.begin.total_cmp(&b.begin));
    done
}

/// The largest |f|, to a factor of 2: the part with the largest bound is bisected until f reaches half of it.
pub fn size(program: &mut Program, t: Expr, span: Interval, budget: usize) -> f64 {
    let mut budget = budget;
    let bound = |program: &mut Program, part: Interval| {
        program.set(t, part);
        let bound = program.range();
        program.set(t, Interval::point(0.5 * (part.low + part.high)));
        let middle = program.range();
        let reached = if middle.sign().is_some() { middle.low.abs().min(middle.high.abs()) } else { 0.0 };
        (Part { part, bound: bound.magnitude() }, reached)
    };
    let (whole, mut reached) = bound(program, span);
    let mut open = BinaryHeap::from([whole]);
    while let Some(Part { part, bound: largest }) = open.pop() {
        let middle = 0.5 * (part.low + part.high);
        if largest <= 2.0 * reached || budget < 2 || middle <= part.low || middle >= part.high {
            return if largest.is_finite() && reached == 0.0 { largest } else { reached };
        }
        budget -= 2;
        for half in [Interval::new(part.low, middle), Interval::new(middle, part.high)] {
            let (part, value) = bound(program, half);
            reached = reached.max(value);
            open.push(part);
        }
    }
    reached
}

/// The length of intervals in one part of the span.
fn measure(program: &mut Program, t: Expr, part: Interval, span: Interval, question: Question) -> Piece {
    let Question { error, order, .. } = question;
    program.vary(t, part);
    let jet = program.jet();
    let width = 0.5 * (jet.0[0].high - jet.0[0].low);
    let time = part.high - part.low;
    let is_point = width * time <= NEGLIGIBLE * error * (span.high - span.low);
    let length = match jet.length_for(error, order) {
        _ if width <= FLAT * error => f64::INFINITY,
        length if is_point => length.max(time),
        length => length,
    };
    Piece { begin: part.low, end: part.high, length }
}

/// A piece to bisect; the one with the most intervals comes first.
struct Task {
    piece: Piece,
    /// How often in succession bisecting did not help.
    stuck: f64,
}

/// A part of the span with a bound on |f|; the one with the largest bound comes first.
struct Part {
    part: Interval,
    bound: f64,
}

/// Orders by a number, and then by time.
macro_rules! ordered_by {
    ($kind:ty, $key:expr) => {
        impl Ord for $kind {
            fn cmp(&self, other: &Self) -> Ordering {
                let key: fn(&Self) -> (f64, f64) = $key;
                let (a, b) = (key(self), key(other));
                a.0.total_cmp(&b.0).then(b.1.total_cmp(&a.1))
            }
        }
        impl PartialOrd for $kind {
            fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
                Some(self.cmp(other))
            }
        }
        impl PartialEq for $kind {
            fn eq(&self, other: &Self) -> bool {
                self.cmp(other) == Ordering::Equal
            }
        }
        impl Eq for $kind {}
    };
}

ordered_by!(Task, |task| (task.piece.count(), task.piece.begin));
ordered_by!(Part, |part| (part.bound, part.part.low));

#[cfg(test)]
mod tests {
    use super::*;

    const SPAN: Interval = Interval { low: 0.0, high: 10.0 };

    fn pieces(f: impl Fn(Expr) -> Expr, accuracy: f64) -> Vec<Piece> {
        let t = Expr::symbol("t");
        let mut program = Program::new(f(t));
        let error = accuracy * size(&mut program, t, SPAN, 1000);
        resolve(&mut program, t, SPAN, Question { error, order: 12, enough: 0.6, budget: 20_000 })
    }

    /// Kicks of any form and width are found, with few intervals, and all of them are near the kick.
    #[test]
    fn kicks_are_found() {
        for width in [1e-2, 1e-3, 1e-4, 1e-6, 1e-9] {
            for at in [0.1234, 3.3, 9.876] {
                type Form = (&'static str, fn(Expr) -> Expr);
                let forms: [Form; 6] = [
                    ("gaussian", |x| (-x.squared()).exp()),
                    ("sech²", |x| 1.0 / x.cosh().squared()),
                    ("sech² of exp", |x| 4.0 / (x.exp() + (-x).exp()).squared()),
                    ("lorentzian", |x| 1.0 / (1.0 + x.squared())),
                    ("logistic product", |x| 1.0 / ((1.0 + x.exp()) * (1.0 + (-x).exp()))),
                    ("step", |x| x.tanh()),
                ];
                for (name, form) in forms {
                    let found = pieces(|t| 1000.0 * form((t - at) / width), 1e-9);
                    let count: f64 = found.iter().map(|piece| piece.count().ceil()).sum();
                    assert!(count < 150.0, "{name}, {width:e} at {at}: {count} intervals");
                    let is_short = |x: f64| found.iter().any(|p| p.begin <= x && x <= p.end && p.length < 5.0 * width);
                    assert!(is_short(at), "{name}, {width:e} at {at}: {found:?}");
                    assert!(found.iter().all(|piece| piece.length > 0.0), "{name}, {width:e} at {at}");
                }
            }
        }
    }

    /// A pulse of straight lines, and one that jumps: a piece at each of its corners.
    #[test]
    fn corners_are_found() {
        for (at, width) in [(3.3, 1e-3), (0.7, 1e-6), (9.1, 1e-9)] {
            let triangle = |t: Expr| (1.0 - ((t - at) / width).abs()).max(0.0);
            let square = |t: Expr| ((t - (at - width)).sign() - (t - (at + width)).sign()) / 2.0;
            for (name, found) in [("triangle", pieces(triangle, 1e-9)), ("square", pieces(square, 1e-9))] {
                for corner in [at - width, at + width] {
                    let is_there =
                        found.iter().any(|p| (p.begin - corner).abs().max((p.end - corner).abs()) < 0.1 * width);
                    assert!(is_there, "{name} of {width:e} at {at}: {found:?}");
                }
                assert!(found.iter().all(|p| p.length > 0.0) && found.len() < 12, "{name} of {width:e}: {found:?}");
            }
        }
    }

    /// What is the same everywhere needs few evaluations, and what is smooth has no short pieces.
    #[test]
    fn oscillations_are_measured() {
        let slow = pieces(|t| (2.0 * t).sin(), 1e-9);
        assert_eq!(slow, []);
        let fast = pieces(|t| (1e5 * t).sin(), 1e-9);
        let count: f64 = fast.iter().map(Piece::count).sum();
        // 1e6 radians, of which an interval covers 4(½·10⁻⁹·12!)^(1/12) ≈ 3.55.
        assert!((2.7e5..3e5).contains(&count), "{count}");
    }

    /// On every piece the function is a polynomial to the accuracy asked for: interpolation at Chebyshev points is.
    #[test]
    fn lengths_are_safe() {
        let t = Expr::symbol("t");
        let f = (-((t - 3.3) / 0.01).squared()).exp() * (40.0 * t).cos();
        for piece in pieces(|_| f, 1e-6) {
            let (length, n) = (piece.length.min(piece.end - piece.begin), 12);
            let node = |k: usize| -((k as f64 + 0.5) * std::f64::consts::PI / n as f64).cos();
            let value = |x: f64| crate::expr::eval(&[f], &[(t, piece.begin + 0.5 * length * (1.0 + x))])[0];
            for probe in [-0.97, -0.4, 0.11, 0.83] {
                let basis = |k: usize| {
                    (0..n).filter(|&j| j != k).map(|j| (probe - node(j)) / (node(k) - node(j))).product::<f64>()
                };
                let polynomial: f64 = (0..n).map(|k| value(node(k)) * basis(k)).sum();
                let off = (polynomial - value(probe)).abs();
                assert!(off <= 1e-6 * 1.01, "{piece:?}: {off:e}");
            }
        }
    }

    /// A pole cannot be resolved, and that is said.
    #[test]
    fn poles_stay_open() {
        let found = pieces(|t| 1.0 / (t - std::f64::consts::E), 1e-9);
        assert!(found.iter().any(|piece| piece.length == 0.0));
    }
}
