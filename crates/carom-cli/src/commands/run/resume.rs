//! Writes and reads the state for `--restart`.

use std::io::Read;
use std::path::Path;

use carom::lab::model::Misfit;
use carom::lab::phase::{MOMENTS, Phase, Polynomial};
use carom::lab::step::{Control, LaneMemory};
use carom::{Diagnostic, Memory, Model, Result, Simulation, State};
use serde_json::Value;

use crate::json::Object;
use crate::output::aside;
use crate::style;

/// A file with a final state is at most this long: 64 MB.
const MOST_BYTES: u64 = 64 << 20;
/// Coordinates that differ by less than this part are the same: quaternions are normalised, and rounded.
const SAME: f64 = 1e-9;

/// Resumes from the final state of an earlier run: exactly if the file has the whole state, otherwise from its time,
/// coordinates and momenta.
pub fn from_file(simulation: Simulation, path: &Path, model: &Model) -> Result<Simulation> {
    let name = path.display();
    let wrong = |what: &str| Diagnostic::new(format!("cannot restart from `{name}`: {what}"));
    let mut text = String::new();
    let file = std::fs::File::open(path).map_err(|e| wrong(&e.to_string()))?;
    file.take(MOST_BYTES + 1).read_to_string(&mut text).map_err(|e| wrong(&e.to_string()))?;
    if text.len() as u64 > MOST_BYTES {
        return Err(wrong("it is larger than 64 MB").with_help("give the file that `carom run --json` wrote").into());
    }
    from_text(simulation, &format!("`{name}`"), &text, model)
}

/// Resumes from the text of such a file, which messages call `name`.
pub fn from_text(simulation: Simulation, name: &str, text: &str, model: &Model) -> Result<Simulation> {
    let wrong = |what: &str| Diagnostic::new(format!("cannot restart from {name}: {what}"));
    let run: Value = serde_json::from_str(text).map_err(|e| wrong(&format!("it is not JSON ({e})")))?;
    check_coordinates(&run, model).map_err(|what| wrong(&what))?;
    let last = &run["final"];
    let all = |key: &str| numbers(&last[key]).filter(|x| x.len() == model.system.coordinates.len());
    let (Some(t), Some(q), Some(p)) = (last["t"].as_f64(), all("q"), all("p")) else {
        return Err(wrong("it has no final state of this model; write one with `carom run --json`").into());
    };
    check(&run, t, &q, model).map_err(|what| wrong(&what))?;
    if let Some(until) = model.run.until.filter(|until| t >= *until) {
        let help = format!("give a later `--until` than {t}");
        let message = format!("it ends at t = {t}, which is not before the end time {until}");
        return Err(wrong(&message).with_help(help).into());
    }
    if last["state"].is_null() {
        return Ok(simulation.start_at(t, &q, &p));
    }
    let values: Vec<f64> = model.system.parameters.iter().map(|parameter| parameter.value).collect();
    let state = read(&last["state"], t, values);
    let state = state.ok_or_else(|| wrong("its `final.state` is not that of a run of this model"))?;
    Ok(simulation.resume(state))
}

/// Checks that a file names the coordinates of the model, if it names any.
fn check_coordinates(run: &Value, model: &Model) -> std::result::Result<(), String> {
    let names: Vec<&str> = model.system.coordinates.iter().map(|c| c.name.as_str()).collect();
    let theirs: Option<Vec<&str>> =
        run["coordinates"].as_array().map(|all| all.iter().filter_map(Value::as_str).collect());
    if let Some(theirs) = theirs.filter(|theirs| *theirs != names) {
        return Err(format!("its coordinates are {theirs:?}, and those of the model are {names:?}"));
    }
    Ok(())
}

