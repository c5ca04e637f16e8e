//! The registry of flows.

use std::sync::Arc;

use super::composition::{Composition, KAHAN_LI8, SUZUKI4};
use super::{Dop853, Gauss, Held, HeldCode, OnePass, Rk4, Variational};
use crate::discrete::{self, DiscreteLagrangian, Galerkin, Midpoint, Nodes, Svc};
use crate::error::{Diagnostic, Error, Result};
use crate::mechanics::{Field, LocalCode, Mechanics};
use crate::phase::Flow;

/// The stages of the steps while walls hold a motion that is free by [`FlowKind::one_pass`].
const HELD_STAGES: usize = 6;

/// A flow, selected by name.
pub struct FlowKind {
    /// The name in names of methods.
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
    OnePass,
    Rk4,
    Dop853,
    /// `bodies`: only on trees of bodies.
    Bodies,
}

/// A rule with a recursive kernel for trees of bodies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TreeRule {
    /// `midpoint`.
    Midpoint,
    /// `bodies`.
    Bodies,
}

/// The flows with recursive kernels, for messages.
pub(crate) const ON_TREES: &str = "`midpoint`, `midpoint-suzuki4`, `midpoint-kahan-li8` or `bodies`";

impl FlowKind {
    /// Compiles the flow for a system.
    pub fn build(&self, mechanics: &Mechanics, parameters: &[f64]) -> Result<Box<dyn Flow>> {
        let has_constraints = !mechanics.constraints.is_empty();
        Ok(match &self.recipe {
            Recipe::Gauss(stages) if has_constraints => {
                let rule = Galerkin { degree: *stages, at: Nodes::Gauss };
                Box::new(Variational::new(mechanics, &rule, parameters)?)
            }
            Recipe::Rk4 | Recipe::Dop853 if has_constraints => return Err(no_constraints(&self.name)),
            Recipe::Variational(rule) => Box::new(Variational::new(mechanics, &**rule, parameters)?),
            Recipe::Composition(parts, rule) => {
                let base = Box::new(Variational::new(mechanics, &**rule, parameters)?);
                Box::new(Composition::new(base, parts, self.order, 2 * mechanics.n()))
            }
            Recipe::Gauss(stages) => Box::new(Gauss::new(mechanics, *stages, parameters)?),
            Recipe::OnePass => {
                let none = || {
                    Diagnostic::new("quick steps need a small system without constraints, on a machine with vectors")
                };
                Box::new(OnePass::new(mechanics, parameters)?.ok_or_else(none)?)
            }
            Recipe::Rk4 => Box::new(Rk4::new(mechanics, parameters)?),
            Recipe::Dop853 => Box::new(Dop853::new(mechanics, parameters)?),
            Recipe::Bodies => return Err(no_bodies(&self.name)),
        })
    }

    /// Assembles the flow in numbers, for a system with a force that is a function.
    pub(crate) fn assemble(&self, local: &Arc<LocalCode>, parameters: &[f64]) -> Result<Box<dyn Flow>> {
        match &self.recipe {
            Recipe::Variational(_) | Recipe::Composition(..) | Recipe::Gauss(_) => {
                Ok(self.held(&Arc::new(self.held_code(local)?), &[], parameters))
            }
            Recipe::Rk4 if local.enforce.is_empty() => {
                Ok(Box::new(Rk4::along(Field::held(local, &[], parameters), local.n)))
            }
            Recipe::Rk4 => Err(no_constraints(&self.name)),
            Recipe::OnePass | Recipe::Dop853 | Recipe::Bodies => {
                let error = Diagnostic::new(format!("`{}` does not call a function for a force", self.name));
                Err(error
                    .with_help("use a variational flow such as `svc`, a Gauss method such as `gauss4`, or `rk4`")
                    .into())
            }
        }
    }

