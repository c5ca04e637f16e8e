//! `connect`, `weld` and `joint` equalities.

use carom::lab::error::Result;
use roxmltree::Node;

use super::super::turn::{Matrix, Vector, add, apply, minus, of_quaternion, product, transposed};
use super::super::xml::{elements, error, numbers, three};
use super::compiler::Compiler;
use super::read::placed;
use super::{Equality, Kind, Loop, Scene, Spot};

impl<'s, 'a, 'i> Compiler<'s, 'a, 'i> {
    /// Reads `<equality>`.
    pub fn equalities(&self, node: &Node<'a, 'i>, scene: &mut Scene) -> Result<()> {
        for child in elements(node) {
            let kind = child.tag_name().name();
            if self.attribute(&child, "active", None) == Some("false") {
                scene.left_out.push(format!("a {kind} that is not active"));
                continue;
            }
            let equality = match kind {
                "connect" => self.connect(&child, scene)?,
                "weld" => self.weld(&child, scene)?,
                "joint" => self.coupling(&child, scene)?,
                other => {
                    scene.left_out.push(format!("the equality {other}"));
                    continue;
                }
            };
            scene.equalities.push(equality);
        }
        Ok(())
    }

    /// The body that an attribute names; the world if there is none.
    fn body(&self, node: &Node, key: &str, scene: &Scene) -> Result<Option<usize>> {
        let Some(name) = node.attribute(key).filter(|name| *name != "world") else { return Ok(None) };
        match scene.bodies.iter().position(|body| body.name == name) {
            Some(number) => Ok(Some(number)),
            None => Err(error(self.source, node, format!("unknown body `{name}`"), "")),
        }
    }

    /// Two places by sites, if the equality names them.
    fn sites(&self, node: &Node, scene: &Scene) -> Result<Option<[Spot; 2]>> {
        let site = |key: &str| {
            let Some(name) = node.attribute(key) else { return Ok(None) };
            match scene.sites.iter().find(|site| site.name == name) {
                Some(site) => Ok(Some(Spot { body: site.body, at: site.at })),
                None => Err(error(self.source, node, format!("unknown site `{name}`"), "")),
            }
        };
        match (site("site1")?, site("site2")?) {
            (Some(one), Some(other)) => Ok(Some([one, other])),
            (None, None) => Ok(None),
            _ => Err(error(self.source, node, "an equality has two sites or none", "")),
        }
    }

    fn connect(&self, node: &Node, scene: &mut Scene) -> Result<Equality> {
        if let Some(sites) = self.sites(node, scene)? {
            return Ok(Equality::Connect(Loop::new(scene, sites, false)));
        }
        let (one, other) = (self.body(node, "body1", scene)?, self.body(node, "body2", scene)?);
        let Some(anchor) = node.attribute("anchor") else {
            return Err(error(self.source, node, "a `connect` has an `anchor` or two sites", ""));
        };
        let anchor = three(self.source, node, "anchor", anchor)?;
        // The anchor is given in the first body; on the second it is where that is at the reference.
        let ((p1, r1), (p2, r2)) = (placed(scene, one), placed(scene, other));
        let place = apply(transposed(r2), minus(add(p1, apply(r1, anchor)), p2));
        let ends = [Spot { body: one, at: anchor }, Spot { body: other, at: place }];
        Ok(Equality::Connect(Loop::new(scene, ends, false)))
    }

    fn weld(&self, node: &Node, scene: &mut Scene) -> Result<Equality> {
        if node.attribute("site1").is_some() {
            return Err(error(self.source, node, "a `weld` of sites is not supported", "name two bodies"));
        }
        let (one, other) = (self.body(node, "body1", scene)?, self.body(node, "body2", scene)?);
        let ((p1, r1), (p2, r2)) = (placed(scene, one), placed(scene, other));
        // Where the second body is in the first: at the reference, unless `relpose` says it.
        let mut pose: (Vector, Matrix) = (apply(transposed(r1), minus(p2, p1)), product(transposed(r1), r2));
        if let Some(text) = node.attribute("relpose") {
            let list = numbers(self.source, node, "relpose", text)?;
            let &[x, y, z, qw, qx, qy, qz] = list.as_slice() else {
                return Err(error(
                    self.source,
                    node,
                    "`relpose` is not seven numbers",
                    "three of a place, four of a quaternion",
                ));
            };
            if let Some(turn) = of_quaternion([qw, qx, qy, qz]) {
                pose = ([x, y, z], turn);
            }
        }
        let anchor = node.attribute("anchor").map_or(Ok([0.0; 3]), |text| three(self.source, node, "anchor", text))?;
        let place = add(pose.0, apply(pose.1, anchor));
        let ends = [Spot { body: one, at: place }, Spot { body: other, at: anchor }];
        Ok(Equality::Weld(Loop::new(scene, ends, true), pose.1))
    }

    fn coupling(&self, node: &Node, scene: &Scene) -> Result<Equality> {
        let joint = |key: &str| {
            let Some(name) = node.attribute(key) else { return Ok(None) };
            let number = scene.joints().position(|joint| joint.name.as_deref() == Some(name));
            let is_plain = |number: &usize| {
                scene.joints().nth(*number).is_some_and(|joint| matches!(joint.kind, Kind::Hinge | Kind::Slide))
            };
            match number.filter(is_plain) {
                Some(number) => Ok(Some(number)),
                None => Err(error(self.source, node, format!("there is no hinge or slide `{name}`"), "")),
            }
        };
        let Some(first) = joint("joint1")? else {
            return Err(error(self.source, node, "the equality has no `joint1`", ""));
        };
        let mut polynomial = [0.0, 1.0, 0.0, 0.0, 0.0];
        if let Some(text) = node.attribute("polycoef") {
            let list = numbers(self.source, node, "polycoef", text)?;
            polynomial.iter_mut().zip(list).for_each(|(own, given)| *own = given);
        }
        Ok(Equality::Joint(first, joint("joint2")?, polynomial))
    }
}
