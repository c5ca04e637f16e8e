//! The answer as one JSON object.

use carom::Model;
use carom::lab::model::control::PhaseEvent;
use carom::lab::optimize::{Answer, Check, ImpactMultipliers, PlannedState};

use crate::json::{Object, list_of, number, text};

/// The answer as JSON.
pub fn json(model: &Model, answer: &Answer) -> String {
    let found = &answer.found;
    let mut object = Object::default()
        .text("model", &model.title)
        .text("method", &answer.method)
        .text("status", answer.status.name());
    if let Some(message) = &answer.message {
        object = object.text("message", message);
    }
    let parts = Object::default().number("running", answer.cost - found.end_cost).number("final", found.end_cost);
    let nodes: Vec<String> = found.nodes.iter().map(|node| state(node).finish()).collect();
    object = object
        .number("cost", answer.cost)
        .raw("objective", &parts.finish())
        .number("t_end", answer.t_end())
        .raw("phases", &phases(model, answer))
        .raw("nodes", &list_of(&nodes))
        .raw("controls", &controls(model, &found.controls))
        .raw("impacts", &impacts(model, answer))
        .raw("holds", &holds(model, answer))
        .raw("initial", &state(&found.nodes[0]).finish())
        .raw("final", &state(&found.last).finish())
        .raw("multipliers", &multipliers(model, answer))
        .raw("iterations", &answer.iterations.to_string())
        .number("feasibility", answer.feasibility)
        .number("optimality", answer.optimality)
        .number("complementarity", answer.complementarity)
        .raw("variables", &answer.size[0].to_string())
        .raw("rows", &answer.size[1].to_string())
        .raw("check", &answer.check.as_ref().map_or("null".into(), check));
    if !answer.cannot_meet.is_empty() {
        let unmet = answer
            .cannot_meet
            .iter()
            .map(|unmet| Object::default().text("condition", &unmet.condition).number("off_by", unmet.off_by).finish());
        object = object.raw("cannot_meet", &list_of(&unmet.collect::<Vec<_>>()));
    }
    let meshes = answer
        .refinement
        .iter()
        .map(|(steps, cost)| Object::default().raw("steps", &whole(steps)).number("cost", *cost).finish());
    let warnings: Vec<String> = answer.warnings.iter().map(|warning| text(warning)).collect();
    let (compile, solve) = (answer.compile_seconds, answer.solve_seconds);
    object
        .raw("refinement", &list_of(&meshes.collect::<Vec<_>>()))
        .number("cost_error", answer.cost_error.unwrap_or(f64::NAN))
        .raw("minima", &answer.minima.to_string())
        .raw("warnings", &list_of(&warnings))
        .text("version", env!("CARGO_PKG_VERSION"))
        .text("model_hash", &model.hash())
        .raw("seconds", &Object::default().number("compile", compile).number("solve", solve).finish())
        .finish()
}

fn whole(numbers: &[usize]) -> String {
    list_of(&numbers.iter().map(usize::to_string).collect::<Vec<_>>())
}

fn numbers(values: &[f64]) -> String {
    list_of(&values.iter().map(|&x| number(x)).collect::<Vec<_>>())
}

fn state(state: &PlannedState) -> Object {
    Object::default().number("t", state.t).numbers("q", &state.q).numbers("v", &state.v).numbers("p", &state.p)
}

fn controls(model: &Model, values: &[Vec<f64>]) -> String {
    let each = model.problem.controls.iter().zip(values);
    each.fold(Object::default(), |object, (control, values)| object.numbers(&control.name, values)).finish()
}

fn phases(model: &Model, answer: &Answer) -> String {
    let (problem, walls) = (&model.problem, &model.system.walls);
    let names = |of_walls: &[usize], constraints: &[usize]| {
        let walls = of_walls.iter().map(|&k| text(&walls[k].name));
        let constraints = constraints.iter().map(|&k| text(&problem.constraints[k].name));
        list_of(&walls.chain(constraints).collect::<Vec<_>>())
    };
    let phase = |k: usize| {
        let phase = &problem.phases[k];
        let (impact, caught) = match &phase.event {
            PhaseEvent::None => ("null".into(), "[]".into()),
            PhaseEvent::Impact { wall, .. } => (text(&walls[*wall].name), "[]".into()),
            PhaseEvent::Catch { walls, constraints } => ("null".into(), names(walls, constraints)),
        };
        Object::default()
            .text("name", &phase.name)
            .raw("steps", &answer.steps[k].to_string())
            .number("duration", answer.found.durations[k])
            .raw("hold", &names(&phase.held_walls, &phase.held))
            .raw("impact", &impact)
            .raw("catch", &caught)
            .finish()
    };
    list_of(&(0..problem.phases.len()).map(phase).collect::<Vec<_>>())
}

fn impacts(model: &Model, answer: &Answer) -> String {
    let impact = answer.found.hits.iter().map(|hit| {
        Object::default()
            .number("t", hit.before.t)
            .text("wall", &model.system.walls[hit.wall].name)
            .number("lambda", hit.lambda)
            .numbers("q", &hit.before.q)
            .numbers("v_minus", &hit.before.v)
            .numbers("v_plus", &hit.after.v)
            .numbers("p_minus", &hit.before.p)
            .numbers("p_plus", &hit.after.p)
            .finish()
    });
    list_of(&impact.collect::<Vec<_>>())
}

fn holds(model: &Model, answer: &Answer) -> String {
    let held = answer.found.holds.iter().map(|held| {
        let name = &model.problem.phases[held.phase].name;
        let object = Object::default().text("phase", name).text("name", &held.name).numbers("impulses", &held.impulses);
        match held.catch_impulse {
            Some(impulse) => object.number("catch_impulse", impulse).finish(),
            None => object.finish(),
        }
    });
    list_of(&held.collect::<Vec<_>>())
}

fn multipliers(model: &Model, answer: &Answer) -> String {
    let found = &answer.found;
    let nodes: Vec<String> = found.node_multipliers.iter().map(|values| numbers(values)).collect();
    let impacts = found.hits.iter().map(|hit| {
        let ImpactMultipliers { phi, law, lambda } = hit.multipliers;
        Object::default().number("phi", phi).number("law", law).number("lambda", lambda).finish()
    });
    Object::default()
        .raw("nodes", &list_of(&nodes))
        .numbers("final", &found.end_multipliers)
        .raw("impacts", &list_of(&impacts.collect::<Vec<_>>()))
        .raw("controls", &controls(model, &found.control_multipliers))
        .finish()
}

fn check(check: &Check) -> String {
    Object::default()
        .number("final_error", check.final_error)
        .number("impact_time_error", check.impact_time_error)
        .raw("impacts", &check.impacts.to_string())
        .text("fine_method", check.fine_method)
        .number("fine_final_error", check.fine_final_error)
        .finish()
}
