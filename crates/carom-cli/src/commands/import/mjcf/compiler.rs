//! Settings of `<compiler>`, classes of `<default>`, and orientations.

use carom::lab::error::Result;
use carom::lab::model::Source;
use roxmltree::Node;

use super::super::turn::{Matrix, Vector, about, columns, of_quaternion, product, to_z};
use super::super::xml::{children, elements, error, numbers, three};

/// What the file says of how it is to be read.
pub struct Compiler<'s, 'a, 'i> {
    pub source: &'s Source,
    is_degrees: bool,
    /// Axes of Euler angles; capital letters turn about fixed axes.
    sequence: String,
    pub auto_limits: bool,
    /// None: where a body has no `inertial`.
    pub from_geoms: Option<bool>,
    pub total_mass: Option<f64>,
    /// The classes by name, each with its parent.
    classes: Vec<(String, Option<usize>, Node<'a, 'i>)>,
}

impl<'s, 'a, 'i> Compiler<'s, 'a, 'i> {
    pub fn new(source: &'s Source, root: &Node<'a, 'i>) -> Result<Compiler<'s, 'a, 'i>> {
        let mut compiler = Compiler {
            source,
            is_degrees: true,
            sequence: "xyz".into(),
            auto_limits: true,
            from_geoms: None,
            total_mass: None,
            classes: Vec::new(),
        };
        for node in children(root, "compiler") {
            compiler.settings(&node)?;
        }
        for node in children(root, "default") {
            compiler.class(&node, None, 0)?;
        }
        Ok(compiler)
    }

    fn settings(&mut self, node: &Node) -> Result<()> {
        let wrong = |key: &str, value: &str, known: &str| {
            Err(error(self.source, node, format!("unknown `{key}` `{value}`"), known))
        };
        for attribute in node.attributes() {
            let value = attribute.value();
            match (attribute.name(), value) {
                ("angle", "degree") => self.is_degrees = true,
                ("angle", "radian") => self.is_degrees = false,
                ("angle", other) => return wrong("angle", other, "degree or radian"),
                ("eulerseq", text) => {
                    if text.len() != 3 || !text.chars().all(|c| "xyzXYZ".contains(c)) {
                        return wrong("eulerseq", text, "three of x, y, z, X, Y, Z");
                    }
                    self.sequence = text.into();
                }
                ("coordinate", "global") => {
                    let label = "MuJoCo no longer reads it either";
                    return Err(error(self.source, node, "global coordinates are not supported", label));
                }
                ("autolimits", text) => self.auto_limits = text != "false",
                ("inertiafromgeom", "auto") => self.from_geoms = None,
                ("inertiafromgeom", text) => self.from_geoms = Some(text == "true"),
                ("settotalmass", text) => {
                    let mass = super::super::xml::number(self.source, node, "settotalmass", text)?;
                    self.total_mass = Some(mass).filter(|mass| *mass > 0.0);
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn class(&mut self, node: &Node<'a, 'i>, parent: Option<usize>, depth: usize) -> Result<()> {
        if depth > 100 {
            return Err(error(self.source, node, "classes are nested too deeply", ""));
        }
        let name = node.attribute("class").unwrap_or("main").to_string();
        self.classes.push((name, parent, *node));
        let own = self.classes.len() - 1;
        children(node, "default").try_for_each(|child| self.class(&child, Some(own), depth + 1))
    }

    /// An attribute of an element: its own, or that of its class. `inherited` is the class of the bodies around it.
    pub fn attribute(&self, node: &Node<'a, 'i>, key: &str, inherited: Option<&str>) -> Option<&'a str> {
        if let Some(own) = node.attribute(key) {
            return Some(own);
        }
        let class = node.attribute("class").or(inherited).unwrap_or("main");
        let mut at = self.classes.iter().position(|(name, ..)| name == class);
        while let Some(number) = at {
            let (_, parent, defaults) = &self.classes[number];
            let tag = node.tag_name().name();
            let given = elements(defaults).filter(|child| child.tag_name().name() == tag);
            if let Some(value) = given.filter_map(|child| child.attribute(key)).last() {
                return Some(value);
            }
            at = *parent;
        }
        None
    }

    /// An angle of the file in radians.
    pub fn angle(&self, angle: f64) -> f64 {
        if self.is_degrees { angle.to_radians() } else { angle }
    }

    /// The orientation that an element has: by quaternion, axis and angle, Euler angles, two axes, or the z axis.
    pub fn orientation(&self, node: &Node<'a, 'i>, inherited: Option<&str>) -> Result<Matrix> {
        let of = |key: &str| self.attribute(node, key, inherited);
        let list = |key: &str, text: &str, count: usize| {
            let list = numbers(self.source, node, key, text)?;
            if list.len() == count {
                return Ok(list);
            }
            Err(error(self.source, node, format!("`{key}` has {} numbers, not {count}", list.len()), ""))
        };
        let no_direction = |key: &str| error(self.source, node, format!("`{key}` has no direction"), "");
        if let Some(text) = of("quat") {
            let q = list("quat", text, 4)?;
            return of_quaternion([q[0], q[1], q[2], q[3]]).ok_or_else(|| no_direction("quat"));
        }
        if let Some(text) = of("axisangle") {
            let q = list("axisangle", text, 4)?;
            return about([q[0], q[1], q[2]], self.angle(q[3])).ok_or_else(|| no_direction("axisangle"));
        }
        if let Some(text) = of("euler") {
            return Ok(self.euler(three(self.source, node, "euler", text)?));
        }
        if let Some(text) = of("xyaxes") {
            let a = list("xyaxes", text, 6)?;
            return columns([a[0], a[1], a[2]], [a[3], a[4], a[5]]).ok_or_else(|| no_direction("xyaxes"));
        }
        if let Some(text) = of("zaxis") {
            return to_z(three(self.source, node, "zaxis", text)?).ok_or_else(|| no_direction("zaxis"));
        }
        Ok(super::super::turn::UNIT)
    }

    fn euler(&self, angles: Vector) -> Matrix {
        let mut turned = super::super::turn::UNIT;
        for (letter, angle) in self.sequence.chars().zip(angles) {
            let axis = match letter.to_ascii_lowercase() {
                'x' => [1.0, 0.0, 0.0],
                'y' => [0.0, 1.0, 0.0],
                _ => [0.0, 0.0, 1.0],
            };
            let turn = about(axis, self.angle(angle)).unwrap_or(super::super::turn::UNIT);
            // A small letter turns about the axis that has turned along, a capital one about that of the parent.
            turned = if letter.is_ascii_lowercase() { product(turned, turn) } else { product(turn, turned) };
        }
        turned
    }

    /// `pos`, or 0.
    pub fn position(&self, node: &Node<'a, 'i>, inherited: Option<&str>) -> Result<Vector> {
        match self.attribute(node, "pos", inherited) {
            Some(text) => three(self.source, node, "pos", text),
            None => Ok([0.0; 3]),
        }
    }

    /// One number, or what stands for it.
    pub fn number(&self, node: &Node<'a, 'i>, key: &str, inherited: Option<&str>, otherwise: f64) -> Result<f64> {
        match self.attribute(node, key, inherited) {
            Some(text) => match numbers(self.source, node, key, text)?.as_slice() {
                [] => Err(error(self.source, node, format!("`{key}` is empty"), "")),
                [number, more @ ..] if more.iter().all(|x| *x == 0.0) => Ok(*number),
                _ => Err(error(self.source, node, format!("`{key}` is a polynomial"), "one number is supported")),
            },
            None => Ok(otherwise),
        }
    }
}
