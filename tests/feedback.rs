//! Feedback along optimal motions with impacts: the Riccati recursion against closed forms and dense least squares, the linear
//! closed loop against runs, and runs that are disturbed much.

use carom::lab::feedback::riccati::{StepDerivatives, apply, gain, product};
use carom::lab::feedback::{Design, Linear, Through};
use carom::lab::tangent::Matrix;
use carom::{Feedback, Model, Trajectory};

const BOUNCE: &str = r#"
coordinates = ["x", "y"]
parameters = {m = 1.0, g = 9.81, e = 0.8}
lagrangian = {T = "m*(x'^2 + y'^2)/2", V = "m*g*y"}
wall = [{name = "floor", phi = "y", restitution = "e"}, {name = "cushion", phi = "3 - x + 0.1*y", restitution = "e"}]
controls = {ux = {}, uy = {}}
forces = {x = "ux - 0.1*x'", y = "uy"}
initial = {q = [0, 1], v = [0, 0]}
final = {t = 2, q = [2, 1]}
objective = {running = "ux^2 + uy^2"}
phase = [
  {steps = 20, duration = {min = 0.05, guess = 0.75}, impact = "floor", guess = ["4/3*t", "1 - 4/3*t"]},
  {steps = 15, duration = {min = 0.05, guess = 0.75}, impact = "cushion", guess = ["1 + t", "t"]},
  {steps = 15, duration = {min = 0.05, guess = 0.5}},
]
run = {method = "midpoint+ctec"}
"#;

fn named(name: &str) -> Model {
    match name {
        "bounce" => Model::from_text(name, BOUNCE, &[]).expect("it is right"),
        shipped => Model::load(shipped).expect("it ships"),
    }
}

fn design(model: &Model, through: Through) -> Design {
    let answer = model.optimize().tolerance(1e-10).run().expect("it runs");
    answer.design(model, through).unwrap_or_else(|e| panic!("{}: {e}", model.title))
}

fn follow(model: &Model, feedback: &Feedback, q: &[f64], p: &[f64]) -> Trajectory {
    model.simulation().follow(feedback).start_at(0.0, q, p).run().unwrap_or_else(|e| panic!("{}: {e}", model.title))
}

/// The final state of a run from z̄₀ + δ, minus z̄_N.
fn off(model: &Model, feedback: &Feedback, delta: &[f64]) -> Vec<f64> {
    let start = &feedback.tracks[0].z[0];
    let n = start.len() / 2;
    let z: Vec<f64> = start.iter().zip(delta).map(|(z, d)| z + d).collect();
    let run = follow(model, feedback, &z[..n], &z[n..]);
    let last = feedback.tracks.last().expect("it has phases");
    run.outcome().state.z.z.iter().zip(&last.z[last.last]).map(|(z, plan)| z - plan).collect()
}

fn size(x: &[f64]) -> f64 {
    x.iter().fold(0.0, |size: f64, x| size.max(x.abs()))
}

fn difference(x: &[f64], y: &[f64]) -> f64 {
    size(&x.iter().zip(y).map(|(x, y)| x - y).collect::<Vec<_>>())
}

/// Disturbances along each entry of the state, to both sides.
fn directions(size: usize) -> Vec<Vec<f64>> {
    let unit = |j: usize, s: f64| (0..size).map(|i| if i == j { s } else { 0.0 }).collect();
    (0..size).flat_map(|j| [unit(j, 1.0), unit(j, -1.0)]).collect()
}

fn scaled(x: &[f64], s: f64) -> Vec<f64> {
    x.iter().map(|x| s * x).collect()
}

/// The linear closed loop predicts the final state up to O(δ²), for impacts that come earlier and for those that come later.
#[test]
fn the_linear_closed_loop_is_right_to_first_order() {
    for name in ["strike", "bounce", "cart-pole"] {
        let model = named(name);
        let Design { feedback, linear, .. } = design(&model, Through::Impact);
        let still = size(&off(&model, &feedback, &vec![0.0; feedback.tracks[0].z[0].len()]));
        assert!(still < 1e-8, "{name}: undisturbed, it ends {still:e} off");
        for direction in directions(feedback.tracks[0].z[0].len()) {
            let error = |s: f64| {
                let delta = scaled(&direction, s);
                difference(&off(&model, &feedback, &delta), &linear.predict(&feedback, &delta))
            };
            let (large, small) = (error(2e-3), error(1e-3));
            assert!(small < 3.4e-1 * large && small < 2e-4, "{name} along {direction:?}: {large:e}, {small:e}");
        }
    }
}

