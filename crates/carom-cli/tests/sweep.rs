//! `carom sweep`: rows that do not depend on threads, parts, chunks and kills; bad plans.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::Field;

fn command(arguments: &[&str], folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_carom"));
    command.arg("sweep").args(arguments).arg("--out").arg(folder).stdin(Stdio::null());
    command
}

fn sweep(arguments: &[&str], folder: &Path) -> Output {
    command(arguments, folder).output().expect("the command starts")
}

/// The standard output of a sweep that must succeed.
fn good(arguments: &[&str], folder: &Path) -> String {
    let output = sweep(arguments, folder);
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// The standard error of a sweep that must be refused with exit code 2.
fn refused(arguments: &[&str], folder: &Path) -> String {
    let output = sweep(arguments, folder);
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{arguments:?}: {text}");
    text
}

/// An empty folder for a test.
fn fresh(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("carom-sweep-{}-{name}", std::process::id()));
    let _ = std::fs::remove_dir_all(&folder);
    folder
}

fn parts(folder: &Path) -> Vec<PathBuf> {
    let entries =
        std::fs::read_dir(folder).expect("the folder is there").map(|entry| entry.expect("it is readable").path());
    let mut parts: Vec<PathBuf> = entries.filter(|path| path.extension().is_some_and(|e| e == "parquet")).collect();
    parts.sort();
    parts
}

/// All rows in the order of the parts, without `seconds`, as text: every bit of a number is in its shortest decimal form.
fn rows(folder: &Path) -> Vec<String> {
    let mut rows = Vec::new();
    for part in parts(folder) {
        let reader = SerializedFileReader::new(File::open(&part).expect("it is readable")).expect("it is whole");
        for row in reader.get_row_iter(None).expect("it has rows") {
            let row = row.expect("it is whole");
            let cells = row.get_column_iter().filter(|(name, _)| *name != "seconds");
            let cell = |(name, field): (&String, &Field)| match field {
                Field::Double(x) => format!("{name}={x:?}"),
                other => format!("{name}={other}"),
            };
            rows.push(cells.map(cell).collect::<Vec<_>>().join(" "));
        }
    }
    rows
}

fn number(row: &str) -> u64 {
    row.split(' ')
        .next()
        .and_then(|cell| cell.strip_prefix("run=")?.parse().ok())
        .expect("a row begins with its number")
}

const MIXED: [&str; 12] = [
    "bouncing-ball",
    "--vary",
    "initial.q[0]=-1:9:6",
    "--vary",
    "initial.v[0]=uniform(-1,1)",
    "--samples",
    "8",
    "--seed",
    "7",
    "--record",
    "final,impacts.count",
    "--until=6",
];

#[test]
fn rows_do_not_depend_on_threads_and_parts() {
    let (one, two, shared) = (fresh("one"), fresh("two"), fresh("shared"));
    good(&[&MIXED[..], &["--threads", "1"]].concat(), &one);
    good(&[&MIXED[..], &["--threads", "3"]].concat(), &two);
    for part in ["2/3", "3/3", "1/3"] {
        good(&[&MIXED[..], &["--part", part, "--threads", "2"]].concat(), &shared);
    }
    let all = rows(&one);
    assert_eq!(all.len(), 48);
    assert!(all.iter().enumerate().all(|(i, row)| number(row) == i as u64), "rows are in order");
    assert!(all[0].contains("status=\"refused\"") && all[0].contains("inside the wall"), "{}", all[0]);
    assert!(all[47].contains("status=\"completed\"") && all[47].contains(" y="), "{}", all[47]);
    assert_eq!(rows(&two), all);
    assert_eq!(rows(&shared), all);
    let again = good(&MIXED, &one);
    assert!(again.contains("0 of 48 rows, 48 were there"), "{again}");
    for folder in [one, two, shared] {
        let _ = std::fs::remove_dir_all(folder);
    }
}

