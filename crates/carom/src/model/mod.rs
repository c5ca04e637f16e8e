//! Models: a text becomes a checked [`Model`].
//!
//! The text is TOML whose strings are expressions. Reading it resolves every name, expands definitions, and checks all
//! that can be checked without numbers; [`Model::start`] then evaluates the start. A mistake is reported at its place.
//!
//! ```
//! let text = r#"
//!     coordinates = ["y"]
//!     [lagrangian]
//!     T = "y'^2/2"
//!     V = "9.81*y"
//!     [[wall]]
//!     phi = "y"
//!     [initial]
//!     q = [1]
//!     v = [0]
//! "#;
//! let model = carom::lab::model::Model::from_text("ball.toml", text, &[])?;
//! assert_eq!(model.system.walls[0].name, "wall 1");
//! # Ok::<(), carom::lab::error::Error>(())
//! ```

mod builder;
mod document;
mod load;
mod mass;
mod names;
mod read;
mod scope;
mod set;
pub mod settings;
mod source;
mod start;
mod suggest;

use std::ops::Range;

pub use builder::Builder;
pub use document::MOST_MISTAKES;
pub use load::MAX_BYTES;
pub use names::Definition;
pub use settings::Run;
pub use source::Source;
pub(crate) use start::QuickStart;
pub use start::Start;
pub use suggest::suggestion;

use crate::error::{Diagnostic, Error};
use crate::expr::Expr;
use crate::expr::parse::Complaint;
use crate::system::System;

/// A system with where it starts, how it is run and how it is drawn.
#[derive(Clone, Debug)]
pub struct Model {
    /// What it is called.
    pub title: String,
    /// The mechanics.
    pub system: System,
    /// Abbreviations of the text, already expanded in all expressions.
    pub definitions: Vec<Definition>,
    /// Parameters that bounds and indices are made of: another value makes another system.
    pub structural: Vec<String>,
    /// Where it starts; a model that is only derived needs none.
    pub initial: Option<Initial>,
    /// How it is run.
    pub run: Run,
    /// Expressions that are computed along the trajectory.
    pub outputs: Vec<Output>,
    /// Surfaces whose crossings are listed.
    pub sections: Vec<Section>,
    /// The coordinate and the map of the projected Hamilton's principle.
    pub projection: Option<Projection>,
    /// Points of the plane, for drawing and contact.
    pub points: Vec<Point>,
    /// What is drawn.
    pub drawings: Vec<Drawing>,
    /// What is allowed but seldom meant.
    pub warnings: Vec<Diagnostic>,
    /// The text that it came from.
    pub source: Source,
    places: Places,
}

/// Where a motion starts, as expressions of the parameters.
#[derive(Clone, Debug)]
pub struct Initial {
    /// The coordinates.
    pub q: Vec<Expr>,
    /// The velocities, the momenta or the next configuration.
    pub motion: Motion,
    /// Move the start onto the constraints.
    pub project: bool,
    /// The coordinates that have no entry in q, and in the motion: a driven one follows its prescription, others are 0.
    pub missing: [Vec<usize>; 2],
}

/// How the motion at the start is given.
#[derive(Clone, Debug)]
pub enum Motion {
    /// Velocities v.
    Velocity(Vec<Expr>),
    /// Momenta p.
    Momentum(Vec<Expr>),
    /// The configuration one step later.
    Next(Vec<Expr>),
}

/// An expression that is computed along the trajectory.
#[derive(Clone, Debug)]
pub struct Output {
    /// What it is called.
    pub name: String,
    /// What it is.
    pub value: Expr,
}

/// A surface g = 0 whose crossings are listed (a Poincaré section).
#[derive(Clone, Debug)]
pub struct Section {
    /// What it is called.
    pub name: String,
    /// Crossings are the roots of this.
    pub g: Expr,
    /// Which crossings count.
    pub direction: Direction,
    /// End the run at the first crossing.
    pub stop: bool,
}

