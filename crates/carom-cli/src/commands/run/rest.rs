//! Output of the times at which walls begin and cease to hold the motion.

use carom::{Holding, Model};

use super::report::significant;
use crate::json::{Object, list_of};
use crate::style::visible;

/// The number of changes shown on a terminal.
const SHOWN: usize = 10;

/// The changes as JSON.
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

/// The changes as lines of the summary.
pub fn summary(model: &Model, holdings: &[Holding]) -> String {
    let mut text = String::new();
    for holding in holdings.iter().take(SHOWN) {
        let what = if holding.begins { "rests on" } else { "leaves" };
        let name = visible(&model.system.walls[holding.wall].name);
        text += &format!("{what} `{name}` at t = {}\n", significant(holding.t, Some(holding.t)));
    }
    if holdings.len() > SHOWN {
        text += &format!("… {} changes of contact in total\n", holdings.len());
    }
    text
}
