//! Methods by name: `flow+rule`, a flow, a rule, or a preset.

use std::sync::Arc;

use crate::error::{Diagnostic, Error, Result};
use crate::flow::{self, FlowKind};
use crate::impact::{self, Built, RuleKind, Workshop};
use crate::linkage;
use crate::model::settings::{McvaSettings, Simultaneous};
use crate::model::{AUTO, Model, Run, suggestion};
use crate::plant::Plant;

/// A flow and an impact rule.
#[derive(Clone)]
pub struct Method {
    /// The name as the user wrote it.
    pub name: String,
    /// The flow of the full steps, and also of the partial steps unless the rule uses another.
    pub flow: Arc<FlowKind>,
    rule: RuleKind,
    /// The truncation order of H̃, if a preset fixes it.
    mcva_order: Option<usize>,
    /// For the projected Hamilton's principle: how its path crosses a wall. There is then no impact rule.
    pub switches: Option<Switches>,
}

/// How the path of the projected Hamilton's principle crosses a wall.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Switches {
    /// The crossing is located and partial steps end there: the order is that of the flow.
    Located,
    /// Each step stays with the Lagrangian of the side on which it began: order 1, and the energy jumps at each impact. For
    /// study.
    Unlocated,
}

/// A row of `carom methods`.
pub struct MethodEntry {
    /// The full name.
    pub name: String,
    /// A one-line description.
    pub about: String,
}

/// The default method: symplectic, symmetric, of order 12.
pub const DEFAULT: &str = "gauss6+ctec";

/// The default method for a model with constraints. It has order 8, because the equations of a step grow with the number of
/// stages.
const CONSTRAINED: &str = "gauss4+ctec";

/// The default method for a large mechanism, on recursive kernels.
const RECURSIVE: &str = "midpoint-suzuki4+ctec";

/// The default where a step is searched for and the tolerance is at most [`PRECISE`]: three times the work of a step, and a tenth of the
/// steps or fewer.
const RECURSIVE_AND_PRECISE: &str = "midpoint-kahan-li8+ctec";
const PRECISE: f64 = 1e-8;

/// The default method for a model; `tolerance` is that for which a step is searched for, if none is given.
pub fn default_for(model: &Model, tolerance: Option<f64>) -> &'static str {
    if linkage::is_large(&model.system) {
        return if tolerance.is_some_and(|tolerance| tolerance <= PRECISE) { RECURSIVE_AND_PRECISE } else { RECURSIVE };
    }
    if model.system.constraints.is_empty() { DEFAULT } else { CONSTRAINED }
}

/// The presets: name, method, and the truncation order of `mcva`.
const PRESETS: [(&str, &str, Option<usize>); 4] = [
    ("cva", "svc+ctec", None),
    ("vci", "svc+dtec", None),
    ("mcvaa", "sva+mcva", Some(4)),
    ("mcvac", "svc+mcva", Some(3)),
];

/// The presets of the projected principle; each can be combined with another flow, as in `gauss2+php`.
const PROJECTED: [(&str, Switches, &str); 2] = [
    ("php", Switches::Located, "gauss6 on the smooth path of the projected Hamilton's principle"),
    ("php1", Switches::Unlocated, "like php, but without locating the switches: order 1, for study"),
];

impl Method {
    /// The method with this name; `alpha` is for the generalized midpoint rule.
    pub fn named(name: &str, alpha: Option<f64>) -> Result<Method> {
        let preset = PRESETS.iter().find(|(preset, ..)| *preset == name);
        let (full, mcva_order) = preset.map_or((name, None), |(_, full, order)| (*full, *order));
        let find_flow = |name: &str| flow::named(name, alpha).ok();
        let find_rule = |name: &str| impact::registry().into_iter().find(|rule| rule.name == name);
        let (mut flow, mut rule): (Option<FlowKind>, Option<RuleKind>) = (None, None);
        let projected = PROJECTED.iter().find(|(preset, ..)| full.rsplit('+').next() == Some(preset));
        let full = projected.map_or(full.to_string(), |(preset, ..)| match full.trim_end_matches(preset) {
            "" => "gauss6".into(),
            flow => flow.into(),
        });
        for part in full.split('+').filter(|part| !part.is_empty()) {
            match (find_flow(part), find_rule(part)) {
                (Some(found), None) if flow.is_none() && rule.is_none() => flow = Some(found),
                (None, Some(found)) if rule.is_none() => rule = Some(found),
                _ => return Err(unknown(name, part)),
            }
        }
        if (flow.is_none() && rule.is_none()) || (projected.is_some() && rule.is_some()) {
            return Err(unknown(name, name));
        }
        let flow = flow.or_else(|| find_flow("svc")).ok_or_else(|| unknown(name, name))?;
        let rule = rule.or_else(|| find_rule("ctec")).ok_or_else(|| unknown(name, name))?;
        let switches = projected.map(|(_, switches, _)| *switches);
        Ok(Method { name: name.into(), flow: Arc::new(flow), rule, mcva_order, switches })
    }

