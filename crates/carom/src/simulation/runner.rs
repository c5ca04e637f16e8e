//! Repeated runs from one start.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::error::Result;
use crate::mechanics::Node;
use crate::plant::Evaluator;
use crate::run::{
    Accountant, Audience, Checkpoints, Constraints, Look, Mesh, Observer, Outcome, Sections, Stream, Tally, drive,
    failure,
};
use crate::step::{Scheme, State, StepLog, Stepper, Variant};

/// The mesh and the checks of one run.
#[derive(Clone, Copy, Debug)]
pub(super) struct Plan {
    /// The step h.
    pub(super) step: f64,
    /// The end time.
    pub(super) until: f64,
    /// The number of equally spaced times at which all walls are checked; 0 for none.
    pub(super) checkpoints: usize,
}

/// A stepper with its log, and the evaluators of the observers.
pub(super) struct Equipment {
    stepper: Box<dyn Stepper>,
    log: StepLog,
    look: Look,
}

/// Equipment of finished runs, reused by later ones: one for full steps, one for steps in halves.
#[derive(Default)]
pub(super) struct Pool([Mutex<Vec<Equipment>>; 4]);

impl Pool {
    fn of(&self, variant: Variant) -> MutexGuard<'_, Vec<Equipment>> {
        let shelf = match variant {
            Variant::Whole => 0,
            Variant::Halved => 1,
            Variant::Disturbed(seed) => 2 + (seed % 2) as usize,
        };
        self.0[shelf].lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn take(&self, scheme: &Scheme, variant: Variant) -> Result<Equipment> {
        let used = self.of(variant).pop();
        used.map_or_else(|| Equipment::new(scheme, variant), Ok)
    }

    fn give_back(&self, equipment: Equipment, variant: Variant) {
        self.of(variant).push(equipment);
    }
}

impl Equipment {
    fn new(scheme: &Scheme, variant: Variant) -> Result<Equipment> {
        let (evaluator, looker) = (scheme.plant.evaluator(), scheme.looker(variant)?);
        let facts = scheme.plant.facts();
        let look = Look { evaluator, looker, z: facts.nowhere() };
        let state = State::new(Arc::from([]), facts.nowhere());
        Ok(Equipment { stepper: scheme.stepper(variant)?, log: StepLog::new(&state, facts.is_one_point.len()), look })
    }
}

/// Makes runs from one start, with equipment taken from a pool.
pub(super) struct Runner<'a> {
    scheme: &'a Scheme,
    pool: &'a Pool,
    start: State,
    /// The start is the final state of an earlier run and includes the memory of its method.
    is_resumed: bool,
    sections: Sections,
}

impl<'a> Runner<'a> {
    pub(super) fn new(
        scheme: &'a Scheme,
        pool: &'a Pool,
        start: State,
        is_resumed: bool,
        sections: Sections,
    ) -> Runner<'a> {
        Runner { scheme, pool, start, is_resumed, sections }
    }

    /// The initial state.
    pub(super) fn start(&self) -> &State {
        &self.start
    }

    pub(super) fn run(&mut self, plan: Plan, audience: &mut [Audience]) -> Result<Outcome> {
        self.run_with(Variant::Whole, plan, audience)
    }

    /// Repeats a run with a smaller error: every step, including partial steps, is made in two halves. A shorter step alone
    /// would not change the partial step to an impact in the first step. If the stepper cannot halve its steps, the step is
    /// divided by `shorter`.
    pub(super) fn run_finer(&mut self, plan: Plan, shorter: f64, audience: &mut [Audience]) -> Result<Outcome> {
        if !self.scheme.can_halve()? {
            return self.run(Plan { step: shorter * plan.step, ..plan }, audience);
        }
        self.run_with(Variant::Halved, plan, audience)
    }

    /// Makes the run with one unit of roundoff more in every step; none where steps cannot be disturbed. Seeds 0 and 1 differ.
    pub(super) fn run_disturbed(
        &mut self,
        plan: Plan,
        seed: u64,
        audience: &mut [Audience],
    ) -> Result<Option<Outcome>> {
        if !self.scheme.can_disturb() {
            return Ok(None);
        }
        self.run_with(Variant::Disturbed(seed), plan, audience).map(Some)
    }

    /// Evaluates the system, with the parameters of the runs.
    pub(super) fn evaluator(&self) -> Box<dyn Evaluator> {
        let mut evaluator = self.scheme.plant.evaluator();
        evaluator.set_parameters(&self.start.parameters);
        evaluator
    }

    fn run_with(&mut self, variant: Variant, plan: Plan, audience: &mut [Audience]) -> Result<Outcome> {
        let mut equipment = self.pool.take(self.scheme, variant)?;
        let outcome = run(self, &mut equipment, plan, audience);
        self.pool.give_back(equipment, variant);
        outcome
    }
}

fn run(runner: &mut Runner, equipment: &mut Equipment, plan: Plan, audience: &mut [Audience]) -> Result<Outcome> {
    let Runner { scheme, start, is_resumed, sections, .. } = runner;
    let Equipment { stepper, log, look } = equipment;
    let facts = scheme.plant.facts();
    stepper.begin(&start.parameters);
    look.begin(&start.parameters);
    let mut state = start.clone();
    if !*is_resumed {
        stepper.start(&mut state, plan.step).map_err(|e| failure(e, &start.z))?;
    }
    let mesh = Mesh { start: state.z.t, step: plan.step, until: plan.until };
    let mut tally = Tally { is_driven: facts.is_driven, ..Tally::default() };
    let mut checkpoints = Checkpoints::new(mesh.start, plan.until, plan.checkpoints, facts.walls);
    let restitution = look.evaluator.restitution().to_vec();
    let mut streams: Vec<Stream> = Vec::with_capacity(audience.len());
    for Audience { watcher, every } in audience {
        let constraints =
            (!facts.is_one_point.is_empty()).then(|| Constraints::new(&facts.is_one_point, facts.nowhere()));
        let wanted = watcher.wants_account();
        let accountant = wanted.then(|| Accountant::new(facts, &restitution, scheme.order())).flatten();
        streams.push(Stream::new(&mut **watcher, constraints, accountant, *every, mesh));
    }
    let mut observers: Vec<&mut dyn Observer> = vec![&mut tally];
    if plan.checkpoints > 0 {
        observers.push(&mut checkpoints);
    }
    observers.extend(streams.iter_mut().map(|stream| stream as &mut dyn Observer));
    let ending = drive(&mut **stepper, state, *is_resumed, mesh, sections, log, look, &mut observers);
    let violation = streams.iter().find_map(|stream| stream.constraints.as_ref().map(|all| all.largest));
    let account = streams.iter().find_map(|stream| stream.accountant.as_ref().map(|all| all.account));
    let mut last = Node::default();
    look.evaluator.node(&ending.state.z, &mut last);
    Ok(Outcome {
        status: ending.status,
        last,
        state: ending.state,
        steps: ending.steps,
        impacts: tally.impacts,
        first_rest: tally.first_rest,
        violation,
        energy: tally.energy,
        restitution,
        path: checkpoints.path,
        momenta: checkpoints.momenta,
        missed: checkpoints.missed,
        account,
        step: plan.step,
        error_estimate: None,
        error_scale: None,
        warnings: Vec::new(),
    })
}
