//! The section on a wall: its gap, the impact law and its solution. [NOTES §13]
//!
//! At φ = 0 the momentum jumps along ∇φ, [p] = λ∇φ, and the energy by [H] = −λφ_t. For L quadratic in v, with
//! restitution e, that is φ̇⁺ = −e φ̇⁻, so λ = −(1 + e) φ̇⁻/(∇φᵀM⁻¹∇φ) and v⁺ = v⁻ + λM⁻¹∇φ.

use super::document::{Equation, Section};
use super::linear::{apply, dot};
use super::mechanics::Mechanics;
use super::symbols::{gap_rate, gradient, letter, raised, row, sum, symbol, times, velocity_at};
use crate::expr::print::Layout;
use crate::expr::{Expr, grad, substitute};
use crate::system::{Wall, time};

/// A wall's gap and its derivatives.
struct Gap {
    slope: Vec<Expr>,
    /// ∂φ/∂t.
    rate: Expr,
}

/// The impact at a wall.
pub fn impact(m: &Mechanics, wall: &Wall) -> Section {
    let mut section = Section::new(format!("Impact: {}", wall.name));
    let gap = Gap {
        slope: grad(wall.phi, &m.q).into_iter().map(|e| m.neat(e)).collect(),
        rate: m.neat(wall.phi.diff(time())),
    };
    section.say("The motion is free while {}, where", [row([letter("phi"), Layout::Sign(" ≥ "), Layout::whole(0)])]);
    let slope = if m.q.len() == 1 { m.layout(gap.slope[0]) } else { m.column(&gap.slope) };
    section.show(vec![m.equation(letter("phi"), wall.phi), Equation::between(gradient(), slope)]);
    if !gap.rate.is_zero() {
        section.show(vec![m.equation(letter("phi_t"), gap.rate)]);
    }
    law(m, wall, &gap, &mut section);
    section
}

fn law(m: &Mechanics, wall: &Wall, gap: &Gap, section: &mut Section) {
    if gap.slope.iter().all(|e| e.is_zero()) {
        section.say("No free coordinate moves this wall's gap: there is no impact law.", []);
    } else if !m.system.constraints.is_empty() {
        constrained(m, wall, gap, section);
    } else if !m.is_quadratic {
        implicit(m, gap, section);
    } else {
        section.say("At an impact the momentum jumps along {}{}:", [gradient(), energy_words(wall, gap)]);
        jump(gap, wall, section);
        match &m.mass_inverse {
            Some(inverse) => solved(m, wall, gap, inverse, section),
            None => matrix_form(wall, section),
        }
    }
}

/// What happens to the energy, in words.
fn energy_words(wall: &Wall, gap: &Gap) -> Layout {
    Layout::Words(match (wall.restitution.as_const() == Some(1.0), gap.rate.is_zero()) {
        (true, true) => " and the energy is kept".into(),
        (true, false) => " and the wall does work".into(),
        (false, _) => " and the gap's rate is reversed and reduced".into(),
    })
}

/// [x] = x⁺ − x⁻.
fn jump_of(name: &str) -> Layout {
    row([Layout::Sign("["), letter(name), Layout::Sign("]")])
}

fn equals(pieces: Vec<Layout>, right: Layout) -> Equation {
    Equation::between(row(pieces), right)
}

/// [p] = λ∇φ and [H] = −λφ_t, or φ̇⁺ = −e φ̇⁻.
fn jump(gap: &Gap, wall: &Wall, section: &mut Section) {
    let lambda = letter("lambda");
    let momentum = equals(vec![jump_of("p")], times([lambda.clone(), gradient()]));
    let second = if wall.restitution.as_const() == Some(1.0) {
        let right = match gap.rate.is_zero() {
            true => Layout::whole(0),
            false => Layout::Sum(vec![(true, times([lambda, letter("phi_t")]))]),
        };
        equals(vec![jump_of("H")], right)
    } else {
        let e = crate::expr::print::compose(wall.restitution, &crate::expr::print::Notation::default());
        let right = if wall.restitution.is_zero() {
            Layout::whole(0)
        } else {
            Layout::Sum(vec![(true, times([e.as_factor(), gap_rate("-")]))])
        };
        Equation::between(gap_rate("+"), right)
    };
    section.show(vec![momentum, second]);
}

fn minus(m: &Mechanics) -> Vec<Expr> {
    m.system.coordinates.iter().map(|c| velocity_at(c, '-')).collect()
}

/// φ̇⁻ = ∇φ·v⁻ + φ_t.
fn approach(m: &Mechanics, gap: &Gap) -> Expr {
    m.neat(dot(&gap.slope, &minus(m)) + gap.rate)
}

