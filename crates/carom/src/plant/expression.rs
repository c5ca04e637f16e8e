//! The plant of a system given by expressions.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use super::contact::Holding;
use super::evaluator::Evaluate;
use super::{Contact, Evaluator, Facts, Modified, Plant};
use crate::error::{Diagnostic, Result};
use crate::expr::Expr;
use crate::flow::{FlowKind, HeldCode};
use crate::kernel::{Kernel, Lanes};
use crate::lanes::LaneCode;
use crate::mechanics::{
    Field, FunctionsOfTime, Kinks, Lift, LocalCode, Manifold, Mechanics, Reaction, Violation, Walls, at_end, powers,
};
use crate::modified::{Closed, ModifiedHamiltonian, Series};
use crate::phase::Flow;
use crate::slopes::Slopes;
use crate::system::System;

/// A compiled system of expressions.
pub struct Expressions {
    code: Arc<Compiled>,
    manifold: OnceLock<Result<Manifold>>,
    flows: Mutex<HashMap<String, Box<dyn Flow>>>,
    /// The code that the steps of a flow share for all contact modes, by the name of the flow.
    held: Mutex<HashMap<String, Arc<HeldCode>>>,
    modified: Mutex<HashMap<String, Box<dyn ModifiedHamiltonian>>>,
    /// The equations as they were derived, whose slopes are compiled.
    system: System,
    derived: Mechanics,
    slopes: Mutex<Vec<Arc<Slopes>>>,
    timed: OnceLock<FunctionsOfTime>,
    /// The kernels for two and for eight lanes.
    lanes: [OnceLock<Result<Arc<LaneCode>>>; 2],
    /// e of each wall, and g of each section that ends a run.
    restitution: Vec<Expr>,
    stops: Vec<Expr>,
}

/// The compiled parts that evaluators copy.
pub(super) struct Compiled {
    pub(super) mechanics: Mechanics,
    /// The same on one side of each kink.
    smooth: Mechanics,
    pub(super) facts: Facts,
    pub(super) field: Field,
    pub(super) walls: Walls,
    pub(super) lift: Lift,
    /// parameters → e of every wall
    pub(super) restitution: Kernel,
    powers: [Expr; 2],
    power: OnceLock<Result<Kernel>>,
    violation: OnceLock<Result<Violation>>,
    reaction: OnceLock<Result<Reaction>>,
    local: OnceLock<Result<Arc<LocalCode>>>,
    smooth_local: OnceLock<Result<Arc<LocalCode>>>,
}

impl Expressions {
    /// Compiles a system, with the outputs and sections of the model.
    pub fn new(system: &System, outputs: &[Expr], sections: &[Expr]) -> Result<Expressions> {
        let derived = Mechanics::new(system);
        let mechanics = derived.clone().briefly();
        let kinks = mechanics.kinks();
        Ok(Expressions { derived, ..Expressions::with_kinks(mechanics, &kinks, system, outputs, sections)? })
    }

    /// Tells which sections end a run.
    pub fn ending_at(mut self, stops: Vec<Expr>) -> Expressions {
        self.stops = stops;
        self
    }

    /// Compiles given equations of a system; kinks in them are not located.
    pub fn of(mechanics: Mechanics, system: &System, outputs: &[Expr], sections: &[Expr]) -> Result<Expressions> {
        Expressions::with_kinks(mechanics, &Kinks::default(), system, outputs, sections)
    }

