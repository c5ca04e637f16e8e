//! How fast momenta move the coordinates.

use std::sync::Arc;

use super::bordered::Bordered;
use super::local::{Local, LocalCode};

/// √(M⁻¹)ᵢᵢ of each coordinate at (t, q, v), without the first `stated` constraints, which are those of the model: the others keep
/// quaternions at unit length, along which M is singular. None if M is singular elsewhere.
pub(crate) fn roots_of_inverse_mass(
    code: &Arc<LocalCode>,
    stated: usize,
    parameters: &[f64],
    (t, q, v): (f64, &[f64], &[f64]),
) -> Option<Vec<f64>> {
    let rows: Vec<usize> = code.tangent_rows().filter(|&row| row >= stated).collect();
    let mut local = Local::new(code, parameters);
    let mut equations = Bordered::new(&local, &rows);
    local.place(t, q, v);
    equations.set_mass(&local.inertia()[code.n..]);
    for (k, &row) in rows.iter().enumerate() {
        let row = local.row(row);
        equations.set_row(k, &row);
        equations.set_column(k, &row);
    }
    let root = |i: usize| {
        let (b, c) = equations.right();
        b.fill(0.0);
        c.fill(0.0);
        b[i] = 1.0;
        let (column, _) = equations.solve()?;
        Some(column[i].max(0.0).sqrt()).filter(|root| root.is_finite())
    };
    (0..code.n).map(root).collect()
}
