//! The equations that close a loop. Its joints may keep some of them by themselves: no hinge of a planar four-bar moves its ends
//! out of the plane. Constraints that repeat each other have no unique forces, so these are left out.

use super::super::turn::{Matrix, Vector, add, apply, cross, dot, minus, scaled, transposed, unit};
use super::read::placed;
use super::{Kind, Loop, Scene, Spot};

/// Axes whose directions differ by less are parallel: files give few digits.
const PARALLEL: f64 = 1e-4;

/// An offset that is larger, relative to the places, is more than roundoff.
const OFFSET: f64 = 1e-9;

/// The names of the equations: along each axis, and of a weld about it.
pub const AXES: [&str; 3] = ["x", "y", "z"];
pub const TURNS: [&str; 3] = ["zy", "zx", "yx"];

/// The directions of a frame in which something can change.
enum Span {
    None,
    Along(Vector),
    Across(Vector),
    All,
}

fn length(a: Vector) -> f64 {
    dot(a, a).sqrt()
}

impl Span {
    /// Adds a direction.
    fn with(self, direction: Vector) -> Span {
        match self {
            Span::None => Span::Along(direction),
            Span::Along(other) => {
                let normal = cross(other, direction);
                if dot(normal, normal) < PARALLEL * PARALLEL {
                    return self;
                }
                unit(normal).map_or(self, Span::Across)
            }
            Span::Across(normal) if dot(normal, direction).abs() < PARALLEL => self,
            Span::Across(_) | Span::All => Span::All,
        }
    }

    /// The axes along which equations are independent.
    fn axes(&self) -> Vec<usize> {
        let main = |a: &Vector| (0..3).fold(0, |best, k| if a[k].abs() > a[best].abs() { k } else { best });
        match self {
            Span::None => Vec::new(),
            Span::Along(direction) => vec![main(direction)],
            Span::Across(normal) => (0..3).filter(|&k| k != main(normal)).collect(),
            Span::All => vec![0, 1, 2],
        }
    }

    /// The part of a vector that no change in these directions removes.
    fn rest(&self, a: Vector) -> Vector {
        match self {
            Span::None => a,
            Span::Along(direction) => minus(a, scaled(dot(a, *direction), *direction)),
            Span::Across(normal) => scaled(dot(a, *normal), *normal),
            Span::All => [0.0; 3],
        }
    }

    /// The same in another frame, with the orientation of that frame.
    fn seen_from(&self, turn: Matrix) -> Span {
        let turned = |a: &Vector| apply(transposed(turn), *a);
        match self {
            Span::None => Span::None,
            Span::Along(direction) => Span::Along(turned(direction)),
            Span::Across(normal) => Span::Across(turned(normal)),
            Span::All => Span::All,
        }
    }
}

/// A body and those that carry it.
fn chain(scene: &Scene, body: Option<usize>) -> Vec<usize> {
    std::iter::successors(body, |&number| scene.bodies[number].parent).collect()
}

/// How joints move one end of a loop beside the other, and how they turn it: directions in the world, at the reference.
fn spans(scene: &Scene, bodies: impl Iterator<Item = usize>) -> (Span, Span) {
    let (mut moves, mut turns) = (Span::None, Span::None);
    for number in bodies {
        let turn = placed(scene, Some(number)).1;
        for joint in &scene.bodies[number].joints {
            let axis = unit(apply(turn, joint.axis));
            (moves, turns) = match (joint.kind, axis) {
                (Kind::Slide, Some(axis)) => (moves.with(axis), turns),
                (Kind::Hinge, Some(axis)) => (moves, turns.with(axis)),
                _ => return (Span::All, Span::All),
            };
        }
    }
    match turns {
        Span::None => (moves, Span::None),
        // Hinges with one direction move across it, and so may slides.
        Span::Along(axis) => match moves {
            Span::None => (Span::Across(axis), turns),
            Span::Along(slide) => (Span::Across(axis).with(slide), turns),
            Span::Across(normal) if Span::Along(axis).rest(normal).iter().all(|x| x.abs() < PARALLEL) => (moves, turns),
            Span::Across(_) | Span::All => (Span::All, turns),
        },
        Span::Across(_) | Span::All => (Span::All, Span::All),
    }
}

impl Loop {
    /// The equations that make two places one, and of a weld also the axes of their bodies. What is left out is noted.
    pub fn new(scene: &mut Scene, [one, mut other]: [Spot; 2], is_weld: bool) -> Loop {
        let chains = [chain(scene, one.body), chain(scene, other.body)];
        let common = chains[0].iter().copied().find(|number| chains[1].contains(number));
        let inside = chains.iter().flat_map(|chain| chain.iter().copied().take_while(|&number| Some(number) != common));
        let (moves, turns) = spans(scene, inside);
        // Without joints, what carries the loop is the world.
        let moves_too = |number: usize| chain(scene, Some(number)).iter().any(|&n| !scene.bodies[n].joints.is_empty());
        let base = common.filter(|&number| moves_too(number));
        let ((p1, r1), (p2, r2)) = (placed(scene, one.body), placed(scene, other.body));
        let axes = moves.seen_from(placed(scene, base).1).axes();
        let turns = if is_weld { turns.seen_from(r2).axes() } else { Vec::new() };

        let places = [add(p1, apply(r1, one.at)), add(p2, apply(r2, other.at))];
        let offset = moves.rest(minus(places[0], places[1]));
        other.at = add(other.at, apply(transposed(r2), offset));
        let made = Loop { ends: [one, other], base, axes, turns };
        made.note(scene, is_weld, length(offset), length(places[0]) + length(places[1]));
        made
    }

    /// Notes the equations that are left out, and an offset beside the size of the places.
    fn note(&self, scene: &mut Scene, is_weld: bool, offset: f64, size: f64) {
        let number = scene.equalities.len() + 1;
        let out = |kept: &[usize], names: [&'static str; 3]| {
            (0..3).filter(|k| !kept.contains(k)).map(|k| names[k]).collect::<Vec<_>>()
        };
        let mut names = out(&self.axes, AXES);
        if is_weld {
            names.extend(out(&self.turns, TURNS));
        }
        if !names.is_empty() {
            let (s, names) = (if names.len() > 1 { "s" } else { "" }, names.join(", "));
            let note =
                format!("the equation{s} {names} of equality {number}, which the joints of its loop cannot break");
            scene.left_out.push(note);
        }
        if offset > OFFSET * size {
            let note =
                format!("an offset of {offset:.3} in equality {number}, which the joints of its loop cannot close");
            scene.left_out.push(note);
        }
    }
}
