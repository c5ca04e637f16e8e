//! The two Lagrangians of the projected principle.

use super::map::{Map, Projector};
use super::study::Study;
use crate::error::{Diagnostic, Result};
use crate::expr::{Expr, directional, substitute};
use crate::mechanics::{Mechanics, numbered};

/// Hamilton's principle with a projection. [GP (5)–(7)]
///
/// ```text
/// δ∫ L(P(z), P'(z)ż) dt = 0,   q = P(z)
/// ```
///
/// Where φ(z) > 0 that is L(z, ż); where φ(z) < 0 it is another Lagrangian of z. Across φ(z) = 0 the momentum
/// p_z = P'ᵀL_v is continuous, (7), and with it ż: a path z goes from one Lagrangian to the other without a jump.
#[derive(Clone, Debug)]
pub struct Principle {
    /// The equations where φ(z) > 0: those of the system itself.
    pub inside: Mechanics,
    /// The equations where φ(z) < 0: of L(P(z), P'(z)ż), free while −φ(z) ≥ 0.
    pub outside: Mechanics,
    /// P outside.
    pub map: Map,
    /// The numbers of P, k or c and a, which are parameters of both equations after those of the model.
    pub numbers: Vec<f64>,
}

impl Principle {
    /// The principle of a model that was studied; the first hypothesis that fails is an error.
    pub fn new(study: &Study) -> Result<Principle> {
        if let Some(error) = study.failure() {
            return Err(error.clone());
        }
        let mut inside = study.mechanics.clone();
        let symbols = numbered("php", 2);
        let (map, numbers) = match (&study.arc, &study.form) {
            (Some(arc), _) => {
                let map = Map::on_circle(*arc, [symbols[0], symbols[1]], inside.q[0]);
                (Some(map), vec![arc.center, arc.half])
            }
            (None, Some(form)) => (Map::global(form, symbols[0]), vec![study.k]),
            (None, None) => (None, Vec::new()),
        };
        let map = map.ok_or_else(|| Diagnostic::new("the projection P has no closed form"))?;
        inside.parameters.extend(&symbols[..numbers.len()]);
        Ok(Principle { outside: pulled_back(&inside, &map.project), inside, map, numbers })
    }

    /// Compiles P.
    pub fn projector(&self) -> Result<Projector> {
        Projector::new(&self.map, &self.inside, &vec![0.0; self.inside.parameters.len()])
    }

    /// True if the compiled code of `other` serves for this one too: they differ in numbers alone.
    pub fn has_code_of(&self, other: &Principle) -> bool {
        let Principle { inside, outside, map, .. } = self;
        inside.parameters == other.inside.parameters
            && [inside.l, outside.l] == [other.inside.l, other.outside.l]
            && inside.forces == other.inside.forces
            && inside.walls == other.inside.walls
            && map.project == other.map.project
    }
}

/// The system of L(P(z), P'(z)ż), with z in the letters of q.
fn pulled_back(inside: &Mechanics, project: &[Expr]) -> Mechanics {
    let seeds: Vec<(Expr, Expr)> = inside.q.iter().copied().zip(inside.v.iter().copied()).collect();
    let velocities = directional(project, &seeds);
    let from: Vec<Expr> = inside.q.iter().chain(&inside.v).copied().collect();
    let to: Vec<Expr> = project.iter().chain(&velocities).copied().collect();
    let l = substitute(&[inside.l], &from, &to)[0];
    Mechanics { l, walls: vec![-inside.walls[0]], ..inside.clone() }
}
