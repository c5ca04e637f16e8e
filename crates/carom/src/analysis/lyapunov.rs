//! Lyapunov exponents.

use super::results::tangent_of;
use crate::error::{Diagnostic, Result};
use crate::run::{Audience, Status, Watcher};
use crate::simulation::Simulation;
use crate::solve::Solved;
use crate::step::StepLog;
use crate::tangent::{Matrix, StepTangent, Tangent, add, dot};

/// The Lyapunov exponents of a simulation. See [`Simulation::lyapunov`].
#[derive(Clone, Debug)]
pub struct Lyapunov {
    simulation: Simulation,
    count: Option<usize>,
    every: Option<f64>,
    discard: Option<f64>,
}

/// Lyapunov exponents, in falling order.
#[derive(Clone, Debug)]
pub struct Exponents {
    /// The method of the run.
    pub method: String,
    /// The step.
    pub step: f64,
    /// The end time.
    pub until: f64,
    /// The time between factorisations.
    pub every: f64,
    /// How the run ended.
    pub status: Status,
    /// The number of impacts after the transient.
    pub impacts: usize,
    /// The exponents.
    pub exponents: Vec<f64>,
    /// Their standard errors, by the means of 20 batches.
    pub errors: Vec<f64>,
    /// The exponents up to each factorisation after the transient.
    pub history: Vec<(f64, Vec<f64>)>,
    /// What to know about them.
    pub warnings: Vec<String>,
    /// The time for compiling, in seconds.
    pub compile_seconds: f64,
}

/// The number of batches for the errors.
const BATCHES: usize = 20;

/// Columns that grow or shrink by this factor are factored at once: a factor f between two factorisations leaves the smallest column
/// an error of f² times roundoff.
const LONG: f64 = 10.0;

impl Simulation {
    /// The Lyapunov exponents of the motion, through impacts.
    pub fn lyapunov(&self) -> Lyapunov {
        Lyapunov { simulation: self.clone(), count: None, every: None, discard: None }
    }
}

impl Lyapunov {
    /// Computes only the largest exponents.
    pub fn count(mut self, count: usize) -> Lyapunov {
        self.count = Some(count);
        self
    }

    /// Sets the time between factorisations; by default a thousandth of the run.
    pub fn every(mut self, dt: f64) -> Lyapunov {
        self.every = Some(dt);
        self
    }

    /// Sets the length of the transient that is left out; by default a tenth of the run.
    pub fn discard(mut self, time: f64) -> Lyapunov {
        self.discard = Some(time);
        self
    }

    /// Runs the simulation and computes the exponents.
    pub fn run(&self) -> Result<Exponents> {
        let simulation = self.simulation.clone().with_equal_steps();
        let begun = std::time::Instant::now();
        let code = simulation.tangent_code(&*simulation.chosen_method()?, &[])?;
        let compile_seconds = begun.elapsed().as_secs_f64();
        let ready = simulation.prepare()?;
        let compile_seconds = compile_seconds + ready.compile_seconds;
        let tangent = tangent_of(ready.scheme(), &code, simulation.parameters())?;
        let facts = ready.scheme().plant.facts();
        let most = 2 * (facts.n - facts.is_one_point.len().min(facts.n));
        let wrong = |what: String, help: &str| Diagnostic::new(what).with_help(help);
        let count = self.count.unwrap_or(most);
        if count == 0 || count > most {
            return Err(wrong(format!("there are {most} exponents, not {count}"), "give a smaller `count`").into());
        }
        let time = ready.until() - ready.begin();
        let every = self.every.unwrap_or(1e-3 * time).max(ready.step().unwrap_or(0.0));
        if self.every.is_some_and(|dt| !(dt > 0.0 && dt.is_finite())) {
            return Err(
                wrong("the time between factorisations must be positive".into(), "give a positive `every`").into()
            );
        }
        let discard = self.discard.unwrap_or(0.1 * time);
        if !(0.0..time).contains(&discard) {
            let what = format!("the transient of {discard} is not shorter than the run of {time}");
            return Err(wrong(what, "give a later end time, or a smaller `discard`").into());
        }
        let begin = ready.begin() + discard;
        let mut stretch = Stretch::new(tangent, count, every, begin, ready.until());
        let outcome = ready.show(&mut [Audience { watcher: &mut stretch, every: None }])?;
        let mut warnings = outcome.warnings.clone();
        warnings.extend(stretch.trouble.take());
        let (exponents, errors) = stretch.exponents();
        Ok(Exponents {
            method: ready.method().name.clone(),
            step: ready.step().unwrap_or(f64::NAN),
            until: ready.until(),
            every,
            status: outcome.status,
            impacts: stretch.impacts,
            exponents,
            errors,
            history: stretch.history,
            warnings,
            compile_seconds,
        })
    }
}

/// Carries columns along the motion and factors them, Q R.
struct Stretch {
    tangent: Tangent,
    step: StepTangent,
    /// The columns, as rows of this matrix.
    columns: Matrix,
    count: usize,
    every: f64,
    next: f64,
    /// The end of the transient, the end of the run, the times of the first and the last factorisation that count.
    begin: f64,
    until: f64,
    first: Option<f64>,
    last: f64,
    /// ln Rᵢᵢ since the last node that counts.
    logs: Vec<f64>,
    /// Σ ln Rᵢᵢ, in total and in each batch, with the time of each batch.
    sums: Vec<f64>,
    batches: Vec<(f64, Vec<f64>)>,
    impacts: usize,
    history: Vec<(f64, Vec<f64>)>,
    trouble: Option<String>,
}

