//! Control problems with impacts: optimal costs against references of 20 digits, closed forms, independent runs, and problems
//! that have no answer.

use carom::Model;
use carom::lab::optimize::{Answer, Verdict};
use carom::lab::system::Enforce;
use serde_json::Value;

fn references() -> Vec<Value> {
    let all: Value = serde_json::from_str(include_str!("reference/control.json")).expect("it is JSON");
    all["problems"].as_array().expect("it is a list").clone()
}

fn model(name: &str, settings: &[&str]) -> Model {
    let all = references();
    let problem = all.iter().find(|problem| problem["name"] == name).expect("it is there");
    let settings: Vec<String> = settings.iter().map(|s| s.to_string()).collect();
    Model::from_text(name, problem["model"].as_str().expect("it is text"), &settings).expect("it is right")
}

fn solve(name: &str, settings: &[&str], method: &str) -> Answer {
    let model = model(name, settings);
    model.optimize().method(method).tolerance(1e-9).run().unwrap_or_else(|e| panic!("{name}: {e}"))
}

fn assert_close(found: f64, wanted: f64, tolerance: f64, what: &str) {
    assert!((found - wanted).abs() <= tolerance * wanted.abs().max(1e-3), "{what}: {found}, not {wanted}");
}

/// The costs of all meshes of all references to 1e-8, from the stated guesses, and runs that end where they should.
#[test]
fn costs_are_those_of_the_references() {
    for problem in references() {
        let name = problem["name"].as_str().expect("it has a name");
        for row in problem["ladder"].as_array().expect("it is a list") {
            let steps = row["steps"].as_array().expect("it is a list");
            let settings: Vec<String> =
                steps.iter().enumerate().map(|(k, steps)| format!("phase[{k}].steps={steps}")).collect();
            let text = problem["model"].as_str().expect("it is text");
            let model = Model::from_text(name, text, &settings).unwrap_or_else(|e| panic!("{name}: {e}"));
            let answer = model.optimize().tolerance(1e-9).run().unwrap_or_else(|e| panic!("{name}: {e}"));
            assert_eq!(answer.status, Verdict::Optimal, "{name} {steps:?}: {:?}", answer.message);
            let number = |key: &str| row[key].as_str().map(|text| text.parse::<f64>().expect("it is a number"));
            assert_close(answer.cost, number("cost").expect("it has a cost"), 1e-8, &format!("{name} {steps:?}"));
            if let Some(duration) = number("duration_1") {
                assert_close(answer.found.durations[0], duration, 1e-5, &format!("{name} {steps:?}, first duration"));
            }
            if let Some(lambda) = number("lambda") {
                assert_close(answer.found.hits[0].lambda, lambda, 1e-5, &format!("{name} {steps:?}, λ"));
            }
            let check = answer.check.expect("it is checked");
            assert!(check.final_error < 1e-8, "{name} {steps:?}: a run ends {:e} off", check.final_error);
            assert_eq!(check.impacts, answer.found.hits.len(), "{name} {steps:?}");
            assert!(check.impact_time_error < 1e-8, "{name} {steps:?}: impacts {:e} off", check.impact_time_error);
        }
    }
}

/// u_k = 12N/(N²−1)·(N/2 − k − ½), and the cost 12/(1 − 1/N²).
#[test]
fn the_double_integrator_is_solved_in_closed_form() {
    for n in [2.0, 7.0, 20.0, 101.0] {
        let answer = solve("double-integrator", &[&format!("phase[0].steps={n}")], "svc");
        assert_close(answer.cost, 12.0 / (1.0 - 1.0 / (n * n)), 1e-12, "cost");
        for (k, u) in answer.found.controls[0].iter().enumerate() {
            let wanted = 12.0 * n / (n * n - 1.0) * (n / 2.0 - k as f64 - 0.5);
            assert!((u - wanted).abs() < 1e-10, "u[{k}] = {u}, not {wanted}");
        }
    }
}

