//! Columns of numbers as a Parquet file.

use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use carom::{Diagnostic, Result};
use parquet::basic::{Compression, Repetition, Type as Physical, ZstdLevel};
use parquet::data_type::DoubleType;
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::Type;

/// A Parquet file of named columns of numbers, which grows by groups of rows.
pub struct Numbers<W: Write + Send>(SerializedFileWriter<W>);

impl<W: Write + Send> Numbers<W> {
    /// Begins the file.
    pub fn new(file: W, names: &[String]) -> std::io::Result<Numbers<W>> {
        Numbers::begin(file, names).map(Numbers).map_err(cause)
    }

    fn begin(file: W, names: &[String]) -> std::result::Result<SerializedFileWriter<W>, ParquetError> {
        let field = |name: &String| {
            let field = Type::primitive_type_builder(name, Physical::DOUBLE);
            field.with_repetition(Repetition::REQUIRED).build().map(Arc::new)
        };
        let fields = names.iter().map(field).collect::<std::result::Result<Vec<_>, _>>()?;
        let schema = Type::group_type_builder("carom").with_fields(fields).build()?;
        let zstd = Compression::ZSTD(ZstdLevel::try_new(1)?);
        let properties = WriterProperties::builder().set_compression(zstd).build();
        SerializedFileWriter::new(file, Arc::new(schema), Arc::new(properties))
    }

    /// Appends rows: the values of each column, which have equal lengths.
    pub fn append(&mut self, columns: &[&[f64]]) -> std::io::Result<()> {
        self.append_group(columns).map_err(cause)
    }

    fn append_group(&mut self, columns: &[&[f64]]) -> std::result::Result<(), ParquetError> {
        let mut group = self.0.next_row_group()?;
        for values in columns {
            let missing = || ParquetError::General("the schema has fewer columns than the table".into());
            let mut column = group.next_column()?.ok_or_else(missing)?;
            column.typed::<DoubleType>().write_batch(values, None, None)?;
            column.close()?;
        }
        group.close().map(|_| ())
    }

    /// Completes the file.
    pub fn finish(self) -> std::io::Result<W> {
        self.0.into_inner().map_err(cause)
    }
}

/// What went wrong; an error of the file below keeps its text.
fn cause(error: ParquetError) -> std::io::Error {
    match error {
        ParquetError::External(inner) => std::io::Error::other(inner),
        other => std::io::Error::other(other),
    }
}

/// Writes columns of numbers to a file.
pub fn write_numbers(path: &Path, columns: &[(String, &[f64])]) -> Result<()> {
    let names: Vec<String> = columns.iter().map(|(name, _)| name.clone()).collect();
    let values: Vec<&[f64]> = columns.iter().map(|(_, values)| *values).collect();
    let written = crate::folder::write_whole(path, |file| {
        let mut numbers = Numbers::new(file, &names)?;
        numbers.append(&values)?;
        numbers.finish().map(|_| ())
    });
    written.map_err(|e| Diagnostic::new(format!("cannot write `{}`: {e}", path.display())).into())
}
