use super::{Made, Monitor, Subject};
use crate::error::{Diagnostic as Mistake, Result};
use crate::mechanics::MomentumMap;
use crate::phase::{Flow, Phase};
use crate::solve::NoSolution;

/// The momentum map p·ξ(q) of a symmetry, conserved to roundoff if L, and therefore L_d, is invariant along ξ (Noether).
/// [Marsden & West 2001, §2.3]
pub struct Momentum {
    name: String,
    /// The coordinate of the symmetry, if it is a translation along one coordinate.
    coordinate: Option<String>,
    map: MomentumMap,
}

impl Momentum {
    /// A momentum map with a name.
    pub fn new(name: &str, map: MomentumMap) -> Momentum {
        Momentum { name: name.into(), coordinate: None, map }
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
        Ok(self.map.at(z))
    }
}

/// Creates one monitor for each cyclic coordinate.
pub(super) fn make(subject: &Subject) -> Made {
    let mechanics = subject.expressions()?;
    let momentum = |(i, coordinate): (usize, String)| -> Result<Box<dyn Monitor>> {
        let map = MomentumMap::of_coordinate(mechanics, i, subject.parameters)?;
        Ok(Box::new(Momentum { name: format!("p of {coordinate}"), coordinate: Some(coordinate), map }))
    };
    let made: Vec<_> = mechanics.cyclic_coordinates().into_iter().map(momentum).collect::<Result<_>>()?;
    if made.is_empty() {
        return Err(Mistake::new("L, a wall or a force depends on each coordinate").into());
    }
    Ok(made)
}
