use super::{Made, Monitor, Subject};
use crate::phase::{Flow, Phase};
use crate::solve::NoSolution;

/// The discrete energy −D₃L_d(q0, q1, h) of the step that starts at a point. [BEA eq. 25; DLM §4.2]
pub struct DiscreteEnergy {
    next: Phase,
}

impl DiscreteEnergy {
    /// For n degrees of freedom.
    pub fn new(n: usize) -> DiscreteEnergy {
        DiscreteEnergy { next: Phase { t: 0.0, z: vec![0.0; 2 * n] } }
    }
}

impl Monitor for DiscreteEnergy {
    fn name(&self) -> String {
        "−D₃L_d".into()
    }

    fn at(&mut self, z: &Phase, h: f64, flow: &mut dyn Flow) -> std::result::Result<f64, NoSolution> {
        flow.step(z, h, &mut self.next)?;
        flow.discrete().map(|step| step.energy).ok_or(NoSolution::Diverged)
    }
}

pub(super) fn make(subject: &Subject) -> Made {
    subject.check_variational()?;
    Ok(vec![Box::new(DiscreteEnergy::new(subject.plant.facts().n))])
}
