//! Compares methods and steps with a reference motion of high order, which is computed once.
//!
//! ```
//! use carom::lab::compare::{ComparisonPlan, compare};
//! use carom::lab::model::Model;
//!
//! let text = carom::lab::catalogue::find("pendulum").unwrap().text;
//! let model = Model::from_text("pendulum", text, &[])?;
//! let comparison = compare(&model, &ComparisonPlan::new(&["cva", "gauss2"], None, &[0.02, 0.01], 1.0)?, &mut |_| {})?;
//! let order = |row: usize| comparison.rows[row].order.unwrap();
//! assert!((order(1) - 2.0).abs() < 0.1 && (order(3) - 4.0).abs() < 0.1);
//! # Ok::<(), carom::lab::error::Error>(())
//! ```

mod clock;
mod exact;
mod recorded;

pub use clock::{Stopwatch, kind_of_time};
pub use exact::Exact;
pub use recorded::Recorded;

use std::time::Instant;

use crate::error::{Diagnostic, Error, Result};
use crate::mechanics::Mechanics;
use crate::method::Method;
use crate::model::Model;
use crate::modified::{Shadow, check_conservative};
use crate::phase::Flow;
use crate::run::Status;
use crate::simulation::Simulation;
use crate::solve::larger;

/// The largest number of steps of a mesh.
const MOST_STEPS: f64 = 1e7;

/// The methods and steps to compare.
pub struct ComparisonPlan {
    /// The methods.
    pub methods: Vec<Method>,
    /// The steps h.
    pub steps: Vec<f64>,
    /// The end time.
    pub until: f64,
}

/// The result for one method and one step.
#[derive(Clone, Debug)]
pub struct ComparisonRow {
    /// The method.
    pub method: String,
    /// The step h.
    pub step: f64,
    /// The measures, or the reason why the method could not be run.
    pub measures: std::result::Result<Measures, String>,
    /// The observed order of the L² error, from this row and the row with the previous step.
    pub order: Option<f64>,
}

/// The measures of a run.
#[derive(Clone, Debug)]
pub struct Measures {
    /// The L² error of the trajectory, sqrt(h Σ |q_k − q(t_k)|²) over the nodes.
    pub l2: f64,
    /// The largest |H − H(0)| over the nodes.
    pub energy_drift: f64,
    /// The largest |H̃ − H̃(0)| over the nodes of the mesh, if the flow has a shadow Hamiltonian H̃. H̃ is that of [`Shadow`]
    /// with m = 8, averaged over 10 nodes on each side. Each value comes from full steps from the node alone, continued through
    /// walls, so nodes near an impact need no special treatment. H̃ itself has an error if the step hardly resolves the motion:
    /// 3e-3 in the spikes of the double pendulum at h = 0.058, with any flow.
    pub shadow_drift: Option<f64>,
    /// The number of impacts.
    pub impacts: usize,
    /// The largest error of an impact time. Impacts of this run and of the reference motion are paired in order; unpaired ones
    /// are ignored.
    pub impact_time_error: Option<f64>,
    /// The number of steps.
    pub steps: usize,
    /// The CPU time of one run in seconds: the minimum over several runs, without compilation and without a watcher. See
    /// [`Stopwatch`].
    pub seconds: f64,
}

/// All rows, and the accuracy of the reference motion.
#[derive(Clone, Debug)]
pub struct Comparison {
    /// Method by method, step by step.
    pub rows: Vec<ComparisonRow>,
    /// The estimated error of the reference motion, over all meshes. Smaller L² errors are not significant.
    pub exact_error: f64,
    /// The number of impacts of the reference motion.
    pub exact_impacts: usize,
}

impl ComparisonPlan {
    /// Selects methods by name, with α for the generalized midpoint rule. Returns an error if there is nothing to compare.
    pub fn new(methods: &[&str], alpha: Option<f64>, steps: &[f64], until: f64) -> Result<ComparisonPlan> {
        let wrong = |message: String, help: &str| Error::from(Diagnostic::new(message).with_help(help));
        if methods.is_empty() {
            return Err(wrong("there are no methods to compare".into(), "give some, such as `cva,gauss4`"));
        }
        if steps.is_empty() {
            return Err(wrong("there are no steps to compare".into(), "give some, such as `0.02,0.01`"));
        }
        let unusable = |x: f64| !(x > 0.0 && x.is_finite());
        if let Some(step) = steps.iter().find(|step| unusable(**step)) {
            return Err(wrong(format!("a step must be positive, not {step}"), "a step is a time, such as 0.01"));
        }
        if unusable(until) {
            return Err(wrong(format!("the end time must be positive, not {until}"), "it is a time, such as 10"));
        }
        if let Some(step) = steps.iter().find(|step| until / **step > MOST_STEPS) {
            let message = format!("the step {step} takes more than {MOST_STEPS:e} steps up to t = {until}");
            return Err(wrong(message, "all nodes are kept in memory: give a larger step or an earlier end time"));
        }
        let methods = methods.iter().map(|name| Method::named(name, alpha)).collect::<Result<_>>()?;
        Ok(ComparisonPlan { methods, steps: steps.to_vec(), until })
    }
}

