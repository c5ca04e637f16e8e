//! A small plot of the energy for a terminal.

use std::fmt::Write;

use carom::Dense;

/// The size in Braille characters; each has two by four dots.
const WIDTH: usize = 60;
const HEIGHT: usize = 4;

/// The arcs from which the energy between nodes is computed; with more, the nodes are closer together than the dots.
pub const MOST_ARCS: usize = 8 * WIDTH;

/// The number of time intervals that are kept: at least two for each column of dots.
const MOST: usize = 8 * WIDTH;

/// The smallest and largest energy in each of many time intervals. Their length is doubled as the run goes on, so that the plot of
/// a run that ends early is as wide as that of any other.
#[derive(Default)]
pub struct EnergyPlot {
    begin: Option<f64>,
    end: f64,
    first: f64,
    /// The length of an interval; zero before the second node.
    length: f64,
    intervals: Vec<Interval>,
    /// Times and energies between nodes, in columns that have no node.
    between: Vec<[f64; 2]>,
    /// True if an energy was NaN or infinite.
    is_broken: bool,
}

/// The nodes of a time interval: of the smallest and the largest energy, the time and the energy.
#[derive(Clone, Copy)]
struct Interval {
    number: usize,
    low: [f64; 2],
    high: [f64; 2],
}

impl Interval {
    /// Includes the nodes of a later interval.
    fn join(&mut self, later: &Interval) {
        if later.low[1] < self.low[1] {
            self.low = later.low;
        }
        if later.high[1] > self.high[1] {
            self.high = later.high;
        }
    }
}

impl EnergyPlot {
    /// Adds a node.
    pub fn push(&mut self, t: f64, energy: f64) {
        let begin = *self.begin.get_or_insert(t);
        if self.intervals.is_empty() {
            self.first = energy;
        }
        if self.length == 0.0 {
            self.length = t - begin;
        }
        let number = |length: f64| if length > 0.0 { ((t - begin) / length) as usize } else { 0 };
        while number(self.length) >= MOST {
            self.length *= 2.0;
            self.intervals.iter_mut().for_each(|interval| interval.number /= 2);
            self.intervals.dedup_by(|later, interval| {
                let same = later.number == interval.number;
                if same {
                    interval.join(later);
                }
                same
            });
        }
        let node = Interval { number: number(self.length), low: [t, energy], high: [t, energy] };
        match self.intervals.last_mut() {
            Some(last) if last.number == node.number => last.join(&node),
            _ => self.intervals.push(node),
        }
        self.end = t;
        self.is_broken |= !energy.is_finite();
    }

    /// Computes the energy in the columns that have no node. Impacts have both of their sides already, so that the line between
    /// them is the motion, not a slope from node to node.
    pub fn look_between_nodes(&mut self, dense: &mut Dense) {
        let Some(begin) = self.begin else { return };
        let known = self.columns();
        let is_empty = |k: &usize| known.binary_search_by_key(k, |(column, _)| *column).is_err();
        for k in (0..2 * WIDTH).filter(is_empty) {
            let t = begin + (k as f64 + 0.5) / (2 * WIDTH) as f64 * (self.end - begin);
            // The plot can do without a value that cannot be computed.
            if let Ok(Some(energy)) = dense.energy(t)
                && energy.is_finite()
            {
                self.between.push([t, energy]);
            }
        }
    }

    /// The column of dots for a time.
    fn column(&self, t: f64) -> usize {
        let begin = self.begin.unwrap_or(t);
        let part = (t - begin) / (self.end - begin);
        ((part * (2 * WIDTH) as f64) as usize).min(2 * WIDTH - 1)
    }

    /// The times and energies that are kept.
    fn points(&self) -> impl Iterator<Item = [f64; 2]> {
        let nodes = self.intervals.iter().flat_map(|interval| [interval.low, interval.high]);
        nodes.chain(self.between.iter().copied())
    }

    /// The columns that have nodes, with the smallest and the largest energy in each.
    fn columns(&self) -> Vec<(usize, [f64; 2])> {
        let mut columns: Vec<Option<[f64; 2]>> = vec![None; 2 * WIDTH];
        for [t, energy] in self.points() {
            let column = &mut columns[self.column(t)];
            let [low, high] = column.unwrap_or([energy; 2]);
            *column = Some([low.min(energy), high.max(energy)]);
        }
        columns.into_iter().enumerate().filter_map(|(k, span)| span.map(|span| (k, span))).collect()
    }

