//! The rows of a sweep.

use super::axis::{Axis, Values};
use super::philox::bits;
use super::sobol::{DIMENSIONS, Directions};
use crate::error::{Diagnostic, Result};
use crate::limits::MOST_ROWS;

/// Which values each row has: a pure function of the plan and the number of the row.
///
/// The first axis of a grid varies slowest, samples fastest. Random values are those of Philox4x64-10 with the key `seed` and the
/// counter (row, number of the axis); Sobol points have the number of the sample as index, and a shift that depends on the seed.
#[derive(Clone, Debug)]
pub struct Plan {
    axes: Vec<Axis>,
    samples: u64,
    seed: u64,
    /// The number of rows.
    rows: u64,
    /// For each axis that is not random: the number of consecutive rows with the same value, and the number of its values.
    strides: Vec<Option<(u64, u64)>>,
    sobol: Vec<Option<(Directions, u64)>>,
}

impl Plan {
    /// A plan with these axes; random axes take `samples` values for each point of the grid.
    pub fn new(axes: Vec<Axis>, samples: Option<u64>, seed: u64) -> Result<Plan> {
        let is_random = axes.iter().any(Axis::is_random);
        check_names(&axes)?;
        let samples = match (samples, is_random) {
            (None, false) => 1,
            (Some(0), _) => return Err(Diagnostic::new("`samples` must be at least 1").into()),
            (Some(samples), true) => samples,
            (None, true) => {
                let error = Diagnostic::new("an axis is random, and the number of samples is not given");
                return Err(error.with_help("give the number of `samples`").into());
            }
            (Some(_), false) => {
                let error = Diagnostic::new("`samples` is given, but no axis is random");
                return Err(error
                    .with_help("use `uniform(a,b)`, `normal(mean,sd)` or `sobol(a,b)`, or drop it")
                    .into());
            }
        };
        let mut stride = u128::from(samples);
        let mut strides: Vec<Option<(u64, u64)>> = vec![None; axes.len()];
        for i in (0..axes.len()).rev() {
            let Some(count) = axes[i].values.count() else { continue };
            if let Some(partner) = (i + 1..axes.len()).find(|&j| same_file(&axes[i], &axes[j])) {
                if axes[partner].values.count() != Some(count) {
                    return Err(
                        Diagnostic::new(format!("the columns of `{}` have different lengths", axes[i].name)).into()
                    );
                }
                strides[i] = strides[partner];
                continue;
            }
            strides[i] = Some((u64::try_from(stride).unwrap_or(u64::MAX), count));
            stride = stride.saturating_mul(u128::from(count));
        }
        if stride > u128::from(MOST_ROWS) {
            let message = format!("the sweep has {:.1e} rows, more than {:.0e}", stride as f64, MOST_ROWS as f64);
            return Err(Diagnostic::new(message).with_help("take fewer values, or several sweeps").into());
        }
        let sobol = sobol(&axes, seed)?;
        Ok(Plan { axes, samples, seed, rows: stride as u64, strides, sobol })
    }

    /// The number of rows.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// The axes.
    pub fn axes(&self) -> &[Axis] {
        &self.axes
    }

    /// The number of samples for each point of the grid.
    pub fn samples(&self) -> u64 {
        self.samples
    }

    /// The seed.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// The value of each axis in a row.
    pub fn values(&self, row: u64) -> impl Iterator<Item = f64> {
        let sample = row % self.samples;
        self.axes.iter().enumerate().map(move |(i, axis)| match (self.strides[i], &self.sobol[i]) {
            (Some((stride, count)), _) => axis.values.at(row / stride % count),
            (None, Some((directions, shift))) => axis.values.of_bits(directions.point(sample) ^ shift),
            (None, None) => axis.values.of_bits(bits(self.seed, row, i)),
        })
    }
}

