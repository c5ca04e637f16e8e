//! The transcription of a control problem into a program: DMOC with impacts.
//!
//! A problem is a chain of phases of equal steps. Unknowns are the controls u_k, the configurations q_k, free durations, the
//! impulses λ of impacts and Λ_k of what is held, the velocities at events, and the free entries of the start.
//!
//! ```text
//! first node:  p⁻_0 = p_start + G(q_0)ᵀμ_0
//! inner node:  p⁻_k = p⁺_k + G(q_k)ᵀΛ_k,   g(q_k) = 0,   Λ_k ≥ 0 for a wall
//! end:         L_v(q_N, v⁻) + Gᵀν = p⁺_N,   G v⁻ + g_t = 0
//! impact:      φ(q_N) = 0,   L_v(q_N, v⁺) = L_v(q_N, v⁻) + λ∇φ + Gᵀν⁺,   ∇φ·(v⁺ + e v⁻) + (1 + e)φ_t = 0
//! catch:       g(q_N) = 0,   L_v(q_N, v⁺) = L_v(q_N, v⁻) + Gᵀν⁺,   G v⁺ + g_t = 0
//! ```
//!
//! The velocities at events are unknowns, so that L need not be quadratic in them and no matrix is inverted in symbols.

mod ends;
mod events;
mod path;
mod phase;
mod program;
mod read_off;
mod warm;

pub use read_off::{Caught, Found, ImpactMultipliers, PlannedImpact, PlannedState};

use std::ops::Range;

use super::nlp::Nlp;
use crate::elements::{Elements, Surface};
use crate::error::{Diagnostic, Result};
use crate::kernel::Backend;
use crate::method::Method;
use crate::model::Model;
use crate::model::control::Problem;
use program::{Form, Program};

/// Rows without unknowns must hold to this.
const GIVEN: f64 = 1e-8;

/// The place of durations, of the free start and of what couples the ends in the order of elimination: after everything else.
const BORDER: usize = usize::MAX / 2;

/// Places in the order of elimination for each step.
const STRIDE: usize = 16;

/// A condition of the user that may be impossible: its name and its row.
pub(super) struct Condition {
    pub(super) name: String,
    pub(super) row: usize,
    /// True for an impact or a catch: that it happens at all.
    pub(super) is_event: bool,
}

/// The velocities at an event: before it, and after it if that differs.
#[derive(Clone, Debug, Default)]
pub(super) struct Velocities {
    minus: Option<Vec<Form>>,
    plus: Option<Vec<Form>>,
}

/// A problem as a program, and where its unknowns are.
pub(super) struct Transcription<'m> {
    pub(super) model: &'m Model,
    pub(super) steps: Vec<usize>,
    program: Program,
    elements: Elements<'m>,
    inner: usize,
    inner_times: Vec<f64>,
    constrains_inner: bool,
    is_dtec: bool,
    /// True if the user's conditions are rows that may be relaxed.
    is_soft: bool,
    step_element: usize,
    /// Elements that are compiled on first use: L_v, and the discrete energy.
    momentum: Option<usize>,
    energy: Option<usize>,
    /// (q, v, ν, t) → L_v + Gᵀν, G v + g_t, for each set of what is held.
    velocity_elements: Vec<(Vec<Surface>, usize)>,
    durations: Vec<Form>,
    /// q at the nodes, of all phases; the inner points of each step; the controls of each step.
    q: Vec<Vec<Form>>,
    inner_points: Vec<Vec<Form>>,
    u: Vec<Vec<Form>>,
    start_v: Option<Vec<Form>>,
    start_p: Option<Vec<Form>>,
    events: Vec<Velocities>,
    lambdas: Vec<Option<Form>>,
    catches: Vec<Vec<Form>>,
    /// The impulses of what each phase holds at its inner nodes.
    held: Vec<Vec<Vec<Form>>>,
    momentum_rows: Vec<Vec<usize>>,
    /// The rows of the inner points of each step.
    inner_rows: Vec<Vec<usize>>,
    end_rows: Vec<usize>,
    /// The rows p⁺_N − … of the phases that end with an event.
    phase_end_rows: Vec<(usize, Vec<usize>)>,
    impact_rows: Vec<Option<[usize; 2]>>,
    /// The new number of each row, after rows without unknowns were dropped.
    kept: Vec<Option<usize>>,
    pub(super) conditions: Vec<Condition>,
}

/// How to transcribe.
#[derive(Clone, Copy)]
pub(super) struct Options<'o> {
    pub(super) method: &'o Method,
    /// The steps of each phase are multiplied by this.
    pub(super) finer: usize,
    pub(super) is_soft: bool,
    pub(super) backend: Backend,
}

