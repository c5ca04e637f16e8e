//! Statistics that can be merged, for sweeps whose rows are not kept.

use std::collections::BTreeMap;

use carom::sweep::{Row, RowStatus, Sweep};
use carom::{Diagnostic, Result};
use serde_json::{Value, json};

/// A statistic of a column, such as `mean(theta)` or `hist(impacts,50)`.
#[derive(Clone, Debug, PartialEq)]
pub struct Reduction {
    /// As the user wrote it.
    pub text: String,
    kind: Kind,
    /// The column.
    pub column: String,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Count,
    Mean,
    Variance,
    Minimum,
    Maximum,
    Histogram(usize),
}

/// The largest number of bins.
const MOST_BINS: usize = 10_000;

impl Reduction {
    /// Reads `count(x)`, `mean(x)`, `var(x)`, `min(x)`, `max(x)` or `hist(x,bins)`.
    pub fn parse(text: &str) -> Result<Reduction> {
        let wrong = |why: &str| {
            let error = Diagnostic::new(format!("`--reduce {text}`: {why}"));
            let help = "write `count(x)`, `mean(x)`, `var(x)`, `min(x)`, `max(x)` or `hist(x,bins)`";
            carom::Error::from(error.with_help(help))
        };
        let call = text.trim().strip_suffix(')').and_then(|text| text.split_once('('));
        let (kind, arguments) = call.ok_or_else(|| wrong("it is not a statistic of a column"))?;
        let (column, bins) = match arguments.rsplit_once(',') {
            Some((column, bins)) => (column.trim(), Some(bins.trim())),
            None => (arguments.trim(), None),
        };
        let kind = match (kind.trim(), bins) {
            ("hist", Some(bins)) => {
                let count = bins.parse::<usize>().ok().filter(|count| (2..=MOST_BINS).contains(count));
                Kind::Histogram(count.ok_or_else(|| wrong(&format!("the number of bins is from 2 to {MOST_BINS}")))?)
            }
            ("hist", None) => return Err(wrong("a histogram needs a number of bins")),
            (other, Some(_)) => return Err(wrong(&format!("`{other}` takes one name"))),
            ("count", None) => Kind::Count,
            ("mean", None) => Kind::Mean,
            ("var", None) => Kind::Variance,
            ("min", None) => Kind::Minimum,
            ("max", None) => Kind::Maximum,
            (other, None) => return Err(wrong(&format!("there is no statistic `{other}`"))),
        };
        if column.is_empty() {
            return Err(wrong("there is no name in it"));
        }
        Ok(Reduction { text: text.trim().into(), kind, column: column.into() })
    }

    /// True if the column is one of those that every sweep has.
    pub fn is_fixed(&self) -> bool {
        ["impacts", "t_end", "error", "seconds"].contains(&self.column.as_str())
    }

    fn bins(&self) -> usize {
        if let Kind::Histogram(bins) = self.kind { bins } else { 0 }
    }

    /// The number in a row; none if the run was refused.
    fn value(&self, sweep: &Sweep, row: &Row) -> Option<f64> {
        if row.status == RowStatus::Refused {
            return None;
        }
        let axis = || sweep.plan().axes().iter().position(|axis| axis.name == self.column).map(|i| row.values[i]);
        let record = || sweep.columns().iter().position(|column| column.name == self.column).map(|i| row.records[i]);
        let value = match self.column.as_str() {
            "impacts" => Some(row.impacts as f64),
            "t_end" => Some(row.t_end),
            "error" => row.error,
            "seconds" => Some(row.seconds),
            _ => record().or_else(axis),
        };
        value.filter(|x| !x.is_nan())
    }
}

/// Count, mean, variance, extremes and histogram of numbers. Merging parts in their order gives the same bits in any run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Statistics {
    count: u64,
    mean: f64,
    /// Σ (x − mean)².
    squares: f64,
    least: f64,
    largest: f64,
    /// The number of bins; 0 for none.
    bins: usize,
    /// The width of the bins is 2^level; bin i is [i, i + 1)·2^level.
    level: i32,
    counts: BTreeMap<i64, u64>,
}

impl Statistics {
    /// Empty statistics with this number of bins.
    pub fn new(bins: usize) -> Statistics {
        Statistics { bins, ..Statistics::default() }
    }

    /// Adds a number.
    pub fn add(&mut self, x: f64) {
        let one = Statistics { count: 1, mean: x, least: x, largest: x, ..Statistics::new(self.bins) };
        self.merge(&one);
    }

    /// Adds the numbers of other statistics. [Chan, Golub & LeVeque 1983]
    pub fn merge(&mut self, other: &Statistics) {
        if other.count == 0 {
            return;
        }
        if self.count == 0 {
            *self = other.clone();
            return;
        }
        let (n, m) = (self.count as f64, other.count as f64);
        let delta = other.mean - self.mean;
        self.fill(other);
        self.mean += delta * m / (n + m);
        self.squares += other.squares + delta * delta * n * m / (n + m);
        self.count += other.count;
        (self.least, self.largest) = (self.least.min(other.least), self.largest.max(other.largest));
    }

    /// Makes the bins those of both. Their width is the least power of two with which all numbers fit into them: it depends on the
    /// numbers alone, not on the order in which they come.
    fn fill(&mut self, other: &Statistics) {
        let (least, largest) = (self.least.min(other.least), self.largest.max(other.largest));
        if self.bins == 0 || least == largest {
            return;
        }
        let level = level(least, largest, self.bins, self.level_known().max(other.level_known()));
        if self.least == self.largest || level > self.level {
            let mut counts = BTreeMap::new();
            self.count_in(level, &mut counts);
            (self.level, self.counts) = (level, counts);
        }
        other.count_in(level, &mut self.counts);
    }

