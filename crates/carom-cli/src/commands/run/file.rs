//! The file of `--out`, which grows during the run, so that a long run needs no more memory than a short one.

use carom::Result;
use carom_report::file::{Growing, Target};

use super::rows::{csv_header, csv_line};

/// The rows of a run in a file.
pub enum RowFile {
    Csv(Growing),
    #[cfg(feature = "parquet")]
    Parquet(Box<parquet::Columns>),
}

impl RowFile {
    /// Begins a file with these columns: Parquet if its extension says so, else CSV.
    pub fn begin(target: &Target, columns: &[String]) -> Result<RowFile> {
        if target.is("parquet") {
            return parquet::begin(target, columns);
        }
        let mut file = target.grow()?;
        file.append(&csv_header(columns))?;
        Ok(RowFile::Csv(file))
    }

    /// Appends a row.
    pub fn append(&mut self, row: &[f64]) -> Result<()> {
        match self {
            RowFile::Csv(file) => file.append(&csv_line(row)),
            #[cfg(feature = "parquet")]
            RowFile::Parquet(columns) => columns.append(row),
        }
    }

    /// Completes the file.
    pub fn finish(self) -> Result<()> {
        match self {
            RowFile::Csv(file) => file.finish(),
            #[cfg(feature = "parquet")]
            RowFile::Parquet(columns) => columns.finish(),
        }
    }
}

#[cfg(not(feature = "parquet"))]
mod parquet {
    use super::{Result, RowFile, Target};

    pub fn begin(target: &Target, _: &[String]) -> Result<RowFile> {
        let message = format!("cannot write `{}`: this carom was built without Parquet", target.path().display());
        Err(carom::Diagnostic::new(message).with_help("write `.csv`, or build it with the feature `parquet`").into())
    }
}

#[cfg(feature = "parquet")]
mod parquet {
    use carom_sweep::Numbers;

    use super::{Growing, Result, RowFile, Target};

    /// The number of values in a group of rows, which is in memory until it is complete.
    const GROUP: usize = 1 << 20;

    /// A table that is written in groups of rows.
    pub struct Columns {
        target: Target,
        file: Numbers<Growing>,
        /// The rows that are not written yet, by columns.
        values: Vec<Vec<f64>>,
    }

    pub fn begin(target: &Target, columns: &[String]) -> Result<RowFile> {
        let file = Numbers::new(target.grow()?, columns).map_err(|e| target.unwritable(e))?;
        let values = vec![Vec::new(); columns.len()];
        Ok(RowFile::Parquet(Box::new(Columns { target: target.clone(), file, values })))
    }

    impl Columns {
        pub fn append(&mut self, row: &[f64]) -> Result<()> {
            self.values.iter_mut().zip(row).for_each(|(column, value)| column.push(*value));
            if self.values[0].len() * self.values.len() < GROUP { Ok(()) } else { self.write_group() }
        }

        fn write_group(&mut self) -> Result<()> {
            let columns: Vec<&[f64]> = self.values.iter().map(Vec::as_slice).collect();
            self.file.append(&columns).map_err(|e| self.target.unwritable(e))?;
            self.values.iter_mut().for_each(Vec::clear);
            Ok(())
        }

        pub fn finish(mut self) -> Result<()> {
            if !self.values[0].is_empty() {
                self.write_group()?;
            }
            self.file.finish().map_err(|e| self.target.unwritable(e))?.finish()
        }
    }
}
