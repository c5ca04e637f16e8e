//! The section on a wall: its gap, the impact law and its solution. [NOTES §13]
//!
//! At φ = 0 the momentum jumps along ∇φ, [p] = λ∇φ, and the energy by [H] = −λφ_t. For L quadratic in v, with
//! restitution e, that is φ̇⁺ = −e φ̇⁻, so λ = −(1 + e) φ̇⁻/(∇φᵀM⁻¹∇φ) and v⁺ = v⁻ + λM⁻¹∇φ.

use super::document::{Chapter, Equation};
use super::linear::{apply, dot};
use super::mechanics::DerivedMechanics;
use super::symbols::{letter, partial, raised, row, sum, symbol, times, velocity_at};
use crate::expr::print::Layout;
use crate::expr::{Expr, ExprNode, grad, substitute};
use crate::system::{Wall, time};

/// A wall with the quantities of its impact law.
struct Impact<'a> {
    m: &'a DerivedMechanics,
    /// ∇φ.
    slope: Vec<Expr>,
    /// ∂φ/∂t.
    drift: Expr,
    restitution: Expr,
    v_minus: Vec<Expr>,
    /// φ̇⁻ = ∇φ·v⁻ + φ_t.
    approach: Expr,
}

/// The section on a wall.
pub fn impact(m: &DerivedMechanics, wall: &Wall) -> Chapter {
    let mut section = Chapter::new(format!("Impact: {}", wall.name));
    let slope: Vec<Expr> = grad(wall.phi, &m.q).into_iter().map(|e| m.neat(e)).collect();
    let drift = m.neat(wall.phi.diff(time()));
    let v_minus: Vec<Expr> = m.system.coordinates.iter().map(|c| velocity_at(c, '-')).collect();
    let approach = m.neat(dot(&slope, &v_minus) + drift);
    let hit = Impact { m, slope, drift, restitution: m.neat(wall.restitution), v_minus, approach };
    section.say("The motion is free while {}, where", [row([gap(m), Layout::Sign(" ≥ "), Layout::whole(0)])]);
    let column: Vec<Vec<Expr>> = hit.slope.iter().map(|&e| vec![e]).collect();
    let slope = match hit.slope[..] {
        [e] => Equation::between(m.letters.gradient(), m.layout(e)),
        _ => m.matrix(m.letters.gradient(), &column, |i, _| Some(partial(gap(m), symbol(m.q[i])))),
    };
    let mut equations = vec![m.equation(gap(m), wall.phi), slope];
    if !drift.is_zero() {
        equations.push(m.equation(m.letters.gap_drift(), drift));
    }
    section.show(equations);
    hit.law(&mut section);
    section
}

fn gap(m: &DerivedMechanics) -> Layout {
    letter(m.letters.gap)
}

/// −x.
fn negative(x: Layout) -> Layout {
    Layout::Sum(vec![(true, x)])
}

