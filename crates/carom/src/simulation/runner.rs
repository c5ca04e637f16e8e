//! Repeated runs from one start.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::error::Result;
use crate::interval::Piece;
use crate::limits::{DISTURBED_RUNS, FINER_CONTROL, MOST_SOLUTION, WORK_OF_IMPACT};
use crate::mechanics::Node;
use crate::plant::Evaluator;
use crate::run::{
    Accountant, Audience, Checkpoints, Constraints, Feedback, Following, Look, Mesh, Observer, Outcome, Schedule,
    Scheduled, Sections, Stream, Tally, drive, failure,
};
use crate::step::{Control, LaneMemory, Memory, Scheme, State, StepLog, Stepper, Variant, enter};

/// The steps and the checks of one run.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Plan {
    /// The step h; if steps are controlled, the longest step.
    pub(super) step: f64,
    /// The local error of controlled steps, relative to the size of the motion. None for steps of equal length.
    pub(super) control: Option<f64>,
    /// The largest kinetic energy of the motion, as far as it is known before: controlled steps of a motion that starts at rest
    /// need not be exact relative to its first velocities.
    pub(super) kinetic: f64,
    /// The end time.
    pub(super) until: f64,
    /// The number of equally spaced times at which runs are compared; walls are then checked at [`CHECKPOINTS`] times. 0 for none.
    pub(super) checkpoints: usize,
}

impl Plan {
    /// Controlled steps with smaller errors, and the longest step multiplied by `shorter`; none for steps of equal length. Quick steps
    /// do not become longer with local errors above [`MOST_SOLUTION`].
    pub(super) fn finer(self, shorter: f64) -> Option<Plan> {
        let local = self.control?.min(MOST_SOLUTION);
        Some(Plan { control: Some(FINER_CONTROL * local), step: shorter * self.step, ..self })
    }
}

/// A stepper with its log, and the evaluators of the observers.
pub(super) struct Equipment {
    stepper: Box<dyn Stepper>,
    log: StepLog,
    look: Look,
}

/// Equipment of finished runs, reused by later ones: for full steps, for steps in halves, and for each seed of disturbed steps.
#[derive(Default)]
pub(super) struct Pool([Mutex<Shelf>; 2 + DISTURBED_RUNS]);

/// Boxed, because equipment is large and each run moves it out and in.
type Shelf = Vec<Box<Equipment>>;

impl Pool {
    fn of(&self, variant: Variant) -> MutexGuard<'_, Shelf> {
        let shelf = match variant {
            Variant::Whole => 0,
            Variant::Halved => 1,
            Variant::Disturbed(seed) => 2 + seed as usize % DISTURBED_RUNS,
        };
        self.0[shelf].lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn take(&self, scheme: &Scheme, variant: Variant) -> Result<Box<Equipment>> {
        let used = self.of(variant).pop();
        used.map_or_else(|| Equipment::new(scheme, variant).map(Box::new), Ok)
    }

    fn give_back(&self, equipment: Box<Equipment>, variant: Variant) {
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
    start: Arc<State>,
    /// The start is the final state of an earlier run and includes the memory of its method.
    is_resumed: bool,
    sections: Sections,
    /// Where functions of time allow only shorter steps.
    short: Arc<[Piece]>,
    /// Parameters that change with the time.
    schedule: Arc<Schedule>,
    /// The plan that the controls follow.
    feedback: Option<Arc<Feedback>>,
    /// The work of all runs so far.
    work: f64,
}

impl<'a> Runner<'a> {
    pub(super) fn new(
        scheme: &'a Scheme,
        pool: &'a Pool,
        start: Arc<State>,
        is_resumed: bool,
        sections: Sections,
        short: Arc<[Piece]>,
        schedule: Arc<Schedule>,
    ) -> Runner<'a> {
        Runner { scheme, pool, start, is_resumed, sections, short, schedule, feedback: None, work: 0.0 }
    }

