//! What a URDF file says: links and joints.

use std::ops::Range;

use carom::lab::error::{Error, Result};
use carom::lab::expr::parse::Complaint;
use carom::lab::model::Source;
use roxmltree::{Document, Node};

use super::turn::{Matrix, Vector, of_angles};
use super::xml::{children, error, number, three};

/// A robot.
pub struct Robot {
    pub name: String,
    /// The root first, then each link after its parent.
    pub links: Vec<Link>,
    /// What has no meaning in a model, one line each.
    pub left_out: Vec<String>,
}

/// A link, with the joint to its parent.
pub struct Link {
    pub name: String,
    pub mass: f64,
    pub com: Vector,
    /// About the centre of mass, in the axes of the link.
    pub inertia: Matrix,
    pub joint: Option<Joint>,
}

/// A joint.
pub struct Joint {
    pub name: String,
    pub kind: Kind,
    /// The index of the parent among the links.
    pub parent: usize,
    pub at: Vector,
    pub turn: Matrix,
    pub axis: Vector,
    pub limits: Option<[f64; 2]>,
    pub damping: f64,
    /// The joint that it follows, with a factor and an offset.
    pub mimic: Option<(String, f64, f64)>,
}

/// The types of joints.
#[derive(Clone, Copy, PartialEq)]
pub enum Kind {
    Revolute,
    Prismatic,
    Fixed,
    Floating,
    Planar,
}

/// A joint between links that are known by name.
struct Named<'x> {
    joint: Joint,
    parent: &'x str,
    child: &'x str,
    span: Range<usize>,
}

struct Reader<'s> {
    source: &'s Source,
    left_out: Vec<String>,
}

/// Reads a URDF file.
pub fn read(source: &Source, document: &Document) -> Result<Robot> {
    let root = document.root_element();
    let mut reader = Reader { source, left_out: Vec::new() };
    if root.tag_name().name() != "robot" {
        return Err(reader.error(
            &root,
            format!("`{}` is not a `robot`", root.tag_name().name()),
            "a URDF file begins with <robot>",
        ));
    }
    let (mut links, mut joints): (Vec<(Link, Node)>, Vec<Named>) = (Vec::new(), Vec::new());
    for node in root.children().filter(Node::is_element) {
        match node.tag_name().name() {
            "link" => {
                let link = reader.link(&node)?;
                if links.iter().any(|(other, _)| other.name == link.name) {
                    return Err(reader.error(&node, format!("two links are called `{}`", link.name), ""));
                }
                links.push((link, node));
            }
            "joint" => joints.push(reader.joint(&node)?),
            "material" => {}
            other => {
                let name = node.attribute("name").unwrap_or_default();
                reader.left_out.push(format!("{other} {name}").trim_end().to_string());
            }
        }
    }
    if links.is_empty() {
        return Err(reader.error(&root, "the robot has no link", ""));
    }
    let links = reader.ordered(links, joints)?;
    let name = root.attribute("name").unwrap_or("robot").to_string();
    Ok(Robot { name, links, left_out: reader.left_out })
}

impl<'s> Reader<'s> {
    fn error(&self, node: &Node, message: impl Into<String>, label: &str) -> Error {
        error(self.source, node, message, label)
    }

    /// The links from the root on, each with its joint.
    fn ordered(&self, links: Vec<(Link, Node)>, mut joints: Vec<Named>) -> Result<Vec<Link>> {
        for joint in &joints {
            for link in [joint.parent, joint.child] {
                if !links.iter().any(|(known, _)| known.name == link) {
                    let message = format!("unknown link `{link}`");
                    return Err(self.source.error(joint.span.clone(), Complaint::new(message, "")));
                }
            }
            if joints.iter().any(|other| other.child == joint.child && other.span != joint.span) {
                let message = format!("the link `{}` has two parents", joint.child);
                return Err(self
                    .source
                    .error(joint.span.clone(), Complaint::new(message, "closed loops are not part of URDF")));
            }
        }
        let is_root = |link: &Link| !joints.iter().any(|joint| joint.child == link.name);
        let mut roots = links.iter().filter(|(link, _)| is_root(link));
        match (roots.next(), roots.next()) {
            (Some(_), None) => {}
            (Some((one, _)), Some((other, node))) => {
                let message = format!("the robot has two roots, `{}` and `{}`", one.name, other.name);
                return Err(self.error(node, message, "connect it by a joint"));
            }
            (None, _) => {
                let joint = joints.first().map_or(0..0, |joint| joint.span.clone());
                return Err(self
                    .source
                    .error(joint, Complaint::new("the joints form a circle", "one link must have no parent")));
            }
        }
        let (mut rest, mut ordered): (Vec<Link>, Vec<Link>) = (Vec::new(), Vec::new());
        links.into_iter().for_each(|(link, _)| if is_root(&link) { ordered.push(link) } else { rest.push(link) });
        let mut done = 0;
        while done < ordered.len() {
            let parent = ordered[done].name.clone();
            let (here, others): (Vec<Named>, Vec<Named>) = joints.into_iter().partition(|joint| joint.parent == parent);
            joints = others;
            for named in here {
                // Each child is a known link, and no other joint has it.
                let Some(at) = rest.iter().position(|link| link.name == named.child) else { continue };
                let mut link = rest.remove(at);
                link.joint = Some(Joint { parent: done, ..named.joint });
                ordered.push(link);
            }
            done += 1;
        }
        match rest.first() {
            None => Ok(ordered),
            Some(link) => {
                let joint = joints.first().map_or(0..0, |joint| joint.span.clone());
                let message = format!("the link `{}` is part of a circle", link.name);
                Err(self.source.error(joint, Complaint::new(message, "")))
            }
        }
    }

