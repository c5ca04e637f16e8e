//! Control problems: what `[controls]`, `[objective]`, `[final]`, `[periodic]`, `[[bound]]` and `[[phase]]` say.

use std::ops::Range;

use super::Model;
use crate::expr::{Expr, eval};
use crate::system::{Constraint, Enforce, Form, Parameter, time};

/// The control problem of a model. A model with none of its sections has an empty one.
#[derive(Clone, Debug, Default)]
pub struct Problem {
    /// The controls, in the order of the file.
    pub controls: Vec<ControlInput>,
    /// What is minimised.
    pub objective: Objective,
    /// `[final]`.
    pub end: FinalState,
    /// The coordinates whose start follows from the end, with Ψ of the coordinates at the end.
    pub periodic: Vec<Periodic>,
    /// The bounds on the way.
    pub bounds: Vec<Bound>,
    /// The phases, in order.
    pub phases: Vec<Stage>,
    /// The free entries of the start: of q, and of v or p.
    pub free_start: [Vec<Option<Span>>; 2],
    /// The weights of `[feedback]`.
    pub weights: Weights,
    /// All constraints of the model. Those that a phase holds or catches hold only there; all others hold always.
    pub constraints: Vec<Constraint>,
}

/// A control: constant on each step.
#[derive(Clone, Debug)]
pub struct ControlInput {
    /// As written in the model.
    pub name: String,
    /// Its symbol in expressions.
    pub symbol: Expr,
    /// Its bounds.
    pub span: Span,
    /// Its value in a run, and its first guess.
    pub value: Signal,
    /// Where its name stands.
    pub place: Range<usize>,
}

/// The value of a control along the time.
#[derive(Clone, Debug)]
pub enum Signal {
    /// One number.
    Constant(f64),
    /// An expression of the time and the parameters, taken in the middle of each step.
    Function(Expr),
    /// One number for each step.
    List(Vec<f64>),
}

/// An interval with a guess.
#[derive(Clone, Debug, PartialEq)]
pub struct Span {
    /// The lower end; −∞ for none.
    pub min: f64,
    /// The upper end; ∞ for none.
    pub max: f64,
    /// Where to look first.
    pub guess: Option<f64>,
    /// Where it is written.
    pub place: Range<usize>,
}

/// A number that is given, or to be found.
#[derive(Clone, Debug)]
pub enum Given {
    /// An expression of the parameters.
    Fixed(Expr),
    /// Free within bounds.
    Free(Span),
}

/// What is minimised: the integral of `running`, and `end` at the final state.
#[derive(Clone, Copy, Debug, Default)]
pub struct Objective {
    /// An expression of coordinates, velocities, controls and the time.
    pub running: Option<Expr>,
    /// An expression of coordinates, velocities and the time at the end.
    pub end: Option<Expr>,
}

/// `[final]`.
#[derive(Clone, Debug, Default)]
pub struct FinalState {
    /// The end time.
    pub t: Option<Span>,
    /// The coordinates; None where nothing is said.
    pub q: Vec<Option<Given>>,
    /// The velocities or momenta.
    pub motion: Vec<Option<Given>>,
    /// True if `motion` has momenta.
    pub is_momentum: bool,
    /// Expressions that vanish at the end.
    pub zero: Vec<Condition>,
    /// Expressions that are not negative at the end.
    pub nonnegative: Vec<Condition>,
    /// Where the section stands.
    pub place: Range<usize>,
}

/// `[feedback]`: the weights of what feedback minimises, ∫(δzᵀQδz + δuᵀRδu) dt + δzᵀQ_Nδz at the end, each a diagonal. None for the
/// defaults.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Weights {
    /// Q: for each coordinate, then for each momentum.
    pub state: Option<Vec<f64>>,
    /// R: for each control.
    pub control: Option<Vec<f64>>,
    /// Q_N: for each coordinate, then for each momentum.
    pub end: Option<Vec<f64>>,
}

/// An expression with its text.
#[derive(Clone, Debug)]
pub struct Condition {
    /// The expression.
    pub value: Expr,
    /// As written.
    pub text: String,
}

/// A coordinate whose start follows from the end.
#[derive(Clone, Debug)]
pub struct Periodic {
    /// The coordinate.
    pub coordinate: usize,
    /// Its start as a function of the coordinates at the end.
    pub from: Expr,
    /// Where it is written.
    pub place: Range<usize>,
}

