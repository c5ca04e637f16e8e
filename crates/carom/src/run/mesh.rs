//! The nodes of a run.

use crate::interval::Piece;
use crate::limits::{SLIVER, WHOLE_RATIO};
use crate::phase::FLIGHT;

/// Equal steps from a start; the last step is shortened to end at the end time. Where a function of time varies within less than
/// half a step, there are more nodes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mesh<'a> {
    /// The start time.
    pub start: f64,
    /// The step h.
    pub step: f64,
    /// The end time.
    pub until: f64,
    /// Parts of the time with the longest steps there, in order and apart from each other.
    pub short: &'a [Piece],
}

impl Mesh<'static> {
    /// Equal steps.
    pub fn new(start: f64, step: f64, until: f64) -> Mesh<'static> {
        Mesh { start, step, until, short: &[] }
    }
}

impl<'a> Mesh<'a> {
    /// The number of equal steps.
    pub fn count(&self) -> usize {
        let ratio = (self.until - self.start) / self.step;
        let nearest = ratio.round();
        let count = if (ratio - nearest).abs() <= WHOLE_RATIO * nearest.max(1.0) { nearest } else { ratio.ceil() };
        (count as usize).max(1)
    }

    /// The end times of the steps.
    pub fn nodes(self) -> MeshNodes<'a> {
        MeshNodes { mesh: self, count: self.count(), done: 0, t: self.start }
    }

    /// True if t is one of the nodes start + k·h.
    pub fn contains(&self, t: f64) -> bool {
        let k = ((t - self.start) / self.step).round();
        (t - self.start - k * self.step).abs() < 1e-6 * self.step
    }
}

/// The end times of the steps of a mesh, in order.
pub struct MeshNodes<'a> {
    mesh: Mesh<'a>,
    count: usize,
    /// The number of equal steps that have ended.
    done: usize,
    t: f64,
}

impl<'a> MeshNodes<'a> {
    /// These nodes, several at a time.
    pub fn several(self) -> Ahead<'a> {
        Ahead { nodes: self, times: [0.0; 2 * FLIGHT], first: 0, last: 0 }
    }
}

/// The next nodes of a mesh.
pub struct Ahead<'a> {
    nodes: MeshNodes<'a>,
    /// Nodes in order, from `first` to `last`.
    times: [f64; 2 * FLIGHT],
    first: usize,
    last: usize,
}

impl Ahead<'_> {
    /// The first [`FLIGHT`] nodes after the time t, which must not fall from call to call; fewer at the end, and none if all have passed.
    pub fn after(&mut self, t: f64) -> &[f64] {
        while self.first < self.last && self.times[self.first] <= t {
            self.first += 1;
        }
        if self.last - self.first < FLIGHT {
            self.times.copy_within(self.first..self.last, 0);
            (self.first, self.last) = (0, self.last - self.first);
            for node in self.nodes.by_ref().filter(|&node| node > t).take(2 * FLIGHT - self.last) {
                self.times[self.last] = node;
                self.last += 1;
            }
        }
        &self.times[self.first..self.last.min(self.first + FLIGHT)]
    }
}

impl Iterator for MeshNodes<'_> {
    type Item = f64;

    fn next(&mut self) -> Option<f64> {
        let MeshNodes { mesh, count, done, t } = self;
        if done == count {
            return None;
        }
        let last = *done + 1 == *count;
        let end = if last { mesh.until } else { mesh.start + (*done + 1) as f64 * mesh.step };
        if mesh.short.is_empty() {
            *done += 1;
            return Some(end);
        }
        let ended = mesh.short.partition_point(|piece| piece.end <= *t);
        mesh.short = &mesh.short[ended..];
        let next = mesh.short.iter().find(|piece| 2.0 * piece.length < mesh.step);
        let inside = next.filter(|piece| piece.begin < end).map_or(end, |piece| step_into(piece, *t, end));
        *t = inside;
        if inside >= end {
            *done += 1;
        }
        Some(inside)
    }
}

/// The end of the step from t, where an equal step ends at `end` and a piece begins before that.
fn step_into(piece: &Piece, t: f64, end: f64) -> f64 {
    let sliver = SLIVER * piece.length;
    if piece.begin > t + sliver {
        return if piece.begin < end - sliver { piece.begin } else { end };
    }
    let stop = if piece.end < end - sliver { piece.end } else { end };
    // The roundoff of equal parts must not make one more.
    let parts = ((stop - t) / piece.length * (1.0 - WHOLE_RATIO)).ceil();
    let next = if parts > 1.0 { t + (stop - t) / parts } else { stop };
    if next > t { next } else { stop }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Several nodes at a time are those of the iterator, whatever number of them is passed at once.
    #[test]
    fn several_nodes_are_the_next_ones() {
        for stride in 1..=FLIGHT {
            let mesh = Mesh::new(0.0, 0.1, 10.0);
            let (nodes, mut ahead) = (mesh.nodes().collect::<Vec<f64>>(), mesh.nodes().several());
            let (mut t, mut passed) = (0.0, 0);
            while let next @ [_, ..] = ahead.after(t) {
                assert_eq!(next, &nodes[passed..nodes.len().min(passed + FLIGHT)], "{passed} nodes have passed");
                passed = nodes.len().min(passed + stride);
                // Also between two nodes.
                t = nodes[passed - 1] + 0.03;
            }
            assert_eq!(passed, nodes.len());
        }
    }

    /// Nodes rise to the end time, equal nodes stay, and no step in a short piece is longer than it allows.
    #[test]
    fn short_pieces_have_short_steps() {
        let piece = |begin: f64, end: f64, length: f64| Piece { begin, end, length };
        for short in [
            vec![],
            vec![piece(0.0, 1.0, 0.001)],
            vec![piece(0.31, 0.32, 0.003), piece(0.32, 0.4, 0.02), piece(0.99, 1.0, 1e-4)],
            vec![piece(0.1, 0.3, 1e-3), piece(0.3, 0.5, 0.06)],
            vec![piece(0.2 - 1e-9, 0.2 + 1e-9, 1e-10)],
        ] {
            let mesh = Mesh { short: &short, ..Mesh::new(0.0, 0.1, 1.0) };
            let nodes: Vec<f64> = mesh.nodes().collect();
            let mut before = 0.0;
            for &t in &nodes {
                assert!(t > before, "{short:?}: {before} and then {t}");
                for p in short.iter().filter(|p| 2.0 * p.length < 0.1 && p.begin < t && before < p.end) {
                    let part = t.min(p.end) - before.max(p.begin);
                    assert!(part <= p.length * (1.0 + 2.0 * SLIVER), "{p:?}: from {before} to {t}");
                }
                before = t;
            }
            for k in 1..=10 {
                let due = if k == 10 { 1.0 } else { 0.0 + k as f64 * 0.1 };
                assert!(nodes.contains(&due), "{short:?}: {due} is not a node");
            }
            let most = 10.0 + short.iter().map(|p| p.count().ceil() + 2.0).sum::<f64>();
            assert!(nodes.len() as f64 <= most, "{short:?}: {} nodes", nodes.len());
        }
    }
}
