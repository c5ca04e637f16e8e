//! Models: from a text to a checked [`Model`].
//!
//! The text is TOML whose strings are expressions. Reading it resolves every name, expands definitions, and checks everything
//! that does not depend on numbers. [`Model::start`] then evaluates the start. Mistakes are reported with their position.
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
mod code;
pub mod control;
mod document;
mod drawing;
mod drive;
mod formula;
mod function;
mod guess;
mod load;
mod mass;
mod names;
mod read;
mod scope;
mod set;
pub mod settings;
mod source;
mod start;
mod state;
mod suggest;
mod vary;

use std::ops::Range;
use std::sync::Arc;

use rustc_hash::FxHashMap;

pub use builder::Builder;
pub use document::MOST_MISTAKES;
pub use drawing::{COLORS, ContactGeometry, Drawing, Outline, Place, Shape, Viewpoint};
pub use formula::ParameterFormula;
pub(crate) use guess::Guess;
pub use load::MAX_BYTES;
pub use names::Definition;
pub use settings::{AUTO, Run};
pub use source::Source;
pub(crate) use start::QuickStart;
pub use start::Start;
pub use state::Misfit;
pub use suggest::suggestion;

use control::Problem;

use crate::error::{Diagnostic, Error};
use crate::expr::parse::Complaint;
use crate::expr::{Expr, Lease};
use crate::mechanism::Vector;
use crate::system::System;

/// A system with its start, the settings of a run and a drawing.
#[derive(Clone, Debug)]
pub struct Model {
    /// What it is called.
    pub title: String,
    /// The mechanics.
    pub system: System,
    /// The abbreviations of the text; all expressions are already expanded.
    pub definitions: Vec<Definition>,
    /// Parameters that occur in bounds and indices. Changing one changes the structure of the system.
    pub structural: Vec<String>,
    /// The start; a model that is only derived needs none.
    pub initial: Option<Initial>,
    /// The settings of a run.
    pub run: Run,
    /// Expressions to compute along the trajectory.
    pub outputs: Vec<Output>,
    /// Surfaces whose crossings are recorded.
    pub sections: Vec<Section>,
    /// Settings of the projected Hamilton's principle.
    pub projection: Option<Projection>,
    /// The control problem.
    pub problem: Problem,
    /// Points, for drawings and contacts.
    pub points: Vec<Point>,
    /// From where pictures of space are taken; none in the plane.
    pub view: Option<Viewpoint>,
    /// How far towards the viewer each place of a picture of space is.
    pub depths: Vec<(Place, Expr)>,
    /// The shapes to draw.
    pub drawings: Vec<Drawing>,
    /// The geometry of the contacts.
    pub contacts: Vec<ContactGeometry>,
    /// The indices of the walls that carom does not draw by itself.
    pub undrawn: Vec<usize>,
    /// Warnings about input that is allowed but rarely intended.
    pub warnings: Vec<Diagnostic>,
    /// The source text.
    pub source: Source,
    places: Places,
    /// Keeps the expressions.
    _lease: Lease,
}

/// The start of a motion, as expressions of the parameters.
#[derive(Clone, Debug)]
pub struct Initial {
    /// The coordinates.
    pub q: Vec<Expr>,
    /// The velocities, the momenta or the next configuration.
    pub motion: InitialMotion,
    /// True to project the start onto the constraints.
    pub project: bool,
    /// The coordinates without an entry in q, and those without an entry in `motion`. Driven ones follow their prescription,
    /// others are 0.
    pub missing: [Vec<usize>; 2],
}

/// How the initial motion is given.
#[derive(Clone, Debug)]
pub enum InitialMotion {
    /// Velocities v.
    Velocity(Vec<Expr>),
    /// Momenta p.
    Momentum(Vec<Expr>),
    /// The configuration one step later.
    Next(Vec<Expr>),
}

/// An expression to compute along the trajectory.
#[derive(Clone, Debug)]
pub struct Output {
    /// The name of the column.
    pub name: String,
    /// The expression.
    pub value: Expr,
}