/// Without the change of the time of the impact, the prediction is wrong to first order.
#[test]
fn without_saltation_the_closed_loop_is_wrong_to_first_order() {
    for name in ["strike", "bounce"] {
        let model = named(name);
        let Design { feedback, linear, .. } = design(&model, Through::FixedTime);
        let mut fixed: Linear = linear.clone();
        // dt = −∇φ·d'q/∞.
        let jumps = fixed.phases.iter_mut().filter_map(|phase| phase.jump.as_mut());
        jumps.for_each(|jump| jump.rate = f64::INFINITY);
        let mut worst: f64 = 0.0;
        for direction in directions(feedback.tracks[0].z[0].len()) {
            let error = |linear: &Linear, s: f64| {
                let delta = scaled(&direction, s);
                difference(&off(&model, &feedback, &delta), &linear.predict(&feedback, &delta)) / s
            };
            // The whole derivative is right with any gains.
            assert!(error(&linear, 5e-4) < 0.65 * error(&linear, 1e-3) + 1e-5, "{name} along {direction:?}");
            worst = worst.max(error(&fixed, 1e-4).min(error(&fixed, 1e-3)));
        }
        assert!(worst > 1e-2, "{name}: an error of {worst:e} δ");
    }
}

/// Gains through the impact keep a motion nearer to its plan than those that ignore its time.
#[test]
fn gains_through_the_impact_cost_less() {
    let model = named("strike");
    let [right, wrong] = [Through::Impact, Through::FixedTime].map(|through| design(&model, through));
    // What the gains minimise, along linear closed loops with the true impact.
    let cost = |design: &Design| {
        let ends: f64 = directions(4)
            .iter()
            .map(|d| {
                let end = right.linear.predict(&design.feedback, d);
                end.iter().zip(&design.weights[2]).map(|(x, w)| w * x * x).sum::<f64>()
            })
            .sum();
        ends
    };
    let (right, wrong) = (cost(&right), cost(&wrong));
    assert!(right < 0.5 * wrong, "{right:e}, {wrong:e}");
}

/// The double integrator with Q = 0: P_k = (Aᵐ)ᵀ (Q_N⁻¹ + W_m)⁻¹ Aᵐ with m = N − k and the Gramian
/// W_m = h²/r Σ_{j<m} (h(j + ½), 1)(h(j + ½), 1)ᵀ, whose sums are closed.
#[test]
fn the_recursion_gives_the_closed_form_of_the_double_integrator() {
    let (h, r, count) = (0.05, 0.3, 40);
    let [s, v] = [7.0, 2.0];
    let two = |a: [f64; 4]| Matrix { columns: 2, data: a.to_vec() };
    let step = StepDerivatives {
        a: two([1.0, h, 0.0, 1.0]),
        b: Matrix { columns: 1, data: vec![0.5 * h * h, h] },
        by_t: vec![0.0; 2],
        by_h: vec![0.0; 2],
    };
    let (q, weight) = (Matrix::zeros(2, 2), Matrix { columns: 1, data: vec![r] });
    let mut p = two([s, 0.0, 0.0, v]);
    for m in 1..=count {
        gain(&step, &q, &weight, &mut p);
        let m = f64::from(m);
        // Σ(j+½)² = m³/3 − m/12, Σ(j+½) = m²/2.
        let w = [h.powi(4) * (m.powi(3) / 3.0 - m / 12.0) / r, h.powi(3) * m * m / 2.0 / r, h * h * m / r];
        let (a, b, d) = (1.0 / s + w[0], w[1], 1.0 / v + w[2]);
        let det = a * d - b * b;
        let inverse = [d / det, -b / det, a / det];
        let x = m * h;
        // (Aᵐ)ᵀ M Aᵐ with Aᵐ = (1, x; 0, 1).
        let wanted = [inverse[0], x * inverse[0] + inverse[1], x * x * inverse[0] + 2.0 * x * inverse[1] + inverse[2]];
        for (found, wanted) in [p.at(0, 0), p.at(0, 1), p.at(1, 1)].into_iter().zip(wanted) {
            assert!((found - wanted).abs() < 1e-12 * wanted.abs().max(1.0), "m = {m}: {found} and {wanted}");
        }
    }
}