/// A bound on an expression along the way.
#[derive(Clone, Debug)]
pub struct Bound {
    /// The name in messages.
    pub name: String,
    /// The expression.
    pub of: Expr,
    /// The interval.
    pub span: Span,
    /// The phases in which it holds; all if None.
    pub phases: Option<Vec<usize>>,
}

/// One phase: equal steps between two events.
#[derive(Clone, Debug)]
pub struct Stage {
    /// The name in messages.
    pub name: String,
    /// The number of steps.
    pub steps: usize,
    /// The duration; min = max where it is a number.
    pub duration: Span,
    /// The walls that hold the motion throughout.
    pub held_walls: Vec<usize>,
    /// The constraints that hold throughout, by their number in [`Problem::constraints`].
    pub held: Vec<usize>,
    /// What happens at its end.
    pub event: PhaseEvent,
    /// The coordinates as functions of the time; empty for a straight line.
    pub guess: Vec<Expr>,
    /// Where it stands.
    pub place: Range<usize>,
}

/// What happens at the end of a phase.
#[derive(Clone, Debug)]
pub enum PhaseEvent {
    /// Nothing but a change of what is held.
    None,
    /// An impact on a wall, with bounds on its impulse.
    Impact {
        /// The wall.
        wall: usize,
        /// λ.
        lambda: Span,
    },
    /// Walls and constraints that begin to hold, plastically.
    Catch {
        /// The walls.
        walls: Vec<usize>,
        /// The constraints, by their number in [`Problem::constraints`].
        constraints: Vec<usize>,
    },
}

impl Span {
    /// Without bounds.
    pub fn free(place: Range<usize>) -> Span {
        Span { min: f64::NEG_INFINITY, max: f64::INFINITY, guess: None, place }
    }

    /// One number.
    pub fn fixed(value: f64, place: Range<usize>) -> Span {
        Span { min: value, max: value, guess: Some(value), place }
    }

    /// The number, if it is only one.
    pub fn number(&self) -> Option<f64> {
        (self.min == self.max).then_some(self.min)
    }

    /// The guess; without one, `otherwise` moved into the interval.
    pub fn guess_or(&self, otherwise: f64) -> f64 {
        self.guess.unwrap_or(otherwise).max(self.min).min(self.max)
    }

    /// True if x is inside.
    pub fn contains(&self, x: f64) -> bool {
        self.min <= x && x <= self.max
    }
}

impl Problem {
    /// The numbers of the constraints that some phase holds or catches: they do not hold always.
    pub fn switched(&self) -> Vec<usize> {
        let mut all: Vec<usize> =
            self.phases.iter().flat_map(|phase| phase.held.iter().chain(phase.caught())).copied().collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    /// The constraints that hold in a phase, by number.
    pub fn holds_in(&self, phase: usize) -> Vec<usize> {
        let switched = self.switched();
        let named = self.phases.get(phase).map_or(&[][..], |phase| &phase.held);
        (0..self.constraints.len()).filter(|k| named.contains(k) || !switched.contains(k)).collect()
    }

    /// The end time of a run without `until`: that of `[final]`, else the sum of the guessed durations.
    pub fn until(&self) -> Option<f64> {
        let sum = || (!self.phases.is_empty()).then(|| self.guessed_durations().iter().sum());
        self.end.t.as_ref().and_then(Span::number).or_else(sum)
    }

    /// The guessed duration of each phase. Free durations without a guess share what is left of the end time.
    pub fn guessed_durations(&self) -> Vec<f64> {
        let known: f64 = self.phases.iter().filter_map(|phase| phase.duration.guess).sum();
        let open = self.phases.iter().filter(|phase| phase.duration.guess.is_none()).count();
        let total = self.end.t.as_ref().and_then(|t| t.guess.or(t.number()));
        let share = total.map(|t| (t - known) / open as f64).filter(|share| *share > 0.0).unwrap_or(1.0);
        self.phases.iter().map(|phase| phase.duration.guess_or(share)).collect()
    }
}

impl Objective {
    /// True if nothing is minimised.
    pub fn is_empty(&self) -> bool {
        self.running.is_none() && self.end.is_none()
    }
}

impl Stage {
    /// The constraints that begin to hold at its end.
    pub fn caught(&self) -> &[usize] {
        match &self.event {
            PhaseEvent::Catch { constraints, .. } => constraints,
            _ => &[],
        }
    }
}

/// The values of all parameters and controls from a time on.
#[derive(Clone, Debug, PartialEq)]
pub struct Setting {
    /// The time.
    pub from: f64,
    /// The controls.
    pub controls: Vec<f64>,
}

impl Model {
    /// The parameters of the model without its controls.
    pub fn plain_parameters(&self) -> &[Parameter] {
        &self.system.parameters[..self.system.parameters.len() - self.problem.controls.len()]
    }

