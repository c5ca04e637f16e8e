//! `[mechanism]` and `[[body]]`: a tree of links, its coordinates and energies.

use std::ops::Range;

use super::super::document::{Fields, Item, text};
use super::super::names::{Holder, Use, base};
use super::super::suggestion;
use super::Reader;
use crate::error::Result;
use crate::expr::parse::Complaint;
use crate::expr::{Expr, grad};
use crate::mechanism::{
    Attached, BodyFrame, Inertia, JointKind, Kinematics, Link, LinkPose, Matrix3, Mechanism, Vector, add, apply,
    body_rate, conjugate_momentum, dot, identity, product, zero,
};

pub(super) const KEYS: [&str; 17] = [
    "name",
    "parent",
    "root",
    "joint",
    "coordinate",
    "coordinates",
    "axis",
    "at",
    "turn",
    "mass",
    "com",
    "inertia",
    "stiffness",
    "rest",
    "damping",
    "limits",
    "restitution",
];

/// What is known of the mechanism while the model is read.
pub(super) struct Tree {
    pub mechanism: Mechanism,
    /// Where each link is, once all bodies have been read.
    pub poses: Vec<LinkPose>,
    /// T and V.
    pub energies: [Expr; 2],
    /// Where each body stands in the text.
    pub places: Vec<Range<usize>>,
    pub limits: Vec<Limit>,
    /// The names of all bodies of the file, each with that of its parent.
    all: Vec<(String, String)>,
}

/// A limit of a coordinate: a wall.
pub(super) struct Limit {
    pub name: String,
    pub phi: Expr,
    pub restitution: Expr,
    pub span: Range<usize>,
    pub restitution_span: Range<usize>,
}

/// The first index of a repeated body and its name without an index.
type Repeated<'r> = Option<(&'r str, i64)>;

impl Tree {
    fn body(&self, name: &str) -> Option<&BodyFrame> {
        self.mechanism.bodies.iter().find(|body| body.name == name)
    }

    /// Adds a point that is fixed to a body.
    pub fn attach(&mut self, name: &str, body: &BodyFrame, at: Vector) {
        let at = add(body.at, apply(body.turn, at));
        self.mechanism.points.push(Attached { name: name.into(), link: body.link, at });
    }

    /// The smallest and the largest index of a repeated body.
    pub fn indices(&self, base: &str) -> Option<(i64, i64)> {
        let index = |body: &BodyFrame| body.name.strip_prefix(base)?.strip_prefix('[')?.strip_suffix(']')?.parse().ok();
        let indices: Vec<i64> = self.mechanism.bodies.iter().filter_map(index).collect();
        Some((*indices.iter().min()?, *indices.iter().max()?))
    }

    /// A place that is given in the frame of a body, in world axes.
    pub fn place(&self, body: &BodyFrame, at: Vector) -> Vector {
        let at = add(body.at, apply(body.turn, at));
        body.link.map_or(at, |link| self.poses[link].place(at))
    }
}

impl<'a> Reader<'a> {
    /// True if places have three entries.
    pub(super) fn is_in_space(&self) -> bool {
        self.tree.as_ref().is_some_and(|tree| tree.mechanism.dimension == 3)
    }

