//! Gains in a file: `carom optimize --feedback` writes it, and `carom run --follow` reads it.

mod read;

use carom::lab::feedback::Design;
use carom::lab::run::Track;
use carom::{Answer, Model};

pub use read::read;

use super::run::restart::origin;
use crate::json::{Object, list_of, number, text};

/// Gains as JSON. `t`, `z`, `u` and `K` have one entry for each step of the plan; a step after an impact begins with the state after
/// it. `phases` has the ends of the phases, and the nodes before and after them by which the reference goes on.
pub fn write(model: &Model, answer: &Answer, design: &Design) -> String {
    let feedback = &design.feedback;
    let mut all = Lists::default();
    let mut phases = Vec::new();
    for (track, stage) in feedback.tracks.iter().zip(&model.problem.phases) {
        all.add(track, track.first..track.last);
        let lists = |nodes| Lists::of(track, nodes).object(Object::default()).finish();
        let wall = track.wall.map_or("null".into(), |wall| text(&model.system.walls[wall].name));
        let end = Object::default().number("t", track.t[track.last]).numbers("z", &track.z[track.last]);
        phases.push(
            Object::default()
                .text("name", &stage.name)
                .raw("steps", &(track.last - track.first).to_string())
                .raw("impact", &wall)
                .raw("end", &end.finish())
                .raw("before", &lists(0..track.first))
                .raw("after", &lists(track.last + 1..track.t.len()))
                .finish(),
        );
    }
    let controls: Vec<String> = model.problem.controls.iter().map(|control| text(&control.name)).collect();
    let [state, control, end] = &design.weights;
    let weights = Object::default().numbers("state", state).numbers("control", control).numbers("final", end);
    let start = &feedback.start;
    let start = Object::default().numbers("q", &start.q).numbers("v", &start.v).numbers("p", &start.p);
    let object = Object::default().text("model", &model.title).text("method", &answer.method);
    let object = all.object(object.number("t_end", feedback.until)).raw("phases", &list_of(&phases));
    let object = object.raw("start", &start.finish()).raw("controls", &list_of(&controls));
    origin(object.raw("weights", &weights.finish()), model).finish() + "\n"
}

/// `t`, `z`, `u` and `K` of some nodes.
#[derive(Default)]
struct Lists {
    t: Vec<String>,
    z: Vec<String>,
    u: Vec<String>,
    k: Vec<String>,
}

impl Lists {
    fn of(track: &Track, nodes: std::ops::Range<usize>) -> Lists {
        let mut lists = Lists::default();
        lists.add(track, nodes);
        lists
    }

    fn add(&mut self, track: &Track, nodes: std::ops::Range<usize>) {
        for k in nodes {
            self.t.push(number(track.t[k]));
            self.z.push(numbers(&track.z[k]));
            self.u.push(numbers(&track.u[k]));
            self.k.push(list_of(&track.gain[k].iter().map(|row| numbers(row)).collect::<Vec<_>>()));
        }
    }

    fn object(&self, object: Object) -> Object {
        let [t, z, u, k] = [&self.t, &self.z, &self.u, &self.k].map(|list| list_of(list));
        object.raw("t", &t).raw("z", &z).raw("u", &u).raw("K", &k)
    }
}

fn numbers(values: &[f64]) -> String {
    list_of(&values.iter().map(|&x| number(x)).collect::<Vec<_>>())
}
