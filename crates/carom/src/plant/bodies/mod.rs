//! The plant of a tree of bodies: recursive kernels for the bodies, expressions for what the user adds.
//!
//! Kinetic energy, gravity, springs and dampers of joints are numbers (`tree/`). Walls, constraints, potentials, forces and
//! outputs are expressions of the places of points, coordinates and the time; their derivatives go through the chains of bodies.

mod code;
mod contact;
mod evaluator;
mod flow;
mod function;
mod instant;
mod machine;
mod newton;
mod output;
mod within;

use std::sync::{Arc, OnceLock};

use self::code::Code;
use self::contact::Holding;
use self::evaluator::Evaluate;
use self::flow::Steps;
use super::{Contact, Evaluator, Facts, Modified, Plant};
use crate::error::{Diagnostic, Error, Result};
use crate::expr::Expr;
use crate::flow::{FlowKind, ON_TREES, TreeRule};
use crate::linkage::refuse;
use crate::mechanics::{Field, FunctionsOfTime, Manifold, Mechanics};
use crate::modified::ModifiedHamiltonian;
use crate::phase::Flow;
use crate::slopes::Slopes;
use crate::system::System;
use crate::tree::{MidpointStep, Planar, PlanarRattle, Rattle};

/// A compiled tree of bodies.
pub struct Bodies {
    code: Arc<Code>,
    system: System,
    /// The Lagrangian as an expression, made on first use. Nothing of it is compiled.
    mechanics: OnceLock<Mechanics>,
    timed: OnceLock<FunctionsOfTime>,
}

impl Bodies {
    /// Compiles a system whose bodies have all of its coordinates. Returns an error with the reason if it is another system.
    pub fn new(system: &System, outputs: &[Expr], sections: &[Expr]) -> Result<Bodies> {
        let code = Arc::new(Code::new(system, outputs, sections)?);
        Ok(Bodies { code, system: system.clone(), mechanics: OnceLock::new(), timed: OnceLock::new() })
    }

    fn held(&self, kind: &FlowKind, walls: &[usize]) -> Result<Box<dyn Flow>> {
        let composed = |parts| (parts, kind.order);
        match kind.on_bodies() {
            Some((TreeRule::Midpoint, parts)) if self.code.is_plainly_planar() => {
                Ok(Box::new(Steps::new(&self.code, walls, Planar::new, composed(parts))))
            }
            Some((TreeRule::Midpoint, parts)) => {
                Ok(Box::new(Steps::new(&self.code, walls, MidpointStep::new, composed(parts))))
            }
            Some((TreeRule::Bodies, parts)) if self.code.is_plainly_planar() => {
                Ok(Box::new(Steps::new(&self.code, walls, PlanarRattle::new, composed(parts))))
            }
            Some((TreeRule::Bodies, parts)) => {
                Ok(Box::new(Steps::new(&self.code, walls, Rattle::new, composed(parts))))
            }
            None => {
                let message = format!("`{}` has no recursive kernel for large mechanisms", kind.name);
                Err(Diagnostic::new(message).with_help(format!("use {ON_TREES}")).into())
            }
        }
    }
}

fn needs_expressions(what: &str) -> Error {
    refuse(&format!("{what} needs compiled expressions")).into()
}

impl Plant for Bodies {
    fn facts(&self) -> &Facts {
        &self.code.facts
    }

    fn is_recursive(&self) -> bool {
        true
    }

    fn evaluator(&self) -> Box<dyn Evaluator> {
        Box::new(Evaluate::new(&self.code))
    }

    fn flow(&self, kind: &FlowKind) -> Result<Box<dyn Flow>> {
        self.held(kind, &[])
    }

    fn smooth_flow(&self, kind: &FlowKind) -> Result<Box<dyn Flow>> {
        self.flow(kind)
    }

    fn contact(&self, kind: &FlowKind, walls: &[usize]) -> Result<Box<dyn Contact>> {
        Ok(Box::new(Holding::new(&self.code, walls, self.held(kind, walls)?)))
    }

    fn onto_constraints(&self) -> Result<(Manifold, Field)> {
        Err(needs_expressions("the shadow Hamiltonian with constraints"))
    }

    fn modified(&self, _: &Modified) -> Result<Box<dyn ModifiedHamiltonian>> {
        Err(needs_expressions("a modified Hamiltonian"))
    }

    fn slopes(&self, _: &[usize]) -> Result<Arc<Slopes>> {
        Err(needs_expressions("a derivative of steps"))
    }

    fn lagrangian(&self) -> Result<&Mechanics> {
        Ok(self.mechanics.get_or_init(|| Mechanics::new(&self.system)))
    }

    fn functions_of_time(&self) -> Result<&FunctionsOfTime> {
        if !self.code.is_any_timed() {
            return Ok(self.timed.get_or_init(FunctionsOfTime::default));
        }
        let mechanics = self.lagrangian()?;
        Ok(self.timed.get_or_init(|| mechanics.functions_of_time()))
    }
}