/// The solution of A x = b by Gaussian elimination.
fn dense(mut a: Vec<Vec<f64>>, mut b: Vec<f64>) -> Vec<f64> {
    let n = b.len();
    for k in 0..n {
        let pivot = (k..n).max_by(|&i, &j| a[i][k].abs().total_cmp(&a[j][k].abs())).expect("there are rows");
        a.swap(k, pivot);
        b.swap(k, pivot);
        for i in k + 1..n {
            let factor = a[i][k] / a[k][k];
            let top = a[k].clone();
            a[i].iter_mut().zip(&top).for_each(|(x, y)| *x -= factor * y);
            b[i] -= factor * b[k];
        }
    }
    for k in (0..n).rev() {
        let known: f64 = (k + 1..n).map(|j| a[k][j] * b[j]).sum();
        b[k] = (b[k] - known) / a[k][k];
    }
    b
}

/// All controls of the linear motion at once, as one least-squares problem: the first of them is −K₀ δz₀, and the rest are those of the
/// closed loop.
#[test]
fn the_gains_solve_the_whole_problem_at_once() {
    let model = named("strike");
    let Design { feedback, linear, weights } = design(&model, Through::Impact);
    let mut steps: Vec<(StepDerivatives, f64)> = Vec::new();
    let mut gains = Vec::new();
    for (k, (phase, track)) in linear.phases.iter().zip(&feedback.tracks).enumerate() {
        let count = phase.steps.len();
        for (j, step) in phase.steps.iter().enumerate() {
            let mut step = step.clone();
            if let Some(jump) = phase.jump.as_ref().filter(|_| j + 1 == count) {
                let next = &feedback.tracks[k + 1];
                let xi = jump.matrix(&next.rate(next.first));
                (step.a, step.b) = (product(&xi, &step.a), product(&xi, &step.b));
            }
            steps.push((step, track.step()));
            gains.push(track.gain[track.first + j].clone());
        }
    }
    let (n, m, count) = (4, 2, steps.len());
    let unknowns = m * count;
    for start in directions(n).into_iter().step_by(2) {
        // δz_k as an affine function of all controls: the constant, and one column for each control.
        let mut constant = start.clone();
        let mut columns = vec![vec![0.0; n]; unknowns];
        let mut hessian = vec![vec![0.0; unknowns]; unknowns];
        let mut right = vec![0.0; unknowns];
        let mut charge = |constant: &[f64], columns: &[Vec<f64>], weight: &[f64], h: f64| {
            for i in 0..unknowns {
                for j in 0..unknowns {
                    hessian[i][j] += (0..n).map(|c| h * weight[c] * columns[i][c] * columns[j][c]).sum::<f64>();
                }
                right[i] -= (0..n).map(|c| h * weight[c] * columns[i][c] * constant[c]).sum::<f64>();
            }
        };
        for (k, (step, h)) in steps.iter().enumerate() {
            if k > 0 {
                charge(&constant, &columns, &weights[0], *h);
            }
            constant = apply(&step.a, &constant);
            columns = columns.iter().map(|column| apply(&step.a, column)).collect();
            for c in 0..m {
                (0..n).for_each(|i| columns[m * k + c][i] += step.b.at(i, c));
            }
        }
        charge(&constant, &columns, &weights[2], 1.0);
        for (k, (_, h)) in steps.iter().enumerate() {
            (0..m).for_each(|c| hessian[m * k + c][m * k + c] += h * weights[1][c]);
        }
        let all = dense(hessian, right);
        let mut z = start.clone();
        let largest = size(&all);
        for (k, (step, _)) in steps.iter().enumerate() {
            let u: Vec<f64> = gains[k].iter().map(|row| -row.iter().zip(&z).map(|(k, z)| k * z).sum::<f64>()).collect();
            let error = difference(&u, &all[m * k..m * (k + 1)]);
            assert!(error < 1e-8 * largest, "step {k} from {start:?}: {error:e} of {largest:e}");
            let moved = apply(&step.b, &u);
            z = apply(&step.a, &z).iter().zip(moved).map(|(a, b)| a + b).collect();
        }
    }
}