    fn with_kinks(
        mechanics: Mechanics,
        kinks: &Kinks,
        system: &System,
        outputs: &[Expr],
        sections: &[Expr],
    ) -> Result<Expressions> {
        let parameters = vec![0.0; mechanics.parameters.len()];
        let powers = powers(system, &mechanics);
        // A force on a driven coordinate does not act on the free ones, but does work.
        let mut sources = mechanics.sources();
        sources.forces |= !powers[0].is_zero();
        sources.time |= !powers[1].is_zero();
        let facts = Facts {
            n: mechanics.n(),
            parameters: parameters.len(),
            walls: mechanics.walls.len(),
            kinks: kinks.arguments.len(),
            kinks_of_velocities: kinks.of_velocities,
            has_other_kinks: kinks.has_other_sides(),
            is_one_point: mechanics.is_one_point(),
            stated: mechanics.stated,
            is_quadratic: mechanics.is_quadratic(),
            is_driven: system.free().len() < system.coordinates.len(),
            sources,
            has_function: mechanics.function.is_some(),
        };
        let gaps = [&mechanics.walls[..], &kinks.arguments].concat();
        let derived = mechanics.clone();
        let field = Field::with(&mechanics, &parameters, &at_end(&mechanics, &gaps))?;
        let code = Compiled {
            walls: Walls::new(&mechanics, &gaps, &parameters, &field)?,
            field,
            lift: Lift::new(system, outputs, sections, &mechanics, &parameters)?,
            restitution: interpreted(&mechanics, system)?,
            powers,
            smooth: mechanics.on_sides(kinks),
            mechanics,
            facts,
            power: OnceLock::new(),
            violation: OnceLock::new(),
            reaction: OnceLock::new(),
            local: OnceLock::new(),
            smooth_local: OnceLock::new(),
        };
        Ok(Expressions {
            code: Arc::new(code),
            manifold: OnceLock::new(),
            flows: Mutex::default(),
            held: Mutex::default(),
            modified: Mutex::default(),
            system: system.clone(),
            derived,
            slopes: Mutex::default(),
            timed: OnceLock::new(),
            lanes: Default::default(),
            restitution: system.walls.iter().map(|wall| wall.restitution).collect(),
            stops: Vec::new(),
        })
    }

    fn zeros(&self) -> Vec<f64> {
        vec![0.0; self.code.mechanics.parameters.len()]
    }

    /// The map of a flow, which is built once.
    fn flow_of(&self, kind: &FlowKind, is_smooth: bool) -> Result<Box<dyn Flow>> {
        let Compiled { mechanics, smooth, facts, .. } = &*self.code;
        let mechanics = if is_smooth { smooth } else { mechanics };
        let key = if is_smooth { format!("smooth {}", kind.key()) } else { kind.key() };
        let mut flows = lock(&self.flows);
        if let Some(known) = flows.get(&key) {
            return Ok(known.boxed_clone());
        }
        let parameters = vec![0.0; mechanics.parameters.len()];
        let flow = match (facts.has_function, is_smooth) {
            (false, _) => kind.build(mechanics, &parameters)?,
            (true, false) => kind.assemble(self.code.local()?, &parameters)?,
            (true, true) => kind.assemble(self.code.smooth_local()?, &parameters)?,
        };
        flows.insert(key, flow.boxed_clone());
        Ok(flow)
    }
}

impl Compiled {
    fn zeros(&self) -> Vec<f64> {
        vec![0.0; self.mechanics.parameters.len()]
    }

    /// (parameters, t, q, v) → the powers of forces and of drives.
    pub(super) fn power(&self) -> Result<&Kernel> {
        known(&self.power, || self.mechanics.kernel(&self.mechanics.state_symbols(), &self.powers))
    }

    pub(super) fn violation(&self) -> Result<&Violation> {
        known(&self.violation, || Violation::new(&self.mechanics, &self.zeros()))
    }

    pub(super) fn reaction(&self) -> Result<&Reaction> {
        known(&self.reaction, || Reaction::new(&self.mechanics, &self.mechanics.tangent_constraints(), &self.zeros()))
    }

    pub(super) fn local(&self) -> Result<&Arc<LocalCode>> {
        known(&self.local, || LocalCode::new(&self.mechanics).map(Arc::new))
    }

    /// The same on one side of each kink.
    fn smooth_local(&self) -> Result<&Arc<LocalCode>> {
        if self.facts.kinks == 0 {
            return self.local();
        }
        known(&self.smooth_local, || LocalCode::new(&self.smooth).map(Arc::new))
    }
}

/// The restitution of every wall as a function of the parameters. It is interpreted, because it is evaluated once per run.
fn interpreted(mechanics: &Mechanics, system: &System) -> Result<Kernel> {
    let restitution: Vec<Expr> = system.walls.iter().map(|wall| wall.restitution).collect();
    mechanics.interpreted().kernel(&[], &restitution)
}

