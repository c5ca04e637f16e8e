use super::{Made, Monitor, Subject};
use crate::discrete::DiscreteLagrangian;
use crate::error::{Diagnostic as Mistake, Result};
use crate::flow::FlowKind;
use crate::modified::{Cheap, Formula, ModifiedHamiltonian, Shadow, check_conservative};
use crate::phase::{Flow, Phase};
use crate::plant::Modified;
use crate::solve::NoSolution;

/// A modified Hamiltonian that is a function of (q, p, h). [BEA §III-A; DLM eq. 27]
pub struct ModifiedMonitor(
    /// The modified Hamiltonian.
    pub Box<dyn ModifiedHamiltonian>,
);

impl Monitor for ModifiedMonitor {
    fn name(&self) -> String {
        format!("H̃ ({})", self.0.name())
    }

    fn at(&mut self, z: &Phase, h: f64, _flow: &mut dyn Flow) -> std::result::Result<f64, NoSolution> {
        self.0.value(z, h)
    }
}

/// A modified Hamiltonian that is computed from steps of the flow.
pub enum ByFlow {
    /// From H and the discrete energy of the steps at a point.
    Cheap(Cheap),
    /// From iterates.
    Shadow(Shadow),
}

impl Monitor for ByFlow {
    fn name(&self) -> String {
        match self {
            ByFlow::Cheap(_) => "H̃ (from H and −D₃L_d)".into(),
            ByFlow::Shadow(shadow) if shadow.reach() > shadow.order() / 2 => {
                format!("H̃ (iterates, mean over ±{} nodes)", shadow.reach() - shadow.order() / 2)
            }
            ByFlow::Shadow(shadow) => format!("H̃ (iterates, order {})", shadow.order()),
        }
    }

    fn steps(&self) -> usize {
        match self {
            ByFlow::Cheap(_) => 2,
            ByFlow::Shadow(shadow) => 2 * shadow.reach(),
        }
    }

    fn at(&mut self, z: &Phase, h: f64, flow: &mut dyn Flow) -> std::result::Result<f64, NoSolution> {
        match self {
            ByFlow::Cheap(cheap) => cheap.at(flow, z, h),
            ByFlow::Shadow(shadow) => shadow.at(flow, z, h),
        }
    }
}

fn rule<'a>(subject: &Subject<'a>) -> Result<&'a dyn DiscreteLagrangian> {
    if !subject.expressions()?.constraints.is_empty() {
        return Err(Mistake::new("it needs independent coordinates, but the model has constraints").into());
    }
    let none = || Mistake::new(format!("`{}` is not the flow of one discrete Lagrangian", subject.flow.name));
    subject.flow.discrete_lagrangian().ok_or_else(|| none().into())
}

pub(super) fn closed(subject: &Subject) -> Made {
    let rule = rule(subject)?;
    let none = || Mistake::new(format!("there is no closed form for `{}`", rule.name())).with_help("use `series`");
    let formula = Formula::of(rule.name()).ok_or_else(none)?;
    compiled(subject, &Modified::Closed(formula))
}

pub(super) fn series(subject: &Subject) -> Made {
    rule(subject)?;
    compiled(subject, &Modified::Series(subject.flow, 4))
}

fn compiled(subject: &Subject, which: &Modified) -> Made {
    let mut modified = subject.plant.modified(which)?;
    modified.set_parameters(subject.parameters);
    Ok(vec![Box::new(ModifiedMonitor(modified))])
}

pub(super) fn cheap(subject: &Subject) -> Made {
    check(subject)?;
    if !subject.flow.is_symmetric {
        return Err(Mistake::new(format!("`{}` is not symmetric", subject.flow.name)).into());
    }
    let mut evaluator = subject.evaluator();
    Ok(vec![Box::new(ByFlow::Cheap(Cheap::from_energy(move |z| evaluator.hamiltonian(z))))])
}

pub(super) fn shadow(subject: &Subject) -> Made {
    from_iterates(subject, 5, 0)
}

pub(super) fn window(subject: &Subject) -> Made {
    from_iterates(subject, 8, 10)
}

/// From m iterates on each side, averaged over w nodes. A flow of order above m takes steps so long that the iterates do not
/// resolve the motion; H is then the better diagnostic.
fn from_iterates(subject: &Subject, m: usize, w: usize) -> Made {
    check(subject)?;
    let FlowKind { name, order, .. } = subject.flow;
    if *order > m {
        return Err(Mistake::new(format!("the steps of `{name}`, of order {order}, are too long for it")).into());
    }
    Ok(vec![Box::new(ByFlow::Shadow(Shadow::windowed(m, w)))])
}

/// Checks that the flow has a modified Hamiltonian that can be computed from its steps.
fn check(subject: &Subject) -> Result<()> {
    subject.check_variational()?;
    check_conservative(&subject.plant.facts().sources)
}
