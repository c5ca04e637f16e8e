//! Sweeps in a folder: parts of rows as Parquet files, or of statistics as JSON, that a later call completes.
//!
//! Each part is a range of rows and one file, written beside and renamed, so that a process may be killed at any moment. The file
//! `_sweep.json` has the plan, which every later call must have too, and the number of rows in a part. Threads and processes share
//! nothing but the folder.

mod folder;
mod manifest;
#[cfg(feature = "parquet")]
mod numbers;
mod reduce;
#[cfg(feature = "parquet")]
mod table;
mod work;

pub use manifest::Manifest;
#[cfg(feature = "parquet")]
pub use numbers::{Numbers, write_numbers};
pub use reduce::{Reduction, Statistics};
pub use work::{STATUSES, Summary, SweepJob, read_share, run, time_left};
