//! A state of a run, evaluated lazily.

use super::account::Account;
use super::constraints::Constraints;
use super::observer::Look;
use crate::mechanics::Node;
use crate::phase::Phase;

/// A state of a run. Each quantity is computed only when it is requested.
pub struct View<'a> {
    pub(super) z: &'a Phase,
    pub(super) look: &'a mut Look,
    pub(super) constraints: Option<&'a mut Constraints>,
    /// The walls that hold the motion.
    pub(super) holding: &'a [usize],
    /// The full step h.
    pub(super) h: f64,
    /// True if this state is the end of a step.
    pub(super) is_node: bool,
    pub(super) account: Option<Account>,
}

impl View<'_> {
    /// The time.
    pub fn t(&self) -> f64 {
        self.z.t
    }

    /// True if this state is the end of a step, and not a sample inside one.
    pub fn is_node(&self) -> bool {
        self.is_node
    }

    /// The state in the free coordinates.
    pub fn phase(&self) -> &Phase {
        self.z
    }

    /// The energy account up to this state; only at nodes of a run that keeps one.
    pub fn account(&self) -> Option<Account> {
        self.account
    }

    /// p·v over the free coordinates, which is twice the kinetic energy if that is quadratic in v. NaN if v cannot be computed.
    pub fn power(&mut self) -> f64 {
        let v = self.look.evaluator.velocity(self.z);
        v.map_or(f64::NAN, |v| self.z.p().iter().zip(v).map(|(p, v)| p * v).sum())
    }

    /// The energy. NaN if the velocities cannot be computed.
    pub fn energy(&mut self) -> f64 {
        self.look.evaluator.energy(self.z).unwrap_or(f64::NAN)
    }

    /// The state in all coordinates.
    pub fn node(&mut self) -> Node {
        let mut node = Node::default();
        self.write(&mut node);
        node
    }

    /// Writes the state in all coordinates into `node`. Allocates only if `node` is too small.
    pub fn write(&mut self, node: &mut Node) {
        self.look.node(self.z, self.holding, node);
        if let Some(constraints) = &mut self.constraints {
            constraints.describe(self.z, self.holding, self.h, self.is_node, self.look, node);
        }
    }
}
