use super::{Made, Monitor, Subject};
use crate::phase::{Flow, Phase};
use crate::plant::Evaluator;
use crate::solve::NoSolution;

/// The Hamiltonian H(q, p) = p·v − L. [DLM eq. 5]
pub struct EnergyMonitor(Box<dyn Evaluator>);

impl Monitor for EnergyMonitor {
    fn name(&self) -> String {
        "H".into()
    }

    fn at(&mut self, z: &Phase, _h: f64, _flow: &mut dyn Flow) -> std::result::Result<f64, NoSolution> {
        self.0.hamiltonian(z)
    }
}

pub(super) fn make(subject: &Subject) -> Made {
    Ok(vec![Box::new(EnergyMonitor(subject.evaluator()))])
}
