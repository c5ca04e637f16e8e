//! Derivatives by controls, and of the objective along a run.

use carom::Model;
use carom::analysis::{Derivatives, Fixed, Mode};
use carom_tests::reference::{number, numbers};
use serde_json::Value;

fn references() -> Value {
    serde_json::from_str(include_str!("reference/derivatives.json")).expect("JSON")
}

fn text(value: &Value) -> &str {
    value.as_str().expect("a string")
}

/// The model of a reference: a shipped one with a force and its control.
fn model(case: &Value, controls: &[f64]) -> Model {
    let name = text(&case["model"]);
    let shipped = carom::EXAMPLES.iter().find(|e| e.name == name).expect("it ships").text;
    let (coordinate, force) = case["add_to_model"]["forces"].as_object().expect("forces").iter().next().expect("one");
    let added = format!(
        "\n[forces]\n{coordinate} = \"{}\"\n[controls]\nu = {{value = {controls:?}}}\n[objective]\n\
         running = \"u^2/2 + {coordinate}^2\"\nfinal = \"t*{coordinate}'\"\n",
        text(force)
    );
    let settings: Vec<String> = case["set"].as_array().expect("settings").iter().map(|s| text(s).to_string()).collect();
    Model::from_text(&format!("{name}.toml"), &(shipped.to_string() + &added), &settings).expect("the model is right")
}

fn differentiate(case: &Value, controls: &[f64], of: &str, by: &str, mode: Mode) -> Derivatives {
    let (step, steps) = (number(&case["step"]), case["steps"].as_f64().expect("a number"));
    let model = model(case, controls);
    let simulation = model.simulation().method(text(&case["method"])).step(step).until(step * steps);
    simulation.sensitivity().of(of).by(by).fixed(Fixed::Momentum).mode(mode).run().expect("it runs")
}

fn controls(case: &Value) -> Vec<f64> {
    case["controls"].as_array().expect("a list").iter().map(|u| numbers(u)[0]).collect()
}

/// A control is a parameter of one step, on both parts of a step with an impact; forward as adjoint.
#[test]
fn controls_are_parameters_of_one_step() {
    for case in references()["controls"].as_array().expect("a list") {
        let n = case["initial"]["q"].as_array().expect("a list").len();
        let state: Vec<String> = "qp".chars().flat_map(|c| (0..n).map(move |i| format!("final.{c}[{i}]"))).collect();
        let of = state.join(",") + ",impacts[0].t,impacts[0].lambda";
        let impact = &case["impacts"][0];
        let mut expected: Vec<Vec<f64>> = case["dz_du"].as_array().expect("rows").iter().map(numbers).collect();
        expected.extend([numbers(&impact["dt_du"]), numbers(&impact["dlambda_du"])]);
        for mode in [Mode::Forward, Mode::Adjoint] {
            let found = differentiate(case, &controls(case), &of, "u", mode);
            assert_eq!(found.by.len(), expected[0].len());
            assert_eq!(found.by[3], "u[3]");
            for ((name, found), expected) in found.of.iter().zip(&found.derivatives).zip(&expected) {
                for (k, (a, b)) in found.iter().zip(expected).enumerate() {
                    let what = format!("{}, {mode:?}: ∂{name}/∂u[{k}]", text(&case["name"]));
                    assert!((a - b).abs() <= 1e-12 * (1.0 + b.abs()), "{what} = {a}, not {b}");
                }
            }
        }
    }
}

/// The gradient of the objective is that of differences, forward as adjoint, by controls, parameters and the start.
#[test]
fn the_objective_is_differentiated_through_impacts() {
    for case in references()["controls"].as_array().expect("a list") {
        let u = controls(case);
        let by = "u,initial.q[0],initial.p[0],g";
        let forward = differentiate(case, &u, "objective", by, Mode::Forward);
        let adjoint = differentiate(case, &u, "objective", by, Mode::Adjoint);
        assert!((forward.values[0] - adjoint.values[0]).abs() < 1e-13, "{} {}", forward.values[0], adjoint.values[0]);
        for ((a, b), name) in forward.derivatives[0].iter().zip(&adjoint.derivatives[0]).zip(&forward.by) {
            assert!((a - b).abs() < 1e-12 * (1.0 + a.abs()), "by {name}: {a} and {b}");
        }
        for k in [0, 4, 9, u.len() - 1] {
            let value = |du: f64| {
                let mut moved = u.clone();
                moved[k] += du;
                differentiate(case, &moved, "objective", "g", Mode::Forward).values[0]
            };
            let step = 1e-4;
            let near = value(step) - value(-step);
            let difference = (8.0 * near - (value(2.0 * step) - value(-2.0 * step))) / (12.0 * step);
            let found = forward.derivatives[0][k];
            assert!((found - difference).abs() < 1e-9, "∂J/∂u[{k}] = {found}, by differences {difference}");
        }
    }
}