    /// The name of the impact rule.
    pub fn rule_name(&self) -> &'static str {
        self.rule.name
    }

    /// True if partial steps, and states inside steps, follow H̃ from its series.
    pub fn follows_series(&self) -> bool {
        self.rule.follows_series
    }

    /// Identifies the method and its flow.
    pub(crate) fn key(&self) -> String {
        format!("{} {}", self.name, self.flow.key())
    }

    /// The same with quick steps, whose length carom controls, in place of the flow.
    pub fn one_pass(&self) -> Method {
        Method { name: AUTO.into(), flow: Arc::new(FlowKind::one_pass()), ..self.clone() }
    }

    /// Creates the impact rule, or returns an error if it is incompatible with the system or the flow.
    pub fn rule(&self, plant: &dyn Plant, settings: &Run) -> Result<Built> {
        let mut settings = settings.clone();
        if let Some(order) = self.mcva_order {
            settings.mcva = McvaSettings { order, ..settings.mcva };
        }
        if settings.simultaneous == Simultaneous::Moreau {
            self.check_moreau(plant)?;
        }
        self.rule.build(&Workshop { plant, flow: &self.flow, settings: &settings })
    }

    /// True if large mechanisms run on recursive kernels with this method.
    pub fn has_recursive_kernel(&self) -> bool {
        self.flow.has_recursive_kernel() && self.rule.name == "ctec" && self.switches.is_none()
    }

    /// Moreau's law applies to velocities: it is not defined for rules that conserve another energy than H, or if L_vv depends
    /// on v.
    fn check_moreau(&self, plant: &dyn Plant) -> Result<()> {
        let (why, help) = match self.rule.name {
            "ctec" if plant.facts().is_quadratic => return Ok(()),
            "ctec" => ("the Lagrangian is not quadratic in the velocities".into(), "use `sequential`"),
            rule => (format!("the rule `{rule}` does not conserve H"), "use `ctec`, or `sequential`"),
        };
        Err(Diagnostic::new(format!("`simultaneous = \"moreau\"` cannot be used: {why}")).with_help(help).into())
    }
}

/// All flows, impact rules and presets, in groups.
pub fn entries() -> [(&'static str, Vec<MethodEntry>); 3] {
    let flow =
        |flow: FlowKind| MethodEntry { about: format!("order {:<2} {}", flow.order, flow.about), name: flow.name };
    let entry = |name: &str, about: &str| MethodEntry { name: name.into(), about: about.into() };
    let presets = PRESETS.iter().map(|(name, full, _)| entry(name, full));
    let presets = presets.chain(PROJECTED.iter().map(|(name, _, about)| entry(name, about)));
    [
        ("Flows", flow::registry(None).into_iter().chain(flow::on_trees()).map(flow).collect()),
        ("Impact rules", impact::registry().iter().map(|rule| entry(rule.name, rule.about)).collect()),
        ("Presets", presets.collect()),
    ]
}

fn unknown(name: &str, part: &str) -> Error {
    let known: Vec<String> = entries().into_iter().flat_map(|(_, entries)| entries).map(|entry| entry.name).collect();
    let help = match suggestion(part, known.iter().map(String::as_str)) {
        Some(near) => format!("did you mean `{near}`?"),
        None => "`carom methods` lists them; write `flow+rule`, `flow`, `rule` or a preset".into(),
    };
    Diagnostic::new(format!("unknown method `{name}`")).with_help(help).into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::find;

    /// Order 8 pays on recursive kernels if a step is searched for and the tolerance is small, beside walls too.
    #[test]
    fn the_default_of_large_mechanisms_follows_the_tolerance() {
        let of = |name: &str, tolerance: Option<f64>| {
            let model = Model::from_text(name, find(name).expect("it ships").text, &[]).expect("it is right");
            default_for(&model, tolerance)
        };
        assert_eq!(of("marionette", Some(1e-9)), RECURSIVE_AND_PRECISE);
        assert_eq!(of("marionette", Some(1e-6)), RECURSIVE);
        assert_eq!(of("marionette", None), RECURSIVE);
        assert_eq!(of("marionette-drop", Some(1e-9)), RECURSIVE_AND_PRECISE);
        assert_eq!(of("double-pendulum", Some(1e-9)), DEFAULT);
    }
}
