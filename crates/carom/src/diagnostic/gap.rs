use super::{Made, Monitor, Subject};
use crate::error::Diagnostic as Mistake;
use crate::phase::{Flow, Phase};
use crate::plant::Evaluator;
use crate::solve::NoSolution;

/// The gap φ(q, t) of a wall; the motion is free while φ ≥ 0.
pub struct Gap {
    name: String,
    wall: usize,
    evaluator: Box<dyn Evaluator>,
}

impl Monitor for Gap {
    fn name(&self) -> String {
        format!("φ of {}", self.name)
    }

    fn part(&self) -> Option<&str> {
        Some(&self.name)
    }

    fn at(&mut self, z: &Phase, _h: f64, _flow: &mut dyn Flow) -> std::result::Result<f64, NoSolution> {
        self.evaluator.gap_and_rate(self.wall, z).map(|(phi, _)| phi)
    }
}

/// Creates one monitor for each wall.
pub(super) fn make(subject: &Subject) -> Made {
    if subject.system.walls.is_empty() {
        return Err(Mistake::new("there are no walls").into());
    }
    let walls = subject.system.walls.iter().enumerate();
    Ok(walls
        .map(|(wall, of)| -> Box<dyn Monitor> {
            Box::new(Gap { name: of.name.clone(), wall, evaluator: subject.evaluator() })
        })
        .collect())
}
