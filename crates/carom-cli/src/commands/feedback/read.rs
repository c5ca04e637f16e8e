//! Reads gains.

use std::io::Read;
use std::path::Path;

use carom::lab::run::{PlannedStart, Track};
use carom::{Diagnostic, Feedback, Model, Result};
use serde_json::Value;

use crate::output::aside;
use crate::style;

/// The largest file that is read.
const MOST_BYTES: u64 = 64 << 20;
/// The distances of nodes differ by at most this part.
const SAME: f64 = 1e-6;

/// The gains in a file that `carom optimize --feedback` wrote for this model.
pub fn read(path: &Path, model: &Model) -> Result<Feedback> {
    let wrong = |what: &str| {
        let help = "write it with `carom optimize MODEL --feedback F.json` for this model";
        Diagnostic::new(format!("cannot follow `{}`: {what}", path.display())).with_help(help)
    };
    let mut text = String::new();
    let file = std::fs::File::open(path).map_err(|e| wrong(&e.to_string()))?;
    file.take(MOST_BYTES + 1).read_to_string(&mut text).map_err(|e| wrong(&e.to_string()))?;
    if text.len() as u64 > MOST_BYTES {
        return Err(wrong("it is larger than 64 MB").into());
    }
    let file: Value = serde_json::from_str(&text).map_err(|e| wrong(&format!("it is not JSON ({e})")))?;
    Ok(parse(&file, model).map_err(|what| wrong(&what))?)
}

fn parse(file: &Value, model: &Model) -> std::result::Result<Feedback, String> {
    let names = |key: &str| -> Option<Vec<&str>> { file[key].as_array()?.iter().map(Value::as_str).collect() };
    let coordinates: Vec<&str> = model.system.coordinates.iter().map(|c| c.name.as_str()).collect();
    let controls: Vec<&str> = model.problem.controls.iter().map(|c| c.name.as_str()).collect();
    for (key, ours) in [("coordinates", &coordinates), ("controls", &controls)] {
        let theirs = names(key).ok_or_else(|| format!("it has no `{key}`"))?;
        if theirs != **ours {
            return Err(format!("its {key} are {theirs:?}, and those of the model are {ours:?}"));
        }
    }
    if file["mechanics_hash"].as_str() != Some(&model.mechanics_hash()) {
        return Err("it is of other mechanics: the Lagrangian, a force, a wall or a constraint differs".into());
    }
    let plain = model.plain_parameters();
    let theirs = numbers(&file["parameters"]).ok_or("its `parameters` are not numbers")?;
    if plain.iter().zip(&theirs).any(|(ours, theirs)| ours.value != *theirs) {
        aside(&style::note("the parameters are not those of the plan"));
    }
    let method = file["method"].as_str().ok_or("it has no `method`")?.to_string();
    let until = file["t_end"].as_f64().filter(|t| *t > 0.0).ok_or("its `t_end` is not a positive number")?;
    let shape = Shape { size: 2 * model.system.free().len(), controls: controls.len() };
    let mut all = shape.nodes(file, "")?;
    let phases = file["phases"].as_array().filter(|phases| !phases.is_empty()).ok_or("it has no `phases`")?;
    let mut tracks = Vec::new();
    for (number, phase) in phases.iter().enumerate() {
        let place = format!("phases[{number}].");
        let steps = phase["steps"]
            .as_u64()
            .filter(|steps| *steps > 0)
            .ok_or(format!("its `{place}steps` is not a positive number"))?;
        if steps as usize > all.t.len() {
            return Err(format!("its lists are too short for the steps of its phases, from `{place}steps` on"));
        }
        tracks.push(shape.track(phase, &place, &mut all, steps as usize, model)?);
    }
    if !all.t.is_empty() {
        return Err("its lists are too long for the steps of its phases".into());
    }
    let entry = |key: &str| {
        let list = numbers(&file["start"][key]).filter(|list| list.len() == coordinates.len());
        list.ok_or_else(|| format!("its `start.{key}` is not a list of {} numbers", coordinates.len()))
    };
    let start = PlannedStart { q: entry("q")?, v: entry("v")?, p: entry("p")? };
    let limits = model.problem.controls.iter().map(|control| [control.span.min, control.span.max]).collect();
    Ok(Feedback { method, until, start, tracks, limits })
}