    /// Counts the numbers in bins of this level.
    fn count_in(&self, level: i32, counts: &mut BTreeMap<i64, u64>) {
        if self.least == self.largest {
            *counts.entry(bin(self.least, level)).or_default() += self.count;
            return;
        }
        let shift = (level - self.level).min(63) as u32;
        self.counts.iter().for_each(|(i, count)| *counts.entry(i >> shift).or_default() += count);
    }

    fn level_known(&self) -> Option<i32> {
        (self.least != self.largest).then_some(self.level)
    }

    /// As JSON, with every digit.
    pub fn json(&self) -> Value {
        let counts: Vec<(i64, u64)> = self.counts.iter().map(|(i, count)| (*i, *count)).collect();
        let bits = |x: f64| format!("{:016x}", x.to_bits());
        json!({"count": self.count, "mean": bits(self.mean), "squares": bits(self.squares), "least": bits(self.least),
            "largest": bits(self.largest), "bins": self.bins, "level": self.level, "counts": counts})
    }

    /// From JSON.
    pub fn read(value: &Value) -> Option<Statistics> {
        let number = |key: &str| u64::from_str_radix(value[key].as_str()?, 16).ok().map(f64::from_bits);
        let pair = |pair: &Value| Some((pair[0].as_i64()?, pair[1].as_u64()?));
        Some(Statistics {
            count: value["count"].as_u64()?,
            mean: number("mean")?,
            squares: number("squares")?,
            least: number("least")?,
            largest: number("largest")?,
            bins: value["bins"].as_u64()? as usize,
            level: value["level"].as_i64()? as i32,
            counts: value["counts"].as_array()?.iter().map(pair).collect::<Option<_>>()?,
        })
    }

    /// The value of a statistic, as JSON.
    pub fn of(&self, reduction: &Reduction) -> Value {
        let known = |x: f64| if self.count > 0 { json!(x) } else { Value::Null };
        match reduction.kind {
            Kind::Count => json!(self.count),
            Kind::Mean => known(self.mean),
            Kind::Variance if self.count > 1 => json!(self.squares / (self.count - 1) as f64),
            Kind::Variance => Value::Null,
            Kind::Minimum => known(self.least),
            Kind::Maximum => known(self.largest),
            Kind::Histogram(_) => {
                let width = 2_f64.powi(self.level);
                let bins =
                    self.counts.iter().map(|(i, count)| json!([*i as f64 * width, (*i + 1) as f64 * width, count]));
                let all = || json!([[self.least, self.largest, self.count]]);
                if self.counts.is_empty() && self.count > 0 { all() } else { bins.collect() }
            }
        }
    }
}

/// The number of the bin of x.
fn bin(x: f64, level: i32) -> i64 {
    (x / 2_f64.powi(level)).floor() as i64
}

/// The least level, not below `from`, with which numbers from `least` to `largest` fit into this number of bins.
fn level(least: f64, largest: f64, bins: usize, from: Option<i32>) -> i32 {
    // With this width the numbers are at least as many bins apart as there are.
    let finest = ((largest - least) / bins as f64).log2().floor() as i32 - 1;
    // Numbers of bins must be exact.
    let exact = least.abs().max(largest.abs()).log2().ceil() as i32 - 52;
    let mut level = from.unwrap_or(finest).max(finest).max(exact);
    while bin(largest, level) - bin(least, level) >= bins as i64 {
        level += 1;
    }
    level
}

/// One accumulator for each reduction.
pub(crate) fn of_rows(sweep: &Sweep, reductions: &[Reduction], rows: &[Row]) -> Vec<Statistics> {
    let of = |reduction: &Reduction| {
        let mut all = Statistics::new(reduction.bins());
        rows.iter().filter_map(|row| reduction.value(sweep, row)).for_each(|x| all.add(x));
        all
    };
    reductions.iter().map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Statistics of parts, merged, are those of the whole: counts exactly, moments to roundoff.
    #[test]
    fn parts_merge_to_the_whole() {
        let numbers: Vec<f64> = (0..1000).map(|i| ((i * i) as f64 * 0.37).sin() * 3.0 + 0.01 * f64::from(i)).collect();
        let of = |numbers: &[f64]| {
            let mut all = Statistics::new(50);
            numbers.iter().for_each(|x| all.add(*x));
            all
        };
        let whole = of(&numbers);
        for cut in [1, 2, 137, 500, 999] {
            let mut merged = of(&numbers[..cut]);
            merged.merge(&of(&numbers[cut..]));
            assert_eq!(
                (merged.count, merged.level, &merged.counts),
                (whole.count, whole.level, &whole.counts),
                "{cut}"
            );
            assert_eq!((merged.least, merged.largest), (whole.least, whole.largest));
            assert!((merged.mean - whole.mean).abs() < 1e-13 && (merged.squares / whole.squares - 1.0).abs() < 1e-12);
            assert_eq!(Statistics::read(&merged.json()), Some(merged));
        }
        let mean = numbers.iter().sum::<f64>() / 1000.0;
        let variance = numbers.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / 999.0;
        assert!((whole.mean - mean).abs() < 1e-13 && (whole.squares / 999.0 / variance - 1.0).abs() < 1e-12);
        assert!(whole.counts.len() <= 50 && whole.counts.values().sum::<u64>() == 1000);
    }
}
