//! Symbols for the left-hand sides of equations.

use crate::expr::Expr;
use crate::expr::print::{Class, Layout, Notation};
use crate::system::{Coordinate, System};

/// The order in which the symbols of a system are written.
pub fn notation(system: &System) -> Notation {
    let parameters = system.parameters.iter().map(|p| p.name.as_str());
    let mut notation = Notation::new(parameters, system.coordinates.iter().map(|c| c.name.as_str()));
    for p in momenta(system) {
        notation.declare(&p.to_source(), Class::Motion);
    }
    notation
}

/// Symbols for the momenta: p for one coordinate, p₁ and p₂ for θ₁ and θ₂, p_x and p_y for x and y. Avoids letters that the
/// model uses.
pub fn momenta(system: &System) -> Vec<Expr> {
    let names: Vec<&str> = system.coordinates.iter().map(|c| c.name.as_str()).collect();
    let number = |name: &str| match name.strip_suffix(']').and_then(|name| name.split_once('[')) {
        Some((_, index)) => format!("[{index}]"),
        None => name[name.trim_end_matches(|c: char| c.is_ascii_digit()).len()..].to_owned(),
    };
    let numbers: Vec<String> = names.iter().map(|name| number(name)).collect();
    let distinct = numbers.iter().enumerate().all(|(i, n)| !n.is_empty() && !numbers[..i].contains(n));
    let suffix = |i: usize| match (names.len(), distinct) {
        (1, _) => String::new(),
        (_, true) => numbers[i].clone(),
        _ => format!("_{}", names[i]),
    };
    let taken = |name: &str| names.contains(&name) || system.parameters.iter().any(|p| p.name == name);
    let letters = ["p", "P", "pi_", "p_canonical_"];
    let free = letters.iter().find(|letter| (0..names.len()).all(|i| !taken(&format!("{letter}{}", suffix(i)))));
    let letter = free.unwrap_or(&letters[3]);
    (0..names.len()).map(|i| Expr::symbol(&format!("{letter}{}", suffix(i)))).collect()
}

/// The velocity just before (`-`) or after (`+`) an impact.
pub fn velocity_at(c: &Coordinate, side: char) -> Expr {
    Expr::symbol(&format!("{}'{side}", c.name))
}

/// The letters of derived quantities: the usual ones, or others if the model already uses them.
pub struct Letters {
    pub kinetic: &'static str,
    pub potential: &'static str,
    pub lagrangian: &'static str,
    pub hamiltonian: &'static str,
    pub mass: &'static str,
    pub gap: &'static str,
    pub lambda: &'static str,
    pub mu: &'static str,
    pub constraint: &'static str,
    pub jacobian: &'static str,
    pub force: &'static str,
}

impl Letters {
    pub fn new(system: &System) -> Letters {
        let coordinates = system.coordinates.iter().map(|c| c.name.as_str());
        let names = coordinates.chain(system.parameters.iter().map(|p| p.name.as_str()));
        let taken: Vec<Layout> = names.map(Layout::name).collect();
        let pick = |options: [&'static str; 3]| {
            options.into_iter().find(|option| !taken.contains(&Layout::name(option))).unwrap_or(options[2])
        };
        Letters {
            kinetic: pick(["T", "script-T", "T_kin"]),
            potential: pick(["V", "script-V", "V_pot"]),
            lagrangian: pick(["L", "script-L", "L_agr"]),
            hamiltonian: pick(["H", "script-H", "H_am"]),
            mass: pick(["M", "script-M", "M_ass"]),
            gap: pick(["phi", "psi", "gap"]),
            lambda: pick(["lambda", "Lambda", "impulse"]),
            mu: pick(["mu", "nu", "answer"]),
            constraint: pick(["g", "gamma", "constraint"]),
            jacobian: pick(["G", "Gamma", "Jacobian"]),
            force: pick(["Q", "F", "Force"]),
        }
    }

    /// ∇φ.
    pub fn gradient(&self) -> Layout {
        row([Layout::Sign("∇"), letter(self.gap)])
    }

    /// φ̇ on one side of an impact, as a symbol.
    pub fn gap_rate(&self, side: &str) -> Expr {
        Expr::symbol(&format!("{}'{side}", self.gap))
    }

    /// ∂φ/∂t.
    pub fn gap_drift(&self) -> Layout {
        letter(&format!("{}_t", self.gap))
    }

    /// d/dt ∂L/∂q̇ − ∂L/∂q.
    pub fn euler_lagrange(&self) -> Layout {
        let rate = Layout::Sign("d").over(row([Layout::Sign("d"), letter("t")]));
        let slope = |x: &str| partial(letter(self.lagrangian), letter(x));
        Layout::Sum(vec![(false, row([rate, Layout::Sign(" "), slope("q'")])), (true, slope("q"))])
    }
}

/// A symbol as a formula.
pub fn letter(name: &str) -> Layout {
    Layout::name(name)
}

/// The formula of a symbol that is an expression.
pub fn symbol(e: Expr) -> Layout {
    Layout::name(&e.to_source())
}

/// Formulas side by side.
pub fn row(pieces: impl IntoIterator<Item = Layout>) -> Layout {
    Layout::Row(pieces.into_iter().collect())
}

/// ∂f/∂x.
pub fn partial(f: Layout, x: Layout) -> Layout {
    row([Layout::Sign("∂"), f]).over(row([Layout::Sign("∂"), x]))
}

/// x with a raised mark, such as xᵀ, x⁻¹ or x⁺.
pub fn raised(x: Layout, mark: &'static str) -> Layout {
    row([x, Layout::Sign(mark)])
}

/// a + b, or a − b if the second term is negative.
pub fn sum(terms: impl IntoIterator<Item = Layout>) -> Layout {
    Layout::Sum(terms.into_iter().map(|term| (false, term)).collect())
}

/// a b.
pub fn times(factors: impl IntoIterator<Item = Layout>) -> Layout {
    Layout::Product(factors.into_iter().collect())
}
