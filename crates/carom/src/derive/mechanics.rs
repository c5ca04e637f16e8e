//! The quantities derived from a Lagrangian: momenta, mass matrix, energy, equations of motion.

use std::cell::Cell;

use super::linear::{apply, dot, inverse};
use super::symbols::{Letters, momenta, notation};
use crate::expr::print::{Layout, compose_within};
use crate::expr::tidy::Tidier;
use crate::expr::{Expr, ExprNode, Func, Op, grad, jacobian, substitute, with_arena};
use crate::system::{Constraint, Lagrangian, System, Wall, time};

/// A system in its free coordinates, with the quantities derived from its Lagrangian.
pub struct DerivedMechanics {
    /// The system, with driven coordinates replaced by their functions of time.
    pub system: System,
    pub tidier: Tidier,
    pub letters: Letters,
    pub q: Vec<Expr>,
    pub v: Vec<Expr>,
    pub l: Expr,
    /// ∂L/∂v.
    pub p: Vec<Expr>,
    /// ∂²L/∂v∂v.
    pub mass: Vec<Vec<Expr>>,
    /// M⁻¹, if the blocks of M are small.
    pub mass_inverse: Option<Vec<Vec<Expr>>>,
    /// True if M does not depend on the velocities.
    pub is_quadratic: bool,
    /// v·∂L/∂v − L, as a function of q and v.
    pub energy: Expr,
    /// The forces other than M a: Q + ∂L/∂q − (∂p/∂q) v − ∂p/∂t.
    pub forces: Vec<Expr>,
    /// The number of operations that may still be shown.
    room: Cell<f64>,
}

/// The largest number of operations that a derivation shows: some tens of pages.
const PAGE: f64 = 50_000.0;

impl DerivedMechanics {
    pub fn new(full: &System) -> DerivedMechanics {
        let tidier = Tidier::new(notation(full));
        let system = reduced(full, &tidier);
        let neat = |e: Expr| tidier.tidy(e);
        let (q, v, l) = (system.q(), system.v(), system.lagrangian.l);
        let slopes = grad(l, &v);
        let p: Vec<Expr> = slopes.iter().map(|&p| neat(p)).collect();
        let mass = symmetric(jacobian(&p, &v), neat);
        let is_quadratic = !mass.iter().flatten().any(|m| m.depends_on(&v));
        let forces = forces(&system, &p, &q, &v);
        let mass_inverse = inverse(&mass, &neat);
        let energy = neat_by_degree(dot(&p, &v) - l, &v, &tidier, is_quadratic);
        let letters = Letters::new(full);
        DerivedMechanics {
            system,
            tidier,
            letters,
            q,
            v,
            l,
            p,
            mass,
            mass_inverse,
            is_quadratic,
            energy,
            forces,
            room: Cell::new(PAGE),
        }
    }

    /// The layout of e, or its size in words if the limit is reached.
    pub fn layout(&self, e: Expr) -> Layout {
        let (layout, size) = compose_within(e, &self.tidier.notation, self.room.get());
        self.room.set(self.room.get() - size);
        layout
    }

    /// Simplifies e to the form in which a person would write it.
    pub fn neat(&self, e: Expr) -> Expr {
        self.tidier.tidy(e)
    }

    /// H(q, p), for L quadratic in v: ½ (p − b)ᵀ M⁻¹ (p − b) + U, where L = ½ vᵀMv + b·v − U.
    pub fn hamiltonian(&self) -> Option<Expr> {
        let inverse = self.mass_inverse.as_ref().filter(|_| self.is_quadratic && self.q.len() <= 3)?;
        let zeros = vec![Expr::constant(0.0); self.v.len()];
        let rest = |e: Expr| substitute(&[e], &self.v, &zeros)[0];
        let shifted: Vec<Expr> =
            momenta(&self.system).iter().zip(&self.p).map(|(&p, &of_v)| p - self.neat(rest(of_v))).collect();
        let kinetic = if self.q.len() == 1 {
            // A single shifted momentum is best left as a square.
            let mass = self.mass[0][0];
            shifted[0].squared() / (2.0 * mass)
        } else {
            self.neat(0.5 * dot(&shifted, &apply(inverse, &shifted)))
        };
        Some(kinetic + self.neat(-rest(self.l)))
    }

