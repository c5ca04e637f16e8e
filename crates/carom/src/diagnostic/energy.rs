use super::{Made, Monitor, Subject};
use crate::mechanics::Field;
use crate::phase::{Flow, Phase};
use crate::solve::NoSolution;

/// The Hamiltonian H(q, p) = p·v − L. [DLM eq. 5]
pub struct EnergyMonitor(
    /// The equations of the system.
    pub Field,
);

impl Monitor for EnergyMonitor {
    fn name(&self) -> String {
        "H".into()
    }

    fn at(&mut self, z: &Phase, _h: f64, _flow: &mut dyn Flow) -> std::result::Result<f64, NoSolution> {
        self.0.energy(z.t, &z.z)
    }
}

pub(super) fn make(subject: &Subject) -> Made {
    Ok(vec![Box::new(EnergyMonitor(Field::new(subject.mechanics, subject.parameters)?))])
}
