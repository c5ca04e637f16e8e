//! Control problems, from the text of the model to the optimum: `cargo run --release -p carom-bench --example control`.
//!
//! Yardstick: CasADi 3.8 + IPOPT on one core takes 59 ms for the pendulum, 124 ms for the cart-pole, 442 ms for strike and 151 ms
//! for the hopper, for setting up the model, building derivatives and solving.

use carom::{EXAMPLES, Model, Result};

/// The best of so many runs counts.
const RUNS: usize = 7;

fn main() -> Result<()> {
    println!("{:<18} {:>12} {:>12} {:>6} {:>20}", "", "compile ms", "solve ms", "steps", "cost");
    for name in ["pendulum-swingup", "cart-pole", "strike", "hop", "compass-gait"] {
        let mut best = [f64::INFINITY; 2];
        let mut line = String::new();
        for example in EXAMPLES.iter().filter(|example| example.name == name).cycle().take(RUNS) {
            let model = Model::from_text(name, example.text, &[])?;
            let answer = model.optimize().run()?;
            let seconds = [answer.compile_seconds, answer.solve_seconds];
            if seconds.iter().sum::<f64>() < best.iter().sum() {
                best = seconds;
            }
            line = format!("{:>6} {:>20.12}", answer.iterations, answer.cost);
        }
        println!("{name:<18} {:>12.2} {:>12.2} {line}", 1e3 * best[0], 1e3 * best[1]);
    }
    Ok(())
}
