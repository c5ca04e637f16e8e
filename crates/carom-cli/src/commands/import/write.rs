//! The model of a robot, as text.

use carom::lab::error::{Diagnostic, Result};

use super::names::{Names, key};
use super::robot::{Joint, Kind, Link, Robot};
use super::turn::{Vector, rotation_vector};

/// A link with the names and the joint that the model gives it.
struct Part<'r> {
    link: &'r Link,
    /// None for the root that is the ground.
    body: Option<String>,
    coordinates: Vec<String>,
    kind: Kind,
}

/// The text of a model.
pub fn model(robot: &Robot, is_floating: bool) -> Result<String> {
    let mut notes: Vec<String> = robot.left_out.clone();
    let mut names = Names::default();
    let parts = parts(robot, is_floating, &mut names, &mut notes);
    let moves = |part: &Part| !part.coordinates.is_empty() || (part.kind == Kind::Floating && part.body.is_some());
    if !parts.iter().any(moves) {
        return Err(Diagnostic::new("nothing of the robot can move")
            .with_help("`--floating` lets its root move")
            .into());
    }
    let start: Vec<f64> = parts.iter().map(|part| start_of(part, robot)).collect();
    let mut text = format!("title = {:?}\n", robot.name);
    for (was, is) in &names.changed {
        text += &format!("# `{}` is called `{is}` here.\n", was.escape_debug());
    }
    notes.iter().for_each(|note| text += &format!("# Left out: {}.\n", note.replace(['\n', '\r'], " ")));
    text += "\n[mechanism]\ngravity = [0, 0, -9.81]\n";
    for part in &parts {
        if let Some(body) = &part.body {
            text += &table(part, body, &parts);
        }
    }
    text += &points(&parts, &mut names);
    text += &constraints(&parts)?;
    text += "\n[initial.q]\n";
    for (part, value) in parts.iter().zip(&start) {
        if let ([coordinate], true) = (part.coordinates.as_slice(), *value != 0.0) {
            text += &format!("{} = {value}\n", key(coordinate));
        }
    }
    text += "[initial.v]\n\n[run]\nuntil = 1.0\n";
    Ok(text)
}

fn parts<'r>(robot: &'r Robot, is_floating: bool, names: &mut Names, notes: &mut Vec<String>) -> Vec<Part<'r>> {
    let moves_mass = moves_mass(&robot.links);
    let mut parts: Vec<Part> = Vec::new();
    for (link, moves_mass) in robot.links.iter().zip(moves_mass) {
        let Some(joint) = &link.joint else {
            let body = is_floating.then(|| names.give(&link.name));
            if !is_floating && link.mass > 0.0 {
                notes
                    .push(format!("the mass of {}, which stands on the ground (`--floating` lets it move)", link.name));
            }
            parts.push(Part { link, body, coordinates: Vec::new(), kind: Kind::Floating });
            continue;
        };
        let mut kind = joint.kind;
        if kind == Kind::Planar && joint.axis != [0.0, 0.0, 1.0] {
            notes.push(format!("the motion of {}: a planar joint whose axis is not z is fixed", joint.name));
            kind = Kind::Fixed;
        }
        if kind != Kind::Fixed && !moves_mass {
            notes.push(format!("the motion of {}: it moves no mass and is fixed", joint.name));
            kind = Kind::Fixed;
        }
        let body = Some(names.give(&link.name));
        let coordinates = match kind {
            // A body and its own coordinate may have one name.
            Kind::Revolute | Kind::Prismatic if joint.name == link.name => body.iter().cloned().collect(),
            Kind::Revolute | Kind::Prismatic => vec![names.give(&joint.name)],
            Kind::Planar => ["x", "y", "angle"].map(|axis| names.give(&format!("{}_{axis}", joint.name))).to_vec(),
            Kind::Fixed | Kind::Floating => Vec::new(),
        };
        parts.push(Part { link, body, coordinates, kind });
    }
    parts
}

/// Whether each link, or one beyond it, has mass.
fn moves_mass(links: &[Link]) -> Vec<bool> {
    let mut has: Vec<bool> =
        links.iter().map(|link| link.mass > 0.0 || link.inertia.as_flattened().iter().any(|x| *x != 0.0)).collect();
    for (i, link) in links.iter().enumerate().rev() {
        if let (true, Some(joint)) = (has[i], &link.joint) {
            has[joint.parent] = true;
        }
    }
    has
}

/// `[x, y, z]`.
pub fn vector(v: Vector) -> String {
    format!("[{}, {}, {}]", v[0], v[1], v[2])
}

