//! What gradients cost beside the run: `cargo run --release -p carom-bench --example gradients`.
//!
//! W1 is the cart-pendulum to T = 5 with three impacts. Goals: a forward gradient by its 4 initial values ≤ 4 runs, an adjoint gradient
//! by 100 controls ≤ 5 runs. A run and a gradient are measured in turns, each from the simulation to its result; the fastest of each
//! counts. With the name of a case, the gradient is made once in `counted`, for callgrind; with `NAME run` the run is.

use std::hint::black_box;
use std::time::{Duration, Instant};

use carom::analysis::{Mode, Sensitivity};
use carom::{EXAMPLES, Model, Result, Simulation};

const TURNS: usize = 400;

fn main() -> Result<()> {
    let name = std::env::args().nth(1);
    let counts_run = std::env::args().nth(2).is_some();
    let text = EXAMPLES.iter().find(|example| example.name == "cart-pendulum").map_or("", |example| example.text);
    let plain = Model::from_text("cart-pendulum", text, &[])?;
    let values: Vec<f64> = (0..100).map(|k| 0.1 * (0.3 * k as f64).sin()).collect();
    let force = format!(
        "\n[controls]\nu = {{value = {values:?}}}\n[forces]\ny = \"u\"\n[objective]\nrunning = \"u^2 + y^2\"\n"
    );
    let pushed = Model::from_text("cart-pendulum with a control", &(text.to_string() + &force), &[])?;
    for (method, step) in [("cva", 0.032), ("gauss4+ctec", 0.1), ("gauss6+ctec", 0.2), ("gauss8+ctec", 0.3)] {
        let w1 = plain.simulation().method(method).step(step).until(5.0);
        let forward = w1.sensitivity().of("final").by("initial");
        measure(&format!("{method}-forward-4-initial"), &w1, &forward, &name, counts_run)?;
        let controlled = pushed.simulation().method(method).step(0.05).until(5.0);
        for (of, what) in [("final.q[0]", "state"), ("objective", "objective")] {
            let adjoint = controlled.sensitivity().of(of).by("u").mode(Mode::Adjoint);
            measure(&format!("{method}-adjoint-100-controls-{what}"), &controlled, &adjoint, &name, counts_run)?;
        }
    }
    Ok(())
}

fn measure(
    name: &str,
    run: &Simulation,
    gradient: &Sensitivity,
    only: &Option<String>,
    counts_run: bool,
) -> Result<()> {
    // The first of each compiles.
    run.watch(&mut ())?;
    gradient.run()?;
    if let Some(only) = only {
        if only == name {
            if counts_run { counted_run(run)? } else { counted(gradient)? }
        }
        return Ok(());
    }
    let mut best = [Duration::MAX; 2];
    for _ in 0..TURNS {
        let begun = Instant::now();
        black_box(run.watch(&mut ())?.impacts);
        best[0] = best[0].min(begun.elapsed());
        let begun = Instant::now();
        black_box(gradient.run()?.values.len());
        best[1] = best[1].min(begun.elapsed());
    }
    let [run, gradient] = best.map(|time| 1e6 * time.as_secs_f64());
    println!("{name:<42} run {run:>8.1} µs, gradient {gradient:>8.1} µs: {:.2} runs", gradient / run);
    Ok(())
}

/// The name by which callgrind finds it.
#[inline(never)]
fn counted(gradient: &Sensitivity) -> Result<()> {
    black_box(gradient.run()?.values.len());
    Ok(())
}

#[inline(never)]
fn counted_run(run: &Simulation) -> Result<()> {
    black_box(run.watch(&mut ())?.impacts);
    Ok(())
}
