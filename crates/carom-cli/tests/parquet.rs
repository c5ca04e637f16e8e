//! `carom run --out F.parquet` has the rows of `--out F.csv`.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::Field;

fn folder(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("carom-parquet-{name}-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("there is room");
    folder
}

fn run(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_carom"));
    command.current_dir(folder).arg("run").args(arguments).output().expect("it starts")
}

/// The names of the columns, the rows, and the number of groups of rows.
fn read(path: &Path) -> (Vec<String>, Vec<Vec<f64>>, usize) {
    let reader = SerializedFileReader::new(File::open(path).expect("it is there")).expect("it is whole");
    let names =
        reader.metadata().file_metadata().schema_descr().columns().iter().map(|c| c.name().to_string()).collect();
    let row = |row: parquet::record::Row| -> Vec<f64> {
        row.get_column_iter().map(|(_, cell)| if let Field::Double(x) = cell { *x } else { panic!("{cell}") }).collect()
    };
    let rows = reader.get_row_iter(None).expect("it has rows").map(|r| row(r.expect("it is whole"))).collect();
    (names, rows, reader.num_row_groups())
}

/// Bit for bit, with diagnostics that are not a number at some nodes, and with more rows than a group has.
#[test]
fn the_rows_are_those_of_csv() {
    let folder = folder("rows");
    let cases: [(&[&str], usize); 3] = [
        (&["double-pendulum", "--until", "2", "--diagnostics"], 1),
        (&["four-bar", "--every", "0.01"], 1),
        (&["pendulum", "--method", "svc", "--step", "1e-5", "--until", "3"], 2),
    ];
    for (arguments, groups) in cases {
        for file in ["a.csv", "a.parquet"] {
            let output = run(&folder, &[arguments, &["--out", file]].concat());
            assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
            assert!(String::from_utf8_lossy(&output.stdout).contains(&format!("written    {file}")));
        }
        let (names, rows, found) = read(&folder.join("a.parquet"));
        let csv = std::fs::read_to_string(folder.join("a.csv")).expect("it is there");
        let mut lines = csv.lines();
        // Names with commas are quoted in CSV.
        assert_eq!(names.join(","), lines.next().unwrap_or_default().replace('"', ""), "{arguments:?}");
        let bits =
            |row: &[f64]| row.iter().map(|x| if x.is_nan() { None } else { Some(x.to_bits()) }).collect::<Vec<_>>();
        for (row, line) in rows.iter().zip(lines) {
            let cells: Vec<f64> = line.split(',').map(|cell| cell.parse().expect("a number")).collect();
            assert_eq!(bits(row), bits(&cells), "{arguments:?} at t = {}", cells[0]);
        }
        assert_eq!(rows.len(), csv.lines().count() - 1, "{arguments:?}");
        assert!(rows.len() > 10 && found == groups, "{arguments:?}: {} rows in {found} groups", rows.len());
    }
    let _ = std::fs::remove_dir_all(folder);
}

/// A run that is refused or cannot write leaves the older file and nothing beside it.
#[test]
fn what_cannot_be_written_is_refused() {
    let folder = folder("refused");
    std::fs::write(folder.join("a.parquet"), "older").expect("there is room");
    let output = run(&folder, &["pendulum", "--step", "-1", "--out", "a.parquet"]);
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(std::fs::read_to_string(folder.join("a.parquet")).expect("it is there"), "older");
    assert_eq!(std::fs::read_dir(&folder).expect("it is there").count(), 1);
    for (option, told) in [("--out", "it writes `.csv` and `.parquet`"), ("--impacts", "it writes `.csv`\n")] {
        let output = run(&folder, &["pendulum", option, "a.xlsx"]);
        assert_eq!(output.status.code(), Some(2));
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(error.contains(told), "{error}");
    }
    let _ = std::fs::remove_dir_all(folder);
}