fn table(part: &Part, body: &str, parts: &[Part]) -> String {
    let mut text = format!("\n[[body]]\nname = \"{body}\"\n");
    let Link { mass, com, inertia, joint, .. } = part.link;
    match joint {
        None => text += "joint = \"free\"\n",
        Some(joint) => text += &jointed(joint, part, parts),
    }
    if *mass != 0.0 {
        text += &format!("mass = {mass}\n");
    }
    if *com != [0.0; 3] {
        text += &format!("com = {}\n", vector(*com));
    }
    let [[xx, xy, xz], [_, yy, yz], [_, _, zz]] = inertia;
    if [xy, xz, yz].into_iter().any(|x| *x != 0.0) {
        text += &format!("inertia = [{xx}, {yy}, {zz}, {xy}, {xz}, {yz}]\n");
    } else if [xx, yy, zz].into_iter().any(|x| *x != 0.0) {
        text += &format!("inertia = [{xx}, {yy}, {zz}]\n");
    }
    text
}

fn jointed(joint: &Joint, part: &Part, parts: &[Part]) -> String {
    let mut text = String::new();
    if let Some(parent) = &parts[joint.parent].body {
        text += &format!("parent = \"{parent}\"\n");
    }
    text += match part.kind {
        Kind::Revolute => "joint = \"revolute\"\n",
        Kind::Prismatic => "joint = \"prismatic\"\n",
        Kind::Fixed => "joint = \"fixed\"\n",
        Kind::Floating => "joint = \"free\"\n",
        Kind::Planar => "joint = [\"tx\", \"ty\", \"rz\"]\n",
    };
    match part.coordinates.as_slice() {
        [] => {}
        [one] => text += &format!("coordinate = \"{one}\"\n"),
        many => text += &format!("coordinates = {many:?}\n"),
    }
    if matches!(part.kind, Kind::Revolute | Kind::Prismatic) {
        text += &format!("axis = {}\n", vector(joint.axis));
    }
    if joint.at != [0.0; 3] {
        text += &format!("at = {}\n", vector(joint.at));
    }
    let turn = rotation_vector(joint.turn);
    if turn != [0.0; 3] {
        text += &format!("turn = {}\n", vector(turn));
    }
    if joint.damping != 0.0 && !part.coordinates.is_empty() {
        text += &format!("damping = {}\n", joint.damping);
    }
    if let (Some([low, high]), [_]) = (joint.limits, part.coordinates.as_slice()) {
        text += &format!("limits = [{low}, {high}]\n");
    }
    text
}

/// The origins of the bodies, and lines between them.
fn points(parts: &[Part], names: &mut Names) -> String {
    let before = names.changed.len();
    let origins: Vec<String> =
        parts.iter().map(|part| names.give(&format!("{}_origin", part.body.as_deref().unwrap_or("base")))).collect();
    names.changed.truncate(before);
    let mut text = String::from("\n[points]\n");
    for (part, origin) in parts.iter().zip(&origins) {
        let on = part.body.as_deref().unwrap_or("ground");
        text += &format!("{} = {{on = \"{on}\"}}\n", key(origin));
    }
    for (part, origin) in parts.iter().zip(&origins) {
        if let Some(joint) = &part.link.joint {
            text += &format!("\n[[draw]]\nlink = [\"{}\", \"{origin}\"]\n", origins[joint.parent]);
        }
    }
    text
}

/// The joint that a joint follows, among the parts.
fn followed<'p, 'r>(part: &'p Part, parts: &'p [Part<'r>]) -> Option<(Option<&'p Part<'r>>, &'p str, f64, f64)> {
    let (name, factor, offset) = part.link.joint.as_ref()?.mimic.as_ref()?;
    let of = parts.iter().find(|other| other.link.joint.as_ref().is_some_and(|joint| joint.name == *name));
    Some((of, name, *factor, *offset))
}

fn constraints(parts: &[Part]) -> Result<String> {
    let mut text = String::new();
    for part in parts {
        let (Some((of, name, factor, offset)), [q]) = (followed(part, parts), part.coordinates.as_slice()) else {
            continue;
        };
        let Some([other]) = of.map(|of| of.coordinates.as_slice()) else {
            return Err(
                Diagnostic::new(format!("the joint `{q}` mimics `{name}`, which is no joint that moves")).into()
            );
        };
        text += &format!(
            "\n[[constraint]]\nname = \"{q} follows {other}\"\ng = \"{q} - ({factor}*{other} + ({offset}))\"\n"
        );
    }
    Ok(text)
}

/// Where a joint starts: at 0, or at the limit nearest to it; a joint that mimics another where that puts it.
fn start_of(part: &Part, robot: &Robot) -> f64 {
    let Some(joint) = &part.link.joint else { return 0.0 };
    let of = |joint: &Joint| joint.limits.map_or(0.0, |[low, high]| 0.0f64.clamp(low, high));
    match &joint.mimic {
        None => of(joint),
        Some((name, factor, offset)) => {
            let joints = robot.links.iter().filter_map(|link| link.joint.as_ref());
            factor * joints.filter(|other| other.name == *name).map(of).sum::<f64>() + offset
        }
    }
}
