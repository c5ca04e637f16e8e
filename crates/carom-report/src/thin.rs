//! Thinning during recording: keeps the nodes at which a channel is largest or smallest, and both sides of jumps, so that no
//! spike is lost and no step becomes a slope, however long the run is.

/// The number of rows that jumps may add to an interval; more jumps than half of that cannot be told apart in it.
const MOST_JUMPS: usize = 8;
/// An interval is thinned out if it had more than this many rows for each that was kept.
const MOST_TO_ONE: usize = 4;

/// Keeps, for each of many equal time intervals, the rows at which a channel has its minimum or maximum.
#[derive(Clone, Debug)]
pub struct Thin {
    begin: f64,
    /// Intervals per unit of time.
    rate: f64,
    stretch: i64,
    /// For each channel, the rows of its minimum and maximum in the current interval.
    extremes: Vec<Option<[Row; 2]>>,
    last: Option<Row>,
    /// Both sides of the first jumps of the current interval.
    jumps: Vec<Row>,
    /// The first row with NaN or infinity.
    broken: Option<Row>,
    seen: usize,
    /// The rows seen before the current interval.
    before: usize,
    /// The number of intervals with rows, and of those of which most rows were left out.
    intervals: [usize; 2],
    kept: Vec<Row>,
}

/// A time and the values at it.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// The time.
    pub t: f64,
    /// The order among rows with equal time.
    number: usize,
    /// One value per channel.
    pub values: Vec<f64>,
}

impl Thin {
    /// For `channels` channels from `begin` to `end`, in `stretches` intervals.
    pub fn new(channels: usize, begin: f64, end: f64, stretches: usize) -> Thin {
        let rate = if end > begin { stretches as f64 / (end - begin) } else { 0.0 };
        let extremes = vec![None; channels];
        Thin {
            begin,
            rate,
            stretch: 0,
            extremes,
            last: None,
            jumps: Vec::new(),
            broken: None,
            seen: 0,
            before: 0,
            intervals: [0; 2],
            kept: Vec::new(),
        }
    }

    /// Adds a row.
    pub fn push(&mut self, t: f64, values: &[f64]) {
        let row = Row { t, number: self.seen, values: values.to_vec() };
        let stretch = ((t - self.begin) * self.rate) as i64;
        if stretch != self.stretch {
            self.flush();
            self.stretch = stretch;
        }
        self.seen += 1;
        if self.seen == 1 {
            self.kept.push(row.clone());
        }
        if self.broken.is_none() && values.iter().any(|x| !x.is_finite()) {
            self.broken = Some(row.clone());
        }
        for (extreme, x) in self.extremes.iter_mut().zip(values.iter().enumerate()) {
            let (k, x) = x;
            match extreme {
                None => *extreme = Some([row.clone(), row.clone()]),
                Some([least, greatest]) => {
                    if *x < least.values[k] {
                        *least = row.clone();
                    }
                    if *x > greatest.values[k] {
                        *greatest = row.clone();
                    }
                }
            }
        }
        if let Some(last) = self.last.take().filter(|last| last.t == t && self.jumps.len() < MOST_JUMPS) {
            self.jumps.extend([last, row.clone()]);
        }
        self.last = Some(row);
    }

    fn flush(&mut self) {
        let from = self.kept.len();
        self.kept.extend(self.extremes.iter_mut().filter_map(Option::take).flatten());
        self.kept.append(&mut self.jumps);
        self.kept[from..].sort_by_key(|row| row.number);
        self.kept.dedup_by_key(|row| row.number);
        let seen = self.seen - self.before;
        let is_thinned = seen > MOST_TO_ONE * (self.kept.len() - from);
        self.intervals[0] += usize::from(seen > 0);
        self.intervals[1] += usize::from(is_thinned);
        self.before = self.seen;
    }

    /// The rows that were kept, in order; always includes the first and the last.
    pub fn finish(mut self) -> Thinned {
        self.flush();
        self.kept.extend(self.last.take());
        self.kept.dedup_by_key(|row| row.number);
        let [all, thinned] = self.intervals;
        Thinned { seen: self.seen, is_sparse: 2 * thinned > all, rows: self.kept, broken: self.broken }
    }
}

/// The rows that were kept.
#[derive(Clone, Debug)]
pub struct Thinned {
    /// The rows, in the order in which they were added.
    pub rows: Vec<Row>,
    /// The number of rows that were added.
    pub seen: usize,
    is_sparse: bool,
    /// The first row with NaN or infinity.
    pub broken: Option<Row>,
}