    fn link(&mut self, node: &Node) -> Result<Link> {
        let name = self.name(node)?;
        let mut link = Link { name, mass: 0.0, com: [0.0; 3], inertia: [[0.0; 3]; 3], joint: None };
        for shape in ["visual", "collision"] {
            let count = children(node, shape).count();
            if count > 0 {
                let meshes = node.descendants().filter(|part| part.tag_name().name() == "mesh").count();
                let of_meshes = if meshes > 0 { " (mesh)" } else { "" };
                self.left_out.push(format!("{count} {shape} of {}{of_meshes}", link.name));
            }
        }
        let Some(inertial) = children(node, "inertial").next() else { return Ok(link) };
        let (com, turn) = self.origin(&inertial)?;
        link.com = com;
        if let Some(mass) = children(&inertial, "mass").next() {
            link.mass = self.number(&mass, "value")?.unwrap_or(0.0);
            if link.mass < 0.0 {
                return Err(self.error(&mass, format!("the mass of `{}` is negative", link.name), ""));
            }
        }
        if let Some(inertia) = children(&inertial, "inertia").next() {
            let entry = |key: &str| Ok::<f64, Error>(self.number(&inertia, key)?.unwrap_or(0.0));
            let [xx, yy, zz] = [entry("ixx")?, entry("iyy")?, entry("izz")?];
            let [xy, xz, yz] = [entry("ixy")?, entry("ixz")?, entry("iyz")?];
            link.inertia = super::turn::turned(turn, [[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]);
        }
        Ok(link)
    }

    fn joint<'x>(&mut self, node: &Node<'x, '_>) -> Result<Named<'x>> {
        let name = self.name(node)?;
        let kind = match node.attribute("type").unwrap_or_default() {
            "revolute" | "continuous" => Kind::Revolute,
            "prismatic" => Kind::Prismatic,
            "fixed" => Kind::Fixed,
            "floating" => Kind::Floating,
            "planar" => Kind::Planar,
            other => {
                let label = "one of revolute, continuous, prismatic, fixed, floating, planar";
                return Err(self.error(node, format!("unknown type `{other}` of the joint `{name}`"), label));
            }
        };
        let link = |key: &str| {
            let link = children(node, key).next().and_then(|child| child.attribute("link"));
            link.ok_or_else(|| self.error(node, format!("the joint `{name}` has no {key}"), ""))
        };
        let (parent, child) = (link("parent")?, link("child")?);
        let (at, turn) = self.origin(node)?;
        let axis = match children(node, "axis").next() {
            Some(axis) => self.three(&axis, "xyz")?.unwrap_or([1.0, 0.0, 0.0]),
            None => [1.0, 0.0, 0.0],
        };
        if axis == [0.0; 3] && matches!(kind, Kind::Revolute | Kind::Prismatic | Kind::Planar) {
            return Err(self.error(node, format!("the axis of the joint `{name}` has no direction"), ""));
        }
        let mut limits = None;
        if let Some(limit) = children(node, "limit").next() {
            let [low, high] = [self.number(&limit, "lower")?, self.number(&limit, "upper")?];
            let is_bounded = node.attribute("type") != Some("continuous");
            let given = [low.unwrap_or(0.0), high.unwrap_or(0.0)];
            limits = Some(given).filter(|[low, high]| is_bounded && low < high);
            if limits.is_none() && is_bounded && (low, high) != (None, None) {
                self.left_out.push(format!("limits of {name}, which leave no room: [{}, {}]", given[0], given[1]));
            }
            let ignored: Vec<&str> =
                ["effort", "velocity"].into_iter().filter(|key| limit.has_attribute(*key)).collect();
            if !ignored.is_empty() {
                self.left_out.push(format!("limits of {} of {name}", ignored.join(" and ")));
            }
        }
        let mut damping = 0.0;
        if let Some(dynamics) = children(node, "dynamics").next() {
            damping = self.number(&dynamics, "damping")?.unwrap_or(0.0);
            if self.number(&dynamics, "friction")?.is_some_and(|friction| friction != 0.0) {
                self.left_out.push(format!("friction of {name}"));
            }
        }
        let mimic = match children(node, "mimic").next() {
            None => None,
            Some(mimic) => {
                let followed = mimic.attribute("joint").unwrap_or_default().to_string();
                let [factor, offset] = [self.number(&mimic, "multiplier")?, self.number(&mimic, "offset")?];
                Some((followed, factor.unwrap_or(1.0), offset.unwrap_or(0.0)))
            }
        };
        let joint = Joint { name, kind, parent: 0, at, turn, axis, limits, damping, mimic };
        Ok(Named { joint, parent, child, span: node.range() })
    }

    fn name(&self, node: &Node) -> Result<String> {
        let name = node.attribute("name").filter(|name| !name.is_empty());
        name.map(str::to_string)
            .ok_or_else(|| self.error(node, format!("a {} without a name", node.tag_name().name()), ""))
    }

    /// `<origin xyz rpy/>` of a link's mass or of a joint.
    fn origin(&self, node: &Node) -> Result<(Vector, Matrix)> {
        let Some(origin) = children(node, "origin").next() else { return Ok(([0.0; 3], of_angles([0.0; 3]))) };
        let (xyz, rpy) = (self.three(&origin, "xyz")?, self.three(&origin, "rpy")?);
        Ok((xyz.unwrap_or([0.0; 3]), of_angles(rpy.unwrap_or([0.0; 3]))))
    }

    fn number(&self, node: &Node, key: &str) -> Result<Option<f64>> {
        node.attribute(key).map(|text| number(self.source, node, key, text)).transpose()
    }

    fn three(&self, node: &Node, key: &str) -> Result<Option<Vector>> {
        node.attribute(key).map(|text| three(self.source, node, key, text)).transpose()
    }
}
