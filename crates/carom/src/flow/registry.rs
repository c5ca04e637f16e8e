//! The registry of flows.

use std::sync::Arc;

use super::composition::{Composition, KAHAN_LI8, SUZUKI4};
use super::{Gauss, Held, HeldCode, Rk4, Variational};
use crate::discrete::{self, DiscreteLagrangian, Galerkin, Midpoint, Nodes, Svc};
use crate::error::{Diagnostic, Error, Result};
use crate::mechanics::{LocalCode, Mechanics};
use crate::phase::Flow;

/// A flow, selected by name.
pub struct FlowKind {
    /// The name in `--method`.
    pub name: String,
    /// The order of the map.
    pub order: usize,
    /// True if the map is its own adjoint: a step with −h undoes a step with h.
    pub is_symmetric: bool,
    /// True if the map is symplectic.
    pub is_symplectic: bool,
    /// A one-line description.
    pub about: &'static str,
    /// α, for the generalized midpoint rule.
    alpha: Option<f64>,
    recipe: Recipe,
}

enum Recipe {
    Variational(Box<dyn DiscreteLagrangian>),
    Composition(&'static [f64], Box<dyn DiscreteLagrangian>),
    Gauss(usize),
    Rk4,
}

impl FlowKind {
    /// Compiles the flow for a system.
    pub fn build(&self, mechanics: &Mechanics, parameters: &[f64]) -> Result<Box<dyn Flow>> {
        let has_constraints = !mechanics.constraints.is_empty();
        Ok(match &self.recipe {
            Recipe::Gauss(stages) if has_constraints => {
                let rule = Galerkin { degree: *stages, at: Nodes::Gauss };
                Box::new(Variational::new(mechanics, &rule, parameters)?)
            }
            Recipe::Rk4 if has_constraints => return Err(no_constraints()),
            Recipe::Variational(rule) => Box::new(Variational::new(mechanics, &**rule, parameters)?),
            Recipe::Composition(parts, rule) => {
                let base = Box::new(Variational::new(mechanics, &**rule, parameters)?);
                Box::new(Composition::new(base, parts, self.order, 2 * mechanics.n()))
            }
            Recipe::Gauss(stages) => Box::new(Gauss::new(mechanics, *stages, parameters)?),
            Recipe::Rk4 => Box::new(Rk4::new(mechanics, parameters)?),
        })
    }

    /// Creates the code that its steps share for all contact modes.
    pub(crate) fn held_code(&self, local: &Arc<LocalCode>) -> Result<HeldCode> {
        match &self.recipe {
            Recipe::Variational(rule) | Recipe::Composition(_, rule) => HeldCode::new(local, &**rule),
            Recipe::Gauss(stages) => HeldCode::new(local, &Galerkin { degree: *stages, at: Nodes::Gauss }),
            Recipe::Rk4 => Err(no_constraints()),
        }
    }

    /// The flow while a set of walls holds the motion.
    pub(crate) fn held(&self, code: &Arc<HeldCode>, walls: &[usize], parameters: &[f64]) -> Box<dyn Flow> {
        let map = Box::new(Held::new(code, walls, parameters));
        match &self.recipe {
            Recipe::Composition(parts, _) => Box::new(Composition::new(map, parts, self.order, 2 * code.local().n)),
            _ => map,
        }
    }

    /// The fractions of a step of which the flow is composed on a tree of bodies, where `midpoint` has a recursive kernel. `None`
    /// if it is not made of `midpoint`.
    fn parts_on_bodies(&self) -> Option<&'static [f64]> {
        let is_midpoint = |rule: &dyn DiscreteLagrangian| rule.name() == "midpoint" && rule.is_symmetric();
        match &self.recipe {
            Recipe::Variational(rule) if is_midpoint(&**rule) => Some(&[1.0]),
            Recipe::Composition(parts, rule) if is_midpoint(&**rule) => Some(parts),
            _ => None,
        }
    }