    /// True if this is the name of a control, or of a control on one step: `u`, `u[3]`.
    pub(crate) fn names_control(&self, name: &str) -> bool {
        let is_one = |name: &str| self.problem.controls.iter().any(|control| control.name == name);
        is_one(name) || name.rsplit_once('[').is_some_and(|(name, _)| is_one(name))
    }

    /// The controls of a run that ends at `until`, constant on each step; empty if every control is one number all the time.
    pub fn control_settings(&self, until: Option<f64>) -> Vec<Setting> {
        let is_constant = |control: &ControlInput| matches!(control.value, Signal::Constant(_));
        if self.problem.controls.iter().all(is_constant) { Vec::new() } else { self.settings_of_steps(until) }
    }

    /// The controls on each step of the phases; without phases on equal parts of the run, as many as there are values.
    pub(crate) fn settings_of_steps(&self, until: Option<f64>) -> Vec<Setting> {
        let Problem { controls, phases, .. } = &self.problem;
        let mut mesh: Vec<[f64; 2]> = Vec::new();
        if phases.is_empty() {
            let count = controls.iter().map(|control| control.value.len()).max().unwrap_or(1);
            let h = until.unwrap_or(1.0) / count as f64;
            mesh.extend((0..count).map(|k| [k as f64 * h, h]));
        }
        let mut t = 0.0;
        for (phase, duration) in phases.iter().zip(self.problem.guessed_durations()) {
            let h = duration / phase.steps as f64;
            mesh.extend((0..phase.steps).map(|k| [t + k as f64 * h, h]));
            t += duration;
        }
        let parameters = self.parameter_values();
        let setting = |(k, &[from, h]): (usize, &[f64; 2])| {
            let controls = controls.iter().map(|control| control.value.at(k, mesh.len(), from + 0.5 * h, &parameters));
            Setting { from, controls: controls.collect() }
        };
        mesh.iter().enumerate().map(setting).collect()
    }
}

impl Model {
    /// The number that is given; none if it is to be found.
    pub(crate) fn number(&self, given: &Given) -> Option<f64> {
        match given {
            Given::Fixed(e) => Some(eval(&[*e], &self.parameter_values())[0]),
            Given::Free(_) => None,
        }
    }
}

impl Signal {
    fn len(&self) -> usize {
        match self {
            Signal::List(values) => values.len(),
            Signal::Constant(_) | Signal::Function(_) => 1,
        }
    }

    /// The value on step k of `steps`, whose middle is at t.
    pub fn at(&self, k: usize, steps: usize, t: f64, parameters: &[(Expr, f64)]) -> f64 {
        match self {
            Signal::Constant(value) => *value,
            Signal::Function(f) => {
                let known: Vec<(Expr, f64)> = parameters.iter().copied().chain([(time(), t)]).collect();
                eval(&[*f], &known)[0]
            }
            Signal::List(values) => values[(k * values.len() / steps).min(values.len() - 1)],
        }
    }
}

impl Model {
    /// A copy of the model in which these walls and constraints hold as constraints, and no others do.
    pub(crate) fn holding(&self, walls: &[usize], constraints: &[usize]) -> Model {
        let mut model = self.clone();
        let all = &self.system.walls;
        let held = walls.iter().map(|&k| Constraint {
            name: all[k].name.clone(),
            g: all[k].phi,
            enforce: Enforce::OnePoint,
            form: Form::Function,
        });
        model.system.constraints =
            constraints.iter().map(|&k| self.problem.constraints[k].clone()).chain(held).collect();
        model.places.constraints = vec![0..0; model.system.constraints.len()];
        let open: Vec<usize> = (0..all.len()).filter(|k| !walls.contains(k)).collect();
        model.system.walls = open.iter().map(|&k| all[k].clone()).collect();
        model.places.walls = open.iter().map(|&k| self.places.walls[k].clone()).collect();
        model.places.restitutions = open.iter().map(|&k| self.places.restitutions[k].clone()).collect();
        model.sections.clear();
        model.outputs.clear();
        model
    }
}
