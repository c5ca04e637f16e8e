//! The impact rules by name, with what each needs.

use super::{Ctec, Dtec, ImpactRule, Mcva, Mhc, ShadowRule, Stable};
use crate::error::{Diagnostic, Error, Result};
use crate::flow::{FlowKind, Gauss, Interpolated};
use crate::model::Run;
use crate::modified::{Formula, Shadow};
use crate::phase::Flow;
use crate::plant::{Modified, Plant};

/// An impact rule that can be asked for by name.
#[derive(Clone, Copy)]
pub struct RuleKind {
    /// The name in names of methods.
    pub name: &'static str,
    /// One line about it.
    pub about: &'static str,
    /// Partial steps follow H̃ from its series, which has derivatives of high order.
    pub follows_series: bool,
    build: fn(&Workshop) -> Result<Built>,
}

/// What a rule is made from.
pub struct Workshop<'a> {
    /// The system.
    pub plant: &'a dyn Plant,
    /// The map of the full steps.
    pub flow: &'a FlowKind,
    /// The settings of the rules.
    pub settings: &'a Run,
}

/// A rule, and the map of its partial steps where that is not the map of the full steps.
pub struct Built {
    /// The rule.
    pub rule: Box<dyn ImpactRule>,
    /// The map of the partial steps.
    pub partial: Option<Box<dyn Flow>>,
}

impl RuleKind {
    /// Makes the rule, or says why it cannot be had.
    pub fn build(&self, workshop: &Workshop) -> Result<Built> {
        (self.build)(workshop)
    }
}

/// All impact rules.
pub fn registry() -> [RuleKind; 5] {
    [
        RuleKind {
            name: "ctec",
            about: "H is the same before and after the impact",
            follows_series: false,
            build: ctec,
        },
        RuleKind {
            name: "dtec",
            about: "the discrete energy −D₃L_d is the same before and after",
            follows_series: false,
            build: dtec,
        },
        RuleKind {
            name: "mhc",
            about: "the stable value of H̃ in a window before is that in one after",
            follows_series: false,
            build: mhc,
        },
        RuleKind {
            name: "mcva",
            about: "H̃ from its series is the same, and partial steps follow it",
            follows_series: true,
            build: mcva,
        },
        RuleKind {
            name: "shadow",
            about: "H̃ from iterates, of order 2m, is the same before and after",
            follows_series: false,
            build: shadow,
        },
    ]
}

fn refuse(rule: &str, why: String, help: &str) -> Error {
    Diagnostic::new(format!("the rule `{rule}` cannot be used: {why}")).with_help(help).into()
}

/// Refuses a system whose smooth motion keeps no Hamiltonian.
fn refuse_without_hamiltonian(rule: &str, workshop: &Workshop) -> Result<()> {
    match workshop.plant.facts().sources.why_not_hamiltonian() {
        Some(why) => Err(refuse(rule, format!("{why}, and the energy that it matches is not kept"), "use `ctec`")),
        None => Ok(()),
    }
}

fn ctec(workshop: &Workshop) -> Result<Built> {
    Ok(Built { rule: Box::new(Ctec::new(workshop.plant.facts().is_quadratic)), partial: None })
}

fn dtec(workshop: &Workshop) -> Result<Built> {
    if !workshop.flow.is_symplectic {
        let why = format!("`{}` has no discrete Lagrangian", workshop.flow.name);
        return Err(refuse("dtec", why, "use a variational flow, such as `svc` or `gauss4`"));
    }
    // −D₃L_d is the energy at the end of a step; at its beginning it is that only where L is free of the time.
    refuse_without_hamiltonian("dtec", workshop)?;
    Ok(Built { rule: Box::new(Dtec::default()), partial: None })
}

/// With constraints the window is over the shadow Hamiltonian: the closed forms need independent coordinates.
fn mhc_on_shadow(workshop: &Workshop) -> Result<Built> {
    let flow = workshop.plant.flow(workshop.flow)?;
    let ham_mod = Stable::Shadow(flow, Shadow::new(workshop.settings.shadow.m));
    let rule = Mhc::new(ham_mod, workshop.settings.mhc, &workshop.plant.facts().nowhere());
    Ok(Built { rule: Box::new(rule), partial: None })
}

