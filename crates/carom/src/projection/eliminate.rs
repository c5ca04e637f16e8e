//! Elimination of constraints that can be solved for a coordinate.

use crate::error::{Error, Result};
use crate::expr::{Expr, substitute};
use crate::interval::range;
use crate::model::{Model, Part};
use crate::system::{Enforce, time};

/// Reduces a model to fewer coordinates: each constraint g = 0 is solved for a coordinate in which it is linear, and that
/// coordinate becomes a function of the others. [GP §IV]
///
/// ```text
/// g = g₀(q) + g₁(q)·x,  g₁ ≠ 0   ⇒   x = −g₀/g₁
/// ```
///
/// DIFFERENCE: the paper composes two projections, P_c = P_h ∘ P_u. P_c' does not have full rank, so z is not unique, and the
/// conditions of its Lemma 3 are rarely met. In independent coordinates the unconstrained principle applies.
pub fn eliminate(model: &Model) -> Result<Model> {
    let mut reduced = model.clone();
    let known = model.parameter_values();
    let avoided = model.projection.as_ref().and_then(|projection| projection.coordinate);
    for (number, constraint) in model.system.constraints.iter().enumerate() {
        let system = &mut reduced.system;
        let g = system.drive(&[constraint.g])[0];
        let refuse = |label: &str| refusal(model, number, label);
        if g.depends_on(&[time()]) {
            return Err(refuse("it contains the time"));
        }
        if constraint.enforce != Enforce::OnePoint {
            return Err(refuse("it is a two-point constraint"));
        }
        let mut candidates = system.free();
        candidates.sort_by_key(|&i| Some(i) == avoided);
        let solved = candidates.iter().find_map(|&i| Some((i, solution(g, system.coordinates[i].q, &known)?)));
        let Some((index, value)) = solved else {
            return Err(refuse("it is not linear in any coordinate with a factor that is never zero"));
        };
        let x = system.coordinates[index].q;
        for c in &mut system.coordinates {
            c.prescribed = c.prescribed.map(|motion| substitute(&[motion], &[x], &[value])[0]);
        }
        system.coordinates[index].prescribed = Some(value);
    }
    reduced.system.constraints.clear();
    Ok(reduced)
}

/// Solves g = 0 for x, if g is linear in x with a factor that is never zero.
fn solution(g: Expr, x: Expr, known: &[(Expr, f64)]) -> Option<Expr> {
    let factor = g.diff(x);
    if factor.depends_on(&[x]) {
        return None;
    }
    range(factor, known).sign()?;
    Some(-substitute(&[g], &[x], &[Expr::constant(0.0)])[0] / factor)
}

fn refusal(model: &Model, number: usize, label: &str) -> Error {
    let name = &model.system.constraints[number].name;
    let message = format!("`php` cannot eliminate the constraint `{name}`");
    model.error_in(Part::Constraint(number), message, format!("{label}; use another method"))
}