impl Impact<'_> {
    fn law(&self, section: &mut Chapter) {
        if self.slope.iter().all(|e| e.is_zero()) {
            section.say("No free coordinate moves this wall's gap: there is no impact law.", []);
        } else if !self.m.system.constraints.is_empty() {
            self.constrained(section);
        } else if !self.m.is_quadratic {
            self.implicit(section);
        } else {
            self.jump(section);
            match &self.m.mass_inverse {
                Some(inverse) => self.solved(inverse, section),
                None => self.matrix_form(section),
            }
        }
    }

    fn lambda(&self) -> Layout {
        letter(self.m.letters.lambda)
    }

    fn rate(&self, side: &str) -> Layout {
        symbol(self.m.letters.gap_rate(side))
    }

    fn is_lossless(&self) -> bool {
        self.restitution.as_const() == Some(1.0)
    }

    /// φ̇⁺ = −e φ̇⁻.
    fn rebound(&self) -> Equation {
        let before = self.m.letters.gap_rate("-");
        Equation::between(self.rate("+"), self.m.layout(-(self.restitution * before)))
    }

    /// [p] = λ∇φ and [H] = −λφ_t, or φ̇⁺ = −e φ̇⁻.
    fn jump(&self, section: &mut Chapter) {
        let words = match (self.is_lossless(), self.drift.is_zero()) {
            (true, true) => "At an impact the momentum jumps along {} and the energy is conserved; {} is the jump {}:",
            (true, false) => "At an impact the momentum jumps along {} and the wall does work; {} is the jump {}:",
            (false, _) => "At an impact the momentum jumps along {} and the gap rebounds; {} is the jump {}:",
        };
        let bracket = |x: &str| row([Layout::Sign("["), letter(x), Layout::Sign("]")]);
        let difference = Layout::Sum(vec![(false, raised(letter("f"), "⁺")), (true, raised(letter("f"), "⁻"))]);
        section.say(words, [self.m.letters.gradient(), bracket("f"), difference]);
        let momentum = Equation::between(bracket("p"), times([self.lambda(), self.m.letters.gradient()]));
        let energy = Equation::between(bracket(self.m.letters.hamiltonian), self.m.layout(self.work()));
        let mut equations = vec![momentum];
        equations.extend((!self.is_lossless()).then(|| self.rebound()));
        equations.push(energy);
        section.show(equations);
    }

    /// [H] = λ ((1 − e) φ̇⁻/2 − φ_t).
    fn work(&self) -> Expr {
        let letters = &self.m.letters;
        let loss = self.m.neat(1.0 - self.restitution) * letters.gap_rate("-") / 2.0;
        let drift = if self.drift.is_zero() { self.drift } else { Expr::symbol(&format!("{}_t", letters.gap)) };
        Expr::symbol(letters.lambda) * (loss - drift)
    }

    /// Writes λ and v⁺. The rate of approach is abbreviated unless it is a single velocity.
    fn solved(&self, inverse: &[Vec<Expr>], section: &mut Chapter) {
        let m = self.m;
        let direction = apply(inverse, &self.slope);
        let is_velocity = matches!(self.approach.node(), ExprNode::Symbol(_));
        let approach = if is_velocity { self.approach } else { m.letters.gap_rate("-") };
        let strength = -(1.0 + self.restitution) * approach;
        let resistance = m.neat(dot(&self.slope, &direction));
        let mut equations = Vec::new();
        if is_velocity {
            section.say("The solution is", []);
        } else {
            section.say("With the rate {} at which the gap closes, the solution is", [self.rate("-")]);
            equations.push(m.equation(self.rate("-"), self.approach));
        }
        equations.push(m.equation(self.lambda(), m.neat(strength / resistance)));
        for (i, c) in m.system.coordinates.iter().enumerate() {
            let change = m.neat(m.neat(direction[i]) * strength / resistance);
            let after = self.v_minus[i] + change;
            // Terms of the expanded rate may cancel: with one coordinate, v⁺ = −e v⁻ at any fixed wall.
            let full = m.neat(substitute(&[after], &[approach], &[self.approach])[0]);
            let after = if is_velocity { full } else { m.tidier.cheaper(after, full) };
            equations.push(m.equation(symbol(velocity_at(c, '+')), after));
        }
        section.show(equations);
    }

    /// Writes λ and v⁺ with M⁻¹ in matrix form.
    fn matrix_form(&self, section: &mut Chapter) {
        let m = self.m;
        let inverse = || raised(letter(m.letters.mass), "⁻¹");
        let above = m.layout((1.0 + self.restitution) * m.letters.gap_rate("-"));
        let below = row([m.letters.gradient(), Layout::Sign("ᵀ"), inverse(), m.letters.gradient()]);
        let push = row([self.lambda(), Layout::Sign(" "), inverse(), m.letters.gradient()]);
        section.say("With the rate {} at which the gap closes, the solution is", [self.rate("-")]);
        section.show(vec![
            m.equation(self.rate("-"), self.approach),
            Equation::between(self.lambda(), negative(above.over(below.parenthesized()))),
            Equation::between(raised(letter("q'"), "⁺"), sum([raised(letter("q'"), "⁻"), push])),
        ]);
    }

    /// Writes the law for a system with holonomic constraints, whose impulses take part.
    fn constrained(&self, section: &mut Chapter) {
        let (m, mu) = (self.m, letter(self.m.letters.mu));
        section.say("At an impact the constraints exert impulses {} too:", [mu.clone()]);
        let side = |x: &str, side| raised(letter(x), side);
        let jacobian = || letter(m.letters.jacobian);
        let right = sum([
            side("p", "⁻"),
            times([self.lambda(), m.letters.gradient()]),
            times([raised(jacobian(), "ᵀ"), mu.clone()]),
        ]);
        let moves = m.system.constraints.iter().any(|c| c.g.depends_on(&[time()]));
        let drift = letter(&format!("{}_t", m.letters.constraint));
        let still = if moves { negative(drift) } else { Layout::whole(0) };
        let mut equations = vec![
            Equation::between(side("p", "⁺"), right),
            Equation::between(times([jacobian(), side("q'", "⁺")]), still),
        ];
        if m.is_quadratic {
            equations.extend([self.rebound(), m.equation(self.rate("-"), self.approach)]);
        }
        section.show(equations);
        let pushes = row([self.lambda(), Layout::Sign(" > "), Layout::whole(0)]);
        let unknowns = [side("q'", "⁺"), self.lambda(), mu, pushes];
        if m.is_quadratic {
            section.say("These are linear in {}, {} and {}, with {} where the wall pushes.", unknowns);
        } else {
            section
                .say("If the energy is conserved, these fix {}, {} and {}: the root with {} is the impact.", unknowns);
        }
    }

    /// Writes the law for L not quadratic in v, with both sides expanded.
    fn implicit(&self, section: &mut Chapter) {
        let m = self.m;
        let words = "{} is not quadratic in the velocities, so only the impact without loss is defined:";
        section.say(words, [letter(m.letters.lagrangian)]);
        let at = |e: Expr, side: char| {
            let v: Vec<Expr> = m.system.coordinates.iter().map(|c| velocity_at(c, side)).collect();
            substitute(&[e], &m.v, &v)[0]
        };
        let lambda = Expr::symbol(m.letters.lambda);
        let mut equations: Vec<Equation> = Vec::new();
        for (i, &p) in m.p.iter().enumerate() {
            let push = m.neat(self.slope[i] * lambda);
            equations.push(Equation::between(m.layout(at(p, '+')), m.layout(at(p, '-') + push)));
        }
        let work = m.neat(-(lambda * self.drift));
        equations.push(Equation::between(m.layout(at(m.energy, '+')), m.layout(at(m.energy, '-') + work)));
        section.show(equations);
        let compared = |sign| row([self.lambda(), Layout::Sign(sign), Layout::whole(0)]);
        let words = "Besides {} this has a root with {}, where the wall pushes: that one is the impact.";
        section.say(words, [compared(" = "), compared(" > ")]);
    }
}