/// At an optimum with a free end the gradient by the controls vanishes, and the run has the cost of the answer.
#[test]
fn the_gradient_vanishes_at_an_optimum() {
    let source = r#"
        coordinates = ["theta"]
        lagrangian = {T = "theta'^2/2", V = "-9.81*cos(theta)"}
        controls = {u = {}}
        forces = {theta = "u - 0.1*theta'"}
        initial = {q = [0.4], v = [1]}
        objective = {running = "u^2 + theta^2", final = "10*(theta - 1)^2 + theta'^2"}
        phase = [{steps = 25, duration = 1.5}]
    "#;
    let model = Model::from_text("push.toml", source, &[]).expect("it is right");
    for method in ["svc", "midpoint", "gauss2"] {
        let answer = model.optimize().method(method).tolerance(1e-10).run().expect("it runs");
        let simulation = model.simulation().method(method).controls(answer.settings()).until(1.5).step(1.5);
        let found = simulation.sensitivity().of("objective").by("u").mode(Mode::Adjoint).run().expect("it runs");
        assert!((found.values[0] - answer.cost).abs() < 1e-9, "{method}: {} and {}", found.values[0], answer.cost);
        assert_eq!(found.by.len(), 25);
        let largest = found.derivatives[0].iter().fold(0.0f64, |all, x| all.max(x.abs()));
        assert!(largest < 1e-7, "{method}: the gradient is {largest:e}");
    }
}

/// Constant controls have the steps of the phases, or of the run; what has no steps is refused.
#[test]
fn controls_have_the_steps_of_the_phases_or_of_the_run() {
    let source = r#"
        coordinates = ["x"]
        parameters = {m = 2.0}
        lagrangian = {T = "m*x'^2/2"}
        controls = {u = {value = 0.5}}
        forces = {x = "u"}
        initial = {q = [0], v = [0]}
        run = {until = 1.0, method = "svc", step = 0.25}
    "#;
    let read = |text: &str| Model::from_text("push.toml", text, &[]).expect("it is right");
    let model = read(source);
    let by = |model: &Model, by: &str| model.simulation().sensitivity().of("final.p[0]").by(by).run();
    let found = by(&model, "u").expect("it runs");
    assert_eq!(found.by.len(), 4);
    found.derivatives[0].iter().for_each(|x| assert!((x - 0.25).abs() < 1e-15, "{x}"));
    assert_eq!(by(&model, "parameters").expect("it runs").by, ["m"]);
    assert_eq!(by(&model, "u[2],m").expect("it runs").by, ["u[2]", "m"]);
    let error = by(&model, "u[4]").expect_err("there are four").to_string();
    assert!(error.contains("there is no `u[4]`") && error.contains("from 0 to 3"), "{error}");
    let phases = read(&source.replace("run = {", "phase = [{steps = 5, duration = 1}]\n        run = {"));
    let found = by(&phases, "u").expect("it runs");
    assert_eq!(found.by.len(), 5);
    found.derivatives[0].iter().for_each(|x| assert!((x - 0.2).abs() < 1e-15, "{x}"));
    let function = read(&source.replace("value = 0.5", "value = \"sin(t)\""));
    let error = by(&function, "u").expect_err("it has no steps").to_string();
    assert!(error.contains("a function of time"), "{error}");
    let error = by(&model, "u").and(model.simulation().sensitivity().of("objective").by("u").run());
    assert!(error.expect_err("there is none").to_string().contains("no [objective]"));
}

/// arXiv:2207.05060, task 1, as the documentation has it: y(T) by y(0), by ẏ(0), and by a control on the first step, −h(T − h/2).
#[test]
fn the_documented_bounce_is_right() {
    let text = include_str!("../docs/derivatives.md");
    let block = text.split("```toml\n").nth(1).and_then(|rest| rest.split("```").next()).expect("it has a model");
    let model = Model::from_text("bounce-once.toml", block, &[]).expect("it is right");
    let found = model.simulation().sensitivity().of("final.q[1]").by("initial.q[1],initial.v[1],u[0]").run();
    let found = found.expect("it runs").derivatives;
    let h = 1.0 / 480.0;
    for (a, b) in found[0].iter().zip([-1.0, -1.0, -h * (1.0 - h / 2.0)]) {
        assert!((a - b).abs() < 1e-12, "{a}, not {b}");
    }
}
