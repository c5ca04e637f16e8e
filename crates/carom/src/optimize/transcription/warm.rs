//! Starts from an earlier answer, on this mesh or another.

use super::program::Form;
use super::{Found, PlannedState, Transcription};

/// Sets the variable that a form is.
fn set(x: &mut [f64], form: &Form, value: f64) {
    if let [(variable, a)] = form.terms[..] {
        x[variable] = (value - form.constant) / a;
    }
}

impl Transcription<'_> {
    /// A start like an earlier answer of the same problem, whose phases had these numbers of steps.
    pub(in crate::optimize) fn start_like(&mut self, found: &Found, steps: &[usize]) -> Vec<f64> {
        let mut x = self.program.start.clone();
        let free = self.model.system.free();
        self.durations.iter().zip(&found.durations).for_each(|(form, &duration)| set(&mut x, form, duration));
        let pick = |all: &[f64]| free.iter().map(|&i| all[i]).collect::<Vec<f64>>();
        let mut set_all = |forms: &[Form], values: &[f64]| {
            forms.iter().zip(values).for_each(|(form, &value)| set(&mut x, form, value));
        };
        set_all(&self.q[0], &pick(&found.nodes[0].q));
        self.start_v.iter().for_each(|v| set_all(v, &pick(&found.nodes[0].v)));
        self.start_p.iter().for_each(|p| set_all(p, &pick(&found.nodes[0].p)));
        let (mut hits, mut first) = (found.hits.iter(), 0);
        for (phase, &coarse) in steps.iter().enumerate() {
            let fine = self.steps[phase];
            let h = found.durations[phase] / coarse as f64;
            // Where a phase begins, the node has the state before its event.
            let after =
                if phase == 0 { None } else { found.hits.iter().find(|hit| hit.before.t == found.nodes[first].t) };
            let state = |k: usize| {
                if k == 0 { after.map_or(&found.nodes[first], |hit| &hit.after) } else { &found.nodes[first + k] }
            };
            let at = |s: f64| {
                let s = s * coarse as f64 / fine as f64;
                let k = (s as usize).min(coarse - 1);
                pick(&hermite(state(k), state(k + 1), h, s - k as f64))
            };
            for (local, k) in self.steps_of(phase).enumerate() {
                let source = first + (2 * local + 1) * coarse / (2 * fine);
                let u: Vec<f64> = found.controls.iter().map(|control| control[source]).collect();
                set_all(&self.u[k], &u);
                let inner: Vec<f64> = self.inner_times.iter().flat_map(|c| at(local as f64 + c)).collect();
                set_all(&self.inner_points[k], &inner);
                set_all(&self.q[k + 1], &at(local as f64 + 1.0));
            }
            let held: Vec<_> =
                found.holds.iter().filter(|held| held.phase == phase && held.catch_impulse.is_none()).collect();
            for (k, forms) in self.held[phase].iter().enumerate() {
                let source = ((k + 1) * coarse / fine).saturating_sub(1);
                let scale = coarse as f64 / fine as f64;
                let value = |impulses: &Vec<f64>| impulses.get(source.min(impulses.len().saturating_sub(1))).copied();
                let values: Vec<f64> = held.iter().map(|held| scale * value(&held.impulses).unwrap_or(0.0)).collect();
                set_all(forms, &values);
            }
            first += coarse;
            let end = &found.nodes[first];
            self.events[phase].minus.iter().for_each(|v| set_all(v, &pick(&end.v)));
            let hit = self.lambdas[phase].as_ref().and_then(|form| Some((form, hits.next()?)));
            let is_last = phase + 1 == steps.len();
            if let Some((form, hit)) = hit {
                set_all(std::slice::from_ref(form), &[hit.lambda]);
                self.events[phase].plus.iter().for_each(|v| set_all(v, &pick(&hit.after.v)));
            } else {
                let v = if is_last { &found.last.v } else { &end.v };
                self.events[phase].plus.iter().for_each(|forms| set_all(forms, &pick(v)));
            }
            let caught = found.holds.iter().filter(|held| held.phase == phase).filter_map(|held| held.catch_impulse);
            set_all(&self.catches[phase], &caught.collect::<Vec<_>>());
        }
        self.program.reset_slacks(&mut x);
        x
    }

    /// The guess with a smooth disturbance of each coordinate.
    pub(in crate::optimize) fn disturbed_start(&mut self, x: &[f64], mut dice: impl FnMut() -> f64) -> Vec<f64> {
        let mut x = x.to_vec();
        let total = self.total();
        for i in 0..self.n() {
            let waves = [dice(), dice(), dice()];
            for (node, point) in self.q.iter().enumerate() {
                let s = node as f64 / total as f64 * std::f64::consts::PI;
                let wave: f64 =
                    waves.iter().enumerate().map(|(k, a)| a * ((k + 1) as f64 * s).sin() / (k + 1) as f64).sum();
                if let [(variable, _)] = point[i].terms[..] {
                    x[variable] += wave;
                }
            }
        }
        self.program.reset_slacks(&mut x);
        x
    }
}

/// q between two states a time h apart, at the part s: a cubic with their velocities.
fn hermite(a: &PlannedState, b: &PlannedState, h: f64, s: f64) -> Vec<f64> {
    let r = 1.0 - s;
    let [pa, pb, ta, tb] = [r * r * (1.0 + 2.0 * s), s * s * (3.0 - 2.0 * s), s * r * r, -s * s * r];
    let point = |i: usize| pa * a.q[i] + pb * b.q[i] + h * (ta * a.v[i] + tb * b.v[i]);
    (0..a.q.len()).map(point).collect()
}