    /// The same runs by another scheme.
    pub(super) fn with<'b>(&self, scheme: &'b Scheme, pool: &'b Pool) -> Runner<'b> {
        let (start, sections, short) = (self.start.clone(), self.sections.clone(), self.short.clone());
        Runner::new(scheme, pool, start, self.is_resumed, sections, short, self.schedule.clone())
    }

    /// A runner like this one, whose runs begin in the state `start`.
    pub(super) fn from(self, start: State) -> Runner<'a> {
        Runner { start: Arc::new(start), ..self }
    }

    /// A runner like this one, whose controls follow a plan.
    pub(super) fn following(self, feedback: Option<Arc<Feedback>>) -> Runner<'a> {
        Runner { feedback, ..self }
    }

    /// True if the start is the final state of an earlier run.
    pub(super) fn is_resumed(&self) -> bool {
        self.is_resumed
    }

    /// Leaves the lengths of steps to the plan alone.
    pub(super) fn forget_short(&mut self) {
        self.short = Arc::default();
    }

    /// The parts of the time with shorter steps.
    pub(super) fn short(&self) -> &[Piece] {
        &self.short
    }

    /// The work of all runs so far, in steps of a system with few coordinates.
    pub(super) fn work(&self) -> f64 {
        self.work
    }

    /// About how much longer a step takes than one of a system with few coordinates.
    pub(super) fn work_of_step(&self) -> f64 {
        work_of_step(self.scheme)
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
        if let Some(finer) = plan.finer(shorter) {
            return self.run(finer, audience);
        }
        if !self.scheme.can_halve()? {
            return self.run(Plan { step: shorter * plan.step, ..plan }, audience);
        }
        self.run_with(Variant::Halved, plan, audience)
    }

    /// Repeats a run with steps that all end elsewhere. A run and one with its steps in halves may pass a kink alike: what is after the
    /// last stage of a step is not seen.
    pub(super) fn run_otherwise(&mut self, plan: Plan, shorter: f64, audience: &mut [Audience]) -> Result<Outcome> {
        match plan.finer(shorter) {
            Some(finer) => self.run_finer(finer, shorter, audience),
            None => self.run(Plan { step: shorter * plan.step, ..plan }, audience),
        }
    }

    /// True if nothing changes the energy of the motion.
    pub(super) fn is_conservative(&self, outcome: &Outcome) -> bool {
        self.scheme.plant.facts().sources.is_conservative(&outcome.restitution)
    }

    /// True if a motion may pass kinks that steps do not locate.
    pub(super) fn has_kinks(&self) -> bool {
        let facts = self.scheme.plant.facts();
        facts.has_other_kinks || (facts.kinks_of_velocities > 0 && self.scheme.has_lanes())
    }

    /// Makes the run with one unit of roundoff more in every step and at every impact; none where steps cannot be disturbed. The
    /// seeds below [`DISTURBED_RUNS`] differ.
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

    /// What makes single steps, whole and in halves; none where steps cannot be halved.
    pub(super) fn pair(&self) -> Result<Option<Pair>> {
        if !self.scheme.can_halve()? {
            return Ok(None);
        }
        let [whole, halves] = [Variant::Whole, Variant::Halved].map(|variant| self.pool.take(self.scheme, variant));
        let (start, schedule) = (self.start.clone(), self.schedule.clone());
        Ok(Some(Pair { whole: whole?, halves: halves?, start, is_resumed: self.is_resumed, schedule }))
    }

    /// Evaluates the system, with the parameters of the runs.
    pub(super) fn evaluator(&self) -> Box<dyn Evaluator> {
        let mut evaluator = self.scheme.plant.evaluator();
        evaluator.set_parameters(&self.start.parameters);
        evaluator
    }

    fn run_with(&mut self, variant: Variant, plan: Plan, audience: &mut [Audience]) -> Result<Outcome> {
        let mut equipment = self.pool.take(self.scheme, variant)?;
        let outcome = run(self, &mut equipment, variant, plan, audience);
        self.pool.give_back(equipment, variant);
        if let Ok(outcome) = &outcome {
            let halves = if variant == Variant::Halved { 2.0 } else { 1.0 };
            let steps = halves * outcome.steps as f64 + WORK_OF_IMPACT * outcome.impacts as f64;
            self.work += steps * work_of_step(self.scheme);
        }
        outcome
    }
}

