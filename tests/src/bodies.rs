//! Random mechanisms, written by the grammar of the format: trees with all joints, points, loops, contacts and starts, and now and
//! then a mistake.

use crate::Random;
use crate::words::one_of;

/// The first six are those of the plane.
const JOINTS: [&str; 9] = ["revolute", "prismatic", "fixed", "free", "ty", "rz", "ball", "tz", "rx"];

/// A mechanism that is being written.
struct Draft<'r> {
    random: &'r mut Random,
    text: String,
    dimension: usize,
    bodies: Vec<String>,
    /// Bodies with a ball or a free joint.
    loose: Vec<String>,
    coordinates: Vec<String>,
    points: usize,
}

/// A mechanism, most often without a mistake.
pub fn mechanism(random: &mut Random) -> String {
    let dimension = if random.below(40) == 0 { random.below(5) } else { 2 + random.below(2) };
    let (text, bodies) = (String::from("[parameters]\nm = 1.5\nn = 2\n"), vec!["ground".to_string()]);
    let mut draft = Draft { random, text, dimension, bodies, loose: Vec::new(), coordinates: Vec::new(), points: 0 };
    let gravity = draft.place();
    draft.line(&format!("[mechanism]\ndimension = {dimension}\ngravity = {gravity}"));
    for _ in 0..=draft.random.below(4) {
        draft.body();
    }
    draft.points();
    if draft.points > 0 {
        (0..draft.random.below(3)).for_each(|_| draft.tie());
    }
    draft.forces();
    draft.initial();
    draft.text
}

/// Settings for `--set`, of what mechanisms have.
pub fn settings(random: &mut Random) -> Vec<String> {
    const SETTINGS: [&str; 18] = [
        "m=2",
        "m=0",
        "m=-1",
        "n=3",
        "n=0",
        "initial.q[0]=0.5",
        "initial.q.b1=0.3",
        "initial.q.b1={x=1}",
        "initial.q.b1.rotation=[0.1, 0.2, 0.3]",
        "initial.q.b2={quaternion=[0, 1, 0, 0]}",
        "initial.v.b1={rate=[1, 0, 0], velocity=[0, 1, 0]}",
        "initial.q.link1[2]=0.4",
        "body[0].mass=3",
        "body[0].joint=\"free\"",
        "mechanism.dimension=2",
        "mechanism.gravity=[0, 0, 1]",
        "points.p1=[0, 0, 1]",
        "view.from=[1, 0, 0]",
    ];
    (0..random.below(3)).map(|_| one_of(random, &SETTINGS).to_string()).collect()
}

