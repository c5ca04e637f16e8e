//! Random robots as URDF: trees with all joints, and now and then a mistake.

use crate::Random;
use crate::words::one_of;

const JOINTS: [&str; 6] = ["revolute", "continuous", "prismatic", "fixed", "floating", "planar"];

/// A file that is being written.
struct Draft<'r> {
    random: &'r mut Random,
    text: String,
    /// The links so far.
    links: Vec<String>,
    /// The joints so far.
    joints: Vec<String>,
}

/// A robot, most often without a mistake.
pub fn urdf(random: &mut Random) -> String {
    let mut draft = Draft { random, text: String::new(), links: Vec::new(), joints: Vec::new() };
    let name = draft.name("robot");
    draft.text += &format!("<?xml version=\"1.0\"?>\n<robot name=\"{name}\">\n");
    draft.link();
    for _ in 0..draft.random.below(6) {
        draft.joint();
    }
    if draft.one_in(4) {
        draft.text += "  <gazebo reference=\"a\"><x>1</x></gazebo>\n  <material name=\"grey\"/>\n";
    }
    draft.text += "</robot>\n";
    draft.text
}

impl Draft<'_> {
    fn one_in(&mut self, n: usize) -> bool {
        self.random.below(n) == 0
    }

    /// A name; some cannot be names of a model.
    fn name(&mut self, what: &str) -> String {
        let number = self.links.len() + self.joints.len();
        match self.random.below(40) {
            0 => one_of(self.random, &["", "t", "ground", "sin", "1", "a&amp;b", "é", "-", "x.y", "a[1]", "🎱"]).into(),
            1 => what.into(),
            2..6 => format!("{what}-{number}"),
            6 => format!("{what} {number}"),
            _ => format!("{what}{number}"),
        }
    }

    fn number(&mut self) -> String {
        match self.random.below(200) {
            0 => one_of(self.random, &["nan", "inf", "1e300", "-1e300", "1e-300", "heavy", "", "1,5", "0x3"]).into(),
            1..20 => "0".into(),
            _ => format!("{:.3}", self.random.between(-1.0, 1.0)),
        }
    }

    fn three(&mut self) -> String {
        let count = if self.one_in(100) { 2 } else { 3 };
        (0..count).map(|_| self.number()).collect::<Vec<_>>().join(" ")
    }

    fn origin(&mut self) -> String {
        let (xyz, rpy) = (self.three(), self.three());
        match self.random.below(3) {
            0 => String::new(),
            1 => format!("<origin xyz=\"{xyz}\"/>"),
            _ => format!("<origin xyz=\"{xyz}\" rpy=\"{rpy}\"/>"),
        }
    }

    fn link(&mut self) {
        let name = self.name("link");
        let (origin, mass) = (self.origin(), self.number().replace('-', ""));
        let inertia = one_of(
            self.random,
            &[
                "<inertia ixx=\"0.2\" iyy=\"0.3\" izz=\"0.25\" ixy=\"0.01\" ixz=\"0\" iyz=\"-0.02\"/>",
                "<inertia ixx=\"0.2\" iyy=\"0.3\" izz=\"0.25\"/>",
                "<inertia ixx=\"0\" iyy=\"0.3\" izz=\"0.3\"/>",
                "<inertia ixx=\"1\" iyy=\"0.1\" izz=\"0.1\"/>",
                "",
            ],
        );
        let inertial = match self.random.below(8) {
            0 => String::new(),
            1 => format!("<inertial>{inertia}</inertial>"),
            _ => format!("<inertial>{origin}<mass value=\"{mass}\"/>{inertia}</inertial>"),
        };
        let shape = match self.random.below(6) {
            0 => "<visual><geometry><mesh filename=\"a.stl\"/></geometry></visual>".to_string(),
            1 => format!("<visual>{origin}<geometry><box size=\"0.1 0.2 0.3\"/></geometry></visual>"),
            2 => "<collision><geometry><cylinder length=\"0.4\" radius=\"0.1\"/></geometry></collision>".into(),
            _ => String::new(),
        };
        self.text += &format!("  <link name=\"{name}\">{inertial}{shape}</link>\n");
        self.links.push(name);
    }

    fn joint(&mut self) {
        let parent = self.links[self.random.below(self.links.len())].clone();
        self.link();
        let child = if self.one_in(60) { 0 } else { self.links.len() - 1 };
        let child = self.links[child].clone();
        let (name, origin, axis) = (self.name("joint"), self.origin(), self.three());
        let kind = if self.one_in(60) { "hinge" } else { one_of(self.random, &JOINTS) };
        self.text += &format!(
            "  <joint name=\"{name}\" type=\"{kind}\"><parent link=\"{parent}\"/><child link=\"{child}\"/>{origin}"
        );
        if self.one_in(2) {
            self.text += &format!("<axis xyz=\"{axis}\"/>");
        }
        if self.one_in(3) {
            let [low, high] = [self.number(), self.number()];
            self.text += &format!("<limit lower=\"{low}\" upper=\"{high}\" effort=\"3\" velocity=\"1\"/>");
        }
        if self.one_in(4) {
            let damping = self.number();
            self.text += &format!("<dynamics damping=\"{damping}\" friction=\"0.1\"/>");
        }
        if !self.joints.is_empty() && self.one_in(5) {
            let joint = self.joints[self.random.below(self.joints.len())].clone();
            let [factor, offset] = [self.number(), self.number()];
            self.text += &format!("<mimic joint=\"{joint}\" multiplier=\"{factor}\" offset=\"{offset}\"/>");
        }
        self.text += "</joint>\n";
        self.joints.push(name);
    }
}
