//! The sections on free motion: Lagrangian, momenta, energy, equations.

use std::cmp::Ordering;

use super::document::{Chapter, Equation};
use super::linear::{apply, dot};
use super::mechanics::{DerivedMechanics, neat_by_degree};
use super::symbols::{self, letter, partial, raised, row, sum, symbol, times};
use crate::expr::print::Layout;
use crate::expr::{Expr, jacobian};
use crate::system::{System, time};

/// A mass matrix with more rows than this is not written out.
const LARGEST_MATRIX: usize = 6;

impl DerivedMechanics {
    /// left = value.
    pub(super) fn equation(&self, left: Layout, value: Expr) -> Equation {
        Equation { value: Some(value), ..Equation::between(left, self.layout(value)) }
    }

    /// left = matrix; `name` gives names for the entries.
    pub(super) fn matrix(
        &self,
        left: Layout,
        rows: &[Vec<Expr>],
        name: impl Fn(usize, usize) -> Option<Layout>,
    ) -> Equation {
        let rows: Vec<Vec<Layout>> = rows.iter().map(|row| row.iter().map(|&e| self.layout(e)).collect()).collect();
        let mut entries = Vec::new();
        for (i, row) in rows.iter().enumerate() {
            let named = row.iter().enumerate().filter_map(|(j, entry)| Some((name(i, j)?, entry.clone())));
            entries.extend(named.map(|(left, entry)| Equation::between(left, entry)));
        }
        Equation { entries, ..Equation::between(left, Layout::Matrix(rows)) }
    }
}

/// The section on T, V, L and driven coordinates.
pub fn lagrangian(m: &DerivedMechanics, full: &System) -> Chapter {
    let mut section = Chapter::new("Lagrangian");
    let driven: Vec<Equation> =
        full.coordinates.iter().filter_map(|c| Some(m.equation(symbol(c.q), m.neat(c.prescribed?)))).collect();
    let mut given = Vec::new();
    if let Some((t, u)) = full.lagrangian.parts {
        let (t, u) = (m.neat(t), m.neat(u));
        given.extend([m.equation(letter(m.letters.kinetic), t), m.equation(letter(m.letters.potential), u)]);
        if driven.is_empty() {
            given.push(m.equation(letter(m.letters.lagrangian), t - u));
        }
    } else if driven.is_empty() {
        given.push(m.equation(letter(m.letters.lagrangian), m.l));
    }
    section.show(given);
    if !driven.is_empty() {
        let which = if driven.len() == 1 { "One coordinate is" } else { "Some coordinates are" };
        section.say(&format!("{which} driven, a given function of the time:"), []);
        section.show(driven);
        section.say("The Lagrangian of the other coordinates is then", []);
        section.show(vec![m.equation(letter(m.letters.lagrangian), m.l)]);
    }
    section
}

/// The section on p = ∂L/∂v and M = ∂²L/∂v∂v.
pub fn momenta(m: &DerivedMechanics) -> Chapter {
    let mut section = Chapter::new("Momenta");
    let names = symbols::momenta(&m.system);
    if m.q.len() > 1 {
        section.say("The momenta {} are", [chained(letter("p"), partial(letter(m.letters.lagrangian), letter("q'")))]);
    }
    let equations = names.iter().zip(&m.system.coordinates).zip(&m.p).map(|((&name, c), &p)| {
        let left = if m.q.len() == 1 {
            chained(symbol(name), partial(letter(m.letters.lagrangian), symbol(c.v)))
        } else {
            symbol(name)
        };
        Equation { left, ..m.equation(symbol(name), p) }
    });
    let equations: Vec<Equation> = equations.collect();
    section.show(equations);
    let n = m.q.len();
    if n > LARGEST_MATRIX {
        section.say(&format!("The mass matrix {{}} has {n} rows; it is not written out."), [letter(m.letters.mass)]);
    } else if n > 1 {
        section.say("The mass matrix {} is", [chained(letter(m.letters.mass), second_derivative(m))]);
        let entry = |i: usize, j: usize| letter(&format!("{}_{}{}", m.letters.mass, i + 1, j + 1));
        section.show(vec![m.matrix(letter(m.letters.mass), &m.mass, |i, j| match i.cmp(&j) {
            Ordering::Less => Some(chained(entry(i, j), entry(j, i))),
            Ordering::Equal => Some(entry(i, i)),
            Ordering::Greater => None,
        })]);
    }
    section
}

/// The formula a = b, as a left-hand side that shows its origin.
fn chained(a: Layout, b: Layout) -> Layout {
    row([a, Layout::Sign(" = "), b])
}

/// ∂²L/∂q̇∂q̇.
fn second_derivative(m: &DerivedMechanics) -> Layout {
    let above = row([raised(Layout::Sign("∂"), "²"), letter(m.letters.lagrangian)]);
    above.over(row([Layout::Sign("∂"), letter("q'"), Layout::Sign("∂"), letter("q'")]))
}

/// The section on H, in terms of velocities and of momenta.
pub fn energy(m: &DerivedMechanics) -> Chapter {
    let mut section = Chapter::new("Energy");
    let product = row([letter("p"), Layout::Sign("·"), letter("q'")]);
    let definition = Layout::Sum(vec![(false, product), (true, letter(m.letters.lagrangian))]);
    section.say("The Hamiltonian {} is", [chained(letter(m.letters.hamiltonian), definition)]);
    let hamiltonian = m.hamiltonian();
    let mut forms = Vec::new();
    if hamiltonian.is_none() || m.q.len() <= 2 {
        forms.push(m.equation(letter(m.letters.hamiltonian), m.energy));
    }
    forms.extend(hamiltonian.map(|h| m.equation(letter(m.letters.hamiltonian), h)));
    section.show(forms);
    if m.l.depends_on(&[time()]) {
        section.say("It depends on the time, so it is not conserved.", []);
    }
    section
}