/// About how much longer a step takes than one of a system with few coordinates and no constraints.
pub(super) fn work_of_step(scheme: &Scheme) -> f64 {
    let facts = scheme.plant.facts();
    let (n, constraints) = (facts.n as f64, facts.is_one_point.len() as f64);
    let unknowns = n + constraints;
    // Measured for one step: 0.3 to 0.5 µs with few coordinates, 8 µs with ten, 30 µs with three and two constraints, 260 µs with thirty
    // on recursive kernels.
    match scheme.plant.is_recursive() {
        true => 20.0 * unknowns,
        // Measured: 9 µs to 1 ms.
        false if scheme.method.follows_series() => 100.0 * n,
        false if constraints > 0.0 || facts.has_function => 10.0 * unknowns,
        false => (0.2 * n * n).max(1.0),
    }
}

/// Makes single steps, whole and in halves.
pub(super) struct Pair {
    whole: Box<Equipment>,
    halves: Box<Equipment>,
    start: Arc<State>,
    is_resumed: bool,
    schedule: Arc<Schedule>,
}

impl Pair {
    /// Begins at the start of the runs; none if the first step, of length h, has no start.
    pub(super) fn start(&mut self, h: f64) -> Option<State> {
        let mut state = State::clone(&self.start);
        if let Some(parameters) = self.schedule.at(state.z.t) {
            state.parameters = parameters.clone();
        }
        self.whole.stepper.begin(&state.parameters);
        self.halves.stepper.begin(&state.parameters);
        if !self.is_resumed {
            self.whole.stepper.start(&mut state, h).ok()?;
        }
        Some(state)
    }

    /// Goes on from the final state of an earlier run.
    pub(super) fn go_on(&mut self, state: State) -> State {
        self.whole.stepper.begin(&state.parameters);
        self.halves.stepper.begin(&state.parameters);
        state
    }

    /// The ends of a step and of the same step in halves; none if one has no solution.
    pub(super) fn step(&mut self, from: &State, until: f64) -> Option<(&State, &State)> {
        for equipment in [&mut self.whole, &mut self.halves] {
            let Equipment { stepper, log, .. } = &mut **equipment;
            Scheduled::new(&mut **stepper, &self.schedule).step(from, until, log).ok()?;
        }
        Some((&self.whole.log.end, &self.halves.log.end))
    }
}