fn solved(m: &Mechanics, wall: &Wall, gap: &Gap, inverse: &[Vec<Expr>], section: &mut Section) {
    let direction = apply(inverse, &gap.slope);
    let approach = approach(m, gap);
    let strength = -(1.0 + wall.restitution) * approach / m.neat(dot(&gap.slope, &direction));
    section.say("With the velocity of approach {} the solution is", [gap_rate("-")]);
    let is_new = !matches!(approach.node(), crate::expr::Node::Symbol(_));
    let mut equations = Vec::new();
    equations.extend(is_new.then(|| m.equation(gap_rate("-"), approach)));
    equations.push(m.equation(letter("lambda"), m.neat(strength)));
    for ((c, &before), &along) in m.system.coordinates.iter().zip(&minus(m)).zip(&direction) {
        let after = m.neat(before + strength * along);
        equations.push(m.equation(symbol(velocity_at(c, '+')), after));
    }
    section.show(equations);
}

/// λ and v⁺ with the matrix left as it is.
fn matrix_form(wall: &Wall, section: &mut Section) {
    let inverse = || raised(letter("M"), "⁻¹");
    let e = crate::expr::print::compose(1.0 + wall.restitution, &crate::expr::print::Notation::default());
    let above = times([e.as_factor(), gap_rate("-")]);
    let below = row([gradient(), Layout::Sign("ᵀ"), inverse(), gradient()]);
    let lambda = Layout::Sum(vec![(true, above.over(below))]);
    let after = sum([raised(letter("q'"), "⁻"), row([letter("lambda"), Layout::Sign(" "), inverse(), gradient()])]);
    section.say("The solution is", []);
    section
        .show(vec![Equation::between(letter("lambda"), lambda), Equation::between(raised(letter("q'"), "⁺"), after)]);
}

/// With holonomic constraints their impulses take part.
fn constrained(m: &Mechanics, wall: &Wall, gap: &Gap, section: &mut Section) {
    section.say("At an impact the constraints answer with impulses {} of their own:", [letter("mu")]);
    let side = |x: &str, side| raised(letter(x), side);
    let right =
        sum([side("p", "⁻"), times([letter("lambda"), gradient()]), times([raised(letter("G"), "ᵀ"), letter("mu")])]);
    let moves = m.system.constraints.iter().any(|c| c.g.depends_on(&[time()]));
    let still = if moves { Layout::Sum(vec![(true, letter("g_t"))]) } else { Layout::whole(0) };
    section.show(vec![
        Equation::between(side("p", "⁺"), right),
        Equation::between(times([letter("G"), side("q'", "⁺")]), still),
    ]);
    if m.is_quadratic {
        let e = crate::expr::print::compose(wall.restitution, &m.notation).as_factor();
        let unit = wall.restitution.as_const() == Some(1.0);
        let rate = if unit { gap_rate("-") } else { times([e, gap_rate("-")]) };
        section.show(vec![
            m.equation(gap_rate("-"), approach(m, gap)),
            Equation::between(gap_rate("+"), Layout::Sum(vec![(true, rate)])),
        ]);
    }
    section.say(
        "These are linear in {}, {} and {}; {} where the wall pushes.",
        [
            side("q'", "⁺"),
            letter("lambda"),
            letter("mu"),
            row([letter("lambda"), Layout::Sign(" > "), Layout::whole(0)]),
        ],
    );
}

/// For L not quadratic in v: the law, with both sides written out.
fn implicit(m: &Mechanics, gap: &Gap, section: &mut Section) {
    section.say("{} is not quadratic in the velocities, so only the impact without loss is defined:", [letter("L")]);
    let at = |e: Expr, side: char| {
        let v: Vec<Expr> = m.system.coordinates.iter().map(|c| velocity_at(c, side)).collect();
        substitute(&[e], &m.v, &v)[0]
    };
    let lambda = Expr::symbol("lambda");
    let mut equations: Vec<Equation> = Vec::new();
    for (i, &p) in m.p.iter().enumerate() {
        let push = m.neat(gap.slope[i] * lambda);
        equations.push(Equation::between(m.layout(at(p, '+')), m.layout(at(p, '-') + push)));
    }
    let work = m.neat(-(lambda * gap.rate));
    equations.push(Equation::between(m.layout(at(m.energy, '+')), m.layout(at(m.energy, '-') + work)));
    section.show(equations);
    section.say(
        "Besides {} this has a root with {}, where the wall pushes: that one is the impact.",
        [
            row([letter("lambda"), Layout::Sign(" = "), Layout::whole(0)]),
            row([letter("lambda"), Layout::Sign(" > "), Layout::whole(0)]),
        ],
    );
}
