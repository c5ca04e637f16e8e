//! The explicit pair `dop853`: alone and in lanes, beside references.

use carom::lab::catalogue::find;
use carom::sweep::{Row, RowStatus, Sweep};
use carom::{Model, Status};

fn shipped(name: &str, settings: &[&str]) -> Model {
    let settings: Vec<String> = settings.iter().map(ToString::to_string).collect();
    Model::from_text(name, find(name).expect("it ships").text, &settings).expect("it is right")
}

/// The final state of a run with a method and a tolerance.
fn last(model: &Model, method: &str, tolerance: f64) -> (Vec<f64>, Status, usize) {
    let outcome = model.simulation().method(method).tolerance(tolerance).watch(&mut ()).expect("it starts");
    ([outcome.last.q, outcome.last.v].concat(), outcome.status, outcome.impacts)
}

fn distance(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}

/// Errors follow the tolerance, and the impacts are those of the Gauss method.
#[test]
fn errors_follow_the_tolerance() {
    for (name, until) in
        [("cart-pendulum", "5"), ("double-pendulum", "5"), ("elliptic-billiard", "20"), ("impact-oscillator", "40")]
    {
        let model = shipped(name, &[&format!("run.until={until}")]);
        let exact = model.simulation().method("gauss8").step(0.01).watch(&mut ()).expect("it starts");
        let truth = [exact.last.q, exact.last.v].concat();
        for tolerance in [1e-5, 1e-7, 1e-9] {
            let (found, status, impacts) = last(&model, "dop853", tolerance);
            let error = distance(&found, &truth);
            assert_eq!(status, Status::Completed, "{name} at {tolerance:e}");
            assert_eq!(impacts, exact.impacts, "{name} at {tolerance:e}: {error:e}");
            // Errors grow along a motion and differ in unit; what is asked is that they shrink with the tolerance.
            assert!(error <= 300.0 * tolerance, "{name} at {tolerance:e}: {error:e}");
        }
    }
}

fn sweep(name: &str, settings: &[&str], axes: &[&str], samples: Option<u64>) -> Sweep {
    let mut builder = shipped(name, settings).sweep().seed(3).record("final").expect("it is known");
    for axis in axes {
        builder = builder.vary(axis).expect("it is right");
    }
    samples.map_or(builder.clone(), |samples| builder.samples(samples)).build().expect("it is right")
}

/// A model, its settings, the axes, the number of samples.
type Case = (&'static str, &'static [&'static str], &'static [&'static str], Option<u64>);

/// Sweeps of models whose motions stay in lanes, leave them, stop at a section, rest, or are refused.
fn sweeps() -> Vec<Case> {
    vec![
        ("cart-pendulum", &["run.until=5"], &["beta=3.2:5.2:21"], None),
        ("double-pendulum", &["run.until=5"], &["initial.q[0]=0.5,0.6", "m2=uniform(0.5,1.5)"], Some(6)),
        ("bouncing-ball", &["run.until=10"], &["initial.q[0]=-1:9:11"], None),
        ("galton-board", &["run.until=4"], &["x0=-0.02:0.02:9"], None),
        ("impact-oscillator", &["run.until=60"], &["A=0.4:0.9:6", "omega=0.6,0.8"], None),
        ("square", &["run.until=20"], &["initial.v[0]=normal(1,0.3)"], Some(5)),
    ]
}

fn bits(row: &Row) -> Vec<u64> {
    [row.run, row.impacts as u64, row.t_end.to_bits()]
        .into_iter()
        .chain(row.records.iter().map(|x| x.to_bits()))
        .collect()
}

/// A row has the same bits alone, beside others, and in any order of the starts.
#[test]
fn rows_do_not_depend_on_their_neighbours() {
    for (name, settings, axes, samples) in sweeps() {
        let sweep = sweep(name, settings, axes, samples);
        assert!(sweep.has_lanes(), "{name} has no lanes");
        let all = sweep.run(0..sweep.rows(), &|| false).expect("it runs");
        assert_eq!(all.len() as u64, sweep.rows(), "{name}");
        let statuses: Vec<RowStatus> = all.iter().map(|row| row.status).collect();
        for width in [1, 3] {
            for first in (0..sweep.rows() as usize).step_by(width).rev().map(|first| first as u64) {
                let rows = sweep.run(first..(first + width as u64), &|| false).expect("it runs");
                for row in &rows {
                    let same = &all[row.run as usize];
                    assert_eq!(row.status, same.status, "{name}, row {}: {statuses:?}", row.run);
                    assert_eq!(bits(row), bits(same), "{name}, row {} of {width}", row.run);
                }
            }
        }
    }
}

/// A row of a sweep has the bits of the single run with its parameters.
#[test]
fn a_row_is_the_single_run() {
    for (name, settings, axes, samples) in sweeps() {
        let sweep = sweep(name, settings, axes, samples);
        let rows = sweep.run(0..sweep.rows(), &|| false).expect("it runs");
        for row in rows.iter().filter(|row| row.status != RowStatus::Refused) {
            let values = sweep.plan().axes().iter().zip(&row.values);
            let settings: Vec<String> = settings
                .iter()
                .map(ToString::to_string)
                .chain(values.map(|(axis, x)| format!("{}={x:?}", axis.name)))
                .collect();
            let model = shipped(name, &settings.iter().map(String::as_str).collect::<Vec<_>>());
            let outcome = model.simulation().method("dop853").watch(&mut ()).expect("it starts");
            let found = [outcome.last.q, outcome.last.v].concat();
            assert_eq!(found, row.records, "{name}, row {}: {:?}", row.run, outcome.status);
            assert_eq!((outcome.impacts, outcome.last.t), (row.impacts, row.t_end), "{name}, row {}", row.run);
        }
    }
}

/// Motions that are refused or stopped have rows with that status.
#[test]
fn what_cannot_run_is_a_row() {
    let sweep = sweep("bouncing-ball", &["run.until=1"], &["initial.q[0]=-1,1"], None);
    let rows = sweep.run(0..2, &|| false).expect("it runs");
    assert_eq!(rows[0].status, RowStatus::Refused);
    assert!(
        rows[0].message.as_deref().is_some_and(|message| message.contains("inside the wall")),
        "{:?}",
        rows[0].message
    );
    assert_eq!(rows[1].status, RowStatus::Completed);
}