    /// The accelerations, for a system without constraints.
    pub fn accelerations(&self) -> Option<Vec<Expr>> {
        let inverse = self.mass_inverse.as_ref().filter(|_| self.system.constraints.is_empty())?;
        Some(apply(inverse, &self.forces).into_iter().map(|a| self.neat(a)).collect())
    }
}

/// Simplifies the quadratic, linear and constant parts in v of an expression separately.
pub fn neat_by_degree(e: Expr, v: &[Expr], tidier: &Tidier, is_quadratic: bool) -> Expr {
    // This substitutes and differentiates, which takes some tenths of a microsecond per node.
    if !tidier.affords(e, 20) {
        return e;
    }
    let zeros = vec![Expr::constant(0.0); v.len()];
    let rest = tidier.tidy(substitute(&[e], v, &zeros)[0]);
    if !is_quadratic || !is_defined(rest) {
        return tidier.tidy(e);
    }
    let slopes = substitute(&grad(e, v), v, &zeros);
    let linear = tidier.tidy(dot(&slopes, v));
    tidier.tidy(e - linear - rest) + linear + rest
}

/// True if ∂²e/∂v∂v does not depend on v.
fn is_quadratic(e: Expr, v: &[Expr], tidier: &Tidier) -> bool {
    !jacobian(&grad(e, v), v).into_iter().flatten().any(|x| x.depends_on(v) && tidier.tidy(x).depends_on(v))
}

/// Applies f to the entries of a symmetric matrix, once for equal entries.
fn symmetric(m: Vec<Vec<Expr>>, f: impl Fn(Expr) -> Expr) -> Vec<Vec<Expr>> {
    let lower: Vec<Vec<Expr>> =
        m.iter().enumerate().map(|(i, row)| row[..=i].iter().map(|&e| f(e)).collect()).collect();
    (0..m.len()).map(|i| (0..m.len()).map(|j| lower[i.max(j)][i.min(j)]).collect()).collect()
}

/// False if e divides by zero or takes its logarithm for all values of the symbols.
fn is_defined(e: Expr) -> bool {
    with_arena(|a| {
        a.reachable(&[e]).into_iter().all(|x| match a.node(x) {
            ExprNode::Const(c) => c.is_finite(),
            ExprNode::Binary(Op::Div, _, y) | ExprNode::Unary(Func::Log, y) => a.as_const(y) != Some(0.0),
            _ => true,
        })
    })
}

/// Q + ∂L/∂q − (∂p/∂q) v − ∂p/∂t.
fn forces(system: &System, p: &[Expr], q: &[Expr], v: &[Expr]) -> Vec<Expr> {
    let slopes = grad(system.lagrangian.l, q);
    let drift = apply(&jacobian(p, q), v);
    (0..q.len()).map(|i| system.forces[i] + slopes[i] - drift[i] - p[i].diff(time())).collect()
}

/// The system in its free coordinates, with a simplified Lagrangian.
fn reduced(system: &System, tidier: &Tidier) -> System {
    let drive = |e: Expr| system.drive(&[e])[0];
    let free = system.free();
    let v = system.v();
    let l = drive(system.lagrangian.l);
    let parts = system.lagrangian.parts.filter(|_| free.len() == system.coordinates.len());
    let parts = parts.map(|(t, u)| (tidier.tidy(t), tidier.tidy(u)));
    let l = parts.map_or_else(|| neat_by_degree(l, &v, tidier, is_quadratic(l, &v, tidier)), |(t, u)| t - u);
    System {
        coordinates: free.iter().map(|&i| system.coordinates[i].clone()).collect(),
        parameters: system.parameters.clone(),
        lagrangian: Lagrangian { l, parts },
        walls: system.walls.iter().map(|w| Wall { phi: tidier.tidy(drive(w.phi)), ..w.clone() }).collect(),
        constraints: system
            .constraints
            .iter()
            .map(|c| Constraint { g: tidier.tidy(drive(c.g)), ..c.clone() })
            .collect(),
        forces: free.iter().map(|&i| drive(system.forces[i])).collect(),
        function: system.function.clone(),
        mechanism: None,
    }
}
