//! A step that is much too large.

use carom::expr::eval;
use carom::mechanics::Mechanics;
use carom::model::Model;
use carom::system::time;

use crate::style::visible;

/// The energy of a conservative system may be off by this part of its scale.
const LARGE: f64 = 0.1;
/// Energies below this, relative to 1 + |H|, are rounding.
const ROUNDING: f64 = 1e-12;

/// What to tell of an energy that should have been kept: the largest |H − H(0)| is large beside the largest kinetic
/// energy, ½|p·v|. Nothing where forces, walls or the time may change the energy.
pub fn about_energy(model: &Model, [initial, _, drift]: [f64; 3], kinetic: f64, step: f64) -> Option<String> {
    let large = drift > LARGE * kinetic && drift > ROUNDING * (1.0 + initial.abs());
    if !(large || drift.is_nan()) || !is_conservative(model) {
        return None;
    }
    let by =
        if drift.is_nan() { "is not a number at some node".into() } else { format!("is off by up to {drift:.2e}") };
    let scale = if kinetic > 0.0 { format!(", where the kinetic energy reaches {kinetic:.2e}") } else { String::new() };
    Some(format!(
        "the energy should be kept, and {by}{scale}: the step is too large for this method\nhelp: try `--step {}`, or leave \
         `--step` and `--method` to carom; `carom compare` shows what a method needs",
        tenth(step)
    ))
}

/// What to tell of a wall that the steps did not see: its number, and when the motion was beyond it, or should have left it.
pub fn about_walls(model: &Model, missed: Option<(usize, f64)>, step: f64) -> Option<String> {
    let (wall, t) = missed?;
    let name = visible(&model.system.walls[wall].name);
    Some(format!(
        "the motion is beyond the wall `{name}` at t = {t:.6}, or rests on it though it should leave: the step is too large to see \
         that\nhelp: try `--step {}`",
        tenth(step)
    ))
}

/// A tenth of the step, with two digits.
fn tenth(step: f64) -> String {
    let rounded = format!("{:.1e}", 0.1 * step);
    rounded.parse::<f64>().map_or(rounded, |x| x.to_string())
}

/// Nothing changes H: no forces, no time in L, constraints and walls that stand still, walls that lose nothing.
fn is_conservative(model: &Model) -> bool {
    let mechanics = Mechanics::new(&model.system);
    let restitution: Vec<_> = model.system.walls.iter().map(|wall| wall.restitution).collect();
    let walls_keep_it = eval(&restitution, &model.parameter_values()).iter().all(|e| *e == 1.0);
    let constraints = mechanics.constraints.iter().map(|constraint| &constraint.g);
    let moves = mechanics.walls.iter().chain([&mechanics.l]).chain(constraints).any(|f| f.depends_on(&[time()]));
    mechanics.forces.is_none() && walls_keep_it && !moves
}
