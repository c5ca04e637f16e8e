//! Selection of the walls against which the motion presses.

use crate::impact::share;

/// A wall against which the motion presses, by its index in the list of touching walls.
pub(super) struct Pressed {
    pub(super) number: usize,
    pub(super) force: f64,
}

/// The walls against which the motion presses: those in `low`, and those that close under the forces of other walls. (Two
/// balls in free fall do not press against each other; once the floor stops the lower one, they do.) `is_low` decides whether
/// such a wall qualifies, by φ̈ of all walls; `size` is the norm of the free acceleration in the mass metric.
pub(super) fn press(
    w: &[f64],
    free: &[f64],
    size: f64,
    low: Vec<usize>,
    is_low: impl Fn(usize, &[f64]) -> bool,
) -> Option<Vec<Pressed>> {
    let m = free.len();
    let mut pressed: Vec<Pressed> = low.into_iter().map(|number| Pressed { number, force: 0.0 }).collect();
    loop {
        let row = |i: usize| pressed.iter().map(move |wall| w[i * m + wall.number]);
        let matrix: Vec<f64> = pressed.iter().flat_map(|wall| row(wall.number)).collect();
        let demand: Vec<f64> = pressed.iter().map(|wall| -free[wall.number]).collect();
        let forces = share(&matrix, &demand, |_| size)?;
        let pushed = |i: usize| free[i] + row(i).zip(&forces).map(|(w, force)| w * force).sum::<f64>();
        let pushed: Vec<f64> = (0..m).map(pushed).collect();
        let others = (0..m).filter(|i| pressed.iter().all(|wall| wall.number != *i));
        let more: Vec<usize> = others.filter(|&i| pushed[i] < 0.0 && is_low(i, &pushed)).collect();
        pressed.iter_mut().zip(forces).for_each(|(wall, force)| wall.force = force);
        if more.is_empty() {
            return Some(pressed);
        }
        pressed.extend(more.into_iter().map(|number| Pressed { number, force: 0.0 }));
    }
}