/// Returns the value of a cell, and compiles it on first use.
fn known<T>(cell: &OnceLock<Result<T>>, compile: impl FnOnce() -> Result<T>) -> Result<&T> {
    cell.get_or_init(compile).as_ref().map_err(Clone::clone)
}

/// Locks a mutex even if another thread panicked while holding it. This is safe because entries are only added.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Plant for Expressions {
    fn facts(&self) -> &Facts {
        &self.code.facts
    }

    fn evaluator(&self) -> Box<dyn Evaluator> {
        Box::new(Evaluate::new(&self.code))
    }

    fn flow(&self, kind: &FlowKind) -> Result<Box<dyn Flow>> {
        self.flow_of(kind, false)
    }

    fn smooth_flow(&self, kind: &FlowKind) -> Result<Box<dyn Flow>> {
        self.flow_of(kind, self.code.facts.kinks > 0)
    }

    fn contact(&self, kind: &FlowKind, walls: &[usize]) -> Result<Box<dyn Contact>> {
        let mut held = lock(&self.held);
        let code = match held.get(&kind.key()) {
            Some(known) => known.clone(),
            None => {
                let code = Arc::new(kind.held_code(self.code.smooth_local()?)?);
                held.insert(kind.key(), code.clone());
                code
            }
        };
        Ok(Box::new(Holding::new(&code, kind, walls, &vec![0.0; self.code.smooth.parameters.len()])))
    }

    fn onto_constraints(&self) -> Result<(Manifold, Field)> {
        let manifold = known(&self.manifold, || Manifold::new(&self.code.mechanics, &self.zeros()))?;
        Ok((manifold.clone(), self.code.field.clone()))
    }

    fn modified(&self, which: &Modified) -> Result<Box<dyn ModifiedHamiltonian>> {
        let (mechanics, zeros) = (&self.code.mechanics, self.zeros());
        let key = match which {
            Modified::Closed(formula) => format!("closed {}", formula.name()),
            Modified::Series(kind, order) => format!("series {order} {}", kind.key()),
        };
        let mut modified = lock(&self.modified);
        if let Some(known) = modified.get(&key) {
            return Ok(known.clone());
        }
        let made: Box<dyn ModifiedHamiltonian> = match which {
            Modified::Closed(formula) => Box::new(Closed::new(mechanics, *formula, &zeros)?),
            Modified::Series(kind, order) => {
                let none = || Diagnostic::new(format!("`{}` is not the flow of one discrete Lagrangian", kind.name));
                let rule = kind.discrete_lagrangian().ok_or_else(none)?;
                Box::new(Series::new(mechanics, rule, &zeros, *order)?)
            }
        };
        modified.insert(key, made.clone());
        Ok(made)
    }

    fn lane_code(&self, lanes: Lanes) -> Result<Arc<LaneCode>> {
        let cell = &self.lanes[usize::from(lanes == Lanes::Eight)];
        let compile = || {
            // Across a kink in the velocities only derivatives of the velocities jump.
            if self.code.facts.kinks > self.code.facts.kinks_of_velocities {
                return Err(Diagnostic::new("lanes do not locate kinks").into());
            }
            if self.code.facts.has_function {
                return Err(Diagnostic::new("lanes do not call a function for a force").into());
            }
            LaneCode::new(&self.code.mechanics, &self.restitution, &self.stops, lanes).map(Arc::new)
        };
        known(cell, compile).cloned()
    }

    fn slopes(&self, theta: &[usize]) -> Result<Arc<Slopes>> {
        if self.code.facts.has_function {
            return Err(Diagnostic::new("there are no derivatives of a force that is a function").into());
        }
        let mut known = lock(&self.slopes);
        if let Some(known) = known.iter().find(|known| known.theta == theta) {
            return Ok(known.clone());
        }
        let slopes = Arc::new(Slopes::new(&self.system, &self.derived, theta)?);
        known.push(slopes.clone());
        Ok(slopes)
    }

    fn lagrangian(&self) -> Result<&Mechanics> {
        Ok(&self.code.mechanics)
    }

    fn functions_of_time(&self) -> Result<&FunctionsOfTime> {
        Ok(self.timed.get_or_init(|| self.code.mechanics.functions_of_time()))
    }
}