    /// `[mechanism]` and `[[body]]`: adds their coordinates after those of `coordinates`.
    pub(super) fn mechanism(&mut self, top: &Fields<'a>) -> Result<()> {
        let bodies = top.list("body")?;
        if bodies.is_empty() {
            return match top.get("mechanism") {
                None => Ok(()),
                Some(item) => Err(self.error(&item.span, "the mechanism has no bodies", "add a `[[body]]`")),
            };
        }
        let fields = top.get("mechanism").map(|item| self.fields(item, "mechanism", &["dimension", "gravity"]));
        let fields = fields.transpose()?;
        let dimension = match fields.and_then(|fields| fields.get("dimension")) {
            None => 3,
            Some(item) => match self.number(item)? {
                2.0 => 2,
                3.0 => 3,
                other => return Err(self.error(&item.span, "the dimension is 2 or 3", format!("this is {other}"))),
            },
        };
        let mechanism =
            Mechanism { dimension, gravity: zero(), links: Vec::new(), bodies: Vec::new(), points: Vec::new() };
        let all = bodies.iter().filter_map(|item| {
            let fields = Fields::new(self.source, item, "body").ok()?;
            let text = |key| fields.text(key).ok().flatten();
            Some((text("name")?.to_string(), text("parent").unwrap_or("ground").to_string()))
        });
        self.tree = Some(Tree {
            mechanism,
            poses: Vec::new(),
            energies: [Expr::constant(0.0); 2],
            places: Vec::new(),
            limits: Vec::new(),
            all: all.collect(),
        });
        if let Some(item) = fields.and_then(|fields| fields.get("gravity")) {
            let gravity = self.attempt(|reader| reader.vector(item, Use::Time));
            self.tree().mechanism.gravity = gravity.unwrap_or(zero());
        }
        for item in bodies {
            self.attempt(|reader| reader.bodies(item));
        }
        if self.tree().mechanism.bodies.is_empty() && self.mistakes.borrow().is_empty() {
            let place = Fields::new(self.source, &bodies[0], "body")?.required("name")?.span.clone();
            return Err(self.error(&place, "the mechanism has no bodies", "this range is empty"));
        }
        if self.names.coordinates.is_empty() && self.mistakes.borrow().is_empty() {
            let place = top.get("mechanism").or(bodies.first()).map_or(0..0, |item| item.span.clone());
            return Err(self.error(&place, "a model needs at least one coordinate", "these bodies cannot move"));
        }
        self.place_links();
        Ok(())
    }

    /// The tree, once `[mechanism]` is being read.
    pub(super) fn tree(&mut self) -> &mut Tree {
        self.tree.as_mut().expect("the tree is made before its bodies are read")
    }

    /// The body of a table, or all those of `link[1..n]`.
    fn bodies(&mut self, item: &'a Item) -> Result<()> {
        let fields = self.fields(item, "body", &KEYS)?;
        let name_item = fields.required("name")?;
        let name = text(self.source, name_item)?;
        let read = self.bodies_called(&fields, name, name_item);
        if read.is_err() {
            // What is missing after this mistake is no further one.
            self.broken_coordinates = true;
            self.names.mark_broken(base(name));
            let given = ["coordinate", "coordinates"].into_iter().filter_map(|key| Self::one_or_many(fields.get(key)?));
            given
                .flatten()
                .filter_map(|item| text(self.source, item).ok())
                .for_each(|name| self.names.mark_broken(name));
        }
        read
    }

    fn bodies_called(&mut self, fields: &Fields<'a>, name: &str, item: &Item) -> Result<()> {
        if !Self::is_range(name) {
            let name = self.indexed_name(item)?;
            return self.body(fields, &name, item, None);
        }
        let names = self.names_in(name, &item.span)?;
        let variable = names.variable.clone().unwrap_or_else(|| "i".into());
        if names.variable.is_none() && self.names.declared.contains("i") {
            let label = "write `[k in 1..n]`, with a name that is not used";
            return Err(self.error(&item.span, "the index `i` of the body is already a name of the model", label));
        }
        let Some(indices) = names.indices.clone() else { return Ok(()) };
        let first = *indices.start();
        for index in indices {
            self.count_name(&item.span, fields.span().len())?;
            self.loops = vec![(variable.clone(), index)];
            let read = self.body(fields, &names.name(index), item, Some((&names.base, first)));
            self.loops.clear();
            read?;
        }
        Ok(())
    }

