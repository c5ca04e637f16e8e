//! Threads that take parts of a sweep in turn.

use std::ops::Range;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use carom::sweep::{Row, RowStatus, Sweep};
use carom::{Diagnostic, Error, Model, Result};

use crate::folder::{self, damaged, path_of, write_whole};
use crate::manifest::Manifest;
use crate::reduce::{Reduction, Statistics, of_rows};

/// A part takes about this long, in seconds.
const PART_SECONDS: f64 = 1.5;
/// The rows of a part are in memory.
const MOST_IN_PART: u64 = 65_536;

/// What to do.
pub struct SweepJob<'a> {
    /// The model, for the manifest.
    pub model: &'a Model,
    /// The sweep.
    pub sweep: &'a Sweep,
    /// What is recorded, as the user wrote it.
    pub records: &'a [String],
    /// Statistics in place of rows, if there are any.
    pub reductions: &'a [Reduction],
    /// The folder.
    pub folder: PathBuf,
    /// The number of threads.
    pub threads: usize,
    /// This process makes every n-th part, beginning with the i-th: (i, n) with 1 ≤ i ≤ n.
    pub share: (u64, u64),
}

/// How far a sweep is.
#[derive(Clone, Debug, Default)]
pub struct Summary {
    /// The number of rows in the share of this process.
    pub rows: u64,
    /// The rows that were there before.
    pub known: u64,
    /// The rows made by this call.
    pub made: u64,
    /// The rows made by this call, by status: completed, stopped, failed, refused, timeout.
    pub by_status: [u64; 5],
    /// The number of parts that are missing, in this share and in the others.
    pub missing: u64,
    /// The statistics, if all parts are there.
    pub statistics: Vec<Statistics>,
}

/// The statuses in the order of [`Summary::by_status`].
pub const STATUSES: [RowStatus; 5] =
    [RowStatus::Completed, RowStatus::Stopped, RowStatus::Failed, RowStatus::Refused, RowStatus::Timeout];

/// Makes the parts that are missing. `progress` is called after each part and every few rows; `stop` ends the sweep, which a later
/// call completes.
pub fn run(job: &SweepJob, progress: &(dyn Fn(&Summary) + Sync), stop: &(dyn Fn() -> bool + Sync)) -> Result<Summary> {
    if cfg!(not(feature = "parquet")) && job.reductions.is_empty() {
        let error = Diagnostic::new("this carom was built without Parquet, so it cannot write rows");
        return Err(error.with_help("keep statistics with `--reduce`, or build it with its default features").into());
    }
    folder::prepare(&job.folder)?;
    let reductions: Vec<String> = job.reductions.iter().map(|reduction| reduction.text.clone()).collect();
    let manifest = |chunk: u64| Manifest::new(job.model, job.sweep, job.records, &reductions, chunk);
    let known = match Manifest::read(&job.folder)? {
        Some(known) => known,
        None => manifest(chunk(job.sweep, job.threads as u64, stop)?).claim(&job.folder)?,
    };
    manifest(known.chunk).check(&known, &job.folder)?;
    let work = Work { job, manifest: &known, plan: known.plan_text(), progress, stop, summary: Mutex::default() };
    work.run()
}

/// The number of rows in a part, so that it takes a second or two: some rows are made and measured.
fn chunk(sweep: &Sweep, threads: u64, stop: &(dyn Fn() -> bool + Sync)) -> Result<u64> {
    let (mut count, most) = (1, sweep.rows());
    loop {
        let began = Instant::now();
        sweep.run(0..count, stop)?;
        let seconds = began.elapsed().as_secs_f64();
        if seconds > 0.05 || count >= most {
            let rows = (PART_SECONDS * count as f64 / seconds.max(1e-9)) as u64;
            // Each thread has a few parts, so that all end at about the same time.
            return Ok(rows.min(most.div_ceil(4 * threads)).clamp(1, MOST_IN_PART));
        }
        count = (8 * count).min(most);
    }
}

struct Work<'a> {
    job: &'a SweepJob<'a>,
    manifest: &'a Manifest,
    #[cfg_attr(not(feature = "parquet"), allow(dead_code))]
    plan: String,
    progress: &'a (dyn Fn(&Summary) + Sync),
    stop: &'a (dyn Fn() -> bool + Sync),
    summary: Mutex<Summary>,
}

