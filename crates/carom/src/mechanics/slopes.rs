//! The derivatives of Hamilton's equations.

use super::Mechanics;
use super::eliminate::eliminate_columns;
use super::field::{equations, explicit_velocity};
use crate::expr::{Expr, jacobian};
use crate::system::time;

/// ∂(v, ṗ)/∂(q, p) by rows, for L quadratic in v. With ṗ = g(q, v):
///
/// ```text
/// v_p = M⁻¹,   v_q = −M⁻¹L_vq,   ṗ_p = g_v v_p,   ṗ_q = g_q + g_v v_q
/// ```
///
/// These share M⁻¹, and so cost a third less than the derivatives of the eliminated v and ṗ.
pub(crate) fn slopes_of_field(mechanics: &Mechanics) -> Option<Vec<Vec<Expr>>> {
    let n = mechanics.n();
    let p = mechanics.p();
    let v = explicit_velocity(mechanics, &p)?;
    let at = |rows: Vec<Vec<Expr>>| -> Vec<Vec<Expr>> {
        let flat = mechanics.at(&rows.concat(), &mechanics.q, &v, time());
        flat.chunks(n).map(<[Expr]>::to_vec).collect()
    };
    let unit = |k: usize| (0..n).map(|i| Expr::constant(f64::from(i == k))).collect();
    // M⁻¹ is symmetric, so its columns are its rows.
    let v_p = eliminate_columns(mechanics.mass(), (0..n).map(unit).collect());
    let g = &equations(mechanics, &p)[n..2 * n];
    let product = |a: &[Vec<Expr>], b: &[Vec<Expr>]| -> Vec<Vec<Expr>> {
        let entry = |row: &[Expr], j: usize| row.iter().zip(b).map(|(&x, row)| x * row[j]).sum::<Expr>();
        a.iter().map(|row| (0..n).map(|j| entry(row, j)).collect()).collect()
    };
    let (l_vq, g_q, g_v) = (
        at(jacobian(&mechanics.momenta(), &mechanics.q)),
        at(jacobian(g, &mechanics.q)),
        at(jacobian(g, &mechanics.v)),
    );
    let v_q: Vec<Vec<Expr>> =
        product(&v_p, &l_vq).into_iter().map(|row| row.into_iter().map(|x| -x).collect()).collect();
    let (swept, p_p) = (product(&g_v, &v_q), product(&g_v, &v_p));
    let sum = |a: &[Expr], b: &[Expr]| a.iter().zip(b).map(|(&a, &b)| a + b).collect::<Vec<Expr>>();
    let rows_of_v = v_q.iter().zip(&v_p).map(|(q, p)| [&q[..], p].concat());
    let rows_of_p = g_q.iter().zip(&swept).zip(&p_p).map(|((q, swept), p)| [&sum(q, swept)[..], p].concat());
    Some(rows_of_v.chain(rows_of_p).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::find;
    use crate::expr::eval;
    use crate::mechanics::Field;
    use crate::model::Model;

    /// The slopes are the derivatives of the rates, entry by entry.
    #[test]
    fn slopes_are_derivatives() {
        for name in ["cart-pendulum", "double-pendulum", "driven-double-pendulum", "chain-3"] {
            let model = Model::from_text(name, find(name).expect("it ships").text, &[]).expect("it is right");
            let mechanics = Mechanics::new(&model.system);
            let z: Vec<Expr> = mechanics.q.iter().copied().chain(mechanics.p()).collect();
            let rates = Field::expressions(&mechanics).expect("v is explicit");
            let expected = jacobian(&rates[..z.len()], &z).concat();
            let found = slopes_of_field(&mechanics).expect("v is explicit").concat();
            let mut values: Vec<(Expr, f64)> = z.iter().enumerate().map(|(i, &x)| (x, 0.3 + 0.2 * i as f64)).collect();
            values.push((time(), 0.7));
            values.extend(model.parameter_values());
            for (k, (a, b)) in eval(&found, &values).iter().zip(eval(&expected, &values)).enumerate() {
                assert!((a - b).abs() <= 1e-12 * (1.0 + b.abs()), "{name}, entry {k}: {a}, not {b}");
            }
        }
    }
}
