//! The initial state of a run.

use std::sync::{Arc, PoisonError};

use super::{From, Simulation};
use crate::error::{Diagnostic, Result};
use crate::model::{Model, QuickStart, Start};
use crate::phase::{Flow, MOMENTS, Phase};
use crate::plant::{FirstStep, aim, two_states};
use crate::step::{Memory, Scheme, State};

/// A start of the model that was checked.
pub(super) struct Checked {
    model: Arc<Model>,
    /// Evaluates the start for new parameters without a new check, if the start allows it.
    quick: Option<QuickStart>,
    method: String,
    step: f64,
    begin: Begin,
}

impl Checked {
    fn new(simulation: &Simulation, scheme: &Scheme, step: f64, quick: Option<QuickStart>, begin: &Begin) -> Checked {
        let (model, method) = (simulation.model.clone(), scheme.method.name.clone());
        Checked { model, quick, method, step, begin: begin.clone() }
    }
}

/// The initial state of a run.
#[derive(Clone)]
pub(super) struct Begin {
    pub(super) state: State,
    /// True if it is the final state of an earlier run.
    pub(super) is_resumed: bool,
    /// The start of the model, if the run begins there.
    pub(super) start: Option<Start>,
}

impl Simulation {
    /// Evaluates and checks the initial state of a run with this step.
    pub(super) fn start_state(&self, scheme: &Scheme, step: f64) -> Result<Begin> {
        let evaluator = || {
            let mut evaluator = scheme.plant.evaluator();
            evaluator.set_parameters(&self.parameters);
            evaluator
        };
        let new = |z| State::new(self.parameters.clone(), z);
        Ok(match &self.from {
            From::State(state) => Begin { state: fitting(state.clone(), scheme, self)?, is_resumed: true, start: None },
            From::Phase(z) => Begin { state: fitting(new(z.clone()), scheme, self)?, is_resumed: false, start: None },
            From::All { t, q, p } => {
                Begin { state: new(evaluator().free_phase(*t, q, p)), is_resumed: false, start: None }
            }
            From::Model => {
                let mut last = self.compiled.start.lock().unwrap_or_else(PoisonError::into_inner);
                if let Some(known) = last.as_ref().filter(|known| self.is_known(known, &scheme.method.name, step)) {
                    return Ok(known.begin.clone());
                }
                let known = last.take().filter(|known| Arc::ptr_eq(&known.model, &self.model));
                let mut quick = known.and_then(|known| known.quick);
                if let Some(start) = quick.as_ref().and_then(|quick| quick.start(&self.parameters)) {
                    let state = new(Phase::new(0.0, &start.q, &start.p));
                    let begin = Begin { state, is_resumed: false, start: Some(start) };
                    *last = Some(Checked::new(self, scheme, step, quick, &begin));
                    return Ok(begin);
                }
                let model = self.current_model();
                let mut start = model.start()?;
                // Warnings and notes may change with the parameters.
                if quick.is_none() && start.warnings.is_empty() && start.notes.is_empty() {
                    quick = QuickStart::new(&self.model);
                }
                // Use the quick evaluation also here, so that parameters that are set later give the same bits.
                if let Some(same) = quick.as_ref().and_then(|quick| quick.start(&self.parameters)) {
                    start = same;
                }
                let mut evaluator = evaluator();
                let state = new(evaluator.free_phase(0.0, &start.q, &start.p));
                let state = match &start.next {
                    None => state,
                    Some(q1) => two_configurations(&model, scheme, state, &evaluator.free_of(q1), step)?,
                };
                let begin = Begin { state, is_resumed: false, start: Some(start) };
                *last = Some(Checked::new(self, scheme, step, quick, &begin));
                begin
            }
        })
    }

    fn is_known(&self, known: &Checked, method: &str, step: f64) -> bool {
        let same_step = known.begin.start.as_ref().is_some_and(|start| start.next.is_none()) || known.step == step;
        Arc::ptr_eq(&known.model, &self.model)
            && known.begin.state.parameters == self.parameters
            && known.method == method
            && same_step
    }
}

/// The state, or an error if it is not one of this system: its lengths, or the walls that hold it.
fn fitting(state: State, scheme: &Scheme, simulation: &Simulation) -> Result<State> {
    let facts = scheme.plant.facts();
    let size = facts.nowhere().z.len();
    let remembers = match &state.memory {
        Memory::None | Memory::Window(_) => true,
        Memory::Path { side, z } => *side < 2 && z.z.len() == size,
        Memory::FirstStep { end, impulses } => end.z.len() == size && impulses.len() == facts.is_one_point.len(),
        Memory::Explicit(progress) => {
            [&progress.v, &progress.low, &progress.high, &progress.roots].iter().all(|column| 2 * column.len() == size)
                && progress.touched.is_none_or(|wall| wall < facts.walls)
        }
        Memory::Control(control) => {
            let past = &control.past;
            let fits = past.h == 0.0 || past.rates.len() == MOMENTS * facts.n;
            fits && [control.extent.len(), control.roots.len()] == [facts.n; 2]
        }
    };
    let rises = state.holding.windows(2).all(|pair| pair[0] < pair[1]);
    let holds = rises && state.holding.last().is_none_or(|&wall| wall < facts.walls);
    let parameters = simulation.model.system.parameters.len();
    if remembers && holds && state.z.z.len() == size && state.parameters.len() == parameters {
        return Ok(state);
    }
    let error = Diagnostic::new("the state to start from is not one of this model and method");
    Err(error.with_help("resume with the model and the method of the earlier run").into())
}

/// The state of a start that is given by two configurations.
fn two_configurations(model: &Model, scheme: &Scheme, state: State, q1: &[f64], step: f64) -> Result<State> {
    let (mechanics, values) = (scheme.plant.lagrangian()?, model.parameter_values());
    let parameters = Arc::clone(&state.parameters);
    if mechanics.tangent_constraints().len() < mechanics.constraints.len() {
        let q = [state.z.q(), q1];
        let FirstStep { begin, end, impulses } = two_states(mechanics, &values, &scheme.method.flow, q, step)?;
        return Ok(State { memory: Memory::FirstStep { end, impulses }, ..State::new(parameters, begin) });
    }
    let mut flow: Box<dyn Flow> = scheme.plant.flow(&scheme.method.flow)?;
    let mut evaluator = scheme.plant.evaluator();
    flow.set_parameters(&parameters);
    evaluator.set_parameters(&parameters);
    let z = aim(mechanics, &values, &mut *flow, &mut *evaluator, state.z, q1, step)?;
    Ok(State { memory: Memory::None, ..State::new(parameters, z) })
}