    fn body(&mut self, fields: &Fields<'a>, name: &str, item: &Item, repeated: Repeated) -> Result<()> {
        if name == "ground" {
            return Err(self.error(
                &item.span,
                "a body cannot be called `ground`",
                "this name stands for the fixed frame",
            ));
        }
        self.check_new_name(name, &item.span)?;
        if let (None, Some(root)) = (repeated, fields.get("root")) {
            return Err(self.error(&root.span, "`root` belongs to a repeated body, \"link[1..n]\"", "write `parent`"));
        }
        let parent = self.parent(fields, name, repeated)?;
        let joint = self.joint(fields, name)?;
        let at = fields.get("at").map_or(Ok(zero()), |item| self.vector(item, Use::Parameters))?;
        if let (Some(item), Some(square)) = (fields.get("at"), self.value(dot(at, at)))
            && !square.is_finite()
        {
            return Err(self.error(&item.span, "this is too far away for a number", "choose other units"));
        }
        let turn = fields.get("turn").map_or(Ok(identity()), |item| self.turn(item))?;
        let inertia = self.inertia(fields)?;
        let springs = self.springs_of_joint(fields, &joint)?;
        let limits = self.limits(fields, &joint)?;
        let is_given = |coordinate: &&String| joint.kind == JointKind::Joints && *coordinate != name;
        for coordinate in joint.coordinates.iter().filter(is_given) {
            self.check_new_name(coordinate, &joint.span)?;
        }
        // Nothing can go wrong from here on.
        let first = self.names.coordinates.len();
        joint.coordinates.iter().for_each(|name| _ = self.names.add_coordinate(name));
        self.names.holders.insert(name.into(), Holder::Body);
        let tree = self.tree();
        let (mut carrier, mut at, mut turn) = on(&parent, at, turn);
        let mut coordinate = first;
        for (&elementary, [stiffness, rest, damping]) in joint.joints.iter().zip(springs) {
            let inertia = Inertia::none();
            let parent = carrier;
            tree.mechanism.links.push(Link {
                parent,
                joint: elementary,
                at,
                turn,
                inertia,
                stiffness,
                rest,
                damping,
                coordinate,
            });
            coordinate += elementary.coordinates();
            (carrier, at, turn) = (Some(tree.mechanism.links.len() - 1), zero(), identity());
        }
        if let Some(link) = carrier {
            let link = &mut tree.mechanism.links[link];
            link.inertia = link.inertia.with(&inertia.placed(at, turn));
        }
        tree.mechanism.bodies.push(BodyFrame {
            name: name.into(),
            link: carrier,
            at,
            turn,
            kind: joint.kind,
            coordinates: first..coordinate,
        });
        tree.places.push(item.span.clone());
        tree.limits.extend(limits);
        Ok(())
    }

    /// The body that carries this one: one that was read before it, or the ground.
    fn parent(&self, fields: &Fields, name: &str, repeated: Repeated) -> Result<BodyFrame> {
        let Some(item) = fields.get("parent") else { return Ok(ground()) };
        let written = self.indexed_name(item)?;
        let is_before_first = repeated.is_some_and(|(base, first)| written == format!("{base}[{}]", first - 1));
        let root = fields.get("root").filter(|_| is_before_first);
        let parent = match (is_before_first, root) {
            (true, None) => "ground".to_string(),
            (true, Some(root)) => self.indexed_name(root)?,
            (false, _) => written,
        };
        self.body_called(&parent, root.unwrap_or(item), Some(name))
    }

    /// The body of that name, which is asked for at `item`, by the body `child` if it is a parent.
    pub(super) fn body_called(&self, name: &str, item: &Item, child: Option<&str>) -> Result<BodyFrame> {
        let Some(tree) = &self.tree else {
            return Err(self.error(&item.span, format!("unknown body `{name}`"), "the model has no `[[body]]`"));
        };
        if name == "ground" {
            return Ok(ground());
        }
        if let Some(body) = tree.body(name) {
            return Ok(body.clone());
        }
        if child == Some(name) {
            return Err(self.error(&item.span, format!("the body `{name}` is its own parent"), ""));
        }
        if self.names.is_broken(name) {
            return Err(self.source.error(item.span.clone(), Complaint::consequence()));
        }
        let is_later =
            tree.all.iter().any(|(other, _)| other == name || (Self::is_range(other) && base(other) == base(name)));
        let (message, label) = match (child, is_later) {
            (Some(child), true) => match tree.cycle(child, name) {
                Some(way) => (
                    format!("the bodies {} form a cycle", way.join(" → ")),
                    "a parent comes before its children".into(),
                ),
                None => (
                    format!("the parent `{name}` comes later than `{child}`"),
                    format!("put the body `{name}` before it"),
                ),
            },
            _ => {
                let known = tree.mechanism.bodies.iter().map(|body| body.name.as_str()).chain(["ground"]);
                let near = suggestion(name, known).map(|near| format!("did you mean `{near}`?"));
                (
                    format!("unknown body `{name}`"),
                    near.unwrap_or_else(|| "a `[[body]]` of that name is missing".into()),
                )
            }
        };
        Err(self.error(&item.span, message, label))
    }

