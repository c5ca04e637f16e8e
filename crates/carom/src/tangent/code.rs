//! What the derivatives of the steps of a flow are made of: the slopes of the system and the quadrature of the flow.

use std::sync::{Arc, OnceLock};

use super::collocation::StageCode;
use crate::error::{Diagnostic, Result};
use crate::flow::HeldCode;
use crate::method::Method;
use crate::plant::{Facts, Plant};
use crate::slopes::{Slopes, WholeStep};

/// The slopes of a system by (q, v, t, θ), where θ are the parameters by which is differentiated. Together with the quadrature of a flow
/// they give the derivatives of its steps.
pub struct TangentCode {
    pub(super) slopes: Arc<Slopes>,
    /// The quadrature of the flow.
    pub(super) rule: HeldCode,
    /// The fractions of a step in which it is made.
    pub(super) parts: &'static [f64],
    /// The stages of a step; none if the flow is not Gauss collocation.
    pub(super) stages: Option<StageCode>,
    /// The equations of a whole step; none if it has many unknowns. Compiled on first use.
    step: OnceLock<Option<WholeStep>>,
}

impl TangentCode {
    /// The derivatives of the steps of a method by these parameters. Says by name what cannot be differentiated.
    pub fn new(plant: &dyn Plant, method: &Method, theta: &[usize]) -> Result<TangentCode> {
        refuse(plant.facts(), method)?;
        let slopes = plant.slopes(theta)?;
        let stages = method.flow.stages().filter(|_| slopes.constraints == 0);
        Ok(TangentCode {
            rule: method.flow.held_code(&slopes.local()?)?,
            parts: method.flow.parts(),
            stages: stages.map(|s| slopes.lanes().map(|lanes| StageCode::new(lanes, s))).transpose()?,
            step: OnceLock::new(),
            slopes,
        })
    }

    /// The number of parameters θ.
    pub fn parameters(&self) -> usize {
        self.slopes.theta.len()
    }

    /// The slopes of the system.
    pub fn slopes(&self) -> &Slopes {
        &self.slopes
    }

    /// The equations of a whole step on no rows; none if it has many unknowns.
    pub(super) fn step(&self) -> Option<&WholeStep> {
        self.step.get_or_init(|| WholeStep::new(&self.slopes, &self.rule.samples)).as_ref()
    }
}

/// Says by name what cannot be differentiated.
fn refuse(facts: &Facts, method: &Method) -> Result<()> {
    let refused = |what: String, help: &str| Err(Diagnostic::new(what).with_help(help).into());
    if method.switches.is_some() {
        return refused("derivatives through `php` are not supported".into(), "use a rule such as `ctec`");
    }
    let rule = method.rule_name();
    if !["ctec", "dtec"].contains(&rule) {
        return refused(
            format!("derivatives through the impact rule `{rule}` are not supported"),
            "use `ctec` or `dtec`",
        );
    }
    if !method.flow.is_symplectic {
        let what = format!("derivatives of the flow `{}` are not supported", method.flow.name);
        return refused(what, "use a variational flow, such as `svc` or `gauss4`");
    }
    if facts.is_one_point.contains(&false) {
        return refused("derivatives of two-point constraints are not supported".into(), "use one-point constraints");
    }
    Ok(())
}