/// A ball on a floor: steps of `midpoint` are exact, and so the derivative through the impact is the saltation matrix
/// Ξ = [−e, 0; (a⁺ + e a⁻)/v⁻, −e] of the continuous motion.
#[test]
fn the_jump_of_a_ball_is_its_saltation_matrix() {
    let text = r#"
        coordinates = ["y"]
        lagrangian = {T = "y'^2/2", V = "9.81*y"}
        wall = [{name = "floor", phi = "y", restitution = 0.8}]
        controls = {u = {}}
        forces = {y = "u"}
        initial = {q = [1], v = [0]}
        final = {t = 1.2, q = [0.5]}
        objective = {running = "u^2"}
        phase = [
          {steps = 10, duration = {min = 0.05, guess = 0.45}, impact = "floor", guess = ["1 - t/0.45"]},
          {steps = 10, duration = {min = 0.05, guess = 0.75}},
        ]
        run = {method = "midpoint+ctec"}
    "#;
    let model = Model::from_text("ball", text, &[]).expect("it is right");
    let Design { feedback, linear, .. } = design(&model, Through::Impact);
    let [before, after] = &feedback.tracks[..] else { panic!("there are two phases") };
    let (e, v) = (0.8, before.z[before.last][1]);
    let [a_minus, a_plus] = [before.u[before.last - 1][0], after.u[after.first][0]].map(|u| u - 9.81);
    let xi = linear.phases[0].jump.as_ref().expect("it bounces").matrix(&after.rate(after.first));
    let due = [[-e, 0.0], [(a_plus + e * a_minus) / v, -e]];
    for (i, due) in due.iter().enumerate() {
        assert!(difference(xi.row(i), due) < 1e-9, "row {i}: {:?}, not {due:?}", xi.row(i));
    }
}

/// A large disturbance moves the impact by several steps to either side; the motion still follows, and ends much nearer to its end
/// than without feedback.
#[test]
fn early_and_late_impacts_are_followed() {
    let model = named("strike");
    let answer = model.optimize().run().expect("it runs");
    let feedback = answer.feedback(&model).expect("it has one");
    let planned = answer.found.hits[0].before.t;
    let (mut sooner, mut later) = (0.0f64, 0.0f64);
    for q in [-0.12, -0.06, 0.06, 0.12, 0.24] {
        let run = follow(&model, &feedback, &[q, 0.0], &[0.0, 0.0]);
        assert_eq!(run.impacts().len(), 1, "q = {q}: {:?}", run.outcome().warnings);
        assert!(run.outcome().warnings.is_empty(), "{:?}", run.outcome().warnings);
        let moved = (run.impacts()[0].minus.t - planned) / feedback.tracks[0].step();
        (sooner, later) = (sooner.min(moved), later.max(moved));
        let open =
            model.simulation().controls(answer.settings()).until(2.0).step(4.0).start_at(0.0, &[q, 0.0], &[0.0; 2]);
        let open = size(&open.run().expect("it runs").outcome().state.z.z);
        let closed = size(&run.outcome().state.z.z);
        assert!(closed < 0.35 * open, "q = {q}: {closed} with feedback, {open} without");
    }
    assert!(sooner < -0.5 && later > 0.5, "moved by {sooner} to {later} steps");
}

/// Bounds of controls are never exceeded, and the run says that they cut the feedback.
#[test]
fn bounds_of_controls_are_kept() {
    let model = named("pendulum-swingup");
    let feedback = model.optimize().run().expect("it runs").feedback(&model).expect("it has one");
    let mut model = model.clone();
    let u = model.problem.controls[0].clone();
    model.outputs.push(carom::lab::model::Output { name: u.name, value: u.symbol });
    let run = follow(&model, &feedback, &[-0.3], &[0.0]);
    let [min, max] = feedback.limits[0];
    let (low, high) =
        run.output("u").expect("it is there").iter().fold((0.0f64, 0.0f64), |(a, b), &u| (a.min(u), b.max(u)));
    assert!(low >= min && high <= max && high > 0.99 * max, "from {low} to {high}");
    let warnings = &run.outcome().warnings;
    assert!(warnings.iter().any(|warning| warning.contains("the bounds of `u` cut the feedback")), "{warnings:?}");
}

/// What has no feedback is refused by name.
#[test]
fn what_has_no_feedback_is_refused() {
    let refusal = |name: &str, method: &str| {
        let model = named(name);
        let answer = model.optimize().method(method).run().expect("it runs");
        answer.feedback(&model).expect_err("it is refused").to_string()
    };
    assert!(refusal("hop", "cva").contains("there is no feedback for the phase `stance`"));
    assert!(refusal("strike", "vci").contains("there is no feedback for the impact rule of `vci`"));
}
