//! Methods by name: `flow+rule`, a flow alone, a rule alone, or a preset.

use crate::error::{Diagnostic, Result};
use crate::flow::{FlowKind, registry};
use crate::impact::{Ctec, Dtec, ImpactRule};
use crate::model::suggestion;

/// A flow and an impact rule.
pub struct Method {
    /// As the user wrote it.
    pub name: String,
    /// The flow of the full steps, and of the partial ones unless the rule says otherwise.
    pub flow: FlowKind,
    rule: Rule,
}

/// The registered impact rules.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Rule {
    Ctec,
    Dtec,
}

/// A line of `carom methods`.
pub struct Entry {
    /// What `--method` calls it.
    pub name: String,
    /// What it is.
    pub about: String,
}

const PRESETS: [(&str, &str); 2] = [("cva", "svc+ctec"), ("vci", "svc+dtec")];
/// What runs where nothing is asked for: symplectic, symmetric, of order 12.
pub const DEFAULT: &str = "gauss6+ctec";

const RULES: [(&str, Rule, &str); 2] = [
    ("ctec", Rule::Ctec, "H is the same before and after the impact"),
    ("dtec", Rule::Dtec, "the discrete energy −D₃L_d is the same before and after the impact"),
];

impl Method {
    /// The method of that name; `alpha` is that of the generalized midpoint rule.
    pub fn named(name: &str, alpha: Option<f64>) -> Result<Method> {
        let full = PRESETS.iter().find(|(preset, _)| *preset == name).map_or(name, |(_, full)| full);
        let parts: Vec<&str> = full.split('+').collect();
        let (mut flow, mut rule): (Option<FlowKind>, Option<Rule>) = (None, None);
        let find = |name: &str| registry(alpha).into_iter().find(|flow| flow.name == name);
        for part in &parts {
            let found_rule = RULES.iter().find(|(word, ..)| word == part);
            match (find(part), found_rule) {
                (Some(found), None) if flow.is_none() && rule.is_none() => flow = Some(found),
                (None, Some((_, found, _))) if rule.is_none() => rule = Some(*found),
                _ => return Err(unknown(name, part)),
            }
        }
        let flow = flow.or_else(|| find("svc")).ok_or_else(|| unknown(name, name))?;
        Ok(Method { name: name.into(), flow, rule: rule.unwrap_or(Rule::Ctec) })
    }

    /// The impact rule.
    pub fn rule(&self) -> Box<dyn ImpactRule> {
        match self.rule {
            Rule::Ctec => Box::new(Ctec),
            Rule::Dtec => Box::new(Dtec),
        }
    }
}

/// What there is, in groups.
pub fn entries() -> [(&'static str, Vec<Entry>); 3] {
    let flow = |flow: FlowKind| Entry { about: format!("order {:<2} {}", flow.order, flow.about), name: flow.name };
    let entry = |name: &str, about: &str| Entry { name: name.into(), about: about.into() };
    [
        ("Flows", registry(None).into_iter().map(flow).collect()),
        ("Impact rules", RULES.iter().map(|(name, _, about)| entry(name, about)).collect()),
        ("Presets", PRESETS.iter().map(|(name, full)| entry(name, full)).collect()),
    ]
}

fn unknown(name: &str, part: &str) -> crate::error::Error {
    let known: Vec<String> = entries().into_iter().flat_map(|(_, entries)| entries).map(|entry| entry.name).collect();
    let help = match suggestion(part, known.iter().map(String::as_str)) {
        Some(near) => format!("did you mean `{near}`?"),
        None => "`carom methods` lists them; write `flow+rule`, `flow`, `rule` or a preset".into(),
    };
    Diagnostic::new(format!("unknown method `{name}`")).with_help(help).into()
}
