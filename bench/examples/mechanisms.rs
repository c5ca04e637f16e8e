//! Steps of large mechanisms on recursive kernels: `cargo run --release --example mechanisms -p carom-bench`. `bench/mujoco.py` runs
//! it beside MuJoCo.
//!
//! Each line: what, µs a step, the largest relative error of the energy (nan if it is not conserved).
//!
//! With arguments, one motion for callgrind: `mechanisms planar 20 midpoint 0.001`, or `mechanisms marionette 0.01`; a whole run of a
//! shipped model, with all that a run observes: `mechanisms run marionette 1`; or the way from its text to the first step,
//! `mechanisms first marionette`.

use std::sync::Arc;
use std::time::Instant;

use carom::lab::catalogue;
use carom::lab::flow::named;
use carom::lab::model::Model;
use carom::lab::phase::Phase;
use carom::lab::plant::{Bodies, Plant};

/// Each time is the shortest of so many, or of as many more as fit into `SECONDS`: short rounds fall between other processes.
const ROUNDS: usize = 7;
const SECONDS: f64 = 0.3;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if !arguments.is_empty() {
        return count(&arguments);
    }
    for n in [5, 20, 100] {
        for rule in ["midpoint", "bodies", "midpoint-suzuki4"] {
            row(&format!("planar {n} {rule}"), &chain(n, true), rule, 0.01, 100);
            row(&format!("space {n} {rule}"), &chain(n, false), rule, 0.01, 100);
        }
    }
    for n in [20, 50, 100, 200, 500, 1000] {
        for rule in ["midpoint", "bodies"] {
            let us = row(&format!("linear {n} {rule}"), &chain(n, true), rule, 0.001, 50);
            println!("linear {n} {rule}, per body: {:.4} µs", us / n as f64);
        }
    }
    let text = catalogue::find("marionette").expect("it ships").text;
    for h in [0.01, 0.1] {
        let us = row(&format!("marionette {h}"), text, "midpoint", h, (10.0 / h) as usize);
        println!("marionette {h}: {:.0} times faster than real time", 1e6 * h / us);
    }
    first_step("chain of 100 links", &chain(100, false), ROUNDS);
    first_step("marionette", text, ROUNDS);
}

/// A chain of links of 1 m and 1 kg that is let go from the side. In space every second hinge is about x, the others about y.
fn chain(n: usize, is_planar: bool) -> String {
    let (mechanism, body) = match is_planar {
        true => (
            "dimension = 2\ngravity = [0, -9.81]",
            "at = [0, \"-min(i - 1, 1)\"]\ncom = [0, -0.5]\ninertia = \"1/12\"".to_string(),
        ),
        false => (
            "gravity = [0, 0, -9.81]",
            "axis = [\"(1 + (-1)^i)/2\", \"(1 - (-1)^i)/2\", 0]\nat = [0, 0, \"-min(i - 1, 1)\"]\ncom = [0, 0, -0.5]\n\
             inertia = [\"1/12\", \"1/12\", 0.001]"
                .to_string(),
        ),
    };
    format!(
        "title = \"Chain\"\n[parameters]\nn = {n}\n[mechanism]\n{mechanism}\n[[body]]\nname = \"link[1..n]\"\n\
         parent = \"link[i-1]\"\nmass = 1\n{body}\n[initial.q]\n\"link[1]\" = 0.8\n\"link[2]\" = 0.3\n[run]\nuntil = 1\n"
    )
}

/// The plant of a model, whatever its size, and its start.
fn ready(text: &str) -> (Bodies, Model, Phase) {
    let model = Model::from_text("bench", text, &[]).expect("the model is right");
    let plant = Bodies::new(&model.system, &[], &[]).expect("recursive kernels apply");
    let start = model.start().expect("the model starts");
    let z = plant.evaluator().free_phase(0.0, &start.q, &start.p);
    (plant, model, z)
}

