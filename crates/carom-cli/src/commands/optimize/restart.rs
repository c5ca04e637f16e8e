//! An earlier answer, read from its JSON.

use std::io::Read;
use std::path::Path;

use carom::lab::optimize::{Caught, Found, ImpactMultipliers, PlannedImpact, PlannedState};
use carom::{Diagnostic, Model, Result};
use serde_json::Value;

/// The largest file that is read.
const MOST_BYTES: u64 = 64 << 20;

/// The answer in a file that `carom optimize --json` wrote for the same problem, and the steps of its phases.
pub fn read(path: &Path, model: &Model) -> Result<(Found, Vec<usize>)> {
    let wrong = |what: &str| Diagnostic::new(format!("cannot restart from `{}`: {what}", path.display()));
    let mut text = String::new();
    let file = std::fs::File::open(path).map_err(|e| wrong(&e.to_string()))?;
    file.take(MOST_BYTES).read_to_string(&mut text).map_err(|e| wrong(&e.to_string()))?;
    let answer: Value = serde_json::from_str(&text).map_err(|e| wrong(&format!("it is not JSON ({e})")))?;
    let help = "write one with `carom optimize --json` for this model";
    Ok(parse(&answer, model).ok_or_else(|| wrong("it has no answer of this problem").with_help(help))?)
}

fn numbers(value: &Value) -> Option<Vec<f64>> {
    value.as_array()?.iter().map(Value::as_f64).collect()
}

fn state(value: &Value, n: usize) -> Option<PlannedState> {
    let list = |key: &str| numbers(&value[key]).filter(|all| all.len() == n);
    Some(PlannedState { t: value["t"].as_f64()?, q: list("q")?, v: list("v")?, p: list("p")? })
}

fn parse(answer: &Value, model: &Model) -> Option<(Found, Vec<usize>)> {
    let n = model.system.coordinates.len();
    let phases = answer["phases"].as_array().filter(|phases| phases.len() == model.problem.phases.len())?;
    let steps: Vec<usize> =
        phases.iter().map(|phase| Some(phase["steps"].as_u64()? as usize)).collect::<Option<_>>()?;
    let total: usize = steps.iter().sum();
    let durations = phases.iter().map(|phase| phase["duration"].as_f64()).collect::<Option<_>>()?;
    let nodes: Vec<PlannedState> =
        answer["nodes"].as_array()?.iter().map(|node| state(node, n)).collect::<Option<_>>()?;
    let control = |name: &str| numbers(&answer["controls"][name]).filter(|all| all.len() == total);
    let controls = model.problem.controls.iter().map(|c| control(&c.name)).collect::<Option<_>>()?;
    let hit = |value: &Value| {
        let wall = model.system.walls.iter().position(|wall| Some(wall.name.as_str()) == value["wall"].as_str())?;
        let side = |v: &str, p: &str| {
            let (t, q) = (value["t"].as_f64()?, numbers(&value["q"])?);
            Some(PlannedState { t, q, v: numbers(&value[v])?, p: numbers(&value[p])? })
        };
        let (before, after) = (side("v_minus", "p_minus")?, side("v_plus", "p_plus")?);
        let fits = [&before, &after].iter().all(|s| [s.q.len(), s.v.len(), s.p.len()] == [n; 3]);
        fits.then_some(PlannedImpact {
            wall,
            lambda: value["lambda"].as_f64()?,
            before,
            after,
            multipliers: ImpactMultipliers::default(),
        })
    };
    let hits = answer["impacts"].as_array()?.iter().map(hit).collect::<Option<_>>()?;
    let held = |value: &Value| {
        let phase =
            model.problem.phases.iter().position(|phase| Some(phase.name.as_str()) == value["phase"].as_str())?;
        let (name, impulses) = (value["name"].as_str()?.to_string(), numbers(&value["impulses"])?);
        Some(Caught { phase, name, impulses, catch_impulse: value["catch_impulse"].as_f64() })
    };
    let holds = answer["holds"].as_array()?.iter().map(held).collect::<Option<_>>()?;
    let last = state(&answer["final"], n)?;
    let found = Found {
        durations,
        last,
        controls,
        hits,
        holds,
        end_cost: 0.0,
        node_multipliers: Vec::new(),
        end_multipliers: Vec::new(),
        control_multipliers: Vec::new(),
        nodes,
    };
    (found.nodes.len() == total + 1 && total > 0 && !steps.contains(&0)).then_some((found, steps))
}
