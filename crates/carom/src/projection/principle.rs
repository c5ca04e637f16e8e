//! The two Lagrangians of the projected principle.

use super::map::{Map, Projector};
use super::study::Study;
use crate::error::{Diagnostic, Result};
use crate::expr::{Expr, directional, substitute};
use crate::mechanics::{Derived, Mechanics, numbered};

/// Hamilton's principle with a projection. [GP (5)–(7)]
///
/// ```text
/// δ∫ L(P(z), P'(z)ż) dt = 0,   q = P(z)
/// ```
///
/// For φ(z) > 0 this is L(z, ż); for φ(z) < 0 it is another Lagrangian of z. Across φ(z) = 0 the momentum p_z = P'ᵀL_v is
/// continuous, (7), and so is ż: the path z passes from one Lagrangian to the other without a jump.
#[derive(Clone, Debug)]
pub struct Principle {
    /// The equations for φ(z) > 0, which are those of the system itself.
    pub inside: Mechanics,
    /// The equations for φ(z) < 0, which are those of L(P(z), P'(z)ż) with the wall −φ(z) ≥ 0.
    pub outside: Mechanics,
    /// P outside C.
    pub map: Map,
    /// The numbers in P: k, or c and a. They are parameters of both systems, after those of the model.
    pub numbers: Vec<f64>,
}

impl Principle {
    /// The principle for a model that was studied. Returns the first hypothesis that fails as an error.
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

    /// True if the compiled code of `other` can be reused because only numbers differ.
    pub fn has_code_of(&self, other: &Principle) -> bool {
        let Principle { inside, outside, map, .. } = self;
        inside.parameters == other.inside.parameters
            && [inside.l, outside.l] == [other.inside.l, other.outside.l]
            && inside.forces == other.inside.forces
            && inside.walls == other.inside.walls
            && map.project == other.map.project
    }
}

/// The system with Lagrangian L(P(z), P'(z)ż); z uses the symbols of q.
fn pulled_back(inside: &Mechanics, project: &[Expr]) -> Mechanics {
    let seeds: Vec<(Expr, Expr)> = inside.q.iter().copied().zip(inside.v.iter().copied()).collect();
    let velocities = directional(project, &seeds);
    let from: Vec<Expr> = inside.q.iter().chain(&inside.v).copied().collect();
    let to: Vec<Expr> = project.iter().chain(&velocities).copied().collect();
    let l = substitute(&[inside.l], &from, &to)[0];
    Mechanics { l, walls: vec![-inside.walls[0]], derived: Derived::default(), ..inside.clone() }
}