/// With 30 + 30 steps strike is symmetric in time and both impact rules agree; with 20 + 40 they do not.
#[test]
fn both_impact_rules_have_their_own_optimum() {
    let uneven = ["phase[0].steps=20", "phase[1].steps=40"];
    for (settings, method, cost) in [
        (&[][..], "svc+ctec", 8.51469769109064),
        (&[][..], "svc+dtec", 8.51469769109064),
        (&uneven[..], "svc+ctec", 8.52252490952),
        (&uneven[..], "svc+dtec", 8.52848541308),
        (&[][..], "midpoint+ctec", 8.52935877002),
    ] {
        let answer = solve("strike", settings, method);
        assert_eq!(answer.status, Verdict::Optimal, "{method} {settings:?}");
        assert_close(answer.cost, cost, 1e-8, &format!("{method} {settings:?}"));
        let check = answer.check.expect("it is checked");
        // Runs refuse `dtec` where forces act.
        let is_right = check.final_error < 1e-8 || method.contains("dtec");
        assert!(is_right, "{method} {settings:?}: {:e}", check.final_error);
    }
}

/// Every registered discrete Lagrangian serves, and its cost tends to the continuous one; a run with the flow ends where the
/// program says.
#[test]
fn every_variational_flow_serves() {
    for flow in carom::lab::flow::registry(None) {
        let cost = |steps: usize| {
            let answer = model("cart-pole-kelly", &[&format!("phase[0].steps={steps}")]);
            let answer = answer.optimize().method(&flow.name).tolerance(1e-9).run();
            let answer = match answer {
                Ok(answer) => answer,
                Err(error) => {
                    assert!(flow.with_quadrature(|_| ()).is_none(), "{}: {error}", flow.name);
                    return None;
                }
            };
            assert_eq!(answer.status, Verdict::Optimal, "{}", flow.name);
            let check = answer.check.expect("it is checked");
            assert!(check.final_error < 1e-7, "{}: a run ends {:e} off", flow.name, check.final_error);
            Some(answer.cost)
        };
        // Galerkin flows of high order take long to differentiate.
        if flow.order > 4 && flow.name != "rk4" && flow.name != "kahan-li8" {
            continue;
        }
        let Some(found) = cost(40) else { continue };
        let reach = if flow.order == 1 { 0.2 } else { 0.05 };
        assert!((found / 58.80767 - 1.0).abs() < reach, "{}: {found}", flow.name);
    }
}

/// The cost converges with order 2: from N and 2N the error at 2N is known.
#[test]
fn refinement_meets_its_tolerance() {
    let model = model("bounce", &["phase[0].steps=10", "phase[1].steps=10"]);
    let answer = model.optimize().tolerance(1e-9).refine(1e-5).run().expect("it runs");
    let exact = 18.9952612779584;
    let error = answer.cost_error.expect("it is estimated");
    assert!(error <= 1e-5 * answer.cost, "{error:e}");
    assert!(
        (answer.cost - exact).abs() < 2.0 * error,
        "{} is {:e} off, not {error:e}",
        answer.cost,
        answer.cost - exact
    );
    assert!(answer.refinement.len() > 2, "{:?}", answer.refinement);
}

/// An answer is a start from which little is left to do.
#[test]
fn answers_restart() {
    let model = model("strike", &[]);
    let first = model.optimize().run().expect("it runs");
    let again = model.optimize().restart(first.found.clone(), first.steps.clone()).run().expect("it runs");
    assert_close(again.cost, first.cost, 1e-7, "restarted");
    let finer = self::model("strike", &["phase[0].steps=60", "phase[1].steps=60"]);
    let finer = finer.optimize().tolerance(1e-9).restart(first.found, first.steps).run().expect("it runs");
    assert_close(finer.cost, 8.499_893_957_119_637, 1e-8, "twice as fine");
}

