use super::{Diagnostic, Made, Subject};
use crate::error::Diagnostic as Mistake;
use crate::flow::{Flow, Phase};
use crate::solve::{NoSolution, larger};

/// How far a step is from symplectic: the largest entry of DΦᵀ J DΦ − J, J = [0 1; −1 0]. [DLM §3.5]
///
/// DΦ is found by differences of order 8, so that about 1e-11 is zero.
pub struct Symplectic {
    moved: Phase,
    image: Phase,
    /// ∂Φ/∂z_j, one after the other.
    columns: Vec<f64>,
}

/// The weights of f′(0) ≈ (1/d) Σ w_j (f(jd) − f(−jd)).
const WEIGHTS: [f64; 4] = [4.0 / 5.0, -1.0 / 5.0, 4.0 / 105.0, -1.0 / 280.0];
/// d, relative to the size of a variable.
const SPACING: f64 = 4e-3;

impl Symplectic {
    /// For n degrees of freedom.
    pub fn new(n: usize) -> Symplectic {
        let phase = Phase { t: 0.0, z: vec![0.0; 2 * n] };
        Symplectic { moved: phase.clone(), image: phase, columns: vec![0.0; 4 * n * n] }
    }

    fn differentiate(&mut self, z: &Phase, h: f64, flow: &mut dyn Flow) -> std::result::Result<(), NoSolution> {
        self.columns.fill(0.0);
        for (i, column) in self.columns.chunks_mut(z.z.len()).enumerate() {
            let d = SPACING * z.z[i].abs().max(1.0);
            for (j, sign) in (1..).zip(WEIGHTS).flat_map(|(j, w)| [(j, w), (-j, -w)]) {
                self.moved.copy_from(z);
                self.moved.z[i] += f64::from(j) * d;
                flow.step(&self.moved, h, &mut self.image)?;
                column.iter_mut().zip(&self.image.z).for_each(|(slope, x)| *slope += sign * x / d);
            }
        }
        Ok(())
    }
}

impl Diagnostic for Symplectic {
    fn name(&self) -> String {
        "symplecticity error".into()
    }

    fn at(&mut self, z: &Phase, h: f64, flow: &mut dyn Flow) -> std::result::Result<f64, NoSolution> {
        self.differentiate(z, h, flow)?;
        let n = z.z.len() / 2;
        let mut error: f64 = 0.0;
        for (i, a) in self.columns.chunks(2 * n).enumerate() {
            for (j, b) in self.columns.chunks(2 * n).enumerate() {
                let form: f64 = (0..n).map(|k| a[k] * b[n + k] - a[n + k] * b[k]).sum();
                let exact = f64::from(i32::from(j == i + n)) - f64::from(i32::from(i == j + n));
                error = larger(error, (form - exact).abs());
            }
        }
        Ok(error)
    }
}

pub(super) fn make(subject: &Subject) -> Made {
    if subject.mechanics.forces.is_some() {
        return Err(Mistake::new("forces act on the system: its motion is not symplectic").into());
    }
    Ok(vec![Box::new(Symplectic::new(subject.mechanics.n()))])
}
