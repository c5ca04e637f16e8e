//! Rows as Parquet files.

use std::fs::File;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use carom::Result;
use carom::sweep::{Row, Sweep};
use parquet::basic::{Compression, ConvertedType, Repetition, Type as Physical, ZstdLevel};
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int32Type, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::{Type, TypePtr};

use crate::folder::damaged;

/// A column of the table: what it is called, and what it takes from a row.
enum Column {
    Run,
    Value(usize),
    Status,
    Message,
    EndTime,
    Impacts,
    Record(usize),
    Error,
    Seconds,
}

/// The columns in order, with their names.
fn columns(sweep: &Sweep) -> Vec<(String, Column)> {
    let axes = sweep.plan().axes().iter().enumerate().map(|(i, axis)| (axis.name.clone(), Column::Value(i)));
    let records = sweep.columns().iter().enumerate().map(|(i, column)| (column.name.clone(), Column::Record(i)));
    let fixed = |name: &str, column: Column| [(name.to_string(), column)];
    fixed("run", Column::Run)
        .into_iter()
        .chain(axes)
        .chain(fixed("status", Column::Status))
        .chain(fixed("message", Column::Message))
        .chain(fixed("t_end", Column::EndTime))
        .chain(fixed("impacts", Column::Impacts))
        .chain(records)
        .chain(fixed("error", Column::Error))
        .chain(fixed("seconds", Column::Seconds))
        .collect()
}

fn schema(columns: &[(String, Column)]) -> std::result::Result<TypePtr, ParquetError> {
    let field = |(name, column): &(String, Column)| {
        let (physical, repetition) = match column {
            Column::Run => (Physical::INT64, Repetition::REQUIRED),
            Column::Impacts => (Physical::INT32, Repetition::REQUIRED),
            Column::Status => (Physical::BYTE_ARRAY, Repetition::REQUIRED),
            Column::Message => (Physical::BYTE_ARRAY, Repetition::OPTIONAL),
            Column::Value(_) | Column::Seconds => (Physical::DOUBLE, Repetition::REQUIRED),
            Column::EndTime | Column::Record(_) | Column::Error => (Physical::DOUBLE, Repetition::OPTIONAL),
        };
        let builder = Type::primitive_type_builder(name, physical).with_repetition(repetition);
        let is_text = physical == Physical::BYTE_ARRAY;
        let builder = if is_text { builder.with_converted_type(ConvertedType::UTF8) } else { builder };
        builder.build().map(Arc::new)
    };
    let fields = columns.iter().map(field).collect::<std::result::Result<Vec<_>, _>>()?;
    Type::group_type_builder("carom").with_fields(fields).build().map(Arc::new)
}

/// Writes rows to a file, with the plan in its footer.
pub(crate) fn write(file: &mut File, sweep: &Sweep, rows: &[Row], plan: &str) -> std::io::Result<()> {
    write_rows(file, sweep, rows, plan).map_err(std::io::Error::other)
}

fn write_rows(file: &mut File, sweep: &Sweep, rows: &[Row], plan: &str) -> std::result::Result<(), ParquetError> {
    let columns = columns(sweep);
    let footer = [("carom.version", env!("CARGO_PKG_VERSION")), ("carom.plan", plan)];
    let footer = footer.map(|(key, value)| KeyValue::new(key.to_string(), value.to_string())).to_vec();
    let properties = WriterProperties::builder()
        .set_compression(Compression::ZSTD(ZstdLevel::try_new(1)?))
        .set_key_value_metadata(Some(footer))
        .build();
    let mut writer = SerializedFileWriter::new(file, schema(&columns)?, Arc::new(properties))?;
    let mut group = writer.next_row_group()?;
    for (_, column) in &columns {
        write_column(&mut group, column, rows)?;
    }
    group.close()?;
    writer.close()?;
    Ok(())
}

fn write_column<W: std::io::Write + Send>(
    group: &mut SerializedRowGroupWriter<'_, W>,
    column: &Column,
    rows: &[Row],
) -> std::result::Result<(), ParquetError> {
    let Some(mut writer) = group.next_column()? else {
        return Err(ParquetError::General("the schema has fewer columns than the table".into()));
    };
    let text = |text: &str| ByteArray::from(text.as_bytes().to_vec());
    let levels = |is_there: &dyn Fn(&Row) -> bool| rows.iter().map(|row| i16::from(is_there(row))).collect::<Vec<_>>();
    // A number that is not there is null, not NaN.
    let numbers = |number: &dyn Fn(&Row) -> Option<f64>| {
        let all: Vec<Option<f64>> = rows.iter().map(|row| number(row).filter(|x| !x.is_nan())).collect();
        let levels: Vec<i16> = all.iter().map(|x| i16::from(x.is_some())).collect();
        (all.into_iter().flatten().collect::<Vec<f64>>(), levels)
    };
    match column {
        Column::Run => {
            let runs: Vec<i64> = rows.iter().map(|row| row.run as i64).collect();
            writer.typed::<Int64Type>().write_batch(&runs, None, None)?;
        }
        Column::Impacts => {
            let impacts: Vec<i32> = rows.iter().map(|row| i32::try_from(row.impacts).unwrap_or(i32::MAX)).collect();
            writer.typed::<Int32Type>().write_batch(&impacts, None, None)?;
        }
        Column::Status => {
            let status: Vec<ByteArray> = rows.iter().map(|row| text(row.status.name())).collect();
            writer.typed::<ByteArrayType>().write_batch(&status, None, None)?;
        }
        Column::Message => {
            let messages: Vec<ByteArray> = rows.iter().filter_map(|row| row.message.as_deref()).map(text).collect();
            let levels = levels(&|row| row.message.is_some());
            writer.typed::<ByteArrayType>().write_batch(&messages, Some(&levels), None)?;
        }
        Column::Value(_) | Column::Seconds => {
            let number = |row: &Row| if let Column::Value(i) = column { row.values[*i] } else { row.seconds };
            let values: Vec<f64> = rows.iter().map(number).collect();
            writer.typed::<DoubleType>().write_batch(&values, None, None)?;
        }
        Column::EndTime | Column::Record(_) | Column::Error => {
            let (values, levels) = numbers(&|row| match column {
                Column::Record(i) => Some(row.records[*i]),
                Column::Error => row.error,
                _ => Some(row.t_end),
            });
            writer.typed::<DoubleType>().write_batch(&values, Some(&levels), None)?;
        }
    }
    writer.close()
}

/// Checks that a file is whole and has these rows.
pub(crate) fn check(path: &Path, rows: &Range<u64>) -> Result<()> {
    let file = File::open(path).map_err(|e| damaged(path, &e.to_string()))?;
    let reader = SerializedFileReader::new(file).map_err(|e| damaged(path, &e.to_string()))?;
    let count = reader.metadata().file_metadata().num_rows();
    if u64::try_from(count) == Ok(rows.end - rows.start) {
        return Ok(());
    }
    Err(damaged(path, &format!("it has {count} rows, not {}", rows.end - rows.start)))
}