/// Too weak a motor: the message names what cannot be met, and the limit that would help.
#[test]
fn an_infeasible_problem_says_what_cannot_be_met() {
    let answer = solve("pendulum-swingup", &["umax=0.5", "final.t=1"], "cva");
    assert_eq!(answer.status, Verdict::Infeasible);
    let first = answer.cannot_meet.first().expect("something cannot be met");
    assert!(first.condition.starts_with("final "), "{:?}", answer.cannot_meet);
    assert!(first.off_by > 0.1, "{:?}", answer.cannot_meet);
    assert!(answer.message.is_some_and(|message| message.contains("limit of u")), "the limit is not named");
}

/// An impact that asks for more than the motion can give.
#[test]
fn an_impulse_that_cannot_be_reached_is_named() {
    let answer = solve("puck", &["umax=0.1", "phase[0].lambda={min = 50}"], "cva");
    assert_ne!(answer.status, Verdict::Optimal);
    if answer.status == Verdict::Infeasible {
        let named = answer.cannot_meet.iter().any(|unmet| unmet.condition.contains("lambda.min"));
        assert!(named, "{:?}", answer.cannot_meet);
    }
}

/// A wall out of reach: the impact is named.
#[test]
fn an_impact_that_cannot_happen_is_named() {
    let answer = solve("strike", &["wall[0].phi=\"x2 + 5\""], "cva");
    assert_eq!(answer.status, Verdict::Infeasible, "{:?}", answer.message);
    let first = answer.cannot_meet.first().expect("something cannot be met");
    assert!(first.condition.contains("impact on `left wall` at the end of `phase 1`"), "{:?}", answer.cannot_meet);
    assert!((first.off_by - 3.0).abs() < 0.1, "the arm is 2 m long, the wall 5 m away: {:?}", answer.cannot_meet);
}

/// An end behind a wall is refused, and a free end stays in front of it.
#[test]
fn the_end_is_in_front_of_the_walls() {
    let refused = model("bounce", &["final.q=[2, -1]"]).optimize().run().expect_err("it is below the floor");
    assert!(refused.to_string().contains("behind the wall `floor`"), "{refused}");
    let text = r#"
        coordinates = ["x"]
        lagrangian = {T = "x'^2/2"}
        wall = [{name = "post", phi = "0.5 - x"}]
        controls = {u = {}}
        forces = {x = "u"}
        initial = {q = [0], v = [0]}
        final = {t = 1.0}
        objective = {running = "u^2", final = "-x"}
        phase = [{steps = 10}]
        run = {method = "cva"}
    "#;
    let model = Model::from_text("reach.toml", text, &[]).expect("it is right");
    let answer = model.optimize().run().expect("it runs");
    // Without the post x(1) = 1/6, with a larger reward it would pass it.
    assert!((answer.found.last.q[0] - 1.0 / 6.0).abs() < 1e-2, "{}", answer.found.last.q[0]);
    let model = Model::from_text("reach.toml", &text.replace("-x\"", "-9*x\""), &[]).expect("it is right");
    let answer = model.optimize().run().expect("it runs");
    assert!((answer.found.last.q[0] - 0.5).abs() < 1e-6, "{}", answer.found.last.q[0]);
}

/// Where the objective is not a number, the search ends with a point where it is one.
#[test]
fn a_search_stays_where_the_problem_is_defined() {
    let answer = solve("pendulum-swingup", &["objective.running=\"sqrt(theta)\""], "cva");
    assert!(answer.cost.is_finite(), "{:?}: {}", answer.status, answer.cost);
}

