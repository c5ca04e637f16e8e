use super::{Diagnostic, Made, Subject};
use crate::error::Result;
use crate::expr::Expr;
use crate::flow::{Flow, Phase};
use crate::kernel::Kernel;
use crate::mechanics::Mechanics;
use crate::solve::NoSolution;

/// The momentum map p·ξ(q) of a symmetry: kept to roundoff where L, and so L_d, is invariant along ξ (Noether).
/// [Marsden & West 2001, §2.3]
pub struct Momentum {
    name: String,
    /// (parameters, q, p) → p·ξ
    kernel: Kernel,
    inputs: Vec<f64>,
}

impl Momentum {
    /// Of the infinitesimal motion δq = ξ(q).
    pub fn new(mechanics: &Mechanics, name: &str, xi: &[Expr], parameters: &[f64]) -> Result<Momentum> {
        let p = mechanics.p();
        let inputs: Vec<Expr> = mechanics.q.iter().chain(&p).copied().collect();
        let map: Expr = p.iter().zip(xi).map(|(&p, &xi)| p * xi).sum();
        let mut numbers = parameters.to_vec();
        numbers.resize(parameters.len() + inputs.len(), 0.0);
        Ok(Momentum { name: name.into(), kernel: mechanics.kernel(&inputs, &[map])?, inputs: numbers })
    }
}

impl Diagnostic for Momentum {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn at(&mut self, z: &Phase, _h: f64, _flow: &mut dyn Flow) -> std::result::Result<f64, NoSolution> {
        let (at, mut value) = (self.inputs.len() - z.z.len(), [0.0]);
        self.inputs[at..].copy_from_slice(&z.z);
        self.kernel.eval(&self.inputs, &mut value);
        Ok(value[0])
    }
}

/// One for each coordinate that occurs neither in L nor with a force.
pub(super) fn make(subject: &Subject) -> Made {
    let Subject { mechanics, parameters, .. } = *subject;
    let n = mechanics.n();
    let free = |i: &usize| mechanics.forces.as_ref().is_none_or(|forces| forces[*i].is_zero());
    let cyclic = (0..n).filter(|&i| mechanics.l.diff(mechanics.q[i]).is_zero()).filter(free);
    let momentum = |i: usize| -> Result<Box<dyn Diagnostic>> {
        let xi: Vec<Expr> = (0..n).map(|j| Expr::from(i32::from(i == j))).collect();
        let name = mechanics.q[i].symbol_name().map_or(format!("p{i}"), |name| format!("p of {name}"));
        Ok(Box::new(Momentum::new(mechanics, &name, &xi, parameters)?))
    };
    cyclic.map(momentum).collect()
}