/// The directions and the digital shift of each Sobol axis.
fn sobol(axes: &[Axis], seed: u64) -> Result<Vec<Option<(Directions, u64)>>> {
    let mut dimension = 0;
    let mut all = Vec::with_capacity(axes.len());
    for (i, axis) in axes.iter().enumerate() {
        if !matches!(axis.values, Values::Sobol(..)) {
            all.push(None);
            continue;
        }
        if dimension == DIMENSIONS {
            return Err(Diagnostic::new(format!("there are more than {DIMENSIONS} Sobol axes")).into());
        }
        // The counter of the shift is that of no row.
        all.push(Some((Directions::new(dimension), bits(seed, u64::MAX, i))));
        dimension += 1;
    }
    Ok(all)
}

fn same_file(a: &Axis, b: &Axis) -> bool {
    match (&a.values, &b.values) {
        (Values::Column { file: a, .. }, Values::Column { file: b, .. }) => a == b,
        _ => false,
    }
}

fn check_names(axes: &[Axis]) -> Result<()> {
    for (i, axis) in axes.iter().enumerate() {
        if axes[..i].iter().any(|other| other.name == axis.name) {
            return Err(Diagnostic::new(format!("`{}` is varied twice", axis.name)).into());
        }
    }
    if axes.is_empty() {
        let error = Diagnostic::new("nothing is varied");
        return Err(error.with_help("give an axis: `name=from:to:count`").into());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(axes: &[&str], samples: Option<u64>) -> Plan {
        let axes = axes.iter().map(|axis| Axis::parse(axis).expect("it is right")).collect();
        Plan::new(axes, samples, 7).expect("it is right")
    }

    /// The first axis is the slowest, samples the fastest.
    #[test]
    fn rows_are_in_order() {
        let plan = plan(&["a=0:1:3", "b=5,6", "c=uniform(0,1)"], Some(4));
        assert_eq!(plan.rows(), 24);
        let row = |i: u64| plan.values(i).collect::<Vec<_>>();
        assert_eq!(row(0)[..2], [0.0, 5.0]);
        assert_eq!(row(3)[..2], [0.0, 5.0]);
        assert_eq!(row(4)[..2], [0.0, 6.0]);
        assert_eq!(row(8)[..2], [0.5, 5.0]);
        assert_eq!(row(23)[..2], [1.0, 6.0]);
        let all: Vec<f64> = (0..24).map(|i| row(i)[2]).collect();
        assert!(all.iter().all(|x| (0.0..1.0).contains(x)));
        assert!((0..24).all(|i| (0..i).all(|j| all[i] != all[j])), "{all:?}");
    }

    /// Mean and variance of many values, and stratification of Sobol points.
    #[test]
    fn distributions() {
        let plan = plan(&["u=uniform(2,4)", "n=normal(1,3)", "s=sobol(0,1)", "r=sobol(-1,1)"], Some(1 << 14));
        let n = plan.rows() as f64;
        let mut sums = [[0.0; 2]; 4];
        let mut cells = vec![0; 64 * 64];
        for i in 0..plan.rows() {
            let row: Vec<f64> = plan.values(i).collect();
            row.iter()
                .zip(&mut sums)
                .for_each(|(x, [mean, square])| (*mean, *square) = (*mean + x / n, *square + x * x / n));
            cells[(row[2] * 64.0) as usize * 64 + ((row[3] + 1.0) * 32.0) as usize] += 1;
        }
        let expected = [(3.0, 1.0 / 3.0), (1.0, 9.0), (0.5, 1.0 / 12.0), (0.0, 1.0 / 3.0)];
        for ([mean, square], (m, variance)) in sums.iter().zip(expected) {
            let off = 5.0 * (f64::sqrt(variance) / n.sqrt());
            assert!((mean - m).abs() < off, "{mean}, not {m}");
            assert!(
                (square - mean * mean - variance).abs() < 0.05 * variance,
                "{}, not {variance}",
                square - mean * mean
            );
        }
        assert!(cells.iter().all(|count| *count == 4), "Sobol points are not evenly spread");
    }
}
