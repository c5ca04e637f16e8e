//! Methods by name: `flow+rule`, a flow alone, a rule alone, or a preset.

use crate::discrete::{self, DiscreteLagrangian, Svc};
use crate::error::{Diagnostic, Result};
use crate::impact::{Ctec, Dtec, ImpactRule};
use crate::model::suggestion;

/// A flow and an impact rule.
pub struct Method {
    /// As the user wrote it.
    pub name: String,
    /// The discrete Lagrangian of the flow.
    pub flow: Box<dyn DiscreteLagrangian>,
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
    pub name: &'static str,
    /// What it is.
    pub about: String,
}

const PRESETS: [(&str, &str); 2] = [("cva", "svc+ctec"), ("vci", "svc+dtec")];
const RULES: [(&str, Rule, &str); 2] = [
    ("ctec", Rule::Ctec, "H is the same before and after the impact"),
    ("dtec", Rule::Dtec, "the discrete energy −D₃L_d is the same before and after the impact"),
];

impl Method {
    /// The method of that name.
    pub fn named(name: &str) -> Result<Method> {
        let full = PRESETS.iter().find(|(preset, _)| *preset == name).map_or(name, |(_, full)| full);
        let parts: Vec<&str> = full.split('+').collect();
        let (mut flow, mut rule): (Option<Box<dyn DiscreteLagrangian>>, Option<Rule>) = (None, None);
        for part in &parts {
            let found_rule = RULES.iter().find(|(word, ..)| word == part);
            let found_flow = discrete::registry().into_iter().find(|flow| flow.name() == *part);
            match (found_flow, found_rule) {
                (Some(found), None) if flow.is_none() && rule.is_none() => flow = Some(found),
                (None, Some((_, found, _))) if rule.is_none() => rule = Some(*found),
                _ => return Err(unknown(name, part)),
            }
        }
        let flow = flow.unwrap_or(Box::new(Svc));
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
    let flow = |flow: Box<dyn DiscreteLagrangian>| {
        let symmetric = if flow.is_symmetric() { ", symmetric" } else { "" };
        Entry { name: flow.name(), about: format!("variational, order {}{symmetric}", flow.order()) }
    };
    [
        ("Flows", discrete::registry().into_iter().map(flow).collect()),
        ("Impact rules", RULES.iter().map(|(name, _, about)| Entry { name, about: (*about).into() }).collect()),
        ("Presets", PRESETS.iter().map(|(name, full)| Entry { name, about: (*full).into() }).collect()),
    ]
}

fn unknown(name: &str, part: &str) -> crate::error::Error {
    let known = entries().into_iter().flat_map(|(_, entries)| entries).map(|entry| entry.name);
    let help = match suggestion(part, known) {
        Some(near) => format!("did you mean `{near}`?"),
        None => "`carom methods` lists them; write `flow+rule`, `flow`, `rule` or a preset".into(),
    };
    Diagnostic::new(format!("unknown method `{name}`")).with_help(help).into()
}
