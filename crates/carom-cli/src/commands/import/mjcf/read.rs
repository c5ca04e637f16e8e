//! Bodies, joints, sites and keyframes.

use carom::lab::error::Result;
use carom::lab::model::Source;
use roxmltree::{Document, Node};

use super::super::turn::{UNIT, Vector, turned};
use super::super::xml::{children, elements, error, numbers, three};
use super::compiler::Compiler;
use super::{Body, Joint, Key, Kind, Mass, Scene, Site};

/// Bodies may be nested so deep.
const DEEPEST: usize = 500;

struct Reader<'s, 'a, 'i> {
    compiler: Compiler<'s, 'a, 'i>,
    scene: Scene,
    /// Geoms with which things could collide.
    geoms: usize,
}

pub fn scene(source: &Source, document: &Document) -> Result<Scene> {
    let root = document.root_element();
    let compiler = Compiler::new(source, &root)?;
    let name = root.attribute("model").unwrap_or("MuJoCo model").to_string();
    let scene = Scene {
        name,
        gravity: [0.0, 0.0, -9.81],
        bodies: Vec::new(),
        sites: Vec::new(),
        equalities: Vec::new(),
        start: None,
        left_out: Vec::new(),
    };
    let mut reader = Reader { compiler, scene, geoms: 0 };
    let mut keys = Vec::new();
    for node in elements(&root) {
        match node.tag_name().name() {
            "option" => reader.option(&node)?,
            "worldbody" => reader.inside(&node, None, None, 0)?,
            "compiler" | "default" | "equality" | "size" | "visual" | "statistic" => {}
            "keyframe" => keys.extend(children(&node, "key")),
            "include" => {
                let label = "put the text of the file here, or save the whole model with MuJoCo";
                return Err(error(source, &node, "files that include others are not supported", label));
            }
            other => {
                let count = elements(&node).count();
                reader.scene.left_out.push(format!("{other} ({count})"));
            }
        }
    }
    if !reader.scene.joints().any(|_| true) {
        return Err(error(source, &root, "no body has a joint", "a model needs at least one coordinate"));
    }
    for node in children(&root, "equality") {
        reader.compiler.equalities(&node, &mut reader.scene)?;
    }
    reader.keys(&keys)?;
    reader.set_total_mass();
    reader.moving_bodies_have_mass(&root)?;
    if reader.geoms > 0 {
        let count = reader.geoms;
        reader.scene.left_out.push(format!("contacts of {count} geoms: write a `[[contact]]` for those that matter"));
    }
    Ok(reader.scene)
}

