use super::{Made, Monitor, Subject};
use crate::error::{Diagnostic as Mistake, Result};
use crate::expr::Expr;
use crate::expr::print::Notation;
use crate::expr::tidy::tidy;
use crate::kernel::Kernel;
use crate::mechanics::Mechanics;
use crate::phase::{Flow, Phase};
use crate::solve::NoSolution;

/// The momentum map p·ξ(q) of a symmetry, conserved to roundoff if L, and therefore L_d, is invariant along ξ (Noether).
/// [Marsden & West 2001, §2.3]
pub struct Momentum {
    name: String,
    /// The coordinate of the symmetry, if it is a translation along one coordinate.
    coordinate: Option<String>,
    /// (parameters, q, p) → p·ξ
    kernel: Kernel,
    inputs: Vec<f64>,
}

impl Momentum {
    /// The momentum map of the infinitesimal motion δq = ξ(q).
    pub fn new(mechanics: &Mechanics, name: &str, xi: &[Expr], parameters: &[f64]) -> Result<Momentum> {
        let p = mechanics.p();
        let inputs: Vec<Expr> = mechanics.q.iter().chain(&p).copied().collect();
        let map: Expr = p.iter().zip(xi).map(|(&p, &xi)| p * xi).sum();
        let mut numbers = parameters.to_vec();
        numbers.resize(parameters.len() + inputs.len(), 0.0);
        let kernel = mechanics.kernel(&inputs, &[map])?;
        Ok(Momentum { name: name.into(), coordinate: None, kernel, inputs: numbers })
    }
}

impl Monitor for Momentum {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn part(&self) -> Option<&str> {
        self.coordinate.as_deref()
    }

    fn at(&mut self, z: &Phase, _h: f64, _flow: &mut dyn Flow) -> std::result::Result<f64, NoSolution> {
        let (at, mut value) = (self.inputs.len() - z.z.len(), [0.0]);
        self.inputs[at..].copy_from_slice(&z.z);
        self.kernel.eval(&self.inputs, &mut value);
        Ok(value[0])
    }
}

/// Creates one monitor for each cyclic coordinate, which does not occur in L, walls or constraints and on which no force acts.
pub(super) fn make(subject: &Subject) -> Made {
    let (mechanics, parameters) = (subject.expressions()?, subject.parameters);
    let n = mechanics.n();
    let momentum = |i: usize| -> Result<Box<dyn Monitor>> {
        let xi: Vec<Expr> = (0..n).map(|j| Expr::from(i32::from(i == j))).collect();
        let coordinate = mechanics.q[i].symbol_name().unwrap_or_else(|| i.to_string());
        let momentum = Momentum::new(mechanics, &format!("p of {coordinate}"), &xi, parameters)?;
        Ok(Box::new(Momentum { coordinate: Some(coordinate), ..momentum }))
    };
    let made: Vec<_> = (0..n).filter(|&i| is_cyclic(mechanics, i)).map(momentum).collect::<Result<_>>()?;
    if made.is_empty() {
        return Err(Mistake::new("L, a wall or a force depends on each coordinate").into());
    }
    Ok(made)
}

/// The derivatives are simplified first: for points in the plane, only sin² + cos² = 1 shows that they vanish.
fn is_cyclic(mechanics: &Mechanics, i: usize) -> bool {
    let is_zero = |f: Expr| f.is_zero() || tidy(f, &Notation::default()).is_zero();
    let forced = mechanics.forces.as_ref().is_some_and(|forces| !is_zero(forces[i]));
    let constraints = mechanics.constraints.iter().map(|constraint| constraint.g);
    let all = mechanics.walls.iter().copied().chain([mechanics.l]).chain(constraints);
    !forced && all.map(|f| f.diff(mechanics.q[i])).all(is_zero)
}
