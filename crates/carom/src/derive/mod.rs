//! Mechanics on paper: from a system to its equations, momenta, energy and impact laws, as a person would write them.
//!
//! [`derive()`] computes and arranges them as a document; the document writes itself for a terminal, for LaTeX or as a
//! web page. What is small is solved symbolically; what is large is left in matrix form.

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

pub use document::{Block, Derivation, Equation, Section, Span};

use crate::system::System;
use mechanics::Mechanics;

/// The mechanics of a system, derived.
pub fn derive(system: &System, title: &str) -> Derivation {
    let m = Mechanics::new(system);
    let mut sections = vec![motion::lagrangian(&m, system)];
    if !m.q.is_empty() {
        sections.extend([motion::momenta(&m), motion::energy(&m)]);
        sections.extend(motion::constraints(&m));
        sections.push(motion::equations(&m));
        sections.extend(m.system.walls.iter().map(|wall| impact::impact(&m, wall)));
    }
    Derivation { title: title.to_owned(), sections }
}