impl Stretch {
    fn new(tangent: Tangent, count: usize, every: f64, begin: f64, until: f64) -> Stretch {
        Stretch {
            tangent,
            step: StepTangent::default(),
            columns: Matrix::default(),
            count,
            every,
            next: f64::NEG_INFINITY,
            begin,
            until,
            first: None,
            last: f64::NAN,
            logs: vec![0.0; count],
            sums: vec![0.0; count],
            batches: vec![(0.0, vec![0.0; count]); BATCHES],
            impacts: 0,
            history: Vec::new(),
            trouble: None,
        }
    }

    fn follow(&mut self, log: &StepLog) -> Solved<()> {
        if self.columns.data.is_empty() {
            self.start(log)?;
        }
        self.tangent.follow(log, &mut self.step)?;
        let size = self.columns.columns;
        let mut moved = vec![0.0; size];
        for column in self.columns.data.chunks_mut(size) {
            (0..size).for_each(|i| moved[i] = dot(&self.step.end.row(i)[..size], column));
            column.copy_from_slice(&moved);
        }
        let t = log.end.z.t;
        if self.first.is_some() {
            self.impacts += log.impacts().len();
        }
        // The sums begin at the first node after the transient.
        let begins = self.first.is_none() && t >= self.begin;
        if t >= self.next || t >= self.until || begins {
            self.factor(t);
            self.next = t + self.every * (1.0 - 1e-9);
        } else if self.is_long() {
            self.orthogonalise();
        }
        Ok(())
    }

    /// True if a column is so long or short that the others lose digits beside it.
    fn is_long(&self) -> bool {
        let mut squares = self.columns.data.chunks(self.columns.columns).map(|column| dot(column, column));
        squares.any(|square| !(1.0 / (LONG * LONG)..LONG * LONG).contains(&square))
    }

    /// Independent columns that the constraints allow.
    fn start(&mut self, log: &StepLog) -> Solved<()> {
        let z = &log.arcs()[0].start;
        let projection = self.tangent.projection(z, log.holding(0))?;
        let size = z.z.len();
        self.columns = Matrix::zeros(self.count, size);
        // Fixed numbers without a pattern: every run gives the same bits.
        let mut seed = 0.5;
        for k in 0..self.count {
            let raw: Vec<f64> = (0..size)
                .map(|i| {
                    seed = (seed * 997.0 + 0.137_f64).fract();
                    f64::from(i == k) + 0.2 * (seed - 0.5)
                })
                .collect();
            (0..size).for_each(|i| self.columns.row_mut(k)[i] = dot(&projection.row(i)[..size], &raw));
        }
        self.factor(z.t);
        self.next = z.t + self.every * (1.0 - 1e-9);
        Ok(())
    }

    /// Orthogonal columns; the logarithms of their lengths are noted.
    fn orthogonalise(&mut self) {
        let size = self.columns.columns;
        for k in 0..self.count {
            let (before, rest) = self.columns.data.split_at_mut(k * size);
            let column = &mut rest[..size];
            // Twice is enough. [Parlett]
            for _ in 0..2 {
                for other in before.chunks(size) {
                    let part = dot(other, column);
                    add(column, -part, other);
                }
            }
            let length = dot(column, column).sqrt();
            self.logs[k] += length.ln();
            if length > 0.0 {
                column.iter_mut().for_each(|x| *x /= length);
            }
        }
    }

    /// Factors the columns at a node that counts, and adds the logarithms since the last one.
    fn factor(&mut self, t: f64) {
        self.orthogonalise();
        let logs = std::mem::replace(&mut self.logs, vec![0.0; self.count]);
        if self.first.is_some() {
            let place = (t - self.begin) / (self.until - self.begin) * BATCHES as f64;
            let batch = ((place - 1e-9).max(0.0) as usize).min(BATCHES - 1);
            self.batches[batch].0 += t - self.last;
            add(&mut self.batches[batch].1, 1.0, &logs);
            add(&mut self.sums, 1.0, &logs);
            let time = t - self.first.unwrap_or(t);
            self.history.push((t, self.sums.iter().map(|sum| sum / time).collect()));
        } else if t >= self.begin {
            self.first = Some(t);
        }
        self.last = t;
    }

    /// The exponents and their errors, in falling order.
    fn exponents(&self) -> (Vec<f64>, Vec<f64>) {
        let time = self.last - self.first.unwrap_or(f64::NAN);
        let full: Vec<&(f64, Vec<f64>)> = self.batches.iter().filter(|batch| batch.0 > 0.0).collect();
        let one = |k: usize| {
            let mean = self.sums[k] / time;
            let square: f64 = full.iter().map(|batch| (batch.1[k] / batch.0 - mean).powi(2)).sum();
            let count = full.len() as f64;
            (mean, (square / (count * (count - 1.0))).sqrt())
        };
        let mut all: Vec<(f64, f64)> = (0..self.count).map(one).collect();
        all.sort_by(|a, b| b.0.total_cmp(&a.0));
        all.into_iter().unzip()
    }
}

impl Watcher for Stretch {
    fn step(&mut self, log: &StepLog) {
        if self.follow(log).is_err() {
            self.columns.data.fill(f64::NAN);
            let message = format!("there are no derivatives from t = {} on", log.begin());
            self.trouble.get_or_insert(message);
        }
    }

    /// A derivative follows one step.
    fn wants_single_steps(&self) -> bool {
        true
    }

    fn wants_impacts(&self) -> bool {
        false
    }

    fn wants_nodes(&self) -> bool {
        false
    }
}