/// Checks that a file is of these mechanics, and its state one of them. What carom wrote for the same mechanics is
/// trusted; inside a wall only if it is the whole state with the parameters of that run: others may move the wall, and `q` alone may
/// have been written by hand.
fn check(run: &Value, t: f64, q: &[f64], model: &Model) -> std::result::Result<(), String> {
    let hash = run["mechanics_hash"].as_str();
    if hash.is_some_and(|hash| hash != model.mechanics_hash()) {
        return Err("it is of other mechanics: the Lagrangian, a force, a wall or a constraint differs".into());
    }
    if !is_state_of(&run["final"]["state"]["z"], q) {
        return Err("its `final.state` is not at its `final.q`; to start from `q` and `p`, remove `state`".into());
    }
    let is_whole = !run["final"]["state"].is_null();
    let parameters: Vec<f64> = model.system.parameters.iter().map(|parameter| parameter.value).collect();
    let has_others = numbers(&run["parameters"]).is_some_and(|theirs| theirs != parameters);
    if has_others {
        aside(&style::note("the parameters are not those of the earlier run"));
    }
    match model.misfit(t, q) {
        None => Ok(()),
        Some(Misfit::Off(name)) if hash.is_some() => {
            aside(&style::warning(&format!("the final state is off the constraint `{name}`")));
            Ok(())
        }
        Some(Misfit::Inside(_)) if hash.is_some() && !has_others && is_whole => Ok(()),
        Some(Misfit::Off(name)) => Err(format!("its final state is off the constraint `{name}`")),
        Some(Misfit::Inside(name)) => Err(format!("its final state is inside the wall `{name}`")),
    }
}

/// True if the coordinates of `final.state` are those of q, without driven and eliminated ones. Whether a state of another size
/// belongs to the model is decided where it is read.
fn is_state_of(state: &Value, q: &[f64]) -> bool {
    let z = numbers(state).unwrap_or_default();
    let mut all = q.iter();
    let mut is_there = |x: &f64| all.any(|q| (q - x).abs() <= SAME * q.abs());
    z.len() % 2 == 1 || z.len() > 2 * q.len() || z[..z.len() / 2].iter().all(&mut is_there)
}

fn numbers(value: &Value) -> Option<Vec<f64>> {
    value.as_array()?.iter().map(Value::as_f64).collect()
}

/// The phase point {t, z} of a path or a step.
fn phase(value: &Value) -> Option<Phase> {
    Some(Phase { t: value["t"].as_f64()?, z: numbers(&value["z"])? })
}

/// The state. The library checks whether it is one of the model.
fn read(value: &Value, t: f64, parameters: Vec<f64>) -> Option<State> {
    let z = numbers(&value["z"])?;
    let holding = value["holding"].as_array()?.iter().map(|wall| wall.as_u64().map(|wall| wall as usize));
    let holding: Vec<usize> = holding.collect::<Option<_>>()?;
    let memory = match value["memory"]["kind"].as_str()? {
        "none" => Memory::None,
        "window" => Memory::Window(numbers(&value["memory"]["values"])?),
        "path" => {
            let side = value["memory"]["side"].as_u64()? as usize;
            Memory::Path { side, z: phase(&value["memory"]["point"])? }
        }
        "first step" => {
            Memory::FirstStep { end: phase(&value["memory"]["end"])?, impulses: numbers(&value["memory"]["impulses"])? }
        }
        "control" => Memory::Control(control(&value["memory"], z.len() / 2)?),
        "explicit" => Memory::Explicit(Box::new(progress(&value["memory"], z.len() / 2)?)),
        _ => return None,
    };
    let fastest = value["fastest"].as_f64().filter(|fastest| *fastest >= 0.0)?;
    Some(State { parameters: parameters.into(), z: Phase { t, z }, holding, fastest, memory })
}