/// A surface g = 0 whose crossings are recorded (a Poincaré section).
#[derive(Clone, Debug)]
pub struct Section {
    /// What it is called.
    pub name: String,
    /// The function whose zeros are crossings.
    pub g: Expr,
    /// The direction of crossings that count.
    pub direction: Direction,
    /// True to end the run at the first crossing.
    pub stop: bool,
}

/// The direction in which a section is crossed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Direction {
    /// From g < 0 to g > 0.
    Rising,
    /// From g > 0 to g < 0.
    Falling,
    /// In either direction.
    Both,
}

/// A point that moves with the system.
#[derive(Clone, Debug)]
pub struct Point {
    /// What it is called.
    pub name: String,
    /// Its position (x, y); in space, in the plane of the picture.
    pub at: Place,
    /// Its position (x, y, z); z is 0 in the plane.
    pub space: Vector,
}

/// Settings of the projected Hamilton's principle. [GP]
#[derive(Clone, Debug, PartialEq)]
pub struct Projection {
    /// The index of the coordinate in which φ is monotone.
    pub coordinate: Option<usize>,
    /// The constant of the map P.
    pub k: Option<f64>,
    /// True to run even if k ≤ k_c.
    pub force: bool,
    /// True if the configurations are a circle, with one angle as coordinate.
    pub circle: bool,
}

/// The positions of parts that are checked after reading.
#[derive(Clone, Debug, Default)]
struct Places {
    lagrangian: Range<usize>,
    kinetic: Range<usize>,
    potential: Range<usize>,
    q: Range<usize>,
    motion: Range<usize>,
    /// The bodies of the mechanism.
    bodies: Vec<Range<usize>>,
    walls: Vec<Range<usize>>,
    restitutions: Vec<Range<usize>>,
    constraints: Vec<Range<usize>>,
    forces: Vec<Range<usize>>,
    method: Range<usize>,
    projection_coordinate: Range<usize>,
    projection_k: Range<usize>,
    /// Where parts of expressions stand first.
    written: Arc<FxHashMap<Expr, Range<usize>>>,
}

/// A part of a model to which an error of a method may point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Part {
    /// `[lagrangian]`.
    Lagrangian,
    /// `phi` of a wall, by index.
    Wall(usize),
    /// `restitution` of a wall, by index.
    Restitution(usize),
    /// `g` of a constraint, by index.
    Constraint(usize),
    /// The first of the forces.
    Forces,
    /// `projection.coordinate`.
    ProjectionCoordinate,
    /// `projection.k`.
    ProjectionK,
}

impl Model {
    /// An error at a span of the text.
    pub(crate) fn error(&self, span: &Range<usize>, message: impl Into<String>, label: impl Into<String>) -> Error {
        self.source.error(span.clone(), Complaint::new(message, label))
    }

    /// An error at a part of the model, or at the method if the part has no position.
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

    /// An expression as the user wrote it, if the text contains it; else as a model would.
    pub(crate) fn written(&self, e: Expr) -> String {
        let span = self.places.written.get(&e);
        span.map_or_else(|| e.to_source(), |span| self.source.text()[span.clone()].to_string())
    }

    /// A remark about an expression, which begins with it; at its place in the text, if it has one.
    pub(crate) fn remark(&self, e: Expr, message: &str) -> Diagnostic {
        let message = format!("`{}` {message}", self.written(e));
        match self.places.written.get(&e) {
            Some(span) => self.source.diagnostic(span.clone(), Complaint::new(message, "")),
            None => Diagnostic::new(message),
        }
    }

    /// An error at `run.method`.
    pub fn method_error(&self, message: impl Into<String>, label: impl Into<String>) -> Error {
        self.error(&self.places.method, message, label)
    }

    /// Each parameter's symbol with its value.
    pub fn parameter_values(&self) -> Vec<(Expr, f64)> {
        self.system.parameters.iter().map(|p| (p.symbol, p.value)).collect()
    }

    /// A fingerprint of the text and its settings (FNV-1a, 64 bits).
    pub fn hash(&self) -> String {
        fingerprint(self.source.text())
    }
}

fn fingerprint(text: &str) -> String {
    let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
    format!("{:016x}", text.bytes().fold(0xcbf2_9ce4_8422_2325, step))
}