impl Thinned {
    /// True if no row was left out.
    pub fn is_whole(&self) -> bool {
        self.rows.len() == self.seen
    }

    /// True if in most of the time so many rows were left out that neighbours may be far apart. Bounces that accumulate are not.
    pub fn is_sparse(&self) -> bool {
        self.is_sparse
    }

    /// The smallest and the largest value of a channel.
    pub fn range(&self, channel: usize) -> [f64; 2] {
        let all = self.rows.iter().map(|row| row.values[channel]);
        all.fold([f64::INFINITY, f64::NEG_INFINITY], |[low, high], x| [low.min(x), high.max(x)])
    }

    /// The rows at which one of the first two channels has its overall minimum or maximum.
    pub fn extremes(&self) -> Vec<[f64; 2]> {
        let place = |k: usize| move |a: &&Row, b: &&Row| a.values[k].total_cmp(&b.values[k]);
        let ends = |k: usize| [self.rows.iter().min_by(place(k)), self.rows.iter().max_by(place(k))];
        [ends(0), ends(1)].into_iter().flatten().flatten().map(|row| [row.values[0], row.values[1]]).collect()
    }

    /// One channel against another.
    pub fn pairs(&self, x: usize, y: usize) -> Vec<[f64; 2]> {
        self.rows.iter().map(|row| [row.values[x], row.values[y]]).collect()
    }

    /// A channel against time.
    pub fn over_time(&self, channel: usize) -> Vec<[f64; 2]> {
        self.rows.iter().map(|row| [row.t, row.values[channel]]).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_spike_in_a_million_is_kept() {
        for spike in [0, 1, 499_999, 123_456, 999_998, 999_999] {
            let mut thin = Thin::new(2, 0.0, 1.0, 1000);
            for k in 0..1_000_000 {
                let wave = (k as f64 * 0.1).sin();
                thin.push(k as f64 / 999_999.0, &[wave, if k == spike { 7.0 } else { 0.0 }]);
            }
            let thinned = thin.finish();
            assert!(thinned.rows.iter().any(|row| row.values[1] == 7.0), "the spike at {spike} is lost");
            assert!(thinned.rows.len() <= 4_002 && thinned.is_sparse(), "{} rows", thinned.rows.len());
            assert!(thinned.rows.windows(2).all(|w| w[0].t < w[1].t));
        }
    }

    /// A step in each of a hundred intervals of many equal values: both of its sides are there.
    #[test]
    fn a_step_stays_a_step() {
        let mut thin = Thin::new(1, 0.0, 100.0, 100);
        for k in 0..100_000 {
            let t = k as f64 * 1e-3;
            thin.push(t, &[(t + 0.5).floor()]);
            if k % 1000 == 499 {
                thin.push(t, &[(t + 1.5).floor()]);
            }
        }
        let rows = thin.finish().rows;
        let slopes = rows.windows(2).filter(|w| w[1].t > w[0].t + 2e-3 && w[0].values != w[1].values).count();
        assert!(slopes == 0 && rows.len() < 1000, "{slopes} slopes in {} rows", rows.len());
    }

    #[test]
    fn a_short_run_is_kept_whole() {
        let mut thin = Thin::new(1, 0.0, 10.0, 1000);
        (0..=100).for_each(|k| thin.push(k as f64 * 0.1, &[k as f64]));
        let thinned = thin.finish();
        assert!(thinned.is_whole() && thinned.rows.len() == 101, "{}", thinned.rows.len());
    }

    /// Thousands of bounces in an instant leave the rest of a motion as dense as it was.
    #[test]
    fn bounces_that_accumulate_do_not_make_a_run_sparse() {
        let mut thin = Thin::new(1, 0.0, 10.0, 1000);
        for k in 0..=500 {
            thin.push(k as f64 * 0.02, &[k as f64]);
            if k == 250 {
                (0..10_000).for_each(|j| thin.push(5.0 + 1e-7 * j as f64, &[(j % 2) as f64]));
            }
        }
        let thinned = thin.finish();
        assert!(!thinned.is_sparse() && thinned.rows.len() < 600, "{} rows", thinned.rows.len());
    }

    #[test]
    fn what_is_no_number_is_noticed() {
        let mut thin = Thin::new(1, 0.0, 1.0, 10);
        [0.0, f64::NAN, 1.0].iter().enumerate().for_each(|(k, x)| thin.push(k as f64 / 2.0, &[*x]));
        assert_eq!(thin.finish().broken.map(|row| row.t), Some(0.5));
    }
}