/// The lengths of lists.
struct Shape {
    /// The entries of a state.
    size: usize,
    controls: usize,
}

impl Shape {
    /// `t`, `z`, `u` and `K` at a place.
    fn nodes(&self, value: &Value, place: &str) -> std::result::Result<Track, String> {
        let list = |key: &str| value[key].as_array().ok_or_else(|| format!("it has no list `{place}{key}`"));
        let t = numbers(&value["t"]).ok_or_else(|| format!("its `{place}t` is not a list of numbers"))?;
        for key in ["z", "u", "K"] {
            let count = list(key)?.len();
            if count != t.len() {
                return Err(format!("its `{place}{key}` has {count} entries, and `{place}t` has {}", t.len()));
            }
        }
        let rows = |key: &str, length: usize| {
            let row = |(k, row): (usize, &Value)| {
                let row = numbers(row).filter(|row| row.len() == length);
                row.ok_or_else(|| format!("its `{place}{key}[{k}]` is not a list of {length} numbers"))
            };
            list(key)?.iter().enumerate().map(row).collect::<std::result::Result<Vec<_>, String>>()
        };
        let gain = |(k, value): (usize, &Value)| {
            let rows = value.as_array().filter(|rows| rows.len() == self.controls);
            let rows = rows.and_then(|rows| rows.iter().map(numbers).collect::<Option<Vec<_>>>());
            let rows = rows.filter(|rows| rows.iter().all(|row| row.len() == self.size));
            rows.ok_or_else(|| {
                format!("its `{place}K[{k}]` is not a matrix of {} × {} numbers", self.controls, self.size)
            })
        };
        let gain = list("K")?.iter().enumerate().map(gain).collect::<std::result::Result<_, String>>()?;
        Ok(Track { z: rows("z", self.size)?, u: rows("u", self.controls)?, gain, t, ..Track::default() })
    }

    /// A phase, whose nodes are the next `steps` of `all`.
    fn track(
        &self,
        phase: &Value,
        place: &str,
        all: &mut Track,
        steps: usize,
        model: &Model,
    ) -> std::result::Result<Track, String> {
        let mut track = self.nodes(&phase["before"], &format!("{place}before."))?;
        let after = self.nodes(&phase["after"], &format!("{place}after."))?;
        track.first = track.t.len();
        track.t.extend(all.t.drain(..steps));
        track.z.extend(all.z.drain(..steps));
        track.u.extend(all.u.drain(..steps));
        track.gain.extend(all.gain.drain(..steps));
        track.last = track.t.len();
        let end = &phase["end"];
        let z = numbers(&end["z"]).filter(|z| z.len() == self.size);
        let (Some(t), Some(z)) = (end["t"].as_f64(), z) else {
            return Err(format!("its `{place}end` has no `t`, or no `z` of {} numbers", self.size));
        };
        // From the end on the last control and the last gain remain.
        let (u, gain) = (track.u[track.last - 1].clone(), track.gain[track.last - 1].clone());
        track.t.push(t);
        track.z.push(z);
        track.u.push(u);
        track.gain.push(gain);
        track.t.extend(after.t);
        track.z.extend(after.z);
        track.u.extend(after.u);
        track.gain.extend(after.gain);
        track.wall = match &phase["impact"] {
            Value::Null => None,
            name => {
                let found = model.system.walls.iter().position(|wall| Some(wall.name.as_str()) == name.as_str());
                Some(found.ok_or_else(|| format!("the model has no wall {name}, which its `{place}impact` names"))?)
            }
        };
        let h = track.step();
        let is_even = |pair: &[f64]| (pair[1] - pair[0] - h).abs() <= SAME * h;
        if !(h > 0.0 && track.t.windows(2).all(is_even)) {
            return Err(format!("the times of `{place}` are not at equal distances"));
        }
        Ok(track)
    }
}

/// A list of finite numbers.
fn numbers(value: &Value) -> Option<Vec<f64>> {
    value.as_array()?.iter().map(Value::as_f64).collect()
}