/// Runs each method with each step. Calls `tell` with a progress message.
///
/// If a method cannot run the model or fails, its row has the reason.
pub fn compare(model: &Model, plan: &ComparisonPlan, tell: &mut dyn FnMut(&str)) -> Result<Comparison> {
    tell("the reference motion");
    let motions = Exact::on_meshes(model, &plan.steps, plan.until)?;
    let mut rows: Vec<ComparisonRow> = Vec::new();
    for method in &plan.methods {
        let mut last: Option<(f64, f64)> = None;
        for (&step, exact) in plan.steps.iter().zip(&motions) {
            tell(&format!("{} at h = {step}", method.name));
            let measures = measure(model, method, step, exact).map_err(|error| in_one_line(&error));
            let point = measures.as_ref().ok().map(|measures| (step, measures.l2));
            let order = last.zip(point).map(|((h0, e0), (h1, e1))| (e0 / e1).ln() / (h0 / h1).ln());
            let order = order.filter(|order| order.is_finite());
            last = point;
            rows.push(ComparisonRow { method: method.name.clone(), step, measures, order });
        }
    }
    let exact_error = motions.iter().map(|exact| exact.error).fold(0.0, larger);
    Ok(Comparison { rows, exact_error, exact_impacts: motions[0].impact_times.len() })
}

fn in_one_line(error: &Error) -> String {
    match error {
        Error::Model(diagnostic) => diagnostic.message.clone(),
        Error::Numerical(failure) => format!("failed at t = {:.4}: {}", failure.t, failure.message),
    }
}

fn measure(model: &Model, method: &Method, step: f64, exact: &Exact) -> Result<Measures> {
    let simulation = Simulation::new(model, method, step, exact.until)?;
    let trajectory = Recorded::of(&simulation)?;
    if let Status::Failed(failure) = &trajectory.outcome.status {
        return Err((**failure).clone().into());
    }
    if trajectory.nodes.first().is_some_and(|z| z.q().len() != model.system.free().len()) {
        return Err(Diagnostic::new("the method eliminates constraints, so that its coordinates are others").into());
    }
    let times = trajectory.impacts.iter().zip(&exact.impact_times);
    let impact_time_error = times
        .map(|(impact, t)| (impact.minus.t - t).abs())
        .fold(None, |worst: Option<f64>, x| Some(worst.map_or(x, |w| larger(w, x))));
    Ok(Measures {
        l2: exact.l2_error(&trajectory),
        energy_drift: trajectory.outcome.energy.max_drift,
        shadow_drift: shadow_drift(&simulation, &trajectory, step)?,
        impacts: trajectory.impacts.len(),
        impact_time_error,
        steps: trajectory.outcome.steps,
        seconds: seconds(&simulation, 0.05)?,
    })
}

/// See [`Measures::shadow_drift`].
fn shadow_drift(simulation: &Simulation, trajectory: &Recorded, h: f64) -> Result<Option<f64>> {
    let ready = simulation.prepare()?;
    let (plant, method) = (ready.plant(), ready.method());
    if !method.flow.is_symplectic || check_conservative(&plant.facts().sources).is_err() {
        return Ok(None);
    }
    let mut flow = plant.flow(&method.flow)?;
    flow.set_parameters(ready.parameters());
    let values = trajectory.shadow(&mut Shadow::windowed(8, 10), &mut *flow, h);
    let Ok(values) = values else { return Ok(None) };
    Ok(Some(values.iter().map(|value| (value - values[0]).abs()).fold(0.0, larger)))
}

/// The flow of the full steps of a method, for a model.
pub fn build_flow(model: &Model, method: &Method, mechanics: &Mechanics) -> Result<Box<dyn Flow>> {
    let parameters: Vec<f64> = model.system.parameters.iter().map(|p| p.value).collect();
    method.flow.build(mechanics, &parameters)
}

/// The CPU time of one run: the minimum over at least three runs, or over as many as fit into `at_least` seconds. One run that takes
/// ten times as long is enough.
pub fn seconds(simulation: &Simulation, at_least: f64) -> Result<f64> {
    let ready = simulation.prepare()?;
    let (begin, mut least, mut runs) = (Instant::now(), f64::INFINITY, 0);
    while begin.elapsed().as_secs_f64() < if runs < 3 { 10.0 * at_least } else { at_least } {
        let watch = Stopwatch::start();
        ready.watch(&mut ())?;
        least = least.min(watch.seconds());
        runs += 1;
    }
    Ok(least)
}
