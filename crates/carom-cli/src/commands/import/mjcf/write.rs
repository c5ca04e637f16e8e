//! The model of a scene, as text.

use super::super::names::{Names, key};
use super::super::turn::{Matrix, Vector, add, apply, minus, quaternion, rotation_vector};
use super::super::write::vector;
use super::{Body, Drawn, Joint, Kind, Mass, Scene, Spot};

/// What the model calls a body, and where its frame is in that of MuJoCo: at the last joint.
pub(super) struct Named {
    name: String,
    origin: Vector,
    /// One for each joint; of a ball or a free joint that of its body.
    pub joints: Vec<String>,
}

pub(super) struct Writer<'s> {
    pub scene: &'s Scene,
    names: Names,
    pub bodies: Vec<Named>,
    text: String,
}

/// The text of a model.
pub fn model(scene: &Scene) -> String {
    let mut writer = Writer { scene, names: Names::default(), bodies: Vec::new(), text: String::new() };
    for number in 1..=scene.equalities.len() {
        for end in ["a", "b", "ax", "ay", "az", "bx", "by", "bz", "o", "ox", "oy", "oz"] {
            writer.names.reserve(format!("tie{number}_{end}"));
        }
    }
    for number in 1..=scene.bodies.iter().map(|body| body.geoms.len()).sum() {
        for end in 1..=2 {
            writer.names.reserve(format!("geom{number}_{end}"));
        }
    }
    writer.text += &format!("\n[mechanism]\ngravity = {}\n", vector(scene.gravity));
    for body in &scene.bodies {
        writer.body(body);
    }
    writer.armature();
    writer.points();
    for (number, equality) in scene.equalities.iter().enumerate() {
        writer.equality(number + 1, equality);
    }
    writer.draw();
    writer.initial();
    let mut head = format!("title = {:?}\n", scene.name);
    for (was, is) in &writer.names.changed {
        head += &format!("# `{}` is called `{is}` here.\n", was.escape_debug());
    }
    scene.left_out.iter().for_each(|note| head += &format!("# Left out: {}.\n", note.replace(['\n', '\r'], " ")));
    head + &writer.text + "\n[run]\nuntil = 1.0\n"
}

