//! A small plot of the energy for a terminal.

use std::fmt::Write;

/// The size in Braille characters; each has two by four dots.
const WIDTH: usize = 60;
const HEIGHT: usize = 4;

/// The smallest and largest energy in each of many time intervals.
pub struct EnergyPlot {
    begin: Option<f64>,
    end: f64,
    stretches: Vec<Option<[f64; 2]>>,
    /// True if an energy was NaN or infinite.
    is_broken: bool,
}

impl EnergyPlot {
    /// A plot for a run up to `end`.
    pub fn new(end: f64) -> EnergyPlot {
        EnergyPlot { begin: None, end, stretches: vec![None; 2 * WIDTH], is_broken: false }
    }

    /// Adds a node.
    pub fn push(&mut self, t: f64, energy: f64) {
        let k = self.column(t);
        let [low, high] = self.stretches[k].unwrap_or([energy, energy]);
        self.stretches[k] = Some([low.min(energy), high.max(energy)]);
        self.begin.get_or_insert(t);
        self.is_broken |= !energy.is_finite();
    }

    fn column(&self, t: f64) -> usize {
        let begin = self.begin.unwrap_or(t);
        let part = (t - begin) / (self.end - begin);
        ((part * self.stretches.len() as f64) as usize).min(self.stretches.len() - 1)
    }

    /// The plot, with impacts marked below. None if there is nothing to plot.
    pub fn draw(&self, impacts: &[f64]) -> Option<String> {
        let all: Vec<f64> = self.stretches.iter().flatten().flatten().copied().collect();
        let (low, high) = all.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), x| (a.min(*x), b.max(*x)));
        if self.is_broken || high.partial_cmp(&low) != Some(std::cmp::Ordering::Greater) {
            return None;
        }
        let rows = self.dots(low, high);
        let (first, mut text) = (all[0], String::from("\n"));
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
        let known: Vec<(usize, [f64; 2])> =
            self.stretches.iter().enumerate().filter_map(|(k, span)| span.map(|span| (k, span))).collect();
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
        let mut plot = EnergyPlot::new(10.0);
        (0..=100_000).for_each(|k| plot.push(k as f64 * 1e-4, if k == 50_000 { 2.0 } else { 1.0 }));
        let text = plot.draw(&[5.0]).expect("there is something to see");
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[1], format!("{:>15} ┤{}⡇", "H(0) +1.0e0", "\u{2800}".repeat(30)));
        assert_eq!(lines[5], format!("{:>15}  {}▴", "impacts", " ".repeat(30)));
    }

    #[test]
    fn what_does_not_vary_is_not_drawn() {
        let mut plot = EnergyPlot::new(1.0);
        plot.push(0.0, 1.0);
        plot.push(1.0, 1.0);
        assert!(plot.draw(&[]).is_none());
        plot.push(1.0, 2.0);
        assert!(plot.draw(&[]).is_some());
        plot.push(1.0, f64::NAN);
        assert!(plot.draw(&[]).is_none());
    }
}