impl<'m> Transcription<'m> {
    pub(super) fn new(model: &'m Model, options: Options) -> Result<Transcription<'m>> {
        let problem = &model.problem;
        let described = options.method.flow.with_quadrature(|rule| {
            let elements = Elements::new(model, rule, options.backend);
            (elements, rule.inner_points(), rule.inner_times(), rule.constrains_inner_points())
        });
        let Some((elements, inner, inner_times, constrains_inner)) = described else {
            let message =
                format!("`{}` has no discrete Lagrangian of its own, which `optimize` needs", options.method.name);
            return Err(Diagnostic::new(message)
                .with_help("use `svc`, `midpoint`, or another variational flow")
                .into());
        };
        let is_dtec = match options.method.rule_name() {
            "ctec" => false,
            "dtec" => true,
            other => {
                let message = format!("`optimize` cannot use the impact rule `{other}`");
                return Err(Diagnostic::new(message).with_help("use `ctec` or `dtec`").into());
            }
        };
        let phases = problem.phases.len();
        let mut all = Transcription {
            model,
            steps: problem.phases.iter().map(|phase| phase.steps * options.finer).collect(),
            program: Program::new(elements.numbers()),
            elements,
            inner,
            inner_times,
            constrains_inner,
            is_dtec,
            is_soft: options.is_soft,
            step_element: 0,
            momentum: None,
            energy: None,
            velocity_elements: Vec::new(),
            inner_rows: Vec::new(),
            durations: Vec::new(),
            q: Vec::new(),
            inner_points: Vec::new(),
            u: Vec::new(),
            start_v: None,
            start_p: None,
            events: vec![Velocities::default(); phases],
            lambdas: vec![None; phases],
            catches: vec![Vec::new(); phases],
            held: vec![Vec::new(); phases],
            momentum_rows: Vec::new(),
            end_rows: Vec::new(),
            phase_end_rows: Vec::new(),
            impact_rows: vec![None; phases],
            kept: Vec::new(),
            conditions: Vec::new(),
        };
        all.build()?;
        Ok(all)
    }

    fn problem(&self) -> &'m Problem {
        &self.model.problem
    }

    fn n(&self) -> usize {
        self.elements.n()
    }

    fn total(&self) -> usize {
        self.steps.iter().sum()
    }

    /// The number of the first step of a phase.
    fn first_step(&self, phase: usize) -> usize {
        self.steps[..phase].iter().sum()
    }

    /// The steps of a phase.
    fn steps_of(&self, phase: usize) -> Range<usize> {
        self.first_step(phase)..self.first_step(phase + 1)
    }

    fn build(&mut self) -> Result<()> {
        self.step_element = self.program.element(self.elements.step()?);
        self.add_durations()?;
        self.add_unknowns()?;
        self.add_steps()?;
        self.add_start()?;
        self.add_held()?;
        self.add_events()?;
        self.add_end()?;
        self.add_walls()?;
        self.add_bounds()?;
        self.finish()
    }

    /// Drops the rows in which nothing is unknown, and checks them.
    fn finish(&mut self) -> Result<()> {
        let (dropped, kept) = self.program.finish();
        self.kept = kept;
        for condition in &mut self.conditions {
            condition.row = self.kept[condition.row].unwrap_or(usize::MAX);
        }
        self.conditions.retain(|condition| condition.row != usize::MAX);
        if let Some((row, value)) = dropped.iter().find(|(_, value)| value.abs() > GIVEN || value.is_nan()) {
            let what = self.describe(*row);
            let message = format!("{what} cannot hold: everything in it is given, and it is off by {value:e}");
            let place = &self.problem().end.place;
            return Err(self.model.error(place, message, "free one of the given numbers"));
        }
        if let Err((variable, [lower, upper])) = self.program.part_bounds() {
            let (what, place) = self.name_of(variable);
            // Without the sign of −0.
            let [lower, upper] = [lower, upper].map(|bound| bound + 0.0);
            let message = format!("bounds leave nothing: {what} must be at least {lower} and at most {upper}");
            return Err(self.model.error(&place, message, "compare the bounds, durations and `final.t`"));
        }
        let structure = self.program.structure();
        let unknowns = structure.variables();
        if structure.rows > unknowns {
            let message = format!("{} conditions for {unknowns} unknowns", structure.rows);
            let place = &self.problem().end.place;
            return Err(self.model.error(
                place,
                message,
                "free some of the start or the end, or add controls or steps",
            ));
        }
        Ok(())
    }

    /// What a variable is, for messages, and where the user wrote of it.
    fn name_of(&self, variable: usize) -> (String, Range<usize>) {
        let has = |form: &Form| form.terms.iter().any(|term| term.0 == variable);
        let problem = self.problem();
        if let Some(k) = self.durations.iter().position(has) {
            return (format!("the duration of `{}`", problem.phases[k].name), problem.phases[k].place.clone());
        }
        if let Some(c) = self.u.iter().find_map(|u| u.iter().position(has)) {
            return (format!("the control `{}`", problem.controls[c].name), problem.controls[c].place.clone());
        }
        if let Some(i) = self.q.iter().find_map(|q| q.iter().position(has)) {
            let name = &self.model.system.coordinates[self.model.system.free()[i]].name;
            return (format!("the coordinate `{name}`"), problem.end.place.clone());
        }
        ("a number".into(), problem.end.place.clone())
    }

    /// What a row says, for messages.
    fn describe(&self, row: usize) -> String {
        let is_impact = |rows: &Option<[usize; 2]>| rows.is_some_and(|rows| rows.contains(&row));
        if let Some(phase) = self.impact_rows.iter().position(is_impact) {
            return format!("the impact at the end of `{}`", self.problem().phases[phase].name);
        }
        match self.momentum_rows.iter().position(|rows| rows.contains(&row)) {
            Some(node) => format!("the equation of motion at node {node}"),
            None => "a condition of the ends".into(),
        }
    }

    /// The program.
    pub(super) fn program(&mut self) -> &mut dyn Nlp {
        &mut self.program
    }

    /// The first guess.
    pub(super) fn start(&self) -> Vec<f64> {
        self.program.start.clone()
    }

    /// The number of unknowns without slacks, and of rows.
    pub(super) fn size(&self) -> [usize; 2] {
        let structure = &self.program.structure;
        [structure.variables() - self.program.slacks.len(), structure.rows]
    }
}