/// The sense in which a section is crossed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Direction {
    /// From g < 0 to g > 0.
    Rising,
    /// From g > 0 to g < 0.
    Falling,
    /// Either way.
    Both,
}

/// A point of the plane that moves with the system.
#[derive(Clone, Debug)]
pub struct Point {
    /// What it is called.
    pub name: String,
    /// Its place (x, y).
    pub at: [Expr; 2],
}

/// A shape of the picture.
#[derive(Clone, Debug)]
pub enum Drawing {
    /// Straight rods from point to point, by their numbers in [`Model::points`].
    Link(Vec<usize>),
    /// A disk around a point.
    Disk {
        /// The number of the point.
        center: usize,
        /// An expression of the parameters.
        radius: Expr,
    },
    /// A straight line between two places.
    Segment([[Expr; 2]; 2]),
}

/// Settings of the projected Hamilton's principle. [GP]
#[derive(Clone, Debug, PartialEq)]
pub struct Projection {
    /// The number of the coordinate in which φ is monotone.
    pub coordinate: Option<usize>,
    /// The constant of the map P.
    pub k: Option<f64>,
    /// Run also where k ≤ k_c.
    pub force: bool,
    /// The projected coordinate is an angle.
    pub circle: bool,
}

/// Where in the text the parts stand that are checked after reading.
#[derive(Clone, Debug, Default)]
struct Places {
    lagrangian: Range<usize>,
    kinetic: Range<usize>,
    potential: Range<usize>,
    q: Range<usize>,
    motion: Range<usize>,
    walls: Vec<Range<usize>>,
    restitutions: Vec<Range<usize>>,
    constraints: Vec<Range<usize>>,
    forces: Vec<Range<usize>>,
    method: Range<usize>,
    projection_coordinate: Range<usize>,
    projection_k: Range<usize>,
}

/// A part of a model that a method may complain about.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Part {
    /// `[lagrangian]`.
    Lagrangian,
    /// `phi` of a wall, by number.
    Wall(usize),
    /// `restitution` of a wall, by number.
    Restitution(usize),
    /// `g` of a constraint, by number.
    Constraint(usize),
    /// The first of the forces.
    Forces,
    /// `projection.coordinate`.
    ProjectionCoordinate,
    /// `projection.k`.
    ProjectionK,
}

impl Model {
    /// A mistake in the text, at a span of it.
    pub(crate) fn error(&self, span: &Range<usize>, message: impl Into<String>, label: impl Into<String>) -> Error {
        self.source.error(span.clone(), Complaint::new(message, label))
    }

    /// A mistake in a part of the model, at its place; at the method where the part has no place of its own.
    pub(crate) fn error_in(&self, part: Part, message: impl Into<String>, label: impl Into<String>) -> Error {
        let places = &self.places;
        let span = match part {
            Part::Lagrangian => Some(&places.lagrangian),
            Part::Wall(i) => places.walls.get(i),
            Part::Restitution(i) => places.restitutions.get(i),
            Part::Constraint(i) => places.constraints.get(i),
            Part::Forces => places.forces.first(),
            Part::ProjectionCoordinate => Some(&places.projection_coordinate),
            Part::ProjectionK => Some(&places.projection_k),
        };
        self.error(span.filter(|span| !span.is_empty()).unwrap_or(&places.method), message, label)
    }

    /// A mistake in `run.method`.
    pub fn method_error(&self, message: impl Into<String>, label: impl Into<String>) -> Error {
        self.error(&self.places.method, message, label)
    }

    /// Each parameter's symbol with its value.
    pub fn parameter_values(&self) -> Vec<(Expr, f64)> {
        self.system.parameters.iter().map(|p| (p.symbol, p.value)).collect()
    }

    /// A fingerprint of the text and its settings (FNV-1a, 64 bits).
    pub fn hash(&self) -> String {
        let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
        format!("{:016x}", self.source.text().bytes().fold(0xcbf2_9ce4_8422_2325, step))
    }
}
