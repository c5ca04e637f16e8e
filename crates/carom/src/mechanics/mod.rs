//! The equations of a system in its free coordinates, and their evaluation at a state.

mod acceleration;
mod active;
mod bordered;
mod brief;
mod eliminate;
mod field;
mod function;
mod growth;
mod inputs;
mod kinks;
mod lift;
mod local;
mod manifold;
mod mobility;
mod newton;
mod reaction;
mod slopes;
mod sources;
mod symmetry;
mod tangent;
mod terms;
mod timed;
mod violation;
mod walls;

pub(crate) use active::Active;
pub(crate) use bordered::Bordered;
pub use eliminate::eliminate;
pub use field::Field;
pub(crate) use function::Function;
pub use growth::{growth_factor, turn};
pub use inputs::Inputs;
pub use kinks::Kinks;
pub use lift::{Lift, Node, powers};
pub(crate) use local::{Local, LocalCode, Row};
pub use manifold::Manifold;
pub(crate) use mobility::roots_of_inverse_mass;
pub use newton::Newton;
pub use reaction::Reaction;
pub(crate) use slopes::slopes_of_field;
pub use sources::Sources;
pub use symmetry::MomentumMap;
pub use terms::{size_at, size_of_lagrangian, sum_of_terms};
pub use timed::{BoundedTerm, FunctionsOfTime, TimedTerm};
pub use violation::Violation;
pub(crate) use walls::{Walls, at_end, gap_and_rate};

use std::sync::{Arc, OnceLock};

use crate::discrete::Sample;
use crate::error::{Diagnostic, Result};
use crate::expr::{Expr, Lease, Written, any_depends_on, grad, jacobian, substitute};
use crate::kernel::{Backend, Kernel};
use crate::system::{Enforce, ForceFunction, System, time};

/// The equations of a system in its free coordinates; driven coordinates are replaced by their functions of time.
#[derive(Clone, Debug)]
pub struct Mechanics {
    /// The parameters.
    pub parameters: Vec<Expr>,
    /// The free coordinates.
    pub q: Vec<Expr>,
    /// Their velocities.
    pub v: Vec<Expr>,
    /// L(q, v, t).
    pub l: Expr,
    /// The generalized forces, if there are any.
    pub forces: Option<Vec<Expr>>,
    /// A force that is a function, beside these. Only `LocalCode` and what is built on it contain it.
    pub function: Option<ForceFunction>,
    /// φ(q, t) of each wall.
    pub walls: Vec<Expr>,
    /// The holonomic constraints.
    pub constraints: Vec<Holonomic>,
    /// How many of them the model states; those of ball joints come after these.
    pub stated: usize,
    /// Whether kernels are compiled or interpreted.
    pub backend: Backend,
    /// Keeps the expressions.
    pub lease: Lease,
    /// What has been derived from L.
    pub derived: Derived,
}

/// L_vv, once it is derived, and the L that it belongs to. Copies share it.
#[derive(Clone, Debug, Default)]
pub struct Derived(Arc<OnceLock<(Written, Vec<Vec<Expr>>)>>);

/// A constraint g(q, t) = 0 in the free coordinates.
#[derive(Clone, Copy, Debug)]
pub struct Holonomic {
    /// The constraint function.
    pub g: Expr,
    /// Where a step enforces it: at one point or between two.
    pub enforce: Enforce,
}

impl Mechanics {
    /// Derives the equations of `system`.
    pub fn new(system: &System) -> Mechanics {
        let free = system.free();
        let (q, v) = (system.q(), system.v());
        let pick = |all: &[Expr]| free.iter().map(|&i| all[i]).collect::<Vec<_>>();
        let forces = pick(&system.drive(&system.forces));
        let walls: Vec<Expr> = system.walls.iter().map(|wall| wall.phi).collect();
        let g: Vec<Expr> = system.constraints.iter().map(|constraint| constraint.g).collect();
        let constraints = system.drive(&g).into_iter().zip(&system.constraints);
        Mechanics {
            parameters: system.parameters.iter().map(|p| p.symbol).collect(),
            q: pick(&q),
            v: pick(&v),
            l: system.drive(&[system.lagrangian.l])[0],
            forces: forces.iter().any(|f| !f.is_zero()).then_some(forces),
            function: system.function.clone(),
            walls: system.drive(&walls),
            constraints: constraints.map(|(g, constraint)| Holonomic { g, enforce: constraint.enforce }).collect(),
            stated: system.stated_constraints().len(),
            backend: Backend::Jit,
            lease: Lease::default(),
            derived: Derived::default(),
        }
    }

