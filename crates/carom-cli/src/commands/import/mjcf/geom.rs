//! Mass and shape of geoms.

use std::f64::consts::PI;

use carom::lab::error::Result;
use roxmltree::Node;

use super::super::turn::{Matrix, Vector, add, apply, to_z, turned};
use super::super::xml::{error, numbers};
use super::compiler::Compiler;
use super::{Drawn, Mass};

/// A geom: its mass, and its shape if that is a simple one.
pub struct Geom {
    pub mass: Mass,
    pub drawn: Option<Drawn>,
    /// The type, if no mass follows from it.
    pub unknown: Option<String>,
}

/// Volume and principal moments per mass of a shape with these sizes, along z where it is long.
///
/// ```text
/// sphere     4πr³/3          2r²/5
/// ellipsoid  4πabc/3         (b² + c²)/5, …
/// box        8abc            (b² + c²)/3, …
/// cylinder   2πr²h           (3r² + 4h²)/12 twice, r²/2            half the length h
/// capsule    2πr²h + 4πr³/3  those of the cylinder and of two half balls, 3r/8 beyond their faces
/// ```
fn moments(kind: &str, [a, b, c]: Vector) -> Option<(f64, Vector)> {
    let ball = 4.0 / 3.0 * PI;
    Some(match kind {
        "sphere" => (ball * a.powi(3), [0.4 * a * a; 3]),
        "ellipsoid" => (ball * a * b * c, [(b * b + c * c) / 5.0, (a * a + c * c) / 5.0, (a * a + b * b) / 5.0]),
        "box" => (8.0 * a * b * c, [(b * b + c * c) / 3.0, (a * a + c * c) / 3.0, (a * a + b * b) / 3.0]),
        "cylinder" => {
            let across = (3.0 * a * a + 4.0 * b * b) / 12.0;
            (2.0 * PI * a * a * b, [across, across, a * a / 2.0])
        }
        "capsule" => {
            let (tube, ends) = (2.0 * PI * a * a * b, ball * a.powi(3));
            let (tube_part, end_part) = (tube / (tube + ends), ends / (tube + ends));
            let across = tube_part * (3.0 * a * a + 4.0 * b * b) / 12.0
                + end_part * (0.4 * a * a + b * (3.0 * a + 4.0 * b) / 4.0);
            (tube + ends, [across, across, tube_part * a * a / 2.0 + end_part * 0.4 * a * a])
        }
        _ => return None,
    })
}

impl<'s, 'a, 'i> Compiler<'s, 'a, 'i> {
    /// Reads a geom; its mass is 0 where its type has none, such as a plane.
    pub fn geom(&self, node: &Node<'a, 'i>, class: Option<&str>) -> Result<Geom> {
        let of = |key: &str| self.attribute(node, key, class);
        let kind = of("type").unwrap_or(if of("mesh").is_some() { "mesh" } else { "sphere" });
        let mut size = [0.0; 3];
        for (side, given) in
            size.iter_mut().zip(of("size").map_or(Ok(Vec::new()), |text| numbers(self.source, node, "size", text))?)
        {
            *side = given;
        }
        let (mut at, mut turn) = (self.position(node, class)?, self.orientation(node, class)?);
        if let Some(text) = of("fromto") {
            let &[a, b, c, d, e, f] = numbers(self.source, node, "fromto", text)?.as_slice() else {
                return Err(error(self.source, node, format!("`fromto` is not six numbers: `{text}`"), ""));
            };
            let way = [a - d, b - e, c - f];
            at = [(a + d) / 2.0, (b + e) / 2.0, (c + f) / 2.0];
            turn = to_z(way).ok_or_else(|| error(self.source, node, "`fromto` has no direction", ""))?;
            let half = way.iter().map(|x| x * x).sum::<f64>().sqrt() / 2.0;
            let long = if matches!(kind, "capsule" | "cylinder") { 1 } else { 2 };
            if long == 2 && size[1] == 0.0 {
                size[1] = size[0];
            }
            size[long] = half;
        }
        let Some((volume, moments)) = moments(kind, size) else {
            let unknown = (!matches!(kind, "plane" | "hfield")).then(|| kind.to_string());
            return Ok(Geom { mass: Mass::default(), drawn: None, unknown });
        };
        if of("shellinertia").is_some_and(|text| text == "true") {
            return Err(error(
                self.source,
                node,
                "the inertia of shells is not supported",
                "give the body an `inertial`",
            ));
        }
        let sides = match kind {
            "sphere" => 1,
            "capsule" | "cylinder" => 2,
            _ => 3,
        };
        if size[..sides].iter().any(|side| *side <= 0.0) {
            return Err(error(self.source, node, format!("the sizes of a {kind} must be positive"), ""));
        }
        let mass = match of("mass") {
            Some(_) => self.number(node, "mass", class, 0.0)?,
            None => volume * self.number(node, "density", class, 1000.0)?,
        };
        if mass < 0.0 {
            return Err(error(self.source, node, "the mass must not be negative", ""));
        }
        let [x, y, z] = moments.map(|moment| mass * moment);
        let inertia = turned(turn, [[x, 0.0, 0.0], [0.0, y, 0.0], [0.0, 0.0, z]]);
        let drawn = drawn(kind, size, at, turn);
        Ok(Geom { mass: Mass { mass, com: at, inertia }, drawn, unknown: None })
    }
}

fn drawn(kind: &str, size: Vector, at: Vector, turn: Matrix) -> Option<Drawn> {
    Some(match kind {
        "sphere" => Drawn::Sphere(at, size[0]),
        "capsule" | "cylinder" => {
            let end = |side: f64| add(at, apply(turn, [0.0, 0.0, side * size[1]]));
            Drawn::Capsule([end(-1.0), end(1.0)], size[0])
        }
        "box" | "ellipsoid" => Drawn::Box(at, turn, size),
        _ => return None,
    })
}

impl Mass {
    /// Two bodies that are welded together.
    ///
    /// ```text
    /// c = (m₁c₁ + m₂c₂)/m,   I = I₁ + I₂ + m₁m₂/m (|d|² 1 − d dᵀ),   d = c₁ − c₂
    /// ```
    pub fn with(self, other: Mass) -> Mass {
        let mass = self.mass + other.mass;
        if mass == 0.0 {
            return self;
        }
        let mean = |i: usize| (self.mass * self.com[i] + other.mass * other.com[i]) / mass;
        let d = [0, 1, 2].map(|i| self.com[i] - other.com[i]);
        let (square, reduced) = (d.iter().map(|x| x * x).sum::<f64>(), self.mass * other.mass / mass);
        let entry = |i: usize, j: usize| {
            let unit = if i == j { square } else { 0.0 };
            self.inertia[i][j] + other.inertia[i][j] + reduced * (unit - d[i] * d[j])
        };
        Mass { mass, com: [0, 1, 2].map(mean), inertia: [0, 1, 2].map(|i| [0, 1, 2].map(|j| entry(i, j))) }
    }
}