/// Kills a sweep again and again (a few times; `CAROM_KILLS=100` for more), and completes it.
#[test]
fn a_killed_sweep_goes_on() {
    let kills: u64 = std::env::var("CAROM_KILLS").ok().and_then(|n| n.parse().ok()).unwrap_or(4);
    let arguments =
        ["double-pendulum", "--vary", "m1=0.5:2:60", "--vary", "m2=0.5:2:10", "--record", "final", "--until=5"];
    let (whole, killed) = (fresh("whole"), fresh("killed"));
    good(&arguments, &whole);
    let mut ended = 0;
    for kill in 0..kills {
        let mut child = command(&arguments, &killed)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("the command starts");
        // Other moments each time, from the first instant on.
        std::thread::sleep(Duration::from_millis(kill * 7919 % 600));
        if child.try_wait().expect("it is a child").is_some() {
            ended += 1;
        }
        let _ = child.kill();
        let _ = child.wait();
        if killed.exists() {
            // Whatever is there can be read.
            rows(&killed);
        }
    }
    good(&arguments, &killed);
    assert_eq!(rows(&killed), rows(&whole), "after {kills} kills, of which {ended} came too late");
    let left = std::fs::read_dir(&killed).expect("it is there").flatten();
    let hidden = left.filter(|entry| entry.file_name().to_string_lossy().starts_with(".part")).count();
    assert!(hidden <= kills as usize, "{hidden} temporary files are left");
    for folder in [whole, killed] {
        let _ = std::fs::remove_dir_all(folder);
    }
}

#[test]
fn bad_plans_are_refused() {
    let folder = fresh("bad");
    let cases: [(&[&str], &str); 13] = [
        (&["pendulum", "--vary", "m=0:1:1000000", "--vary", "g=1:2:1000000"], "1.0e12 rows"),
        (&["pendulum", "--vary", "mm=0:1:3"], "neither a parameter nor"),
        (&["pendulum", "--vary", "initial.q[4]=0:1:3"], "no such coordinate"),
        (&["pendulum", "--vary", "m=uniform(2,1)", "--samples", "3"], "not below"),
        (&["pendulum", "--vary", "m=normal(1,-1)", "--samples", "3"], "not positive"),
        (&["pendulum", "--vary", "m=normal(1)", "--samples", "3"], "takes two numbers"),
        (&["pendulum", "--vary", "m=gauss(1,2)", "--samples", "3"], "no distribution"),
        (&["pendulum", "--vary", "m=1:2"], "from:to:count"),
        (&["pendulum", "--vary", "m=1,x"], "`x` is not a number"),
        (&["pendulum", "--vary", "m=uniform(1,2)"], "`samples`"),
        (&["pendulum"], "nothing is varied"),
        (&["pendulum", "--vary", "m=1,2", "--record", "phi"], "cannot be recorded"),
        (&["pendulum", "--vary", "m=1,2", "--reduce", "median(theta)"], "no statistic"),
    ];
    for (arguments, message) in cases {
        let text = refused(arguments, &folder);
        assert!(text.contains(message), "{arguments:?}: {text}");
    }
    assert!(!folder.exists() || parts(&folder).is_empty());
    let file = std::env::temp_dir().join(format!("carom-sweep-file-{}", std::process::id()));
    std::fs::write(&file, "").expect("it is writable");
    let text = refused(&["pendulum", "--vary", "m=1,2"], &file.join("below"));
    assert!(text.contains("cannot write to the folder"), "{text}");
    let _ = std::fs::remove_file(file);
}

#[test]
fn another_plan_and_a_damaged_part_are_refused() {
    let folder = fresh("damaged");
    let arguments = ["pendulum", "--vary", "m=1:2:40", "--record", "final"];
    good(&arguments, &folder);
    let before = rows(&folder);
    for (other, message) in [
        (&["pendulum", "--vary", "m=1:2:41", "--record", "final"][..], "`vary` is"),
        (&["pendulum", "--vary", "m=1:2:40", "--record", "theta"], "`record` is"),
        (&["pendulum", "--vary", "m=1:2:40", "--record", "final", "--set", "g=2"], "text of the model"),
        (
            &["pendulum", "--vary", "m=1:2:40", "--record", "final", "--method", "gauss4", "--step", "0.1"],
            "`method` is",
        ),
    ] {
        let text = refused(other, &folder);
        assert!(text.contains("another sweep") && text.contains(message), "{other:?}: {text}");
    }
    let part = &parts(&folder)[1];
    let bytes = std::fs::read(part).expect("it is readable");
    std::fs::write(part, &bytes[..bytes.len() / 2]).expect("it is writable");
    let text = refused(&arguments, &folder);
    assert!(text.contains("is damaged") && text.contains("delete this file"), "{text}");
    std::fs::remove_file(part).expect("it is there");
    good(&arguments, &folder);
    assert_eq!(rows(&folder), before);
    let _ = std::fs::remove_dir_all(folder);
}