    /// Copies the equations with interpreted kernels, for quantities that are rarely evaluated.
    pub fn interpreted(&self) -> Mechanics {
        Mechanics { backend: Backend::Interpreter, ..self.clone() }
    }

    /// The number of degrees of freedom.
    pub fn n(&self) -> usize {
        self.q.len()
    }

    /// The symbols of a state (t, q, v), in the order of [`Inputs`].
    pub fn state_symbols(&self) -> Vec<Expr> {
        [time()].iter().chain(&self.q).chain(&self.v).copied().collect()
    }

    /// Each fᵢ(q, v, t) with another state substituted.
    pub fn at(&self, fs: &[Expr], q: &[Expr], v: &[Expr], t: Expr) -> Vec<Expr> {
        let from: Vec<Expr> = self.q.iter().chain(&self.v).copied().chain([time()]).collect();
        let to: Vec<Expr> = q.iter().chain(v).copied().chain([t]).collect();
        substitute(fs, &from, &to)
    }

    /// The momenta p = L_v.
    pub fn momenta(&self) -> Vec<Expr> {
        grad(self.l, &self.v)
    }

    /// The mass matrix L_vv.
    pub fn mass(&self) -> Vec<Vec<Expr>> {
        let derive = || jacobian(&self.momenta(), &self.v);
        let (l, mass) = self.derived.0.get_or_init(|| (self.l.written(), derive()));
        // A copy may have been given another L.
        if *l == self.l.written() { mass.clone() } else { derive() }
    }

    /// g of the one-point constraints, to which v is tangent at every node.
    pub fn tangent_constraints(&self) -> Vec<Expr> {
        self.constraints.iter().filter(|c| c.enforce == Enforce::OnePoint).map(|c| c.g).collect()
    }

    /// True if L is quadratic in v: L_vv does not contain v.
    pub fn is_quadratic(&self) -> bool {
        !any_depends_on(&self.mass().concat(), &self.v)
    }

    /// M = Σᵢ bᵢ L(qᵢ, vᵢ, tᵢ) over the samples of a step: L_d = h·M.
    pub fn mean_lagrangian(&self, samples: &[Sample]) -> Expr {
        samples.iter().map(|s| s.weight * self.at(&[self.l], &s.q, &s.v, s.t)[0]).sum()
    }

    /// For each constraint, true if it is enforced at nodes (one-point), false if it is enforced between nodes (two-point).
    pub fn is_one_point(&self) -> Vec<bool> {
        self.constraints.iter().map(|c| c.enforce == Enforce::OnePoint).collect()
    }

    /// Symbols for the momenta.
    pub fn p(&self) -> Vec<Expr> {
        numbered("p", self.n())
    }

    /// A kernel whose inputs are the parameters and then `inputs`.
    pub fn kernel(&self, inputs: &[Expr], outputs: &[Expr]) -> Result<Kernel> {
        let inputs: Vec<Expr> = self.parameters.iter().chain(inputs).copied().collect();
        let kernel = match self.backend {
            Backend::Jit => Kernel::new(&inputs, outputs),
            Backend::Interpreter => Kernel::with_backend(&inputs, outputs, Backend::Interpreter),
        };
        kernel.map_err(|e| Diagnostic::new(e.to_string()).into())
    }
}

/// Symbols `name#0`, `name#1`, …; a model cannot use such names.
pub fn numbered(name: &str, n: usize) -> Vec<Expr> {
    (0..n).map(|i| Expr::symbol(&format!("{name}#{i}"))).collect()
}
