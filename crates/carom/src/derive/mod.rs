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

pub use document::{Block, Chapter, Derivation, Equation, Span};

use crate::expr::print::compose;
use crate::expr::with_arena;
use crate::system::System;
use mechanics::Derivatives;
use symbols::{Letters, letter, notation};

/// Systems with a larger product of coordinates and operations of the Lagrangian are not derived: their derivatives alone take
/// seconds, and would be too long to read.
const LARGEST_SYSTEM: usize = 150_000;

/// Derives the mechanics of a system.
pub fn derive(system: &System, title: &str) -> Derivation {
    let operations = with_arena(|a| a.reachable(&[system.lagrangian.l])).len();
    let is_large = system.coordinates.len() * operations > LARGEST_SYSTEM;
    let sections = if is_large { vec![summary(system, operations)] } else { sections(system) };
    Derivation { title: title.to_owned(), sections }
}

fn sections(system: &System) -> Vec<Chapter> {
    let m = Derivatives::new(system);
    let mut sections = vec![motion::lagrangian(&m, system)];
    if !m.q.is_empty() {
        sections.extend([motion::momenta(&m), motion::energy(&m)]);
        sections.extend(motion::constraints(&m));
        sections.push(motion::equations(&m));
        sections.extend(m.system.walls.iter().map(|wall| impact::impact(&m, wall)));
    }
    sections
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
