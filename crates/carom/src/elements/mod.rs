//! The functions of a control problem, compiled with their first and second derivatives.
//!
//! A program is a sum of elements (`optimize/transcription/`): functions of a few of its unknowns. What they are follows from the
//! Lagrangian of the model, its walls and constraints, and what the control problem says of its bounds, its end and its cost. One
//! element serves all steps, nodes or events of a kind.

mod element;
mod symbols;

pub(crate) use element::Element;

use self::symbols::{StepSymbols, Symbols};
use crate::discrete::DiscreteLagrangian;
use crate::error::Result;
use crate::expr::{Expr, eval, grad};
use crate::kernel::Backend;
use crate::mechanics::{Node, numbered};
use crate::model::Model;
use crate::model::control::{Bound, Condition, Periodic};
use crate::system::time;

/// A surface that may hold the motion: a wall or a constraint, by number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Surface {
    Wall(usize),
    Constraint(usize),
}

/// What a bound on the way depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Bounded {
    /// It is one coordinate.
    Coordinate,
    /// It is a function of the coordinates and the time.
    Place,
    /// It is one control.
    Control,
    /// It contains velocities or controls.
    Motion,
}

/// What is asked for at an event beside the balance of momenta.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Asked<'a> {
    /// An impact on a wall: φ = 0, and the impact law; true for the law of `dtec`, to which energies are added.
    Impact(usize, bool),
    /// A plastic impact: g = 0 of what was not held before.
    Catch(&'a [Surface]),
}

/// The functions of the control problem of a model, for a discrete Lagrangian. Each is compiled when it is asked for.
pub(crate) struct Elements<'m> {
    model: &'m Model,
    symbols: Symbols,
    step: StepSymbols,
    backend: Backend,
}