impl<'a, 'i> Reader<'_, 'a, 'i> {
    fn option(&mut self, node: &Node<'a, 'i>) -> Result<()> {
        let source = self.compiler.source;
        if let Some(text) = node.attribute("gravity") {
            self.scene.gravity = three(source, node, "gravity", text)?;
        }
        for flag in children(node, "flag") {
            if flag.attribute("gravity") == Some("disable") {
                self.scene.gravity = [0.0; 3];
            }
        }
        for key in ["density", "viscosity"] {
            if node.attribute(key).map(|text| numbers(source, node, key, text)).transpose()?.is_some_and(|n| n != [0.0])
            {
                self.scene.left_out.push(format!("{key} of the medium"));
            }
        }
        Ok(())
    }

    /// What is inside the world or a body. `class` is that of the bodies around it.
    fn inside(&mut self, node: &Node<'a, 'i>, body: Option<usize>, class: Option<&'a str>, depth: usize) -> Result<()> {
        let source = self.compiler.source;
        if depth > DEEPEST {
            return Err(error(source, node, "bodies are nested too deeply", ""));
        }
        let mut inertial = None;
        let mut of_geoms = Mass::default();
        let mut unknown = None;
        for child in elements(node) {
            match child.tag_name().name() {
                "body" => {
                    let child_class = child.attribute("childclass").or(class);
                    let number = self.body(&child, body)?;
                    self.inside(&child, Some(number), child_class, depth + 1)?;
                }
                "joint" | "freejoint" => match body {
                    Some(number) => {
                        let joint = self.joint(&child, class)?;
                        self.scene.bodies[number].joints.push(joint);
                    }
                    None => return Err(error(source, &child, "the world has no joint", "put it into a `body`")),
                },
                "inertial" => inertial = Some(self.inertial(&child)?),
                "geom" => {
                    let geom = self.compiler.geom(&child, class)?;
                    let collides = |key| self.compiler.attribute(&child, key, class) != Some("0");
                    self.geoms += usize::from(collides("contype") || collides("conaffinity"));
                    of_geoms = of_geoms.with(geom.mass);
                    unknown = unknown.or(geom.unknown.map(|kind| (kind, child)));
                    if let (Some(number), Some(drawn)) = (body, geom.drawn) {
                        self.scene.bodies[number].geoms.push(drawn);
                    }
                }
                "site" => {
                    let at = self.compiler.position(&child, class)?;
                    if let Some(name) = child.attribute("name") {
                        self.scene.sites.push(Site { name: name.into(), body, at });
                    }
                }
                "light" | "camera" => {}
                "frame" | "replicate" | "composite" | "flexcomp" | "attach" | "plugin" => {
                    let message = format!("`{}` is not supported", child.tag_name().name());
                    return Err(error(source, &child, message, "save the model with MuJoCo, which expands it"));
                }
                other => return Err(error(source, &child, format!("unknown element `{other}`"), "")),
            }
        }
        let Some(number) = body else { return Ok(()) };
        let mass = match (inertial, self.compiler.from_geoms) {
            (Some(mass), None | Some(false)) => mass,
            (None, Some(false)) => Mass::default(),
            _ => {
                if let Some((kind, geom)) = unknown {
                    let message = format!("the mass of a {kind} is not known");
                    return Err(error(source, &geom, message, "give the body an `inertial`"));
                }
                of_geoms
            }
        };
        let mut numbers = [mass.mass].into_iter().chain(mass.com).chain(mass.inertia.into_iter().flatten());
        if !numbers.all(f64::is_finite) {
            let label = "check the sizes and places of its geoms, or its `inertial`";
            return Err(error(source, node, "the inertia of the body is too large for a number", label));
        }
        self.scene.bodies[number].mass = mass;
        self.checked_joints(node, number)
    }

    fn body(&mut self, node: &Node<'a, 'i>, parent: Option<usize>) -> Result<usize> {
        let number = self.scene.bodies.len();
        let name = node.attribute("name").map_or_else(|| format!("body{}", number + 1), str::to_string);
        let (at, turn) = (self.compiler.position(node, None)?, self.compiler.orientation(node, None)?);
        if node.attribute("gravcomp").is_some_and(|text| text != "0") {
            self.scene.left_out.push(format!("compensation of gravity of {name}"));
        }
        if node.attribute("mocap") == Some("true") {
            self.scene.left_out.push(format!("motion capture of {name}, which is fixed"));
        }
        let (joints, geoms) = (Vec::new(), Vec::new());
        self.scene.bodies.push(Body { name, parent, at, turn, joints, mass: Mass::default(), geoms });
        Ok(number)
    }

    /// A free joint is alone, and its body is in the world.
    fn checked_joints(&self, node: &Node, number: usize) -> Result<()> {
        let body = &self.scene.bodies[number];
        let is_free = body.joints.iter().any(|joint| joint.kind == Kind::Free);
        if is_free && (body.joints.len() > 1 || body.parent.is_some()) {
            let message = format!("the free joint of `{}` must be its only joint, on a body of the world", body.name);
            return Err(error(self.compiler.source, node, message, ""));
        }
        Ok(())
    }

    fn inertial(&self, node: &Node<'a, 'i>) -> Result<Mass> {
        let source = self.compiler.source;
        let (com, turn) = (self.compiler.position(node, None)?, self.compiler.orientation(node, None)?);
        let mass = self.compiler.number(node, "mass", None, 0.0)?;
        let list = |key: &str| node.attribute(key).map(|text| numbers(source, node, key, text)).transpose();
        let own = match (list("diaginertia")?.as_deref(), list("fullinertia")?.as_deref()) {
            (Some(&[x, y, z]), None) => [[x, 0.0, 0.0], [0.0, y, 0.0], [0.0, 0.0, z]],
            (None, Some(&[xx, yy, zz, xy, xz, yz])) => [[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]],
            _ => return Err(error(source, node, "an `inertial` has `diaginertia` or `fullinertia`", "")),
        };
        if mass < 0.0 {
            return Err(error(source, node, "the mass must not be negative", ""));
        }
        Ok(Mass { mass, com, inertia: turned(turn, own) })
    }

    fn joint(&mut self, node: &Node<'a, 'i>, class: Option<&'a str>) -> Result<Joint> {
        let compiler = &self.compiler;
        let of = |key: &str| compiler.attribute(node, key, class);
        let is_free = node.tag_name().name() == "freejoint";
        let kind = match of("type").filter(|_| !is_free).unwrap_or(if is_free { "free" } else { "hinge" }) {
            "hinge" => Kind::Hinge,
            "slide" => Kind::Slide,
            "ball" => Kind::Ball,
            "free" => Kind::Free,
            other => {
                let message = format!("unknown type `{other}` of a joint");
                return Err(error(compiler.source, node, message, "one of hinge, slide, ball, free"));
            }
        };
        let angle = |value: f64| if kind == Kind::Hinge { compiler.angle(value) } else { value };
        let number = |key: &str| compiler.number(node, key, class, 0.0);
        let axis = of("axis").map_or(Ok([0.0, 0.0, 1.0]), |text| three(compiler.source, node, "axis", text))?;
        if axis == [0.0; 3] {
            return Err(error(compiler.source, node, "the axis has no direction", ""));
        }
        let reference = angle(number("ref")?);
        let range = of("range").map(|text| numbers(compiler.source, node, "range", text)).transpose()?;
        let is_limited = match of("limited").unwrap_or("auto") {
            "true" => true,
            "false" => false,
            _ => compiler.auto_limits && range.is_some(),
        };
        let limits = match (is_limited, range.as_deref()) {
            (false, _) => None,
            (true, Some(&[low, high])) if low < high => Some([angle(low) - reference, angle(high) - reference]),
            (true, _) => {
                return Err(error(compiler.source, node, "the range is not two numbers, the smaller first", ""));
            }
        };
        let at = if kind == Kind::Free { [0.0; 3] } else { compiler.position(node, class)? };
        let name = node.attribute("name").map(str::to_string);
        let [damping, stiffness, armature] = [number("damping")?, number("stiffness")?, number("armature")?];
        let rest = angle(number("springref")?) - reference;
        let friction = number("frictionloss")?;
        let called = name.as_deref().unwrap_or("a joint without a name");
        let is_loose = matches!(kind, Kind::Ball | Kind::Free);
        let ignored = [
            ("friction", friction != 0.0),
            ("limits", is_loose && limits.is_some()),
            ("damping", is_loose && damping != 0.0),
            ("stiffness", is_loose && stiffness != 0.0),
            ("armature", is_loose && armature != 0.0),
        ];
        let ignored: Vec<&str> = ignored.into_iter().filter(|(_, is)| *is).map(|(what, _)| what).collect();
        if !ignored.is_empty() {
            self.scene.left_out.push(format!("{} of {called}", ignored.join(", ")));
        }
        if reference != 0.0 && !is_loose {
            self.scene.left_out.push(format!("the reference {reference} of {called}, from which it is counted here"));
        }
        Ok(Joint { name, kind, at, axis, limits, damping, stiffness, rest, reference, armature })
    }

    fn keys(&mut self, keys: &[Node<'a, 'i>]) -> Result<()> {
        let source = self.compiler.source;
        let counts = self.scene.joints().map(|joint| joint.kind.counts()).collect::<Vec<_>>();
        for (number, key) in keys.iter().enumerate() {
            if number > 0 {
                let name = key.attribute("name").unwrap_or("without a name");
                self.scene.left_out.push(format!("the keyframe {name}: the model starts with the first"));
                continue;
            }
            let list = |name: &str, place: usize| -> Result<Vec<f64>> {
                let count: usize = counts.iter().map(|count| count[place]).sum();
                let Some(text) = key.attribute(name) else { return Ok(Vec::new()) };
                let list = numbers(source, key, name, text)?;
                if list.len() != count {
                    let message = format!("`{name}` has {} numbers, not {count}", list.len());
                    return Err(error(source, key, message, ""));
                }
                Ok(list)
            };
            self.scene.start = Some(Key { qpos: list("qpos", 0)?, qvel: list("qvel", 1)? });
        }
        Ok(())
    }

    fn set_total_mass(&mut self) {
        let all: f64 = self.scene.bodies.iter().map(|body| body.mass.mass).sum();
        let Some(factor) = self.compiler.total_mass.map(|mass| mass / all).filter(|factor| factor.is_finite()) else {
            return;
        };
        for body in &mut self.scene.bodies {
            let Mass { mass, com, inertia } = body.mass;
            body.mass = Mass { mass: factor * mass, com, inertia: inertia.map(|row| row.map(|x| factor * x)) };
        }
    }

    /// As in MuJoCo: the last joint of each chain moves mass.
    fn moving_bodies_have_mass(&self, root: &Node) -> Result<()> {
        let bodies = &self.scene.bodies;
        let mut has: Vec<bool> =
            bodies.iter().map(|body| body.mass.mass > 0.0 || body.mass.inertia != [[0.0; 3]; 3]).collect();
        for (number, body) in bodies.iter().enumerate().rev() {
            if let (true, Some(parent)) = (has[number] && body.joints.is_empty(), body.parent) {
                has[parent] = true;
            }
            let is_carried = bodies.iter().zip(&has).any(|(other, has)| other.parent == Some(number) && *has);
            if !has[number] && !is_carried && !body.joints.is_empty() {
                let message = format!("the body `{}` moves but has no mass", body.name);
                return Err(error(self.compiler.source, root, message, "give it an `inertial` or a geom"));
            }
            has[number] |= is_carried;
        }
        Ok(())
    }
}

/// Where a body is with all joints at their reference.
pub fn placed(scene: &Scene, body: Option<usize>) -> (Vector, super::super::turn::Matrix) {
    use super::super::turn::{add, apply, product};
    let (mut at, mut turn) = ([0.0; 3], UNIT);
    let mut next = body;
    while let Some(number) = next {
        let body = &scene.bodies[number];
        at = add(body.at, apply(body.turn, at));
        turn = product(body.turn, turn);
        next = body.parent;
    }
    (at, turn)
}
