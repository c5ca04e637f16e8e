//! Walls that hold the motion, in what is said of a run.

use carom::{Holding, Model};

use crate::json::{Object, list_of};
use crate::style::visible;

/// So many are shown on a terminal.
const SHOWN: usize = 10;

/// As JSON: when a wall begins to hold, and when it lets go.
pub fn json(model: &Model, holdings: &[Holding]) -> String {
    let one = |holding: &Holding| {
        Object::default()
            .number("t", holding.t)
            .text("wall", &model.system.walls[holding.wall].name)
            .text("event", if holding.begins { "rest" } else { "release" })
            .finish()
    };
    list_of(&holdings.iter().map(one).collect::<Vec<_>>())
}

/// For the terminal.
pub fn summary(model: &Model, holdings: &[Holding]) -> String {
    let mut text = String::new();
    for holding in holdings.iter().take(SHOWN) {
        let what = if holding.begins { "rests on" } else { "leaves" };
        let name = visible(&model.system.walls[holding.wall].name);
        text += &format!("{what} `{name}` at t = {:.9}\n", holding.t);
    }
    if holdings.len() > SHOWN {
        text += &format!("… {} changes of contact in total\n", holdings.len());
    }
    text
}