impl Work<'_> {
    fn extension(&self) -> &'static str {
        if self.job.reductions.is_empty() { "parquet" } else { "json" }
    }

    fn parts(&self) -> u64 {
        self.job.sweep.rows().div_ceil(self.manifest.chunk)
    }

    fn rows_of(&self, part: u64) -> Range<u64> {
        let first = part * self.manifest.chunk;
        first..(first + self.manifest.chunk).min(self.job.sweep.rows())
    }

    fn path(&self, part: u64) -> PathBuf {
        path_of(&self.job.folder, &self.rows_of(part), self.extension())
    }

    fn is_mine(&self, part: u64) -> bool {
        part % self.job.share.1 == self.job.share.0 - 1
    }

    fn run(&self) -> Result<Summary> {
        let mut summary = Summary::default();
        for part in (0..self.parts()).filter(|part| self.is_mine(*part)) {
            let rows = self.rows_of(part);
            summary.rows += rows.end - rows.start;
            if self.path(part).exists() {
                self.check(part)?;
                summary.known += rows.end - rows.start;
            }
        }
        *self.lock() = summary;
        let next = AtomicU64::new(0);
        let failed: Mutex<Option<Error>> = Mutex::default();
        std::thread::scope(|scope| {
            for _ in 0..self.job.threads {
                scope.spawn(|| {
                    if let Err(error) = self.take_parts(&next) {
                        next.store(u64::MAX / 2, Ordering::Relaxed);
                        failed.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
                    }
                });
            }
        });
        if let Some(error) = failed.into_inner().unwrap_or_else(PoisonError::into_inner) {
            return Err(error);
        }
        let mut summary = self.lock().clone();
        summary.missing = (0..self.parts()).filter(|part| !self.path(*part).exists()).count() as u64;
        if summary.missing == 0 && !self.job.reductions.is_empty() {
            summary.statistics = self.merge()?;
        }
        Ok(summary)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Summary> {
        self.summary.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes parts until there are none, or the user stops.
    fn take_parts(&self, next: &AtomicU64) -> Result<()> {
        loop {
            let part = next.fetch_add(1, Ordering::Relaxed);
            if part >= self.parts() || (self.stop)() {
                return Ok(());
            }
            if !self.is_mine(part) || self.path(part).exists() {
                continue;
            }
            let range = self.rows_of(part);
            let rows = self.job.sweep.run(range.clone(), self.stop)?;
            if (rows.len() as u64) < range.end - range.start || (self.stop)() {
                // The user has stopped the sweep, and its last row may have been stopped too.
                return Ok(());
            }
            self.write(part, &rows)?;
            let mut summary = self.lock();
            summary.made += rows.len() as u64;
            for (count, status) in summary.by_status.iter_mut().zip(STATUSES) {
                *count += rows.iter().filter(|row| row.status == status).count() as u64;
            }
            (self.progress)(&summary);
        }
    }

    fn write(&self, part: u64, rows: &[Row]) -> Result<()> {
        let path = self.path(part);
        let written = match self.job.reductions {
            [] => self.write_rows(&path, rows),
            reductions => {
                let all = of_rows(self.job.sweep, reductions, rows);
                let text = serde_json::Value::Array(all.iter().map(Statistics::json).collect()).to_string();
                write_whole(&path, |file| std::io::Write::write_all(file, text.as_bytes()))
            }
        };
        written.map_err(|e| folder::unwritable(&self.job.folder, &e))
    }

    #[cfg(feature = "parquet")]
    fn write_rows(&self, path: &std::path::Path, rows: &[Row]) -> std::io::Result<()> {
        write_whole(path, |file| crate::table::write(file, self.job.sweep, rows, &self.plan))
    }

    #[cfg(not(feature = "parquet"))]
    fn write_rows(&self, _path: &std::path::Path, _rows: &[Row]) -> std::io::Result<()> {
        Err(std::io::Error::other("no Parquet"))
    }

    /// Checks a part that is there.
    fn check(&self, part: u64) -> Result<()> {
        if !self.job.reductions.is_empty() {
            return self.read(part).map(|_| ());
        }
        #[cfg(feature = "parquet")]
        crate::table::check(&self.path(part), &self.rows_of(part))?;
        Ok(())
    }

    fn read(&self, part: u64) -> Result<Vec<Statistics>> {
        let path = self.path(part);
        let text = std::fs::read_to_string(&path).map_err(|e| damaged(&path, &e.to_string()))?;
        let value: serde_json::Value = serde_json::from_str(&text).map_err(|e| damaged(&path, &e.to_string()))?;
        let list: Option<Vec<Statistics>> =
            value.as_array().and_then(|list| list.iter().map(Statistics::read).collect());
        list.filter(|list| list.len() == self.job.reductions.len())
            .ok_or_else(|| damaged(&path, "it does not have the statistics of this sweep"))
    }

    /// The statistics of all parts, merged in their order.
    fn merge(&self) -> Result<Vec<Statistics>> {
        let mut total = self.read(0)?;
        for part in 1..self.parts() {
            total.iter_mut().zip(self.read(part)?).for_each(|(total, part)| total.merge(&part));
        }
        Ok(total)
    }
}

/// Reads `3/16`.
pub fn read_share(text: &str) -> Result<(u64, u64)> {
    let numbers = text.split_once('/').and_then(|(i, n)| Some((i.trim().parse().ok()?, n.trim().parse().ok()?)));
    numbers.filter(|(i, n)| 1 <= *i && i <= n).ok_or_else(|| {
        let error = Diagnostic::new(format!("`--part {text}` is not a share"));
        error.with_help("write `i/n` with i from 1 to n, as in `--part 3/16`").into()
    })
}

/// How long the rest will take, if all rows take the same time.
pub fn time_left(summary: &Summary, since: Duration) -> Option<Duration> {
    let left = summary.rows.saturating_sub(summary.known + summary.made);
    (summary.made > 0).then(|| since.mul_f64(left as f64 / summary.made as f64))
}
