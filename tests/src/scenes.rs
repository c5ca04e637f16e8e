//! Random scenes as MJCF: trees with all joints and geoms, classes, equalities, keyframes, and now and then a mistake.

use crate::Random;
use crate::words::one_of;

/// A file that is being written.
struct Draft<'r> {
    random: &'r mut Random,
    text: String,
    bodies: usize,
    /// The numbers of qpos and qvel.
    counts: [usize; 2],
    joints: Vec<String>,
}

/// A scene, most often without a mistake.
pub fn mjcf(random: &mut Random) -> String {
    let mut draft = Draft { random, text: String::new(), bodies: 0, counts: [0, 0], joints: Vec::new() };
    let angle = one_of(draft.random, &["degree", "radian", "radian", "grad"]);
    let sequence = one_of(draft.random, &["xyz", "zyx", "XYZ", "xZy", "abc"]);
    let angle = if draft.one_in(30) { angle } else { "radian" };
    let sequence = if draft.one_in(4) { sequence } else { "zyx" };
    draft.text += &format!("<mujoco model=\"m\">\n<compiler angle=\"{angle}\" eulerseq=\"{sequence}\"/>\n");
    draft.text += "<default><joint damping=\"0.1\"/><default class=\"c\"><geom density=\"500\"/><joint armature=\"0.1\"/></default></default>\n";
    draft.text += "<worldbody>\n<geom type=\"plane\" size=\"1 1 1\"/>\n";
    for _ in 0..=draft.random.below(2) {
        draft.body(0);
    }
    draft.text += "</worldbody>\n";
    draft.equalities();
    if draft.one_in(3) {
        let [qpos, qvel] = draft.counts.map(|count| draft.list(count));
        draft.text += &format!("<keyframe><key qpos=\"{qpos}\" qvel=\"{qvel}\"/></keyframe>\n");
    }
    draft.text += one_of(
        draft.random,
        &["", "<actuator><motor joint=\"j1\"/></actuator>\n", "<asset/>", "<include file=\"a\"/>"],
    );
    draft.text += "</mujoco>\n";
    draft.text
}

impl Draft<'_> {
    fn one_in(&mut self, n: usize) -> bool {
        self.random.below(n) == 0
    }

    fn number(&mut self) -> String {
        match self.random.below(300) {
            0 => one_of(self.random, &["nan", "inf", "1e300", "1e-300", "x", ""]).into(),
            1..20 => "0".into(),
            _ => format!("{:.3}", self.random.between(-1.0, 1.0)),
        }
    }

    fn list(&mut self, count: usize) -> String {
        let count = if self.one_in(150) { count + 1 } else { count };
        (0..count).map(|_| self.number()).collect::<Vec<_>>().join(" ")
    }

    fn frame(&mut self) -> String {
        let pos = self.list(3);
        let turn = match self.random.below(8) {
            0 => format!("quat=\"{}\"", self.list(4)),
            1 => format!("euler=\"{}\"", self.list(3)),
            2 => format!("axisangle=\"{}\"", self.list(4)),
            3 => format!("xyaxes=\"{}\"", self.list(6)),
            4 => format!("zaxis=\"{}\"", self.list(3)),
            _ => String::new(),
        };
        format!("pos=\"{pos}\" {turn}")
    }

    fn body(&mut self, depth: usize) {
        self.bodies += 1;
        let (number, frame) = (self.bodies, self.frame());
        let class = if self.one_in(4) { "childclass=\"c\"" } else { "" };
        self.text += &format!("<body name=\"b{number}\" {frame} {class}>\n");
        let joints = self.random.below(3);
        if depth == 0 && self.one_in(3) {
            self.text += "<freejoint/>\n";
            self.counts = [self.counts[0] + 7, self.counts[1] + 6];
        } else {
            (0..joints).for_each(|_| self.joint());
        }
        let inertial = self.frame();
        match self.random.below(6) {
            0 => self.text += &format!("<inertial {inertial} mass=\"1\" diaginertia=\"0.1 0.2 0.15\"/>\n"),
            1 => self.text += &format!("<inertial {inertial} mass=\"1\" fullinertia=\"0.1 0.2 0.15 0.01 0 -0.02\"/>\n"),
            _ => self.geom(),
        }
        if self.one_in(3) {
            self.geom();
        }
        let at = self.list(3);
        self.text += &format!("<site name=\"s{number}\" pos=\"{at}\"/>\n");
        if depth < 4 && self.one_in(2) {
            self.body(depth + 1);
        }
        self.text += "</body>\n";
    }

    fn joint(&mut self) {
        let name = format!("j{}", self.joints.len() + 1);
        let kind = if self.one_in(100) { "screw" } else { one_of(self.random, &["hinge", "hinge", "slide", "ball"]) };
        let (axis, pos) = (self.list(3), self.list(3));
        let more = match self.random.below(8) {
            0 => "range=\"-1 1\"".to_string(),
            1 => format!("ref=\"{}\"", self.number()),
            2 => format!("stiffness=\"2\" springref=\"{}\"", self.number()),
            3 => "limited=\"true\" range=\"-0.5 0.5\"".into(),
            _ => String::new(),
        };
        self.text += &format!("<joint name=\"{name}\" type=\"{kind}\" axis=\"{axis}\" pos=\"{pos}\" {more}/>\n");
        let counts = if kind == "ball" { [4, 3] } else { [1, 1] };
        self.counts = [self.counts[0] + counts[0], self.counts[1] + counts[1]];
        self.joints.push(name);
    }

    fn geom(&mut self) {
        let frame = self.frame();
        let shape = match self.random.below(8) {
            0 => "type=\"box\" size=\"0.1 0.2 0.3\"".to_string(),
            1 => "type=\"ellipsoid\" size=\"0.1 0.2 0.3\"".into(),
            2 => format!("type=\"capsule\" size=\"0.1\" fromto=\"{}\"", self.list(6)),
            3 => "type=\"cylinder\" size=\"0.1 0.3\"".into(),
            4 if self.one_in(10) => "type=\"mesh\" mesh=\"a\"".into(),
            5 => "size=\"0.2\" mass=\"0.5\"".into(),
            _ => "size=\"0.1\"".into(),
        };
        self.text += &format!("<geom {shape} {frame}/>\n");
    }

    fn equalities(&mut self) {
        self.text += "<equality>\n";
        if self.one_in(4) {
            let (one, other) = (self.random.below(self.bodies + 1), 1 + self.random.below(self.bodies));
            let anchor = self.list(3);
            let kind = one_of(self.random, &["connect", "weld"]);
            self.text += &format!("<{kind} body1=\"b{one}\" body2=\"b{other}\" anchor=\"{anchor}\"/>\n");
        }
        if self.joints.len() > 1 && self.one_in(4) {
            let pick = self.random.below(self.joints.len() - 1);
            let polynomial = self.list(2);
            self.text += &format!(
                "<joint joint1=\"{}\" joint2=\"{}\" polycoef=\"{polynomial}\"/>\n",
                self.joints[pick],
                self.joints[pick + 1]
            );
        }
        self.text += "</equality>\n";
    }
}