fn mhc(workshop: &Workshop) -> Result<Built> {
    refuse_without_hamiltonian("mhc", workshop)?;
    if !workshop.plant.facts().is_one_point.is_empty() {
        return mhc_on_shadow(workshop);
    }
    let (name, printed) = (&workshop.flow.name, workshop.settings.mhc.printed);
    let formula = match Formula::of(name) {
        Some(Formula::Svc) if printed => Formula::Sva,
        Some(formula) => formula,
        None => {
            let why = format!("there is no closed form of H̃ for `{name}`");
            return Err(refuse("mhc", why, "use `shadow`, or one of the flows svc, sva, svb, midpoint"));
        }
    };
    let ham_mod = Stable::Closed(workshop.plant.modified(&Modified::Closed(formula))?);
    let rule = Mhc::new(ham_mod, workshop.settings.mhc, &workshop.plant.facts().nowhere());
    Ok(Built { rule: Box::new(rule), partial: None })
}

fn mcva(workshop: &Workshop) -> Result<Built> {
    refuse_without_hamiltonian("mcva", workshop)?;
    if !workshop.plant.facts().is_one_point.is_empty() {
        let why = "the series of H̃ needs independent coordinates, and there are constraints";
        return Err(refuse("mcva", why.into(), "use `ctec` or `shadow`, or coordinates without constraints"));
    }
    let Some(rule) = workshop.flow.discrete_lagrangian() else {
        let why = format!("`{}` is not the flow of one discrete Lagrangian", workshop.flow.name);
        return Err(refuse("mcva", why, "use `shadow`, or a flow such as `svc`, `sva` or `galerkin4`"));
    };
    let settings = &workshop.settings.mcva;
    let Some(stages) =
        settings.partial.strip_prefix("gauss").and_then(|s| s.parse().ok()).filter(|s| (1..=8).contains(s))
    else {
        let why = format!("`{}` cannot follow H̃", settings.partial);
        return Err(refuse("mcva", why, "set `run.mcva.partial` to one of gauss1 … gauss8"));
    };
    let ham_mod = workshop.plant.modified(&match hamiltonian_formula(rule.name(), settings.order) {
        Some(formula) => Modified::Closed(formula),
        None => Modified::Series(workshop.flow, settings.order),
    })?;
    let partial = Gauss::of_modified(ham_mod.clone(), stages, 2 * workshop.plant.facts().n);
    Ok(Built { rule: Box::new(Mcva::new(ham_mod)), partial: Some(Box::new(partial)) })
}

/// `sva` and `svb` are methods of the Hamiltonian setting, symmetric: the series of H̃ begins with H, not with η, and at
/// O(h⁴) ends with H₃, from second derivatives alone. [DLM §5.2]
fn hamiltonian_formula(flow: &str, order: usize) -> Option<Formula> {
    Formula::of(flow).filter(|formula| order == 4 && matches!(formula, Formula::Sva | Formula::Svb))
}

fn shadow(workshop: &Workshop) -> Result<Built> {
    if !workshop.flow.is_symplectic {
        let why = format!("`{}` is not symplectic and has no shadow Hamiltonian", workshop.flow.name);
        return Err(refuse("shadow", why, "use a variational flow, such as `svc` or `gauss2`"));
    }
    refuse_without_hamiltonian("shadow", workshop)?;
    let m = workshop.settings.shadow.m;
    let full = workshop.plant.flow(workshop.flow)?;
    let mut partial = Interpolated::new(full, m, 2 * workshop.plant.facts().n);
    if !workshop.plant.facts().is_one_point.is_empty() {
        let (manifold, field) = workshop.plant.onto_constraints()?;
        partial = partial.onto(manifold, field);
    }
    Ok(Built { rule: Box::new(ShadowRule::new(m)), partial: Some(Box::new(partial)) })
}