impl Writer<'_> {
    pub fn line(&mut self, line: &str) {
        self.text += line;
        self.text.push('\n');
    }

    fn parent(&self, body: &Body) -> (&str, Vector) {
        body.parent.map_or(("ground", [0.0; 3]), |parent| (&self.bodies[parent].name, self.bodies[parent].origin))
    }

    /// A body for each joint: all but the last have no mass.
    fn body(&mut self, body: &Body) {
        let (parent, offset) = self.parent(body);
        let (mut parent, start) = (parent.to_string(), minus(body.at, offset));
        let name = self.names.give(&body.name);
        if body.joints.is_empty() {
            self.table(&name, &parent, "fixed", start, body.turn);
            self.mass(&body.mass, [0.0; 3]);
            self.bodies.push(Named { name, origin: [0.0; 3], joints: Vec::new() });
            return;
        }
        let (mut origin, mut joints) = ([0.0; 3], Vec::new());
        for (number, joint) in body.joints.iter().enumerate() {
            let is_last = number + 1 == body.joints.len();
            let own = if is_last { name.clone() } else { self.names.give(&format!("{}_{}", body.name, number + 1)) };
            let (at, turn) = match number {
                0 => (add(start, apply(body.turn, joint.at)), body.turn),
                _ => (minus(joint.at, origin), super::super::turn::UNIT),
            };
            match joint.kind {
                Kind::Free => self.table(&own, &parent, "free", [0.0; 3], super::super::turn::UNIT),
                Kind::Ball => self.table(&own, &parent, "ball", at, turn),
                Kind::Hinge => self.table(&own, &parent, "revolute", at, turn),
                Kind::Slide => self.table(&own, &parent, "prismatic", at, turn),
            }
            joints.push(self.coordinate(joint, &own, &body.name));
            (origin, parent) = (joint.at, own);
        }
        self.mass(&body.mass, origin);
        self.bodies.push(Named { name, origin, joints });
    }

    fn table(&mut self, name: &str, parent: &str, joint: &str, at: Vector, turn: Matrix) {
        self.line(&format!("\n[[body]]\nname = \"{name}\"\nparent = \"{parent}\"\njoint = \"{joint}\""));
        if at != [0.0; 3] {
            self.line(&format!("at = {}", vector(at)));
        }
        let turn = rotation_vector(turn);
        if turn != [0.0; 3] {
            self.line(&format!("turn = {}", vector(turn)));
        }
    }

    /// What a joint adds to its body; the name of its coordinate.
    fn coordinate(&mut self, joint: &Joint, body: &str, written: &str) -> String {
        if matches!(joint.kind, Kind::Ball | Kind::Free) {
            return body.to_string();
        }
        let name = match &joint.name {
            Some(name) if name != written => self.names.give(name),
            // A body and its own coordinate may have one name.
            _ => body.to_string(),
        };
        self.line(&format!("coordinate = \"{name}\"\naxis = {}", vector(joint.axis)));
        if joint.stiffness != 0.0 {
            self.line(&format!("stiffness = {}\nrest = {}", joint.stiffness, joint.rest));
        }
        if joint.damping != 0.0 {
            self.line(&format!("damping = {}", joint.damping));
        }
        if let Some([low, high]) = joint.limits {
            self.line(&format!("limits = [{low}, {high}]"));
        }
        name
    }

    fn mass(&mut self, Mass { mass, com, inertia }: &Mass, origin: Vector) {
        if *mass != 0.0 {
            self.line(&format!("mass = {mass}\ncom = {}", vector(minus(*com, origin))));
        }
        let [[xx, xy, xz], [_, yy, yz], [_, _, zz]] = inertia;
        if *inertia != [[0.0; 3]; 3] {
            self.line(&format!("inertia = [{xx}, {yy}, {zz}, {xy}, {xz}, {yz}]"));
        }
    }

    /// Armature is kinetic energy of a coordinate alone.
    fn armature(&mut self) {
        let named = self.scene.joints().zip(self.bodies.iter().flat_map(|body| &body.joints));
        let is_plain = |joint: &Joint| joint.armature != 0.0 && matches!(joint.kind, Kind::Hinge | Kind::Slide);
        let terms: Vec<String> = named
            .filter(|(joint, _)| is_plain(joint))
            .map(|(joint, name)| format!("{}*{name}'^2/2", joint.armature))
            .collect();
        if !terms.is_empty() {
            self.line(&format!("\n[lagrangian]\nT = \"{}\"", terms.join(" + ")));
        }
    }

    /// `{on = "body", at = […]}` of a place in the frame of MuJoCo.
    pub fn spot(&self, spot: Spot) -> String {
        match spot.body {
            None => format!("{{on = \"ground\", at = {}}}", vector(spot.at)),
            Some(number) => {
                let Named { name, origin, .. } = &self.bodies[number];
                format!("{{on = \"{name}\", at = {}}}", vector(minus(spot.at, *origin)))
            }
        }
    }

    /// A point with a name of its own.
    fn point(&mut self, wanted: &str, spot: Spot) -> String {
        let before = self.names.changed.len();
        let name = self.names.give(wanted);
        self.names.changed.truncate(before);
        let line = format!("{} = {}", key(&name), self.spot(spot));
        self.line(&line);
        name
    }

    fn points(&mut self) {
        self.line("\n[points]");
        for site in &self.scene.sites {
            let name = self.names.give(&site.name);
            let line = format!("{} = {}", key(&name), self.spot(Spot { body: site.body, at: site.at }));
            self.line(&line);
        }
        for (number, body) in self.scene.bodies.iter().enumerate() {
            self.point(&format!("{}_at", body.name), Spot { body: Some(number), at: self.bodies[number].origin });
        }
        self.ties();
    }

    /// Geoms, and a line from each body to its parent where there are none.
    fn draw(&mut self) {
        let scene = self.scene;
        let mut shapes = Vec::new();
        for (number, body) in scene.bodies.iter().enumerate() {
            let Named { name, origin, .. } = &self.bodies[number];
            for geom in &body.geoms {
                let at = |at: Vector| vector(minus(at, *origin));
                match geom {
                    Drawn::Sphere(center, radius) => shapes.push((number, vec![*center], format!("radius = {radius}"))),
                    Drawn::Capsule(ends, radius) => shapes.push((number, ends.to_vec(), format!("radius = {radius}"))),
                    Drawn::Box(center, turn, half) => {
                        let (size, turn) = (half.map(|x| 2.0 * x), rotation_vector(*turn));
                        let text = format!(
                            "box = {{on = \"{name}\", at = {}, size = {}, turn = {}}}",
                            at(*center),
                            vector(size),
                            vector(turn)
                        );
                        shapes.push((number, Vec::new(), text));
                    }
                }
            }
        }
        // Places of shapes are points of the model.
        let mut drawn = String::new();
        let mut points = String::new();
        for (count, (number, places, rest)) in shapes.iter().enumerate() {
            let names: Vec<String> = (0..places.len()).map(|k| format!("geom{}_{}", count + 1, k + 1)).collect();
            for (name, at) in names.iter().zip(places) {
                points += &format!("{name} = {}\n", self.spot(Spot { body: Some(*number), at: *at }));
            }
            drawn += "\n[[draw]]\n";
            drawn += &match names.as_slice() {
                [] => format!("{rest}\n"),
                [one] => format!("sphere = \"{one}\"\n{rest}\n"),
                all => format!("capsule = {all:?}\n{rest}\n"),
            };
        }
        if let Some(place) = self.text.find("\n[points]\n") {
            self.text.insert_str(place + "\n[points]\n".len(), &points);
        }
        self.text += &drawn;
    }

    /// The first keyframe; without one, the reference, or the limit nearest to it.
    fn initial(&mut self) {
        let start = self.scene.start.as_ref();
        let (mut q, mut v) = (String::new(), String::new());
        let (mut at_q, mut at_v) = (0, 0);
        for (body, named) in self.scene.bodies.iter().zip(&self.bodies) {
            for (joint, name) in body.joints.iter().zip(&named.joints) {
                let ([nq, nv], name) = (joint.kind.counts(), key(name));
                let given =
                    |list: Option<&Vec<f64>>, at: usize, count: usize| list?.get(at..at + count).map(<[f64]>::to_vec);
                let qs = given(start.map(|key| &key.qpos), at_q, nq);
                let vs = given(start.map(|key| &key.qvel), at_v, nv);
                (at_q, at_v) = (at_q + nq, at_v + nv);
                match joint.kind {
                    Kind::Hinge | Kind::Slide => {
                        let held = joint.limits.map_or(0.0, |[low, high]| 0.0f64.clamp(low, high));
                        let value = qs.map_or(held, |q| q[0] - joint.reference);
                        q += &format!("{name} = {value}\n");
                        v += &vs.map_or(String::new(), |v| format!("{name} = {}\n", v[0]));
                    }
                    Kind::Ball => {
                        q += &qs.map_or(String::new(), |q| format!("{name} = {{quaternion = {q:?}}}\n"));
                        v += &vs.map_or(String::new(), |v| format!("{name} = {{rate = {v:?}}}\n"));
                    }
                    Kind::Free => {
                        let [w, x, y, z] = quaternion(body.turn);
                        let q7 = qs.unwrap_or_else(|| [&body.at[..], &[w, x, y, z]].concat());
                        q += &format!("{name} = {{position = {:?}, quaternion = {:?}}}\n", &q7[..3], &q7[3..]);
                        v += &vs.map_or(String::new(), |v| {
                            format!("{name} = {{velocity = {:?}, rate = {:?}}}\n", &v[..3], &v[3..])
                        });
                    }
                }
            }
        }
        let project = if self.scene.equalities.is_empty() { "" } else { "\n[initial]\nproject = true\n" };
        self.line(&format!("{project}\n[initial.q]\n{q}[initial.v]\n{}", v.trim_end()));
    }
}
