use super::{Made, Monitor, Subject};
use crate::error::Diagnostic as Mistake;
use crate::mechanics::Field;
use crate::mechanics::Manifold;
use crate::phase::{Flow, Phase};
use crate::solve::{NoSolution, larger};

/// The deviation of a step from symplecticity: the largest entry of DΦᵀ J DΦ − J, J = [0 1; −1 0], in units in which the variables
/// and the largest q·p are about 1. [DLM §3.5]
///
/// DΦ is computed by differences of order 8, so values of about 1e-11 count as zero. With constraints only the tangent space
/// matters: the form ω(u, v) is compared before and after the step for tangents u, v of curves on the constraint manifold.
pub struct Symplectic {
    moved: Phase,
    image: Phase,
    /// The tangent vectors at z, concatenated: coordinate lines, projected onto the constraints.
    tangents: Vec<f64>,
    /// Their images under DΦ.
    columns: Vec<f64>,
    /// The size of each variable.
    sizes: Vec<f64>,
    onto: Option<(Manifold, Field)>,
}

/// The weights of f′(0) ≈ (1/d) Σ w_j (f(jd) − f(−jd)).
const WEIGHTS: [f64; 4] = [4.0 / 5.0, -1.0 / 5.0, 4.0 / 105.0, -1.0 / 280.0];
/// The spacing d, relative to the size of a variable.
const SPACING: f64 = 4e-3;

impl Symplectic {
    /// For n degrees of freedom.
    pub fn new(n: usize) -> Symplectic {
        let phase = Phase { t: 0.0, z: vec![0.0; 2 * n] };
        let (room, sizes) = (vec![0.0; 4 * n * n], vec![0.0; 2 * n]);
        Symplectic { moved: phase.clone(), image: phase, tangents: room.clone(), columns: room, sizes, onto: None }
    }

    /// Measures how far a step is from symplectic on the constraint manifold.
    pub fn onto(mut self, manifold: Manifold, field: Field) -> Symplectic {
        self.onto = Some((manifold, field));
        self
    }

    /// Takes the size of each variable from the ends of a step; 1 if it is zero at both.
    fn measure(&mut self, z: &Phase, h: f64, flow: &mut dyn Flow) -> std::result::Result<(), NoSolution> {
        flow.step(z, h, &mut self.image)?;
        for (size, (a, b)) in self.sizes.iter_mut().zip(z.z.iter().zip(&self.image.z)) {
            *size = a.abs().max(b.abs());
            if *size == 0.0 {
                *size = 1.0;
            }
        }
        Ok(())
    }

    fn differentiate(&mut self, z: &Phase, h: f64, flow: &mut dyn Flow) -> std::result::Result<(), NoSolution> {
        self.tangents.fill(0.0);
        self.columns.fill(0.0);
        let size = z.z.len();
        let pairs = self.tangents.chunks_mut(size).zip(self.columns.chunks_mut(size));
        for (i, (tangent, column)) in pairs.enumerate() {
            let d = SPACING * self.sizes[i];
            for (j, sign) in (1..).zip(WEIGHTS).flat_map(|(j, w)| [(j, w), (-j, -w)]) {
                self.moved.copy_from(z);
                self.moved.z[i] += f64::from(j) * d;
                if let Some((manifold, field)) = &mut self.onto {
                    manifold.project(&mut self.moved, field)?;
                }
                flow.step(&self.moved, h, &mut self.image)?;
                tangent.iter_mut().zip(&self.moved.z).for_each(|(slope, x)| *slope += sign * x / d);
                column.iter_mut().zip(&self.image.z).for_each(|(slope, x)| *slope += sign * x / d);
            }
        }
        Ok(())
    }
}

impl Monitor for Symplectic {
    fn name(&self) -> String {
        "symplecticity error".into()
    }

    fn steps(&self) -> usize {
        1 + 2 * WEIGHTS.len() * self.sizes.len()
    }

    fn at(&mut self, z: &Phase, h: f64, flow: &mut dyn Flow) -> std::result::Result<f64, NoSolution> {
        self.measure(z, h, flow)?;
        self.differentiate(z, h, flow)?;
        let n = z.z.len() / 2;
        let action = (0..n).map(|k| self.sizes[k] * self.sizes[n + k]).fold(0.0, f64::max);
        let omega = |a: &[f64], b: &[f64]| (0..n).map(|k| a[k] * b[n + k] - a[n + k] * b[k]).sum::<f64>();
        let pairs = || self.tangents.chunks(2 * n).zip(self.columns.chunks(2 * n)).zip(&self.sizes);
        let mut error: f64 = 0.0;
        for ((u0, u1), u) in pairs() {
            for ((v0, v1), v) in pairs() {
                error = larger(error, (omega(u1, v1) - omega(u0, v0)).abs() * (u * v / action));
            }
        }
        Ok(error)
    }
}

pub(super) fn make(subject: &Subject) -> Made {
    subject.expressions()?;
    let facts = subject.plant.facts();
    if facts.sources.forces {
        return Err(Mistake::new("forces act on the system: its motion is not symplectic").into());
    }
    if !facts.is_one_point.iter().all(|one_point| *one_point) {
        return Err(Mistake::new("steps with two-point constraints have no tangent space").into());
    }
    let mut symplectic = Symplectic::new(facts.n);
    if !facts.is_one_point.is_empty() {
        let (mut manifold, mut field) = subject.plant.onto_constraints()?;
        manifold.set_parameters(subject.parameters);
        field.set_parameters(subject.parameters);
        symplectic = symplectic.onto(manifold, field);
    }
    Ok(vec![Box::new(symplectic)])
}