/// The control of the length of steps, for n coordinates.
fn control(value: &Value, n: usize) -> Option<Control> {
    let positive = |name: &str| value[name].as_f64().filter(|x| *x > 0.0);
    let column = |name: &str| numbers(&value[name]).filter(|column| column.len() == n);
    let extent = column("low")?.into_iter().zip(column("high")?).map(|(low, high)| [low, high]);
    Some(Control {
        tolerance: positive("tolerance")?,
        longest: positive("longest")?,
        h: positive("h")?,
        extent: extent.collect(),
        roots: column("roots")?,
        twice_kinetic: value["twice_kinetic"].as_f64().filter(|x| *x >= 0.0)?,
        past: past(value, n).unwrap_or_default(),
        // Less than a unit of roundoff of the time, and none at the end of a run.
        late: 0.0,
    })
}

/// The polynomial of the last step; none in a file of an earlier version.
fn past(value: &Value, n: usize) -> Option<Polynomial> {
    let h = value["past_step"].as_f64().filter(|h| *h > 0.0)?;
    let rates = numbers(&value["past"]).filter(|rates| rates.len() == MOMENTS * n)?;
    Some(Polynomial { h, rates })
}

/// A motion in a lane of the explicit pair, for n coordinates.
fn progress(value: &Value, n: usize) -> Option<LaneMemory> {
    let Control { tolerance, longest, h, extent, roots, twice_kinetic, .. } = control(value, n)?;
    let (low, high) = extent.into_iter().map(|[low, high]| (low, high)).unzip();
    Some(LaneMemory {
        v: numbers(&value["v"]).filter(|column| column.len() == n)?,
        tolerance,
        longest,
        h,
        low,
        high,
        roots,
        twice_kinetic,
        fastest: value["fastest"].as_f64().filter(|x| *x >= 0.0)?,
        last_impact: value["last_impact"].as_f64(),
        touched: value["touched"].as_u64().map(|wall| wall as usize),
    })
}

/// The control as JSON, with its kind.
fn control_json(kind: &str, control: &Control) -> Object {
    Object::default()
        .text("kind", kind)
        .number("tolerance", control.tolerance)
        .number("longest", control.longest)
        .number("h", control.h)
        .numbers("low", &control.extent.iter().map(|[low, _]| *low).collect::<Vec<_>>())
        .numbers("high", &control.extent.iter().map(|[_, high]| *high).collect::<Vec<_>>())
        .numbers("roots", &control.roots)
        .number("twice_kinetic", control.twice_kinetic)
}

/// The state as JSON.
pub fn json(state: &State) -> String {
    let point = |z: &Phase| Object::default().number("t", z.t).numbers("z", &z.z).finish();
    let memory = match &state.memory {
        Memory::None => Object::default().text("kind", "none"),
        Memory::Window(values) => Object::default().text("kind", "window").numbers("values", values),
        Memory::Path { side, z } => {
            Object::default().text("kind", "path").raw("side", &side.to_string()).raw("point", &point(z))
        }
        Memory::FirstStep { end, impulses } => {
            Object::default().text("kind", "first step").raw("end", &point(end)).numbers("impulses", impulses)
        }
        Memory::Control(control) => {
            control_json("control", control).number("past_step", control.past.h).numbers("past", &control.past.rates)
        }
        Memory::Explicit(lane) => {
            let extent = lane.low.iter().zip(&lane.high).map(|(low, high)| [*low, *high]).collect();
            let LaneMemory { tolerance, longest, h, twice_kinetic, .. } = **lane;
            let past = Polynomial::default();
            let roots = lane.roots.clone();
            let control = Control { tolerance, longest, h, extent, roots, twice_kinetic, past, late: 0.0 };
            control_json("explicit", &control)
                .numbers("v", &lane.v)
                .number("fastest", lane.fastest)
                .number("last_impact", lane.last_impact.unwrap_or(f64::NAN))
                .raw("touched", &lane.touched.map_or("null".into(), |wall| wall.to_string()))
        }
    };
    let walls: Vec<String> = state.holding.iter().map(usize::to_string).collect();
    Object::default()
        .numbers("z", &state.z.z)
        .raw("holding", &format!("[{}]", walls.join(", ")))
        .number("fastest", state.fastest)
        .raw("memory", &memory.finish())
        .finish()
}
