//! Symbolic derivations: the momenta, energy, equations of motion and impact laws of a system, as a person would write them.
//!
//! [`derive()`] computes them and arranges them as a document, which can be written as text, LaTeX or a web page. Small systems
//! are solved symbolically; large ones are left in matrix form.

mod document;
mod html;
mod impact;
mod latex;
mod linear;
mod mechanics;
mod motion;
mod symbols;
mod text;
mod wrap;

pub use document::{Block, Chapter, Derivation, Equation, Inline};

use crate::expr::print::compose;
use crate::expr::{Expr, with_arena};
use crate::system::{System, Wall};
use mechanics::DerivedMechanics;
use symbols::{Letters, letter, notation};

/// Systems with a larger product of coordinates and operations of the Lagrangian, the forces and the constraints are not
/// derived: their derivatives alone take seconds, and would be too long to read.
const LARGEST_SYSTEM: usize = 80_000;
/// Impact laws are written while the sum of such products, of coordinates and operations of φ, is at most this.
const LARGEST_WALLS: usize = 80_000;
/// About the number of operations of an impact law beside those of φ, for each coordinate.
const LAW: usize = 50;

/// Derives the mechanics of a system.
pub fn derive(system: &System, title: &str) -> Derivation {
    let constraints = system.constraints.iter().map(|constraint| constraint.g);
    let all: Vec<Expr> = [system.lagrangian.l].into_iter().chain(constraints).chain(system.forces.clone()).collect();
    let operations = with_arena(|a| a.reachable(&all)).len();
    let is_large = system.coordinates.len() * operations > LARGEST_SYSTEM;
    let sections = if is_large { vec![summary(system, operations)] } else { sections(system) };
    Derivation { title: title.to_owned(), sections }
}

fn sections(system: &System) -> Vec<Chapter> {
    let walls = walls_within(system);
    let left_out = system.walls.len() - walls.len();
    let m = DerivedMechanics::new(&System { walls, ..system.clone() });
    let mut sections = vec![motion::lagrangian(&m, system)];
    if !m.q.is_empty() {
        sections.extend([motion::momenta(&m), motion::energy(&m)]);
        sections.extend(motion::constraints(&m));
        sections.push(motion::equations(&m));
        sections.extend(m.system.walls.iter().map(|wall| impact::impact(&m, wall)));
        if left_out > 0 {
            let mut rest = Chapter::new("Other impacts");
            rest.say(&format!("The impact laws of {left_out} more walls are not written out."), []);
            sections.push(rest);
        }
    }
    sections
}

/// The first walls, as many as a derivation has room for.
fn walls_within(system: &System) -> Vec<Wall> {
    let mut work = 0;
    let fits = |wall: &&Wall| {
        let operations = with_arena(|a| a.reachable(&[wall.phi])).len();
        work += system.coordinates.len() * (operations + LAW);
        work <= LARGEST_WALLS
    };
    system.walls.iter().take_while(fits).cloned().collect()
}

/// The section for a system that is too large: only its Lagrangian, as given.
fn summary(system: &System, operations: usize) -> Chapter {
    let mut section = Chapter::new("Lagrangian");
    let (l, letters) = (system.lagrangian.l, Letters::new(system));
    section.show(vec![Equation::between(letter(letters.lagrangian), compose(l, &notation(system)))]);
    let n = system.coordinates.len();
    let words =
        format!("With {n} coordinates and {operations} operations, the equations of motion are not written out.");
    section.say(&words, []);
    section
}