fn run(
    runner: &mut Runner,
    equipment: &mut Equipment,
    variant: Variant,
    plan: Plan,
    audience: &mut [Audience],
) -> Result<Outcome> {
    let Runner { scheme, start, is_resumed, sections, short, schedule, feedback, .. } = runner;
    let Equipment { stepper, log, look } = equipment;
    let facts = scheme.plant.facts();
    let mut state = State::clone(start);
    if let Some(parameters) = schedule.at(state.z.t) {
        state.parameters = parameters.clone();
    }
    stepper.begin(&state.parameters);
    look.begin(&state.parameters);
    if !*is_resumed {
        stepper.start(&mut state, plan.step).map_err(|e| failure(e, &start.z))?;
    }
    let time = plan.until - state.z.t;
    match (plan.control, &mut state.memory) {
        (Some(tolerance), Memory::Control(control)) => (control.tolerance, control.longest) = (tolerance, plan.step),
        (Some(tolerance), Memory::Explicit(lane)) => (lane.tolerance, lane.longest) = (tolerance, plan.step),
        (Some(tolerance), memory) => {
            let roots = look.evaluator.roots_of_inverse_mass(&state.z);
            let power = look.evaluator.hamiltonian_and_power(&state.z).map_or(0.0, |(_, power)| power);
            let power = power.abs().max(2.0 * plan.kinetic);
            *memory = Memory::Control(Control::new(tolerance, plan.step, &state.z, roots, power));
            let evaluator = &mut *look.evaluator;
            let mut lane = LaneMemory::default();
            let numbers = [tolerance, plan.step, time];
            if scheme.has_lanes() && enter(evaluator, &state, facts.walls, numbers, &mut lane) {
                state.memory = Memory::Explicit(Box::new(lane));
            }
        }
        (None, memory @ (Memory::Control(_) | Memory::Explicit(_))) => *memory = Memory::None,
        (None, _) => {}
    }
    let step = if plan.control.is_some() { time } else { plan.step };
    let mesh = Mesh { short: &*short, ..Mesh::new(state.z.t, step, plan.until) };
    let mut tally = Tally::new(facts.is_driven);
    // Disturbed runs are compared with another, which looks for walls.
    let only_compares = matches!(variant, Variant::Disturbed(_));
    let checked = if plan.checkpoints > 0 { facts.walls } else { 0 };
    let mut checkpoints = Checkpoints::new(mesh.start, plan.until, plan.checkpoints, checked, only_compares);
    let restitution = look.evaluator.restitution().to_vec();
    let mut streams: Vec<Stream> = Vec::new();
    // The violation of constraints is part of the outcome.
    let matters = |audience: &&mut Audience| facts.stated > 0 || audience.watcher.listens();
    for Audience { watcher, every } in audience.iter_mut().filter(matters) {
        let constraints =
            (facts.stated > 0).then(|| Constraints::new(&facts.is_one_point, facts.stated, facts.nowhere()));
        let wanted = watcher.wants_account();
        let accountant = wanted.then(|| Accountant::new(facts, &restitution, scheme.order())).flatten();
        streams.push(Stream::new(&mut **watcher, constraints, accountant, *every, mesh));
    }
    let mut observers: Vec<&mut dyn Observer> = vec![&mut tally];
    if plan.checkpoints > 0 {
        observers.push(&mut checkpoints);
    }
    observers.extend(streams.iter_mut().map(|stream| stream as &mut dyn Observer));
    let (ending, followed) = match feedback {
        Some(feedback) => {
            let mut stepper = Following::new(&mut **stepper, feedback, scheme.plant.evaluator(), &state);
            stepper.begin_at(&mut state);
            look.begin(&state.parameters);
            let ending = drive(&mut stepper, state, *is_resumed, mesh, sections, log, look, &mut observers);
            (ending, Some(stepper.followed))
        }
        None => {
            let mut stepper = Scheduled::new(&mut **stepper, schedule);
            (drive(&mut stepper, state, *is_resumed, mesh, sections, log, look, &mut observers), None)
        }
    };
    let violation = streams.iter().find_map(|stream| stream.constraints.as_ref().map(|all| all.largest));
    let account = streams.iter().find_map(|stream| stream.accountant.as_ref().map(|all| all.account));
    let mut last = Node::default();
    look.node(&ending.state.z, &ending.state.holding, &mut last);
    Ok(Outcome {
        status: ending.status,
        last,
        state: ending.state,
        steps: ending.steps,
        impacts: tally.impacts,
        exchange: tally.exchange,
        first_rest: tally.first_rest,
        violation,
        energy: tally.energy,
        restitution,
        path: checkpoints.path,
        bounds: checkpoints.bounds,
        missed: checkpoints.missed,
        account,
        step: plan.control.is_none().then_some(plan.step),
        longest_step: tally.longest_step,
        error_estimate: None,
        error_scale: None,
        error_since: None,
        followed,
        warnings: Vec::new(),
        notes: Vec::new(),
    })
}