    /// Turns the links into expressions: energies, and the rates of ball joints.
    fn place_links(&mut self) {
        let (q, v): (Vec<Expr>, Vec<Expr>) = self.names.coordinates.iter().map(|c| (c.q, c.v)).unzip();
        let tree = self.tree();
        let kinematics = Kinematics::new(&tree.mechanism, &q, &v);
        let (energies, poses) = ([kinematics.kinetic(), kinematics.potential()], kinematics.poses);
        (tree.energies, tree.poses) = (energies, poses);
        for (name, first) in self.balls() {
            let four = |all: &[Expr]| [0, 1, 2, 3].map(|k| all[first + k]);
            for (k, omega) in body_rate(four(&q), four(&v)).into_iter().enumerate() {
                self.names.add_member(&format!("{name}.omega{}", k + 1), omega);
            }
        }
    }

    /// The bodies with a quaternion, and the index of its first coordinate.
    pub(super) fn balls(&self) -> Vec<(String, usize)> {
        let Some(tree) = &self.tree else { return Vec::new() };
        let bodies = tree.mechanism.bodies.iter();
        bodies.filter_map(|b| Some((b.name.clone(), b.quaternion(tree.mechanism.dimension)?))).collect()
    }

    /// `B.mu1` to `B.mu3` of the ball joints, once L is known.
    pub(super) fn momenta_of_balls(&mut self, l: Expr) {
        // ∂L/∂q̇ of long chains takes a while: it is made where the model asks for it.
        if !self.source.text().contains(".mu") {
            return;
        }
        let (q, v): (Vec<Expr>, Vec<Expr>) = self.names.coordinates.iter().map(|c| (c.q, c.v)).unzip();
        let p = grad(l, &v);
        for (name, first) in self.balls() {
            let four = |all: &[Expr]| [0, 1, 2, 3].map(|k| all[first + k]);
            for (k, mu) in conjugate_momentum(four(&q), four(&p)).into_iter().enumerate() {
                self.names.add_member(&format!("{name}.mu{}", k + 1), mu);
            }
        }
    }

    /// The ends of the chains must have mass, unless they are driven.
    pub(super) fn ends_have_mass(&mut self) {
        let Some(tree) = &self.tree else { return };
        let Mechanism { links, bodies, .. } = &tree.mechanism;
        let mut has_child = vec![false; links.len()];
        links.iter().filter_map(|link| link.parent).for_each(|parent| has_child[parent] = true);
        let mut mistakes = Vec::new();
        for (body, span) in bodies.iter().zip(&tree.places) {
            let Some(end) = body.link.filter(|&link| !has_child[link] && body.kind != JointKind::Fixed) else {
                continue;
            };
            let inertia = &links[end].inertia;
            let entries = inertia.about_com.into_iter().flatten().chain([inertia.mass]);
            let is_driven = body.coordinates.clone().all(|i| self.names.coordinates[i].prescribed.is_some());
            if !is_driven && entries.into_iter().all(|entry| self.value(entry) == Some(0.0)) {
                let message = format!("the body `{}` at the end of a chain has no mass", body.name);
                mistakes.push(self.error(span, message, "give it `mass`, or make its joint \"fixed\""));
            }
        }
        mistakes.into_iter().for_each(|mistake| self.note(mistake));
    }
}

impl Tree {
    /// The way from `child` over its parent `next` back to itself, if the parents of later bodies lead there.
    fn cycle<'t>(&'t self, child: &'t str, next: &'t str) -> Option<Vec<&'t str>> {
        let mut way = vec![child, next];
        loop {
            let (_, parent) = self.all.iter().find(|(name, _)| name == way[way.len() - 1])?;
            way.push(parent);
            if parent == child {
                return Some(way);
            }
            if way.len() > self.all.len() + 1 {
                return None;
            }
        }
    }
}

pub(super) fn ground() -> BodyFrame {
    BodyFrame {
        name: "ground".into(),
        link: None,
        at: zero(),
        turn: identity(),
        kind: JointKind::Fixed,
        coordinates: 0..0,
    }
}

/// The link that carries `parent`, with a place and an orientation in the frame of that link.
fn on(parent: &BodyFrame, at: Vector, turn: Matrix3) -> (Option<usize>, Vector, Matrix3) {
    (parent.link, add(parent.at, apply(parent.turn, at)), product(parent.turn, turn))
}
