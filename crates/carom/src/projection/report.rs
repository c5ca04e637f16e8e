//! The text of a study.

use super::study::{HypothesisVerdict, Study};
use crate::error::Error;
use crate::expr::print::Notation;
use crate::expr::tidy::tidy;
use crate::expr::{Expr, eval, grad};
use crate::interval::range;
use crate::limits::ROUNDOFF;
use crate::mechanics::eliminate;
use crate::model::Model;

/// Longer expressions are not shown.
const LONGEST: usize = 100;

/// Lists for each hypothesis whether the model meets it, with the normal form if it is short.
pub fn report(model: &Model, study: &Study) -> Vec<String> {
    let mut lines = Vec::new();
    for hypothesis in &study.hypotheses {
        let verdict = match &hypothesis.verdict {
            HypothesisVerdict::Met => "met".to_string(),
            HypothesisVerdict::Doubtful => "doubtful".to_string(),
            HypothesisVerdict::Forced => "not met, forced".to_string(),
            HypothesisVerdict::Fails(error) => format!("fails: {}", reason(error)),
        };
        lines.push(format!("{}: {} — {verdict}", hypothesis.origin, hypothesis.text));
    }
    lines.extend(separability(model, study));
    lines.extend(normal_form(study));
    lines
}

fn reason(error: &Error) -> String {
    match error {
        Error::Model(diagnostic) => diagnostic.place.as_ref().map_or(diagnostic.message.clone(), |p| p.label.clone()),
        Error::Numerical(failure) => failure.message.clone(),
    }
}

fn notation(model: &Model) -> Notation {
    let system = &model.system;
    Notation::new(system.parameters.iter().map(|p| p.name.as_str()), system.coordinates.iter().map(|c| c.name.as_str()))
}

/// Ψ, M̄, Δ and Λ, without entries that are too long.
fn normal_form(study: &Study) -> Vec<String> {
    let Some(form) = &study.form else { return Vec::new() };
    let notation = notation(&study.model);
    let text = |e: &Expr| {
        let text = tidy(*e, &notation).to_text(&notation);
        if text.chars().count() <= LONGEST { text } else { "…".into() }
    };
    let list = |entries: &[Expr]| entries.iter().map(text).collect::<Vec<_>>().join(", ");
    let rows = |matrix: &[Vec<Expr>]| matrix.iter().map(|row| format!("[{}]", list(row))).collect::<Vec<_>>().join(" ");
    vec![
        format!("Ψ = ({})", list(&form.psi)),
        format!("M̄ = {}", rows(&form.mass_bar)),
        format!("Δ = ({})", list(&form.delta)),
        format!("Λ = {}", rows(&form.jac_delta)),
    ]
}

/// The conditions of the method of §IV. Lemma 2: the constraints are nowhere tangent to the wall, which holds if φ is monotone
/// in a remaining coordinate. Lemma 3: φ_u' M⁻¹ φ_h'ᵀ = 0 for each constraint; shown with its value at the start.
fn separability(model: &Model, study: &Study) -> Vec<String> {
    let (system, Ok(start)) = (&model.system, model.start()) else { return Vec::new() };
    let Some(wall) = system.walls.first() else { return Vec::new() };
    let (q, v) = (system.q(), system.v());
    let mass = crate::expr::jacobian(&grad(system.lagrangian.l, &v), &v);
    let normal = eliminate(mass, grad(wall.phi, &q));
    let numbers = q.iter().zip(&start.q).chain(v.iter().zip(&start.v)).map(|(&x, &value)| (x, value));
    let at: Vec<(Expr, f64)> = model.parameter_values().into_iter().chain(numbers).collect();
    let line = |constraint: &crate::system::Constraint| {
        let product: Expr = grad(constraint.g, &q).iter().zip(&normal).map(|(&a, &b)| a * b).sum();
        let notation = notation(model);
        let product = tidy(product, &notation);
        let value = eval(&[product], &at)[0];
        let is_zero = product.is_zero() || eval_is_zero(product, model);
        let verdict = if is_zero { "met" } else { "fails, so P_h ∘ P_u cannot be used" };
        let text = format!("φ_u' M⁻¹ φ_h'ᵀ = 0 for `{}`: {}", constraint.name, product.to_text(&notation));
        format!("Lemma 3: {text}, {value:.6} at the start — {verdict}")
    };
    let tangent = (!system.constraints.is_empty() && study.form.is_some())
        .then(|| "Lemma 2: the constraints are nowhere tangent to the wall — met".to_string());
    tangent.into_iter().chain(system.constraints.iter().map(line)).collect()
}

/// True if the expression is zero, to roundoff, for the parameter values of the model.
fn eval_is_zero(e: Expr, model: &Model) -> bool {
    range(e, &model.parameter_values()).magnitude() <= ROUNDOFF
}
