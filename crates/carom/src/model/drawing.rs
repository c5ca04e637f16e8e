//! What is drawn of a model: the shapes of `[[draw]]`, and the geometry of `[[contact]]`.

use crate::expr::Expr;
use crate::mechanism::Vector;

/// A place in the plane, (x, y).
pub type Place = [Expr; 2];

/// From where pictures of space are taken: parallel projection along `from`, with z up.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Viewpoint {
    /// The direction to the viewer.
    pub from: [f64; 3],
    /// The directions in space of x and y of the picture, unit vectors.
    pub axes: [[f64; 3]; 2],
}

impl Viewpoint {
    /// The view from a direction, if that is not zero.
    pub fn new(from: [f64; 3]) -> Option<Viewpoint> {
        let size = from.iter().map(|x| x * x).sum::<f64>().sqrt();
        if !(size > 0.0 && size.is_finite()) {
            return None;
        }
        let d = from.map(|x| x / size);
        // To the right: z × d. From above, y is up.
        let level = d[0].hypot(d[1]);
        let right = if level > 1e-9 { [-d[1] / level, d[0] / level, 0.0] } else { [1.0, 0.0, 0.0] };
        let up =
            [d[1] * right[2] - d[2] * right[1], d[2] * right[0] - d[0] * right[2], d[0] * right[1] - d[1] * right[0]];
        Some(Viewpoint { from: d, axes: [right, up] })
    }

    /// How far towards the viewer a place in space is.
    pub fn depth(&self, at: Vector) -> Expr {
        at.iter().zip(self.from).map(|(&x, a)| a * x).sum()
    }

    /// A place or a direction in the axes of the picture: x, y, and towards the viewer.
    pub fn turned(&self, at: Vector) -> Vector {
        let [x, y] = self.see(at);
        [x, y, self.depth(at)]
    }

    /// Where a place in space is seen in the picture.
    pub fn see(&self, at: Vector) -> Place {
        self.axes.map(|axis| at.iter().zip(axis).map(|(&x, a)| a * x).sum())
    }
}

/// The names of colours; a colour may also be `#rrggbb`.
pub const COLORS: [&str; 8] = ["blue", "orange", "green", "red", "purple", "yellow", "grey", "black"];

/// An entry of `[[draw]]`.
#[derive(Clone, Debug)]
pub struct Drawing {
    /// The shape.
    pub shape: Shape,
    /// The name that is written beside it.
    pub name: Option<String>,
    /// One of [`COLORS`], or `#rrggbb`.
    pub color: Option<String>,
}

/// A shape to draw. Radii are expressions of the parameters.
#[derive(Clone, Debug)]
pub enum Shape {
    /// Straight rods from place to place.
    Link(Vec<Place>),
    /// A filled circle: centre and radius.
    Disk(Place, Expr),
    /// The outline of a circle: centre and radius.
    Circle(Place, Expr),
    /// A straight line.
    Segment([Place; 2]),
    /// A coil between two places.
    Spring([Place; 2]),
    /// A filled polygon.
    Polygon(Vec<Place>),
    /// A text at a place.
    Label(String, Place),
    /// A straight line, hatched on its right as one looks from the first place to the second.
    Ground([Place; 2]),
    /// A ball in space: centre and radius.
    Sphere(Place, Expr),
    /// A rod with round ends: its axis and its radius.
    Capsule([Place; 2], Expr),
    /// A box in space: its eight corners. Corner k is on the far side along axis i if bit i of k is set.
    Box([Place; 8]),
    /// A taut string.
    Cord([Place; 2]),
}

/// What a point in contact is kept on the free side of.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Outline {
    /// The whole line from one place through another; free on the left, looking from the first to the second.
    Line {
        /// The first place.
        from: Place,
        /// The second place.
        to: Place,
        /// The unit vector from the first to the second.
        unit: Place,
    },
    /// The inside of a rectangle.
    Box {
        /// The lower left corner.
        low: Place,
        /// The upper right corner.
        high: Place,
    },
    /// The inside or the outside of a circle; in space, of a sphere.
    Circle {
        /// The centre.
        center: Place,
        /// The radius.
        radius: Expr,
        /// True if the inside is free.
        inside: bool,
    },
    /// A plane in space, in the axes of the picture: x, y, and towards the viewer.
    Plane {
        /// A place on it.
        through: Vector,
        /// The unit normal, to the free side.
        normal: Vector,
    },
}

/// A `[[contact]]`, or one round of it: the geometry from which its walls are made.
#[derive(Clone, Debug)]
pub struct ContactGeometry {
    /// The shape that is touched.
    pub outline: Outline,
    /// The radius of the balls around the points; 0 for points.
    pub radius: Expr,
    /// The index of each wall, and the place of the point that touches there.
    pub walls: Vec<(usize, Place)>,
}