    /// Creates the code that its steps share for all contact modes.
    pub(crate) fn held_code(&self, local: &Arc<LocalCode>) -> Result<HeldCode> {
        match &self.recipe {
            Recipe::Variational(rule) | Recipe::Composition(_, rule) => HeldCode::new(local, &**rule),
            Recipe::Gauss(stages) => HeldCode::new(local, &Galerkin { degree: *stages, at: Nodes::Gauss }),
            Recipe::OnePass => HeldCode::new(local, &Galerkin { degree: HELD_STAGES, at: Nodes::Gauss }),
            Recipe::Dop853 => HeldCode::new(local, &Galerkin { degree: 4, at: Nodes::Gauss }),
            Recipe::Rk4 => Err(no_constraints(&self.name)),
            Recipe::Bodies => Err(no_bodies(&self.name)),
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

    /// Gauss collocation on accelerations, whose steps can be solved to a tolerance. It has no name: its steps are controlled.
    pub fn one_pass() -> FlowKind {
        let about = "Gauss collocation on accelerations";
        FlowKind { is_symplectic: false, ..FlowKind::symmetric("one-pass".into(), 16, about, Recipe::OnePass) }
    }

    /// True if walls can hold the motion.
    pub fn can_hold(&self) -> bool {
        !matches!(self.recipe, Recipe::Rk4)
    }

    /// True if the flow has a pair of formulas that controls the length of steps.
    pub fn is_pair(&self) -> bool {
        matches!(self.recipe, Recipe::Dop853)
    }

    /// The fractions of a step in which it is made, each by the same discrete Lagrangian.
    pub(crate) fn parts(&self) -> &'static [f64] {
        match &self.recipe {
            Recipe::Composition(parts, _) => parts,
            _ => &[1.0],
        }
    }

    /// The number of stages, if the flow is Gauss collocation.
    pub(crate) fn stages(&self) -> Option<usize> {
        match &self.recipe {
            Recipe::Gauss(stages) => Some(*stages),
            _ => None,
        }
    }

    /// The rule with a recursive kernel for trees of bodies that the flow is made of, and the fractions of its steps. `None` if there
    /// is none.
    pub(crate) fn on_bodies(&self) -> Option<(TreeRule, &'static [f64])> {
        match &self.recipe {
            Recipe::Variational(rule) | Recipe::Composition(_, rule) => {
                let is_midpoint = rule.name() == "midpoint" && rule.is_symmetric();
                is_midpoint.then(|| (TreeRule::Midpoint, self.parts()))
            }
            Recipe::Bodies => Some((TreeRule::Bodies, self.parts())),
            _ => None,
        }
    }

    /// True if the flow exists on trees of bodies only.
    pub fn needs_bodies(&self) -> bool {
        matches!(self.recipe, Recipe::Bodies)
    }

    /// True if there is a recursive kernel for trees of bodies.
    pub fn has_recursive_kernel(&self) -> bool {
        self.on_bodies().is_some()
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

    /// Uses the discrete Lagrangian whose map is this flow. None if it has none of its own.
    pub fn with_quadrature<T>(&self, of: impl FnOnce(&dyn DiscreteLagrangian) -> T) -> Option<T> {
        match &self.recipe {
            Recipe::Variational(rule) => Some(of(&**rule)),
            Recipe::Gauss(stages) => Some(of(&Galerkin { degree: *stages, at: Nodes::Gauss })),
            Recipe::Composition(..) | Recipe::OnePass | Recipe::Dop853 | Recipe::Rk4 | Recipe::Bodies => None,
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

fn no_constraints(name: &str) -> Error {
    let error = Diagnostic::new(format!("`{name}` cannot keep constraints"));
    error.with_help("use a variational flow, such as `svc` or `gauss4`").into()
}

fn no_bodies(name: &str) -> Error {
    let error = Diagnostic::new(format!("`{name}` is a rule for bodies and joints"));
    error.with_help("use it with a model of `[[body]]`; for other models use `svc`").into()
}

/// The flows that exist on trees of bodies only.
pub fn on_trees() -> Vec<FlowKind> {
    let about = "trapezoidal rule for each body (RATTLE on the tree), for mechanisms only";
    vec![FlowKind::symmetric("bodies".into(), 2, about, Recipe::Bodies)]
}

/// The flow with this name; `alpha` is for the generalized midpoint rule.
pub fn named(name: &str, alpha: Option<f64>) -> Result<FlowKind> {
    let unknown = || Diagnostic::new(format!("there is no flow `{name}`")).into();
    registry(alpha).into_iter().chain(on_trees()).find(|kind| kind.name == name).ok_or_else(unknown)
}

/// All flows that apply to any Lagrangian; `alpha` is for the generalized midpoint rule.
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
    let explicit = |name: &str, order: usize, about: &'static str, recipe: Recipe| FlowKind {
        name: name.into(),
        order,
        is_symmetric: false,
        is_symplectic: false,
        about,
        alpha: None,
        recipe,
    };
    let about = "explicit pair 8(5,3) of Dormand and Prince; controls its step, for ensembles";
    kinds.push(explicit("dop853", 8, about, Recipe::Dop853));
    kinds.push(explicit("rk4", 4, "classical Runge–Kutta, for comparison", Recipe::Rk4));
    kinds.iter_mut().for_each(|kind| kind.alpha = alpha);
    kinds
}
