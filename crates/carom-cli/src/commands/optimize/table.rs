//! The answer for the terminal, and as CSV.

use std::fmt::Write;

use carom::Model;
use carom::lab::optimize::{Answer, Verdict};

use crate::commands::{count, quoted};
use crate::style::{QUIET, STRONG, paint, right, rounded, visible};

/// The answer in some lines; with how to see it, if no report `is_asked` for.
pub fn summary(model: &Model, answer: &Answer, is_asked: bool) -> String {
    let mut text = format!("{}\n", paint(STRONG, &model.title));
    let (compile, solve) = (answer.compile_seconds, answer.solve_seconds);
    let [variables, rows] = answer.size;
    let _ = writeln!(
        text,
        "{}, {variables} unknowns, {rows} rows; compiled in {:.1} ms, {} iterations in {:.1} ms\n",
        answer.method,
        1e3 * compile,
        answer.iterations,
        1e3 * solve
    );
    let _ = writeln!(text, "{}  cost {:.12}", paint(STRONG, answer.status.name()), answer.cost);
    if let Some(message) = &answer.message {
        let _ = writeln!(text, "  {}", visible(message));
    }
    let _ = writeln!(
        text,
        "  feasibility {:.1e}, optimality {:.1e}, complementarity {:.1e}",
        answer.feasibility, answer.optimality, answer.complementarity
    );
    if answer.minima > 1 {
        let _ = writeln!(text, "  the best of {} different minima", answer.minima);
    }
    if answer.refinement.len() > 1 {
        for (steps, cost) in &answer.refinement {
            let _ = writeln!(text, "  {steps:?} steps: cost {cost:.12}");
        }
        if let Some(error) = answer.cost_error {
            let _ = writeln!(text, "  estimated error of the cost {error:.1e}");
        }
    }
    text += &phases(model, answer);
    let last = &answer.found.last;
    let _ = writeln!(text, "\nat t = {}", rounded(last.t, 12));
    for (i, c) in model.system.coordinates.iter().enumerate() {
        let _ =
            writeln!(text, "  {:<12} {:>16.9}   {}' = {:.9}", visible(&c.name), last.q[i], visible(&c.name), last.v[i]);
    }
    for (control, values) in model.problem.controls.iter().zip(&answer.found.controls) {
        let (low, high) = values.iter().fold((f64::MAX, f64::MIN), |(l, h), x| (l.min(*x), h.max(*x)));
        let _ = writeln!(text, "  {:<12} from {low:.6} to {high:.6}", visible(&control.name));
    }
    if let Some(check) = &answer.check {
        let _ = writeln!(text, "\na run with these controls ends {:.1e} off", check.final_error);
        if !answer.found.hits.is_empty() {
            let _ = writeln!(text, "  {}, {:.1e} off in time", count(check.impacts, "impact"), check.impact_time_error);
        }
        if check.fine_final_error.is_finite() {
            // If the run on the same mesh is as far off, steps are not the reason.
            let is_of_steps = check.fine_final_error > 2.0 * check.final_error;
            let why = if is_of_steps { ": the error of these steps" } else { "" };
            let line = format!("with {} it ends {:.1e} off{why}", check.fine_method, check.fine_final_error);
            let _ = writeln!(text, "  {}", paint(QUIET, &line));
        }
    }
    if answer.status == Verdict::Optimal && !is_asked {
        text += &(paint(QUIET, "to see it, add --report FILE.html") + "\n");
    }
    text
}

fn phases(model: &Model, answer: &Answer) -> String {
    let mut text = format!("\n{} {}\n", paint(STRONG, &right("duration", 16)), paint(STRONG, "phase"));
    let mut hits = answer.found.hits.iter().peekable();
    let mut end = 0.0;
    for (k, phase) in model.problem.phases.iter().enumerate() {
        let duration = answer.found.durations[k];
        end += duration;
        let _ = write!(text, "{duration:>16.9} {}, {}", visible(&phase.name), count(answer.steps[k], "step"));
        if let Some(hit) = hits.next_if(|hit| (hit.before.t - end).abs() <= 1e-9 * (1.0 + end)) {
            let wall = visible(&model.system.walls[hit.wall].name);
            let _ = write!(text, ", then {wall} at t = {:.9}, λ = {:.9}", hit.before.t, hit.lambda);
        }
        text.push('\n');
    }
    text
}

/// A row for each node: t, q, v, p, and the controls of the step that begins there.
pub fn csv(model: &Model, answer: &Answer) -> String {
    let mut head = vec!["t".to_string()];
    for suffix in ["", "'", "_p"] {
        head.extend(model.system.coordinates.iter().map(|c| format!("{}{suffix}", c.name)));
    }
    head.extend(model.problem.controls.iter().map(|control| control.name.clone()));
    let mut text = head.iter().map(|cell| quoted(cell)).collect::<Vec<_>>().join(",") + "\n";
    for (k, node) in answer.found.nodes.iter().enumerate() {
        let numbers = [node.t].into_iter().chain(node.q.iter().chain(&node.v).chain(&node.p).copied());
        let controls =
            answer.found.controls.iter().map(|control| control.get(k).map_or(String::new(), |u| format!("{u:e}")));
        let cells: Vec<String> = numbers.map(|x| format!("{x:e}")).chain(controls).collect();
        text += &(cells.join(",") + "\n");
    }
    text
}
