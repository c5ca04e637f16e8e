//! A Lagrangian with the same values that takes fewer operations.

use rustc_hash::FxHashSet;

use super::{Derived, Mechanics};
use crate::expr::print::Notation;
use crate::expr::tidy::Tidier;
use crate::expr::{Arena, Expr, ExprNode, substitute, with_arena};
use crate::kernel::Tape;
use crate::limits::{LONGEST_TO_SHORTEN, WORK_TO_SHORTEN};
use crate::system::time;

impl Mechanics {
    /// Writes a Lagrangian that is quadratic in v by powers of v, with simplified coefficients:
    ///
    /// ```text
    /// L = ½ vᵀM v + b·v + L₀,   M = L_vv,   b = L_v(q, 0, t),   L₀ = L(q, 0, t)
    /// ```
    ///
    /// Entries of M and b that come from a kinetic energy of points have terms that cancel, and sums such as sin² + cos². They are
    /// simplified; L₀ stays as it is written, because a gap or a force may be the difference of large terms there. Other Lagrangians,
    /// and those that become no shorter, stay as they are.
    pub(crate) fn briefly(self) -> Mechanics {
        if !self.is_quadratic() {
            return self;
        }
        let (n, mass) = (self.n(), self.mass());
        let at_rest = |fs: &[Expr]| substitute(fs, &self.v, &vec![Expr::constant(0.0); n]);
        let linear = at_rest(&self.momenta());
        let below: Vec<Expr> = (0..n).flat_map(|i| mass[i][..=i].to_vec()).chain(linear).collect();
        let Some(long) = self.length(&below).filter(|length| *length <= LONGEST_TO_SHORTEN) else { return self };
        // Functions of numbers alone, such as √2, have no names by which to order them.
        if with_arena(|a| numbers(a, &below)) > 1 {
            return self;
        }
        let tidier = Tidier::within(Notation::default(), WORK_TO_SHORTEN);
        let brief: Vec<Expr> = below.iter().map(|&entry| tidier.tidy(entry)).collect();
        if self.length(&brief).is_none_or(|length| length >= long) {
            return self;
        }
        let (entries, linear) = brief.split_at(below.len() - n);
        let mut entries = entries.iter();
        let mut l = at_rest(&[self.l])[0];
        for i in 0..n {
            l = l + linear[i] * self.v[i];
            for (j, &m) in (0..=i).zip(&mut entries) {
                let speeds = if i == j { 0.5 * self.v[i].squared() } else { self.v[i] * self.v[j] };
                l = l + m * speeds;
            }
        }
        Mechanics { l, derived: Derived::default(), ..self }
    }

    /// The number of instructions of functions of (t, q); sin and cos of one angle count once.
    fn length(&self, outputs: &[Expr]) -> Option<usize> {
        let inputs: Vec<Expr> = [time()].iter().chain(&self.q).chain(&self.parameters).copied().collect();
        Tape::new(&inputs, outputs).ok().map(|tape| tape.len())
    }
}

/// How many functions of numbers alone expressions contain.
fn numbers(arena: &Arena, fs: &[Expr]) -> usize {
    let (mut fixed, mut count) = (FxHashSet::default(), 0);
    for e in arena.reachable(fs) {
        let node = arena.node(e);
        if !matches!(node, ExprNode::Symbol(_)) && node.operands().all(|x| fixed.contains(&x)) {
            fixed.insert(e);
            count += usize::from(node.operands().next().is_some());
        }
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::EXAMPLES;
    use crate::expr::eval;
    use crate::model::Model;

    /// The values, momenta and masses stay the same in every shipped model, and those of the pendulums become shorter.
    #[test]
    fn a_brief_lagrangian_has_the_same_values() {
        let mut shorter = Vec::new();
        for example in EXAMPLES {
            let Ok(model) = Model::from_text(example.name, example.text, &[]) else { continue };
            let mechanics = Mechanics::new(&model.system);
            let brief = mechanics.clone().briefly();
            if brief.l == mechanics.l {
                continue;
            }
            shorter.push(example.name);
            let state = mechanics.state_symbols();
            for k in 0..5 {
                let value = |i: usize| 0.3 + 0.17 * i as f64 + 0.41 * f64::from(k);
                let values: Vec<(Expr, f64)> = state.iter().enumerate().map(|(i, &x)| (x, value(i))).collect();
                let values = [values, model.parameter_values()].concat();
                let of = |m: &Mechanics| eval(&[&[m.l][..], &m.momenta(), &m.mass().concat()].concat(), &values);
                for (a, b) in of(&brief).into_iter().zip(of(&mechanics)) {
                    assert!((a - b).abs() <= 1e-12 * (1.0 + b.abs()), "{}: {a}, not {b}", example.name);
                }
            }
        }
        for name in ["cart-pendulum", "double-pendulum", "chain-3"] {
            assert!(shorter.contains(&name), "{name} is not among {shorter:?}");
        }
    }
}