/// The section on the equations of motion, in implicit form and solved.
pub fn equations(m: &DerivedMechanics) -> Chapter {
    let mut section = Chapter::new("Equations of motion");
    let free = m.system.forces.iter().all(|f| f.is_zero());
    let mut right = Vec::new();
    right.extend((!free).then(|| letter(m.letters.force)));
    let constrained = !m.system.constraints.is_empty();
    right.extend(constrained.then(|| times([raised(letter(m.letters.jacobian), "ᵀ"), letter(m.letters.lambda)])));
    let right = if right.is_empty() { Layout::whole(0) } else { sum(right) };
    section.say("{} gives", [chained(m.letters.euler_lagrange(), right)]);
    section.show(implicit(m));
    if let Some(accelerations) = m.accelerations() {
        section.say(if m.q.len() == 1 { "and so" } else { "Solved for the accelerations," }, []);
        let pairs = m.system.coordinates.iter().zip(accelerations);
        section.show(pairs.map(|(c, a)| m.equation(symbol(c.acceleration()), a)).collect());
    } else if !constrained {
        section.say("These are linear in the accelerations, with the mass matrix {}.", [letter(m.letters.mass)]);
    }
    if m.system.function.is_some() {
        section.say("Beside these acts a force that is a function, which is not written out.", []);
    }
    section
}

/// M a + … = Q + Gᵀλ, one equation for each coordinate.
fn implicit(m: &DerivedMechanics) -> Vec<Equation> {
    let accelerations: Vec<Expr> = m.system.coordinates.iter().map(|c| c.acceleration()).collect();
    let inertia = apply(&m.mass, &accelerations);
    let reactions = reactions(m);
    let equation = |i: usize| {
        let rest = neat_by_degree(m.system.forces[i] - m.forces[i], &m.v, &m.tidier, m.is_quadratic);
        let left = m.neat(inertia[i]) + rest;
        let right = m.neat(m.system.forces[i]) + reactions[i];
        Equation::between(m.layout(left), m.layout(right))
    };
    (0..m.q.len()).map(equation).collect()
}

/// The multipliers λ, or λ₁, λ₂, …
pub fn multipliers(m: &DerivedMechanics) -> Vec<Expr> {
    match m.system.constraints.len() {
        1 => vec![Expr::symbol(m.letters.lambda)],
        n => (1..=n).map(|k| Expr::symbol(&format!("{}{k}", m.letters.lambda))).collect(),
    }
}

/// Gᵀλ.
fn reactions(m: &DerivedMechanics) -> Vec<Expr> {
    let gs: Vec<Expr> = m.system.constraints.iter().map(|c| c.g).collect();
    let slopes = jacobian(&gs, &m.q);
    let lambda = multipliers(m);
    let column = |i: usize| slopes.iter().map(|row| row[i]).collect::<Vec<_>>();
    (0..m.q.len()).map(|i| m.neat(dot(&column(i), &lambda))).collect()
}

/// The section on the constraints, their Jacobian and the velocity constraints.
pub fn constraints(m: &DerivedMechanics) -> Option<Chapter> {
    let list = &m.system.constraints;
    if list.is_empty() {
        return None;
    }
    let mut section = Chapter::new(if list.len() == 1 { "Constraint" } else { "Constraints" });
    let name = |k: usize| match list.len() {
        1 => letter(m.letters.constraint),
        _ => letter(&format!("{}{}", m.letters.constraint, k + 1)),
    };
    let gs: Vec<Expr> = list.iter().map(|c| c.g).collect();
    let zero = Expr::constant(0.0);
    section.show((0..gs.len()).map(|k| m.equation(chained(name(k), m.layout(gs[k])), zero)).collect());
    let jacobian: Vec<Vec<Expr>> =
        jacobian(&gs, &m.q).into_iter().map(|row| row.into_iter().map(|e| m.neat(e)).collect()).collect();
    section.say(
        "with the Jacobian {}, and so the velocities obey {}:",
        [
            chained(letter(m.letters.jacobian), partial(letter(m.letters.constraint), letter("q"))),
            hidden(m, gs.iter().any(|g| g.depends_on(&[time()]))),
        ],
    );
    let slope = |k: usize, j: usize| partial(name(k), symbol(m.q[j]));
    section.show(vec![m.matrix(letter(m.letters.jacobian), &jacobian, |k, j| Some(slope(k, j)))]);
    let rates = gs.iter().zip(&jacobian).map(|(g, row)| m.neat(dot(row, &m.v) + g.diff(time())));
    section.show(rates.map(|rate| Equation::between(m.layout(rate), Layout::whole(0))).collect());
    Some(section)
}

/// G v + g_t = 0.
fn hidden(m: &DerivedMechanics, moves: bool) -> Layout {
    let product = times([letter(m.letters.jacobian), letter("q'")]);
    let drift = letter(&format!("{}_t", m.letters.constraint));
    let left = if moves { sum([product, drift]) } else { product };
    chained(left, Layout::whole(0))
}
