//! The points and constraints of equalities, as text.

use super::super::turn::{UNIT, add, transposed};
use super::loops::{AXES, TURNS};
use super::write::Writer;
use super::{Equality, Loop, Spot};

impl Writer<'_> {
    /// The points that constraints need.
    pub fn ties(&mut self) {
        for (number, equality) in (1..).zip(&self.scene.equalities) {
            let (Equality::Connect(closed) | Equality::Weld(closed, _)) = equality else { continue };
            let [one, other] = closed.ends;
            self.tied(number, one, "a");
            self.tied(number, other, "b");
            if let Equality::Weld(_, turn) = equality {
                // The ends of three axes on both, parallel where they are welded.
                let columns = transposed(*turn);
                for (k, axis) in AXES.into_iter().enumerate() {
                    self.tied(number, Spot { at: add(one.at, columns[k]), ..one }, &format!("a{axis}"));
                    self.tied(number, Spot { at: add(other.at, UNIT[k]), ..other }, &format!("b{axis}"));
                }
            }
            if let (Some(_), 1..=2) = (closed.base, closed.axes.len()) {
                // The axes of the body that carries the loop.
                self.tied(number, Spot { body: closed.base, at: [0.0; 3] }, "o");
                for &k in &closed.axes {
                    self.tied(number, Spot { body: closed.base, at: UNIT[k] }, &format!("o{}", AXES[k]));
                }
            }
        }
    }

    fn tied(&mut self, number: usize, spot: Spot, end: &str) {
        let line = format!("tie{number}_{end} = {}", self.spot(spot));
        self.line(&line);
    }

    pub fn equality(&mut self, number: usize, equality: &Equality) {
        let joints: Vec<&str> = self.bodies.iter().flat_map(|body| body.joints.iter().map(String::as_str)).collect();
        match equality {
            Equality::Joint(first, second, c) => {
                let x = second.map_or("0", |second| joints[second]);
                let terms: Vec<String> =
                    (0..5).filter(|&k| c[k] != 0.0).map(|k| format!("({})*{x}^{k}", c[k])).collect();
                let sum = if terms.is_empty() || second.is_none() { format!("{}", c[0]) } else { terms.join(" + ") };
                let sum = sum.replace(&format!("*{x}^0"), "").replace("^1", "");
                self.constraint(number, "", &format!("g = \"{} - ({sum})\"", joints[*first]));
            }
            Equality::Connect(closed) | Equality::Weld(closed, _) => self.closed(number, closed),
        }
    }

    fn constraint(&mut self, number: usize, part: &str, text: &str) {
        let name = format!("equality {number} {part}");
        self.line(&format!("\n[[constraint]]\nname = \"{}\"\n{text}", name.trim_end()));
    }

    /// The equations of a loop.
    fn closed(&mut self, number: usize, closed: &Loop) {
        let from =
            |start: &str, end: &str, axis: &str| format!("(tie{number}_{end}.{axis} - tie{number}_{start}.{axis})");
        if closed.axes.len() == AXES.len() {
            self.constraint(number, "", &format!("join = [\"tie{number}_a\", \"tie{number}_b\"]"));
        } else {
            for own in closed.axes.iter().map(|&k| AXES[k]) {
                let g = match closed.base {
                    None => format!("tie{number}_a.{own} - tie{number}_b.{own}"),
                    Some(_) => {
                        AXES.map(|axis| from("o", &format!("o{own}"), axis) + "*" + &from("b", "a", axis)).join(" + ")
                    }
                };
                self.constraint(number, own, &format!("g = \"{g}\""));
            }
        }
        // An axis of one body is perpendicular to another of the other.
        for name in closed.turns.iter().map(|&k| TURNS[k]) {
            let (one, other) = name.split_at(1);
            let part = |axis| from("a", &format!("a{one}"), axis) + "*" + &from("b", &format!("b{other}"), axis);
            self.constraint(number, name, &format!("g = \"{}\"", AXES.map(part).join(" + ")));
        }
    }
}
