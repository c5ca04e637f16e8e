use super::{Made, Monitor, Subject};
use crate::error::{Diagnostic as Mistake, Result};
use crate::expr::Expr;
use crate::kernel::Kernel;
use crate::phase::{Flow, Phase};
use crate::solve::NoSolution;
use crate::system::time;

/// The gap φ(q, t) of a wall; the motion is free while φ ≥ 0.
pub struct Gap {
    wall: String,
    /// (parameters, t, q) → φ
    kernel: Kernel,
    inputs: Vec<f64>,
}

impl Monitor for Gap {
    fn name(&self) -> String {
        format!("φ of {}", self.wall)
    }

    fn part(&self) -> Option<&str> {
        Some(&self.wall)
    }

    fn at(&mut self, z: &Phase, _h: f64, _flow: &mut dyn Flow) -> std::result::Result<f64, NoSolution> {
        let (at, mut value) = (self.inputs.len() - z.q().len(), [0.0]);
        self.inputs[at - 1] = z.t;
        self.inputs[at..].copy_from_slice(z.q());
        self.kernel.eval(&self.inputs, &mut value);
        Ok(value[0])
    }
}

/// Creates one monitor for each wall.
pub(super) fn make(subject: &Subject) -> Made {
    let Subject { mechanics, parameters, .. } = *subject;
    let symbols: Vec<Expr> = [time()].iter().chain(&mechanics.q).copied().collect();
    let mut inputs = parameters.to_vec();
    inputs.resize(parameters.len() + symbols.len(), 0.0);
    let gap = |(wall, &phi): (&crate::system::Wall, &Expr)| -> Result<Box<dyn Monitor>> {
        let kernel = mechanics.kernel(&symbols, &[phi])?;
        Ok(Box::new(Gap { wall: wall.name.clone(), kernel, inputs: inputs.clone() }))
    };
    if mechanics.walls.is_empty() {
        return Err(Mistake::new("there are no walls").into());
    }
    subject.system.walls.iter().zip(&mechanics.walls).map(gap).collect()
}