/// Statistics in place of rows, in one go, in shares, and the same bits.
#[test]
fn statistics_are_those_of_the_rows() {
    let (kept, one, shared) = (fresh("kept"), fresh("reduced"), fresh("reduced-shared"));
    let axes = ["cart-pendulum", "--vary", "beta=uniform(3.2,5.2)", "--samples", "60", "--until=3", "--json"];
    good(&[&axes[..], &["--record", "y"]].concat(), &kept);
    let reduce = ["--reduce", "mean(y)", "--reduce", "var(y)", "--reduce", "hist(impacts,8)", "--reduce", "max(beta)"];
    let whole = good(&[&axes[..], &reduce].concat(), &one);
    for part in ["2/2", "1/2"] {
        good(&[&axes[..], &reduce, &["--part", part]].concat(), &shared);
    }
    let parse = |text: &str| serde_json::from_str::<serde_json::Value>(text).expect("it is JSON")["statistics"].clone();
    let statistics = parse(&whole);
    assert_eq!(parse(&good(&[&axes[..], &reduce].concat(), &shared)), statistics);
    let cell = |row: &String, name: &str| {
        let found = row.split(' ').find_map(|cell| cell.strip_prefix(&format!("{name}="))?.parse::<f64>().ok());
        found.expect("the column is there")
    };
    let y: Vec<f64> = rows(&kept).iter().map(|row| cell(row, "y")).collect();
    let mean = y.iter().sum::<f64>() / 60.0;
    let variance = y.iter().map(|y| (y - mean).powi(2)).sum::<f64>() / 59.0;
    let value = |i: usize| statistics[i]["value"].as_f64().expect("it is a number");
    assert!((value(0) - mean).abs() < 1e-13 && (value(1) / variance - 1.0).abs() < 1e-12, "{statistics}");
    let counts =
        statistics[2]["value"].as_array().expect("it is a list").iter().map(|bin| bin[2].as_u64().expect("a count"));
    assert_eq!(counts.sum::<u64>(), 60);
    for folder in [kept, one, shared] {
        let _ = std::fs::remove_dir_all(folder);
    }
}

/// `CAROM_PYARROW=python3` reads a sweep with pyarrow.
#[test]
fn pyarrow_reads_the_parts() {
    let Ok(python) = std::env::var("CAROM_PYARROW") else { return };
    let folder = fresh("pyarrow");
    good(&MIXED, &folder);
    let script = "import sys, pyarrow.parquet as pq; t = pq.read_table(sys.argv[1]); \
                  assert t.num_rows == 48 and t.column('run').to_pylist() == list(range(48)), t; \
                  assert t.column('error').null_count == 48 and t.column('y').null_count == 8, t; \
                  print(t.schema)";
    let output = Command::new(python).args(["-c", script]).arg(&folder).output().expect("python starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let _ = std::fs::remove_dir_all(folder);
}

/// Every command of docs/sweeps.md runs, in a folder of its own.
#[test]
fn the_commands_of_the_page_run() {
    let page = include_str!("../../../docs/sweeps.md");
    let folder = fresh("page");
    std::fs::create_dir_all(&folder).expect("it is writable");
    let blocks = page.split("```sh\n").skip(1).filter_map(|rest| rest.split("```").next());
    let commands: Vec<&str> = blocks.flat_map(str::lines).collect();
    assert!(commands.len() > 8, "{commands:?}");
    let outputs: Vec<(&str, Output)> = commands
        .into_iter()
        .map(|line| {
            // The words of the shell; quotes are around whole words.
            let words = line.split(' ').map(|word| word.trim_matches('\''));
            let mut command = Command::new(env!("CARGO_BIN_EXE_carom"));
            (line, command.args(words.skip(1)).current_dir(&folder).output().expect("the command starts"))
        })
        .collect();
    for (line, output) in &outputs {
        assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
    }
    let text = |word: &str| {
        let found = outputs.iter().find(|(line, _)| line.contains(word)).expect("the command is on the page");
        String::from_utf8_lossy(&found.1.stdout).into_owned()
    };
    // A row is the single run: the same digits.
    let single = text("carom run cart-pendulum");
    let last = single.split("\"final\"").nth(1).and_then(|last| last.split("\"q\": [").nth(1));
    let y: f64 = last.and_then(|q| q.split([',', ']']).next()?.parse().ok()).expect("a number");
    let row = &rows(&folder.join("two-runs"))[1];
    assert!(row.contains(&format!(" y={y:?} ")), "{row}, not {y:?}");
    // The period doubles at the closed-form amplitude, 1.5268.
    let doubling = text("carom bifurcation vibrating-table");
    assert!(
        doubling.contains("from 1.400000 to 1.520000: period 1") && doubling.contains("from 1.540000"),
        "{doubling}"
    );
    let _ = std::fs::remove_dir_all(folder);
}