    /// True if there is a recursive kernel for trees of bodies.
    pub fn has_recursive_kernel(&self) -> bool {
        self.parts_on_bodies().is_some()
    }

    /// The flow on a tree of bodies, made of `midpoint` there; `size` is the length of a state.
    pub(crate) fn on_bodies(&self, midpoint: Box<dyn Flow>, size: usize) -> Option<Box<dyn Flow>> {
        Some(match self.parts_on_bodies()? {
            [_] => midpoint,
            parts => Box::new(Composition::new(midpoint, parts, self.order, size)),
        })
    }

    /// A key that identifies the flow, including its settings.
    pub fn key(&self) -> String {
        match self.alpha {
            Some(alpha) => format!("{} {alpha:e}", self.name),
            None => self.name.clone(),
        }
    }

    /// Its discrete Lagrangian, if it has one.
    pub fn discrete_lagrangian(&self) -> Option<&dyn DiscreteLagrangian> {
        match &self.recipe {
            Recipe::Variational(rule) => Some(&**rule),
            _ => None,
        }
    }

    fn variational(rule: Box<dyn DiscreteLagrangian>) -> FlowKind {
        FlowKind {
            name: rule.name().into(),
            order: rule.order(),
            is_symmetric: rule.is_symmetric(),
            is_symplectic: true,
            about: rule.about(),
            alpha: None,
            recipe: Recipe::Variational(rule),
        }
    }

    fn symmetric(name: String, order: usize, about: &'static str, recipe: Recipe) -> FlowKind {
        FlowKind { name, order, is_symmetric: true, is_symplectic: true, about, alpha: None, recipe }
    }
}

fn no_constraints() -> Error {
    let error = Diagnostic::new("`rk4` cannot keep constraints");
    error.with_help("use a variational flow, such as `svc` or `gauss4`").into()
}

/// The flow with this name; `alpha` is for the generalized midpoint rule.
pub fn named(name: &str, alpha: Option<f64>) -> Result<FlowKind> {
    let unknown = || Diagnostic::new(format!("there is no flow `{name}`")).into();
    registry(alpha).into_iter().find(|kind| kind.name == name).ok_or_else(unknown)
}

/// All flows; `alpha` is for the generalized midpoint rule.
pub fn registry(alpha: Option<f64>) -> Vec<FlowKind> {
    let mut kinds: Vec<FlowKind> =
        discrete::registry(alpha.unwrap_or(0.5)).into_iter().map(FlowKind::variational).collect();
    let svc = |parts| Recipe::Composition(parts, Box::new(Svc));
    let midpoint = |parts| Recipe::Composition(parts, Box::new(Midpoint { alpha: 0.5 }));
    let compositions = [
        ("suzuki4", 4, "composition of 5 steps of svc", svc(&SUZUKI4)),
        ("kahan-li8", 8, "composition of 17 steps of svc", svc(&KAHAN_LI8)),
        ("midpoint-suzuki4", 4, "composition of 5 steps of midpoint", midpoint(&SUZUKI4)),
        ("midpoint-kahan-li8", 8, "composition of 17 steps of midpoint", midpoint(&KAHAN_LI8)),
    ];
    for (name, order, about, recipe) in compositions {
        kinds.push(FlowKind::symmetric(name.into(), order, about, recipe));
    }
    for s in 1..=8 {
        let about = "Gauss collocation";
        kinds.push(FlowKind::symmetric(format!("gauss{s}"), 2 * s, about, Recipe::Gauss(s)));
    }
    kinds.push(FlowKind {
        name: "rk4".into(),
        order: 4,
        is_symmetric: false,
        is_symplectic: false,
        about: "classical Runge–Kutta, for comparison",
        alpha: None,
        recipe: Recipe::Rk4,
    });
    kinds.iter_mut().for_each(|kind| kind.alpha = alpha);
    kinds
}
