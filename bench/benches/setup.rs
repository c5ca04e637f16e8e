//! From the text of a model to its first result, and to its equations on paper: `cargo bench -p carom-bench --bench setup`.
//!
//! Expressions are kept for the whole process, so a second time would find everything in the table: each measurement is
//! made once, in a process of its own, as the command does it. A row has the least times of all processes.

use std::process::Command;
use std::time::{Duration, Instant};

use carom::lab::catalogue::{EXAMPLES, find};
use carom::lab::kernel::spent;
use carom::lab::model::Model;

/// The variable that tells a process what to measure: `gauss6 chain-5`, `derive chain-5`.
const TASK: &str = "CAROM_BENCH_TASK";
/// How many processes measure each row.
const PROCESSES: usize = 25;

/// The models, and the milliseconds within which their first result should be there.
const TARGETS: [(&str, f64); 5] =
    [("cart-pendulum", 1.5), ("double-pendulum", 2.5), ("chain-5", 6.0), ("chain-10", 15.0), ("chain-50", 300.0)];
/// The parts of a setup: reading the text, deriving the equations, tapes, native code, everything else of the first step.
const PARTS: [&str; 5] = ["read", "derive", "tape", "code", "first step"];

fn main() {
    if let Ok(task) = std::env::var(TASK) {
        let numbers: Vec<String> = measure(&task).iter().map(|t| t.as_nanos().to_string()).collect();
        return println!("{}", numbers.join(" "));
    }
    println!("text to first result in ms: {}; all, target", PARTS.join(", "));
    for (method, (model, target)) in ["gauss6", "svc"].into_iter().flat_map(|m| TARGETS.map(|t| (m, t))) {
        let times = least(&format!("{method} {model}"));
        let parts: Vec<String> = times.iter().map(|t| format!("{:8.2}", ms(t))).collect();
        let all: Duration = times.iter().sum();
        println!("{method:<7} {model:<16} {}   {:8.2} {target:8.1}", parts.join(" "), ms(&all));
    }
    match process() {
        Some(ms) => println!("process  carom run cart-pendulum --json: {ms:.2} ms of CPU time, target 4"),
        None => println!("process  (no target/release/carom: build it with `cargo build --release`)"),
    }
    println!("text to equations on paper in ms");
    for example in EXAMPLES {
        println!("{:<24} {:8.2}", example.name, ms(&least(&format!("derive {}", example.name))[0]));
    }
}

/// The mean CPU time of the command as a process, in ms. The clock of finished processes ticks every 10 ms, so there are many.
fn process() -> Option<f64> {
    const RUNS: u32 = 300;
    // cutime and cstime, after the name of the program in parentheses.
    let ticks = || -> Option<f64> {
        let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
        let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
        Some(fields[13].parse::<f64>().ok()? + fields[14].parse::<f64>().ok()?)
    };
    let program = std::env::current_exe().ok()?.parent()?.parent()?.join("carom");
    let before = ticks()?;
    for _ in 0..RUNS {
        Command::new(&program).args(["run", "cart-pendulum", "--json"]).output().ok()?;
    }
    Some(10.0 * (ticks()? - before) / f64::from(RUNS))
}

fn ms(t: &Duration) -> f64 {
    1e3 * t.as_secs_f64()
}

/// The least time of each part.
fn least(task: &str) -> Vec<Duration> {
    let all = (0..PROCESSES).map(|_| in_a_new_process(task));
    all.reduce(|a, b| a.into_iter().zip(b).map(|(a, b)| a.min(b)).collect()).unwrap_or_default()
}

fn in_a_new_process(task: &str) -> Vec<Duration> {
    let program = std::env::current_exe().expect("this program has a path");
    let output = Command::new(program).env(TASK, task).output().expect("it starts");
    let text = String::from_utf8(output.stdout).expect("numbers");
    text.split_whitespace().map(|word| Duration::from_nanos(word.parse().expect("a number"))).collect()
}

/// The text of a shipped model, or of a chain of so many links as the shipped ones.
fn text(name: &str) -> String {
    if let Some(example) = find(name) {
        return example.text.into();
    }
    let links: usize = name.strip_prefix("chain-").and_then(|n| n.parse().ok()).expect("it ships, or is a chain");
    let list = |term: &dyn Fn(usize) -> String, between: &str| (1..=links).map(term).collect::<Vec<_>>().join(between);
    let definition = |i: usize| match i {
        1 => "x1 = \"l*sin(theta1)\"\ny1 = \"-l*cos(theta1)\"".into(),
        _ => format!("x{i} = \"x{0} + l*sin(theta{i})\"\ny{i} = \"y{0} - l*cos(theta{i})\"", i - 1),
    };
    format!(
        "coordinates = [{}]\n[parameters]\nm = 1.0\nl = 1.0\ng = 9.8\nd = 0.5\n[definitions]\n{}\n[lagrangian]\n\
         T = \"m*({})/2\"\nV = \"m*g*({})\"\n[[wall]]\nname = \"wall\"\nphi = \"x{links} + d\"\n\
         [initial]\nq = [{}]\nv = [{}]\n",
        list(&|i| format!("\"theta{i}\""), ", "),
        list(&definition, "\n"),
        list(&|i| format!("x{i}'^2 + y{i}'^2"), " + "),
        list(&|i| format!("y{i}"), " + "),
        list(&|_| "1.2".into(), ", "),
        list(&|_| "0".into(), ", "),
    )
}

fn measure(task: &str) -> Vec<Duration> {
    let (what, name) = task.split_once(' ').expect("what, and the name of a model");
    let text = text(name);
    let begin = Instant::now();
    let model = Model::from_text(name, &text, &[]).expect("it is right");
    if what == "derive" {
        std::hint::black_box(carom::lab::derive::derive(&model.system, &model.title).to_text());
        return vec![begin.elapsed()];
    }
    let read = begin.elapsed();
    let (step, kernels) = (0.001, spent());
    let simulation = model.simulation().method(what).step(step).until(step);
    let ready = simulation.prepare().expect("it compiles");
    let (prepared, prepared_kernels) = (begin.elapsed(), spent());
    std::hint::black_box(ready.watch(&mut ()).expect("it runs"));
    let (end, all) = (begin.elapsed(), spent());
    let (tape, code) = (all.tape - kernels.tape, all.code - kernels.code);
    let during = prepared_kernels.tape + prepared_kernels.code - kernels.tape - kernels.code;
    let derive = prepared - read - during;
    vec![read, derive, tape, code, end - read - derive - tape - code]
}