    /// The plot, with impacts marked below. None if there is nothing to plot.
    pub fn draw(&self, impacts: &[f64]) -> Option<String> {
        let low = self.points().fold(f64::INFINITY, |low, [_, energy]| low.min(energy));
        let high = self.points().fold(f64::NEG_INFINITY, |high, [_, energy]| high.max(energy));
        if self.is_broken || high.partial_cmp(&low) != Some(std::cmp::Ordering::Greater) {
            return None;
        }
        let rows = self.dots(low, high);
        let (first, mut text) = (self.first, String::from("\n"));
        for (k, row) in rows.iter().enumerate() {
            let label = match k {
                0 => format!("H(0) {:+.1e}", high - first),
                k if k + 1 == HEIGHT => format!("H(0) {:+.1e}", low - first),
                _ => String::new(),
            };
            let _ = writeln!(text, "{label:>15} ┤{row}");
        }
        let mut marks = vec![' '; WIDTH];
        impacts.iter().for_each(|t| marks[self.column(*t) / 2] = '▴');
        let marks: String = marks.into_iter().collect();
        if !impacts.is_empty() {
            let _ = writeln!(text, "{:>15}  {}", "impacts", marks.trim_end());
        }
        Some(text)
    }

    /// Rows of Braille characters. Each column of dots is a line from the smallest to the largest energy of an interval;
    /// intervals without nodes are interpolated.
    fn dots(&self, low: f64, high: f64) -> Vec<String> {
        let level = |x: f64| ((high - x) / (high - low) * (4 * HEIGHT - 1) as f64).round() as usize;
        let known = self.columns();
        let mut cells = vec![vec![0_u32; WIDTH]; HEIGHT];
        let mut mark = |column: usize, span: [f64; 2]| {
            for row in level(span[1])..=level(span[0]) {
                cells[row / 4][column / 2] |= dot(column % 2, row % 4);
            }
        };
        known.iter().for_each(|(k, span)| mark(*k, *span));
        for pair in known.windows(2) {
            let [(a, from), (b, to)] = [pair[0], pair[1]];
            let middle = |[low, high]: [f64; 2]| 0.5 * (low + high);
            // Extend the line up or down to the next one.
            if b == a + 1 {
                let join = if to[0] > from[1] { [from[1], to[0]] } else { [to[1].min(from[0]), from[0]] };
                mark(b, join);
            }
            for k in a + 1..b {
                let x = middle(from) + (middle(to) - middle(from)) * (k - a) as f64 / (b - a) as f64;
                mark(k, [x, x]);
            }
        }
        let letter = |cell: &u32| char::from_u32(0x2800 + cell).unwrap_or(' ');
        cells.iter().map(|row| row.iter().map(letter).collect::<String>().trim_end_matches('\u{2800}').into()).collect()
    }
}

/// The bit of a dot in a Braille character.
fn dot(column: usize, row: usize) -> u32 {
    match (column, row) {
        (0, 3) => 0x40,
        (_, 3) => 0x80,
        (0, row) => 1 << row,
        (_, row) => 8 << row,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_spike_stands_out_and_impacts_are_marked() {
        let mut plot = EnergyPlot::default();
        (0..=100_000).for_each(|k| plot.push(k as f64 * 1e-4, if k == 50_000 { 2.0 } else { 1.0 }));
        let text = plot.draw(&[5.0]).expect("there is something to see");
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[1], format!("{:>15} ┤{}⡇", "H(0) +1.0e0", "\u{2800}".repeat(30)));
        assert_eq!(lines[5], format!("{:>15}  {}▴", "impacts", " ".repeat(30)));
    }

    /// The plot ends where the run did, however many nodes there are.
    #[test]
    fn an_early_end_does_not_squeeze_the_plot() {
        for nodes in [40, 1000, 33_333] {
            let mut plot = EnergyPlot::default();
            (0..=nodes).for_each(|k| plot.push(f64::from(k) * 1e-4, if 2 * k == nodes / 2 * 2 { 2.0 } else { 1.0 }));
            let text = plot.draw(&[f64::from(nodes) * 0.5e-4]).expect("there is something to see");
            let marked = text.lines().last().unwrap_or_default().chars().count();
            assert!((46..=48).contains(&marked), "{nodes} nodes:\n{text}");
            let spike = text.lines().nth(1).unwrap_or_default().chars().count();
            assert!((46..=50).contains(&spike), "{nodes} nodes:\n{text}");
        }
    }

    #[test]
    fn what_does_not_vary_is_not_drawn() {
        let mut plot = EnergyPlot::default();
        plot.push(0.0, 1.0);
        plot.push(1.0, 1.0);
        assert!(plot.draw(&[]).is_none());
        plot.push(1.0, 2.0);
        assert!(plot.draw(&[]).is_some());
        plot.push(1.0, f64::NAN);
        assert!(plot.draw(&[]).is_none());
    }
}
