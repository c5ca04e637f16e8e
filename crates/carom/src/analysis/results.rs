//! The quantities that are differentiated, at the end of a run and at its events.

use std::sync::Arc;

use super::forward::Forward;
use super::names::Of;
use crate::error::Result;
use crate::model::Model;
use crate::tangent::{ImpactTangent, Matrix, OutputCode, Tangent, TangentCode, add};

/// The compiled quantities.
pub(super) struct Quantities {
    /// All coordinates, velocities, momenta and outputs.
    pub(super) state: Arc<OutputCode>,
    /// True for each output that contains no force of a wall.
    known: Vec<bool>,
    coordinates: usize,
    /// The running cost, if the objective has one and is asked for.
    pub(super) running: Option<Arc<OutputCode>>,
    /// The places of the free coordinates; none if there are driven ones.
    free: Vec<Option<usize>>,
}

impl Quantities {
    pub(super) fn new(model: &Model, code: &TangentCode, wants_objective: bool) -> Result<Quantities> {
        let (free, n) = (model.system.free(), model.system.coordinates.len());
        let (slopes, running) = (code.slopes(), model.running_cost().filter(|_| wants_objective));
        Ok(Quantities {
            state: slopes.functions(&model.functions_of_state(wants_objective))?,
            known: model.outputs_of_state(),
            running: running.map(|running| slopes.functions(&running)).transpose()?,
            coordinates: n,
            free: (0..n).map(|i| free.iter().position(|&k| k == i)).collect(),
        })
    }

    /// The row of a quantity at the end among [`Quantities::state`]; none if it is not known.
    pub(super) fn row(&self, of: Of) -> Option<usize> {
        match of {
            Of::Final(component, i) => Some(i + self.coordinates * component as usize),
            Of::Output(i) if self.known[i] => Some(3 * self.coordinates + i),
            Of::Objective => Some(3 * self.coordinates + self.known.len()),
            _ => None,
        }
    }

    /// A coordinate at an impact with its derivatives; none for a driven one.
    pub(super) fn place(&self, impact: &ImpactTangent, i: usize) -> Option<(f64, Vec<f64>)> {
        let place = self.free[i]?;
        Some((impact.minus.q()[place], impact.dq.row(place).to_vec()))
    }

    /// The value and the derivatives of each quantity, from the derivatives beside the state.
    pub(super) fn all(&self, of: &[Of], forward: &mut Forward, has_end: bool) -> Vec<(f64, Vec<f64>)> {
        let columns = forward.by.len();
        let missing = || (f64::NAN, vec![f64::NAN; columns]);
        let last = forward.last.clone().filter(|_| has_end);
        let end = last.and_then(|(z, holding)| forward.tangent.look(&self.state, &z, &holding).ok());
        let one = |of: Of| -> Option<(f64, Vec<f64>)> {
            Some(match of {
                Of::Final(..) | Of::Output(_) => {
                    let ((values, slopes), row) = (end.as_ref()?, self.row(of)?);
                    (values[row], total(slopes.row(row), &forward.d, &forward.end_time, forward))
                }
                Of::Objective => {
                    let ((values, slopes), row) = (end.as_ref()?, self.row(of)?);
                    let mut sum = total(slopes.row(row), &forward.d, &forward.end_time, forward);
                    add(&mut sum, 1.0, &forward.cost_slopes);
                    (values[row] + forward.cost, sum)
                }
                Of::ImpactTime(k) => {
                    let impact = forward.events.impacts.get(k)?;
                    (impact.about.minus.t, impact.dt.clone())
                }
                Of::ImpactLambda(k) => {
                    let impact = forward.events.impacts.get(k)?;
                    (impact.about.lambda, impact.dlambda.clone())
                }
                Of::ImpactQ(k, i) => {
                    let (impact, place) = (forward.events.impacts.get(k)?, self.free[i]?);
                    (impact.about.minus.q()[place], impact.dq.row(place).to_vec())
                }
                Of::Rest(k) => {
                    let change = forward.events.changes.get(k)?;
                    (change.t, change.dt.clone())
                }
            })
        };
        of.iter().map(|&of| one(of).unwrap_or_else(missing)).collect()
    }

    /// Why there is no derivative of a quantity.
    pub(super) fn why_missing(&self, of: Of, model: &Model, impacts: usize, changes: usize) -> Option<String> {
        match of {
            Of::Output(i) if !self.known[i] => {
                let name = &model.outputs[i].name;
                Some(format!("the output `{name}` contains the force of a wall, whose derivative is not known"))
            }
            Of::ImpactTime(k) | Of::ImpactLambda(k) | Of::ImpactQ(k, _) if k >= impacts => {
                Some(format!("there is no `impacts[{k}]`: the run has {impacts}"))
            }
            Of::ImpactQ(_, i) if self.free[i].is_none() => Some(format!(
                "`{}` is driven: its value at an impact follows from the time",
                model.system.coordinates[i].name
            )),
            Of::Rest(k) if k >= changes => {
                Some(format!("there is no `rest[{k}]`: the run has {changes} changes of contact"))
            }
            _ => None,
        }
    }
}

/// Slopes by (z, t, θ) as derivatives by the variables.
fn total(slopes: &[f64], d: &Matrix, dt: &[f64], forward: &Forward) -> Vec<f64> {
    let (mut sum, size) = (vec![0.0; dt.len()], d.rows());
    slopes[..size].iter().enumerate().for_each(|(j, x)| add(&mut sum, *x, d.row(j)));
    add(&mut sum, slopes[size], dt);
    if let Some(seeds) = &forward.seeds {
        let by_theta = slopes[size + 1..].iter().zip(seeds.slots.now());
        by_theta.for_each(|(x, &slot)| add(&mut sum, *x, seeds.theta.row(slot)));
    }
    sum
}

/// The tangent of a simulation, ready for its parameters.
pub(super) fn tangent_of(scheme: &crate::step::Scheme, code: &Arc<TangentCode>, parameters: &[f64]) -> Result<Tangent> {
    let mut tangent = Tangent::new(scheme, code)?;
    tangent.begin(parameters);
    Ok(tangent)
}
