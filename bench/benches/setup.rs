//! From the text of a model to its first step, and to its equations on paper.
//!
//! Expressions are kept for the whole process, so a second time would find everything in the table: each measurement is
//! made once, in a process of its own, as the command does it.

use std::process::Command;
use std::time::{Duration, Instant};

use carom::lab::catalogue::{EXAMPLES, find};
use carom::lab::discrete::Svc;
use carom::lab::flow::Variational;
use carom::lab::mechanics::Mechanics;
use carom::lab::model::Model;
use criterion::Criterion;

/// The variable that tells a process what to measure: `setup chain-5`.
const TASK: &str = "CAROM_BENCH_TASK";

/// Milliseconds within which a model should be ready to step.
const TARGETS: [(&str, u32); 3] = [("double-pendulum", 10), ("chain-5", 50), ("chain-10", 300)];

fn main() {
    if let Ok(task) = std::env::var(TASK) {
        println!("{}", measure(&task).as_nanos());
        return;
    }
    let mut criterion = Criterion::default().sample_size(20).configure_from_args();
    for (model, target) in TARGETS {
        bench(&mut criterion, "setup", model, &format!("target {target} ms"));
    }
    for example in EXAMPLES {
        let target = if example.name == "chain-10" { "no target" } else { "target 100 ms" };
        bench(&mut criterion, "derive", example.name, target);
    }
    criterion.final_summary();
}

fn bench(criterion: &mut Criterion, what: &str, model: &str, target: &str) {
    let task = format!("{what} {model}");
    criterion.bench_function(&format!("{what}/{model}, {target}"), |b| {
        b.iter_custom(|times| (0..times).map(|_| in_a_new_process(&task)).sum());
    });
}

fn in_a_new_process(task: &str) -> Duration {
    let program = std::env::current_exe().expect("this program has a path");
    let output = Command::new(program).env(TASK, task).output().expect("it starts");
    let text = String::from_utf8(output.stdout).expect("a number");
    Duration::from_nanos(text.trim().parse().expect("a number"))
}

fn measure(task: &str) -> Duration {
    let (what, name) = task.split_once(' ').expect("what, and the name of a model");
    let text = find(name).expect("it ships").text;
    let start = Instant::now();
    let model = Model::from_text(name, text, &[]).expect("it is right");
    if what == "derive" {
        std::hint::black_box(carom::lab::derive::derive(&model.system, &model.title).to_text());
    } else {
        let parameters: Vec<f64> = model.system.parameters.iter().map(|p| p.value).collect();
        let mechanics = Mechanics::new(&model.system);
        let flow = Variational::new(&mechanics, &Svc, &parameters).expect("it compiles");
        std::hint::black_box(flow);
    }
    start.elapsed()
}