impl Draft<'_> {
    fn line(&mut self, line: &str) {
        self.text += line;
        self.text.push('\n');
    }

    fn one_in(&mut self, n: usize) -> bool {
        self.random.below(n) == 0
    }

    fn number(&mut self) -> String {
        match self.random.below(300) {
            0..20 => "\"m\"".into(),
            20..40 => "0".into(),
            40 => one_of(self.random, &["inf", "nan", "\"1/0\"", "1e300", "-1", "\"t\"", "\"p1.x\"", "[]"]).to_string(),
            _ => format!("{:.3}", self.random.between(-1.0, 1.0)),
        }
    }

    fn list(&mut self, count: usize) -> String {
        let entries: Vec<String> = (0..count).map(|_| self.number()).collect();
        format!("[{}]", entries.join(", "))
    }

    fn place(&mut self) -> String {
        let extra = usize::from(self.one_in(60));
        self.list(self.dimension + extra)
    }

    fn known(&mut self, names: &[String]) -> String {
        match names {
            [] => "nothing".into(),
            _ if self.one_in(50) => "nobody".into(),
            names => names[self.random.below(names.len())].clone(),
        }
    }

    fn body(&mut self) {
        let number = self.bodies.len();
        let bodies = self.bodies.clone();
        let parent = self.known(&bodies);
        if self.one_in(12) {
            let (at, com) = (self.place(), self.place());
            self.line(&format!(
                "[[body]]\nname = \"link{number}[1..n]\"\nparent = \"link{number}[i-1]\"\nroot = \"{parent}\""
            ));
            self.line(&format!("at = {at}\ncom = {com}\nmass = \"i\"\ndamping = 0.1"));
            for i in 1..=2 {
                self.bodies.push(format!("link{number}[{i}]"));
                self.coordinates.push(format!("\"link{number}[{i}]\""));
            }
            return;
        }
        let name = if self.one_in(60) { "b1".into() } else { format!("b{number}") };
        let known = if self.dimension == 2 && !self.one_in(50) { 6 } else { 9 };
        let joint = one_of(self.random, &JOINTS[..known]).to_string();
        self.line(&format!("[[body]]\nname = \"{name}\"\nparent = \"{parent}\""));
        let is_loose = ["ball", "free"].contains(&joint.as_str());
        let has_axis = joint == "prismatic" || (joint == "revolute" && self.dimension == 3);
        let is_sprung = !is_loose && joint != "fixed";
        if self.one_in(4) && is_sprung && !has_axis {
            let list = if self.dimension == 2 { ["tx", "ty", "rz"] } else { ["rz", "ty", "rx"] };
            self.line(&format!("joint = {list:?}\ncoordinates = [\"{name}_a\", \"{name}_b\", \"{name}_c\"]"));
            self.coordinates.extend(["a", "b", "c"].map(|letter| format!("{name}_{letter}")));
        } else {
            self.line(&format!("joint = \"{joint}\""));
            match is_loose {
                true => self.loose.push(name.clone()),
                false if joint != "fixed" => self.coordinates.push(name.clone()),
                false => {}
            }
        }
        let inertia = match (self.dimension, self.random.below(4)) {
            (2, _) => "0.2".to_string(),
            (_, 0) => "[0.2, 0.3, 0.25, 0.01, -0.02, 0.03]".into(),
            (_, 1) => "[0, 0.3, 0.3]".into(),
            _ => "[0.2, 0.3, 0.25]".into(),
        };
        self.line(&format!("mass = \"m\"\ninertia = {inertia}"));
        for key in ["at", "com", "axis"] {
            let often = match key {
                "axis" if has_axis => 2,
                "axis" => 200,
                _ => 2,
            };
            if self.one_in(often) {
                let place = self.place();
                self.line(&format!("{key} = {place}"));
            }
        }
        if self.one_in(3) {
            let turn = if self.dimension == 3 { self.list(3) } else { self.number() };
            self.line(&format!("turn = {turn}"));
        }
        for key in ["stiffness", "rest", "damping"] {
            if self.one_in(6) && (is_sprung || self.one_in(20)) {
                let number = self.number();
                self.line(&format!("{key} = {number}"));
            }
        }
        if self.one_in(8) && (is_sprung || self.one_in(20)) {
            self.line("limits = [-2, \"m + 1\"]\nrestitution = 0.5");
        }
        self.bodies.push(name);
    }

    fn points(&mut self) {
        self.line("[points]");
        let bodies = self.bodies.clone();
        self.points = 1 + self.random.below(3);
        for number in 1..=self.points {
            let (on, at) = (self.known(&bodies), self.place());
            let point = if self.one_in(6) { at } else { format!("{{on = \"{on}\", at = {at}}}") };
            self.line(&format!("p{number} = {point}"));
        }
    }

    fn point(&mut self) -> String {
        let count = self.points + usize::from(self.one_in(50));
        format!("p{}", 1 + self.random.below(count))
    }

    fn tie(&mut self) {
        let (a, b, number) = (self.point(), self.point(), self.number());
        let place = self.place();
        let text = match self.random.below(7) {
            0 => format!("[[constraint]]\njoin = [\"{a}\", \"{b}\"]"),
            1 => format!("[[constraint]]\ndistance = [\"{a}\", {place}]\nlength = 1.5"),
            2 => format!("[[spring]]\nbetween = [\"{a}\", \"{b}\"]\nstiffness = {number}\nlength = 0.4\ndamping = 0.1"),
            3 => format!("[[push]]\nat = \"{a}\"\nforce = {place}"),
            4 if self.dimension == 3 => {
                format!(
                    "[[contact]]\npoints = \"{a}\"\nplane = {{through = [0, 0, -9], normal = [0, 0, 1]}}\nrestitution = 0.5"
                )
            }
            4 => format!("[[contact]]\npoints = \"all\"\ncircle = {{center = {place}, radius = 9}}"),
            5 => format!("[[wall]]\nphi = \"{a}.x + {a}.y + 9\""),
            _ if self.dimension == 2 => format!("[[wall]]\nphi = \"{a}.x + 9\""),
            _ => format!("[[contact]]\npoints = \"{a}\"\nsphere = {{center = \"{b}\", radius = 9}}"),
        };
        self.line(&text);
    }

    fn forces(&mut self) {
        let (coordinates, loose) = (self.coordinates.clone(), self.loose.clone());
        self.line("[forces]");
        if !coordinates.is_empty() && self.one_in(3) {
            let coordinate = self.known(&coordinates);
            self.line(&format!("{coordinate} = \"sin(t) - 0.1*p1.x'\""));
        }
        if !loose.is_empty() && self.one_in(3) {
            let (body, count) = (self.known(&loose), 3 * (1 + self.random.below(2)));
            let torque = self.list(count);
            self.line(&format!("{body} = {torque}"));
        }
    }

    fn initial(&mut self) {
        let (coordinates, loose) = (self.coordinates.clone(), self.loose.clone());
        let project = self.one_in(2);
        self.line(&format!("[initial]\nproject = {project}\n[initial.q]"));
        if !coordinates.is_empty() {
            let (coordinate, value) = (self.known(&coordinates), self.number());
            self.line(&format!("{coordinate} = {value}"));
        }
        if !loose.is_empty() {
            let (body, rotation) = (self.known(&loose), self.list(if self.dimension == 3 { 3 } else { 1 }));
            let rotation = if self.dimension == 3 { rotation } else { rotation.trim_matches(['[', ']']).into() };
            self.line(&format!("{body} = {{rotation = {rotation}}}"));
            let rate = self.list(3);
            self.line(&format!("[initial.v]\n{body} = {{rate = {rate}}}"));
        }
        if self.one_in(2) {
            let component =
                one_of(self.random, &["p1.x", "p1.y'", "p1.z", "p1", "b1.omega1", "b1.mu2", "b1.qw", "b2.x"])
                    .to_string();
            self.line(&format!("[outputs]\nseen = \"{component}\""));
        }
    }
}