/// From straight lines in place of the stated guesses, and from smooth disturbances, the optimum is one that a run confirms.
#[test]
fn poor_guesses_lead_to_an_optimum() {
    for name in ["pendulum-swingup", "cart-pole-kelly", "bounce", "strike", "hopper", "compass-maximal", "puck"] {
        let all = references();
        let problem = all.iter().find(|problem| problem["name"] == name).expect("it is there");
        let text = problem["model"].as_str().expect("it is text");
        let mut open = 0;
        let mut is_guess = |line: &&str| {
            let is_guess = open > 0 || line.starts_with("guess");
            if is_guess {
                open += line.matches(['[', '{']).count() as i32 - line.matches([']', '}']).count() as i32;
            }
            is_guess
        };
        let lines: Vec<&str> = text.lines().filter(|line| !is_guess(line)).collect();
        let model = Model::from_text(name, &lines.join("\n"), &[]).unwrap_or_else(|e| panic!("{name}: {e}"));
        for tries in [1, 4] {
            let answer = model.optimize().tries(tries).run().expect("it runs");
            assert_eq!(answer.status, Verdict::Optimal, "{name}: {:?}", answer.message);
            let check = answer.check.expect("it is checked");
            assert!(check.final_error < 1e-6, "{name}: a run ends {:e} off", check.final_error);
            assert_eq!(check.impacts, answer.found.hits.len(), "{name}");
        }
    }
}

/// A limit of iterations and an interruption return the best point with the reason.
#[test]
fn an_early_end_returns_what_there_is() {
    let model = model("cart-pole-kelly", &[]);
    let answer = model.optimize().iterations(3).run().expect("it runs");
    assert_eq!((answer.status, answer.iterations), (Verdict::Iterations, 3));
    assert!(answer.message.is_some() && answer.found.nodes.len() == 61);
    let answer = model.optimize().watch(&mut |progress| progress.iteration == 5).expect("it runs");
    assert_eq!((answer.status, answer.iterations), (Verdict::Interrupted, 5));
}

/// Several guesses are never worse than one.
#[test]
fn tries_keep_the_best() {
    let model = model("cart-pole-kelly", &["phase[0].steps=30"]);
    let one = model.optimize().run().expect("it runs");
    let many = model.optimize().tries(4).run().expect("it runs");
    assert_eq!(many.status, Verdict::Optimal);
    assert!(many.cost <= one.cost + 1e-6, "{} and {}", many.cost, one.cost);
    assert!(many.minima >= 1);
}

/// More conditions than unknowns are refused at the place of `[final]`.
#[test]
fn too_many_conditions_are_refused() {
    let model = model("double-integrator", &["phase[0].steps=1"]);
    let error = model.optimize().method("svc").run().expect_err("it cannot be solved");
    assert!(error.to_string().contains("conditions for"), "{error}");
}

/// A control is constant between its times, and every flow ends a step there: momenta are sums of u h to roundoff.
#[test]
fn runs_follow_piecewise_constant_controls() {
    let text = r#"
        coordinates = ["x"]
        lagrangian = {T = "x'^2/2"}
        controls = {u = {value = [1, -3, 0.5, 2]}}
        forces = {x = "u"}
        initial = {q = [0], v = [0]}
        run = {until = 2.0}
    "#;
    let model = Model::from_text("pushed.toml", text, &[]).expect("it is right");
    // x and v after pieces of length ½ with these accelerations.
    let (mut x, mut v) = (0.0, 0.0);
    for u in [1.0, -3.0, 0.5, 2.0] {
        x += 0.5 * v + 0.125 * u;
        v += 0.5 * u;
    }
    for flow in carom::lab::flow::registry(None) {
        let run =
            model.simulation().method(&flow.name).step(0.3).run().unwrap_or_else(|e| panic!("{}: {e}", flow.name));
        let end = &run.outcome().last;
        assert!((end.p[0] - v).abs() < 1e-13, "{}: p = {}, not {v}", flow.name, end.p[0]);
        if flow.order > 1 {
            assert!((end.q[0] - x).abs() < 1e-13, "{}: x = {}, not {x}", flow.name, end.q[0]);
        }
        for t in [0.5, 1.0, 1.5] {
            assert!(run.t().iter().any(|node| (node - t).abs() < 1e-12), "{}: no node at {t}", flow.name);
        }
        let between = run.at(0.75).expect("it is inside");
        assert!((between.p[0] - (0.5 - 0.75)).abs() < 1e-13, "{}: p(0.75) = {}", flow.name, between.p[0]);
    }
    let run = model.simulate().expect("the default runs too");
    assert!((run.outcome().last.q[0] - x).abs() < 1e-12);
}