/// Makes 100 steps of a motion after 20 that are not counted.
fn count(arguments: &[String]) {
    let number = |text: &str| text.parse::<f64>().expect("a number");
    let shipped = |name: &str| catalogue::find(name).expect("it ships").text;
    let (text, rule, h) = match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["run", name, until] => {
            let model = Model::from_text(name, shipped(name), &[]).expect("the model is right");
            let simulation = model.simulation().until(number(until));
            simulation.clone().until(0.02).watch(&mut ()).expect("it runs");
            return counted(|| drop(simulation.watch(&mut ()).expect("it runs")));
        }
        ["first", "chain"] => return counted(|| first_step("chain of 100 links", &chain(100, false), 1)),
        ["first", name] => return counted(|| first_step(name, shipped(name), 1)),
        [kind, n, rule, h] => (chain(number(n) as usize, kind == "planar"), rule.to_string(), number(h)),
        [name, h] => (shipped(name).to_string(), "midpoint".to_string(), number(h)),
        _ => panic!("planar or space, n, rule, h; a shipped model, h; run, a model, an end time; or first, a model"),
    };
    let (plant, model, start) = ready(&text);
    let parameters: Arc<[f64]> = model.system.parameters.iter().map(|p| p.value).collect();
    let mut flow = plant.flow(&named(&rule, None).expect("a flow")).expect("it has a recursive kernel");
    flow.set_parameters(&parameters);
    let (mut z, mut next) = (start.clone(), start);
    let mut go = |steps: usize| {
        for _ in 0..steps {
            flow.step(&z, h, &mut next).expect("a solution");
            std::mem::swap(&mut z, &mut next);
        }
    };
    go(20);
    counted(|| go(100));
}

/// The name by which callgrind finds it.
#[inline(never)]
fn counted(run: impl FnOnce()) {
    run();
}

fn row(what: &str, text: &str, rule: &str, h: f64, steps: usize) -> f64 {
    let (plant, model, start) = ready(text);
    let parameters: Arc<[f64]> = model.system.parameters.iter().map(|p| p.value).collect();
    let mut flow = plant.flow(&named(rule, None).expect("a flow")).expect("it has a recursive kernel");
    let mut evaluator = plant.evaluator();
    flow.set_parameters(&parameters);
    evaluator.set_parameters(&parameters);
    let (mut best, mut drift) = (f64::INFINITY, 0.0_f64);
    let begin = evaluator.energy(&start).expect("an energy");
    let all = Instant::now();
    for round in 0.. {
        if round > ROUNDS && all.elapsed().as_secs_f64() > SECONDS {
            break;
        }
        flow.forget();
        let (mut z, mut next) = (start.clone(), start.clone());
        let begun = Instant::now();
        for k in 0..steps {
            if flow.step(&z, h, &mut next).is_err() {
                println!("{what}: no solution at step {k}");
                return f64::NAN;
            }
            std::mem::swap(&mut z, &mut next);
            if round == 0 && plant.facts().is_one_point.is_empty() {
                let energy = evaluator.energy(&z).expect("an energy");
                drift = drift.max(((energy - begin) / begin).abs());
            }
        }
        if round > 0 {
            best = best.min(1e6 * begun.elapsed().as_secs_f64() / steps as f64);
        }
    }
    let drift = if plant.facts().is_one_point.is_empty() { drift } else { f64::NAN };
    println!("{what}: {best:.2} µs, dE {drift:.1e}");
    best
}

/// From the text of a model to its first step, by the whole of `Simulation`.
fn first_step(what: &str, text: &str, rounds: usize) {
    let mut times = Vec::new();
    for _ in 0..rounds {
        let begun = Instant::now();
        let model = Model::from_text("bench", text, &[]).expect("the model is right");
        let run = model.simulation().method("midpoint").step(0.01).until(0.01).run().expect("a step");
        assert_eq!(run.t().len(), 2);
        times.push(1e3 * begun.elapsed().as_secs_f64());
    }
    println!("{what}, text to first step: {:.1} ms at first, then {:.1} ms", times[0], times[rounds - 1]);
}