impl<'m> Elements<'m> {
    pub(crate) fn new(model: &'m Model, rule: &dyn DiscreteLagrangian, backend: Backend) -> Elements<'m> {
        let symbols = Symbols::new(model);
        Elements { model, step: symbols.step(rule), symbols, backend }
    }

    /// The number of free coordinates.
    pub(crate) fn n(&self) -> usize {
        self.symbols.n()
    }

    /// The number of walls.
    pub(crate) fn walls(&self) -> usize {
        self.symbols.mechanics.walls.len()
    }

    /// The values of the parameters.
    pub(crate) fn numbers(&self) -> Vec<f64> {
        self.model.plain_parameters().iter().map(|p| p.value).collect()
    }

    /// q0, the inner points, q1, u, t, h → p⁻, the equations of the inner points, p⁺; and the running cost.
    pub(crate) fn step(&self) -> Result<Element> {
        self.compile(&self.step.inputs, &self.step.rows, self.step.cost)
    }

    /// q0, the inner points, q1, u, t, h → −D₃L_d.
    pub(crate) fn energy(&self) -> Result<Element> {
        self.compile(&self.step.inputs, &[self.step.energy], None)
    }

    /// q, v, t → L_v.
    pub(crate) fn momentum(&self) -> Result<Element> {
        self.compile(&self.symbols.state(), &self.symbols.mechanics.momenta(), None)
    }

    /// q, t → φ of a wall.
    pub(crate) fn gap(&self, wall: usize) -> Result<Element> {
        self.at_node(self.symbols.mechanics.walls[wall])
    }

    /// q, Λ, t → GᵀΛ, g of what is held.
    pub(crate) fn held(&self, surfaces: &[Surface]) -> Result<Element> {
        let gaps = self.gaps(surfaces);
        let impulses = numbered("impulse", gaps.len());
        let rows = [self.symbols.push(&gaps, &impulses), gaps].concat();
        self.compile(&[&self.symbols.mechanics.q[..], &impulses, &[time()]].concat(), &rows, None)
    }

    /// q, v, ν, t → L_v + Gᵀν, G v + g_t.
    pub(crate) fn velocity(&self, surfaces: &[Surface]) -> Result<Element> {
        let gaps = self.gaps(surfaces);
        let impulses = numbered("impulse", gaps.len());
        let symbols = &self.symbols;
        let push = symbols.push(&gaps, &impulses);
        let momenta = symbols.mechanics.momenta().into_iter().zip(push).map(|(p, push)| p + push);
        let rates = gaps.iter().map(|&gap| symbols.rate(gap, &symbols.mechanics.v));
        let rows: Vec<Expr> = momenta.chain(rates).collect();
        let inputs = [&symbols.mechanics.q[..], &symbols.mechanics.v, &impulses, &[time()]].concat();
        self.compile(&inputs, &rows, None)
    }

    /// q, v, t → G v + g_t.
    pub(crate) fn rates(&self, surfaces: &[Surface]) -> Result<Element> {
        let gaps = self.gaps(surfaces);
        let rates: Vec<Expr> = gaps.iter().map(|&gap| self.symbols.rate(gap, &self.symbols.mechanics.v)).collect();
        self.compile(&self.symbols.state(), &rates, None)
    }

    /// q, v⁻, v⁺, λ, ν, t → L_v(v⁺) − L_v(v⁻) − λ∇φ − Gᵀν, what is asked for, G v⁺ + g_t of what holds afterwards.
    pub(crate) fn jump(&self, asked: Asked, after: &[Surface]) -> Result<Element> {
        let (symbols, n, gaps) = (&self.symbols, self.n(), self.gaps(after));
        let (q, v) = (&symbols.mechanics.q, &symbols.mechanics.v);
        let (v_plus, lambda, nu) = (numbered("v+", n), Expr::symbol("lambda[]"), numbered("impulse", gaps.len()));
        let momenta = symbols.mechanics.momenta();
        let momenta_after = symbols.mechanics.at(&momenta, q, &v_plus, time());
        let mut push = symbols.push(&gaps, &nu);
        let asked = match asked {
            Asked::Impact(wall, keeps_energy) => {
                let (phi, e) = (symbols.mechanics.walls[wall], symbols.restitution[wall]);
                let hit = symbols.push(&[phi], &[lambda]);
                push.iter_mut().zip(hit).for_each(|(sum, hit)| *sum = *sum + hit);
                let [before, behind] = [v, &v_plus].map(|v| symbols.rate(phi, v));
                let law = if keeps_energy {
                    -lambda * ((1.0 - e) * before / 2.0 - phi.diff(time()))
                } else {
                    behind + e * before
                };
                vec![phi, law]
            }
            Asked::Catch(new) => self.gaps(new),
        };
        let balance = (0..n).map(|i| momenta_after[i] - momenta[i] - push[i]);
        let rates = gaps.iter().map(|&gap| symbols.rate(gap, &v_plus));
        let rows: Vec<Expr> = balance.chain(asked).chain(rates).collect();
        self.compile(&[&q[..], v, &v_plus, &[lambda], &nu, &[time()]].concat(), &rows, None)
    }

    /// What a bound is on.
    pub(crate) fn kind_of(&self, bound: &Bound) -> Bounded {
        let (of, Symbols { mechanics, controls, .. }) = (self.driven(bound.of), &self.symbols);
        if of.depends_on(&[&mechanics.v[..], controls].concat()) {
            return if controls.contains(&of) { Bounded::Control } else { Bounded::Motion };
        }
        if mechanics.q.contains(&of) { Bounded::Coordinate } else { Bounded::Place }
    }

    /// q, t → a bounded function of the place.
    pub(crate) fn bound_at_node(&self, bound: &Bound) -> Result<Element> {
        self.at_node(self.driven(bound.of))
    }

    /// q0, the inner points, q1, u, t, h → a bounded function at one point of the quadrature, an element for each point.
    pub(crate) fn bound_in_step(&self, bound: &Bound) -> Result<Vec<Element>> {
        let (of, samples) = (self.driven(bound.of), self.step.samples.iter());
        let mut values: Vec<Expr> = samples.map(|s| self.symbols.mechanics.at(&[of], &s.q, &s.v, s.t)[0]).collect();
        values.sort_unstable();
        values.dedup();
        values.into_iter().map(|value| self.compile(&self.step.inputs, &[value], None)).collect()
    }

    /// q, v, t → the cost at the end; none without one.
    pub(crate) fn end_cost(&self) -> Result<Option<Element>> {
        self.symbols.end_cost.map(|cost| self.compile(&self.symbols.state(), &[], Some(cost))).transpose()
    }

    /// q, v, t → a condition at the end.
    pub(crate) fn condition(&self, condition: &Condition) -> Result<Element> {
        self.compile(&self.symbols.state(), &[self.driven(condition.value)], None)
    }

    /// q, v, t at the end → a coordinate and its velocity at the start.
    pub(crate) fn periodic(&self, periodic: &Periodic) -> Result<Element> {
        let (from, mechanics) = (self.driven(periodic.from), &self.symbols.mechanics);
        let slopes = grad(from, &mechanics.q).into_iter().zip(&mechanics.v);
        let rate = slopes.map(|(slope, &v)| slope * v).sum::<Expr>() + from.diff(time());
        self.compile(&self.symbols.state(), &[from, rate], None)
    }

    /// True if the cost or a condition at the end contains velocities.
    pub(crate) fn end_contains_velocities(&self) -> bool {
        let end = &self.model.problem.end;
        let conditions = end.zero.iter().chain(&end.nonnegative).map(|condition| condition.value);
        let depends = |e: Expr| self.driven(e).depends_on(&self.symbols.mechanics.v);
        conditions.chain(self.symbols.end_cost).any(depends)
    }

    /// All coordinates, velocities and momenta of a state of the free ones.
    pub(crate) fn node(&self, t: f64, q: &[f64], v: &[f64]) -> Node {
        let system = &self.model.system;
        let mut known = self.model.parameter_values();
        known.push((time(), t));
        let symbols = &self.symbols.mechanics;
        known.extend(symbols.q.iter().chain(&symbols.v).copied().zip(q.iter().chain(v).copied()));
        let all = system.drive(&[system.q(), system.v()].concat());
        let values = eval(&all, &known);
        let (q, v) = values.split_at(system.coordinates.len());
        let mut node = Node { t, q: q.to_vec(), v: v.to_vec(), ..Node::default() };
        node.p = eval(&grad(system.lagrangian.l, &system.v()), &self.known(t, q, v));
        node
    }

    /// The cost at the end in a state of all coordinates.
    pub(crate) fn end_cost_at(&self, t: f64, q: &[f64], v: &[f64]) -> f64 {
        let cost = self.model.problem.objective.end;
        cost.map_or(0.0, |cost| eval(&[cost], &self.known(t, q, v))[0])
    }

    /// The values of all symbols at a state of all coordinates.
    fn known(&self, t: f64, q: &[f64], v: &[f64]) -> Vec<(Expr, f64)> {
        let system = &self.model.system;
        let mut known = self.model.parameter_values();
        known.push((time(), t));
        known.extend(system.q().into_iter().zip(q.iter().copied()));
        known.extend(system.v().into_iter().zip(v.iter().copied()));
        known
    }

    fn gaps(&self, surfaces: &[Surface]) -> Vec<Expr> {
        let gap = |surface: &Surface| match *surface {
            Surface::Wall(k) => self.symbols.mechanics.walls[k],
            Surface::Constraint(k) => self.symbols.constraints[k],
        };
        surfaces.iter().map(gap).collect()
    }

    fn driven(&self, e: Expr) -> Expr {
        self.model.system.drive(&[e])[0]
    }

    fn at_node(&self, of: Expr) -> Result<Element> {
        self.compile(&[&self.symbols.mechanics.q[..], &[time()]].concat(), &[of], None)
    }

    fn compile(&self, inputs: &[Expr], rows: &[Expr], cost: Option<Expr>) -> Result<Element> {
        Element::new(&self.symbols.parameters, inputs, rows, cost, self.backend)
    }
}