/// `carom run` holds what the first phase holds, starts at guesses, and ends with the durations.
#[test]
fn models_of_problems_run() {
    let compass = model("compass-maximal", &[]);
    assert_eq!(compass.system.constraints.len(), 2);
    assert!(compass.system.constraints.iter().all(|c| c.name.starts_with("stance") && c.enforce == Enforce::OnePoint));
    assert_eq!(compass.problem.constraints.len(), 4);
    assert_eq!(compass.run.until, Some(0.7));
    let hopper = model("hopper", &[]);
    let start = hopper.start().expect("it is right");
    assert_eq!((start.q[0], start.v[0]), (0.48, -1.4715));
    assert!((hopper.run.until.expect("it ends") - 0.6).abs() < 1e-15);
}

/// The examples of the documentation are solved.
#[test]
fn documented_problems_have_answers() {
    let text = include_str!("../docs/control.md");
    let blocks: Vec<&str> = text.split("```toml\n").skip(1).filter_map(|rest| rest.split("```").next()).collect();
    assert_eq!(blocks.len(), 2);
    for block in blocks {
        let model = Model::from_text("control.md", block, &[]).unwrap_or_else(|e| panic!("{e}\n{block}"));
        let answer = model.optimize().run().unwrap_or_else(|e| panic!("{e}\n{block}"));
        assert_eq!(answer.status, Verdict::Optimal, "{block}");
        assert!(answer.check.is_some_and(|check| check.final_error < 1e-8), "{block}");
    }
}

/// The shipped problems have answers that a run confirms.
#[test]
fn shipped_problems_have_answers() {
    let shipped = carom::EXAMPLES.iter().filter(|example| example.about.starts_with("control: "));
    let mut count = 0;
    for example in shipped {
        let model = Model::load(example.name).unwrap_or_else(|e| panic!("{}: {e}", example.name));
        let answer = model.optimize().run().unwrap_or_else(|e| panic!("{}: {e}", example.name));
        assert_eq!(answer.status, Verdict::Optimal, "{}: {:?}", example.name, answer.message);
        let check = answer.check.expect("it is checked");
        assert!(check.final_error < 1e-7, "{}: a run ends {:e} off", example.name, check.final_error);
        assert_eq!(check.impacts, answer.found.hits.len(), "{}", example.name);
        count += 1;
    }
    assert_eq!(count, 10);
}

/// A problem without phases is told which to write.
#[test]
fn phases_are_suggested() {
    let text = r#"
        coordinates = ["y"]
        lagrangian = {T = "y'^2/2", V = "9.81*y"}
        wall = [{name = "floor", phi = "y", restitution = 0.5}]
        controls = {u = {}}
        forces = {y = "u"}
        initial = {q = [1], v = [0]}
        final = {t = 0.8, q = [0.5]}
        objective = {running = "u^2"}
    "#;
    let model = Model::from_text("drop.toml", text, &[]).expect("it is right");
    let error = model.optimize().run().expect_err("it has no phase").to_string();
    assert!(error.contains("impact = \"floor\"") && error.contains("duration = {guess = 0.452}"), "{error}");
}

/// Bounds that leave nothing are refused, and bounds that meet are a number.
#[test]
fn bounds_that_cross_are_refused() {
    let error = model("strike", &["phase[0].duration={min = 1.5, guess = 1.6}", "phase[1].duration={min = 1}"]);
    let error = error.optimize().run().expect_err("2 s are too short").to_string();
    assert!(error.contains("bounds leave nothing"), "{error}");
    let answer = solve("strike", &["phase[0].duration={min = 1}", "phase[1].duration={min = 1}"], "cva");
    assert_close(answer.cost, 8.514_697_691_090_638, 1e-6, "both phases of a second");
}
