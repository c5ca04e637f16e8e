//! Runs of the projected Hamilton's principle.

use super::algorithm::{Machine, Pieces};
use super::event::Contact;
use super::lift::View;
use super::outcome::Watcher;
use super::simulation::Simulation;
use crate::error::Result;
use crate::flow::{FlowKind, Phase};
use crate::impact::{Built, Ctec, Hit};
use crate::mechanics::Mechanics;
use crate::method::{Method, Switches};
use crate::model::Model;
use crate::projection::{Principle, Projector, Study};
use crate::solve::NoSolution;

/// More switches than this at one instant are not resolved.
const MAX_AT_ONE_INSTANT: usize = 1000;
/// The motion is looked at up to this time where the model has no horizon.
const HORIZON: f64 = 10.0;

/// The path z with its momentum p_z, and the mechanics on either side of the wall. [GP (5)–(7)]
///
/// The sides are numbered 0 where φ(z) > 0 and P is the identity, 1 where φ(z) < 0.
pub(super) struct Projected {
    sides: [Machine; 2],
    /// The side on which z is.
    side: usize,
    switches: Switches,
    projector: Projector,
    z: Phase,
    next: Phase,
    /// Where the smooth pieces of the last step began, and on which side.
    pieces: Pieces,
    piece_sides: Vec<usize>,
}

impl Projected {
    pub(super) fn new(
        principle: Principle,
        flow: &FlowKind,
        switches: Switches,
        parameters: &[f64],
    ) -> Result<Projected> {
        let Principle { inside, outside, projector } = principle;
        let phase = Phase { t: 0.0, z: vec![0.0; 2 * inside.n()] };
        Ok(Projected {
            sides: [smooth(&inside, flow, parameters)?, smooth(&outside, flow, parameters)?],
            side: 0,
            switches,
            projector,
            z: phase.clone(),
            next: phase,
            pieces: Pieces::default(),
            piece_sides: Vec::new(),
        })
    }

    /// Begins at a feasible state.
    pub(super) fn begin(&mut self, z: &Phase) {
        self.side = 0;
        self.z.copy_from(z);
    }

    /// The order of the whole: that of the flow, if the switches are located.
    pub(super) fn order(&self) -> usize {
        if self.switches == Switches::Located { self.sides[0].full.order() } else { 1 }
    }

    /// (q, p) of a point of the path: q = P(z), P'ᵀp = p_z.
    fn project(
        projector: &mut Projector,
        side: usize,
        z: &Phase,
        to: &mut Phase,
    ) -> std::result::Result<(), NoSolution> {
        if side == 0 {
            to.copy_from(z);
            return Ok(());
        }
        to.t = z.t;
        let n = z.q().len();
        let (q, p) = to.z.split_at_mut(n);
        if projector.push(z.q(), z.p(), q, p) { Ok(()) } else { Err(NoSolution::Singular) }
    }

    fn remember(&mut self, projected: &mut Pieces, q: &Phase, first: bool) {
        if first {
            self.pieces.restart(&self.z, 0);
            self.piece_sides.clear();
            projected.restart(q, 0);
        } else {
            self.pieces.push(&self.z, 0);
            projected.push(q, 0);
        }
        self.piece_sides.push(self.side);
    }

    /// One step of length h, to the state `z1` of the motion. `of_motion` is the machine of the motion itself, whose room
    /// for impacts and pieces is used; `see` is told of each impact.
    pub(super) fn advance(
        &mut self,
        of_motion: &mut Machine,
        z: &mut Phase,
        h: f64,
        z1: &mut Phase,
        mut see: impl FnMut(&Hit, f64, &Phase),
    ) -> std::result::Result<(), NoSolution> {
        self.z.t = z.t;
        self.remember(&mut of_motion.pieces, z, true);
        match self.switches {
            Switches::Located => self.cross_walls(of_motion, z, h, &mut see)?,
            Switches::Unlocated => {
                self.sides[self.side].full.step(&self.z, h, &mut self.next)?;
                self.z.copy_from(&self.next);
                if self.is_across()? {
                    self.switch(of_motion, z, &mut see)?;
                }
            }
        }
        Projected::project(&mut self.projector, self.side, &self.z, z1)
    }

    /// Follows z over h, and from side to side where it crosses the wall.
    fn cross_walls(
        &mut self,
        of_motion: &mut Machine,
        z: &mut Phase,
        h: f64,
        see: &mut impl FnMut(&Hit, f64, &Phase),
    ) -> std::result::Result<(), NoSolution> {
        let (mut tau_left, mut left, mut at_once) = (h, None, 0);
        while tau_left > 0.0 {
            let here = &mut self.sides[self.side];
            here.full.step(&self.z, tau_left, &mut self.next)?;
            let Some(Contact { wall, dtau, .. }) = here.first_contact(&self.z, &self.next, tau_left, left)? else {
                self.z.copy_from(&self.next);
                return Ok(());
            };
            at_once = if dtau > 0.0 { 0 } else { at_once + 1 };
            if at_once > MAX_AT_ONE_INSTANT {
                return Err(NoSolution::Accumulated);
            }
            if dtau > 0.0 {
                here.full.step(&self.z, dtau, &mut self.next)?;
                self.z.copy_from(&self.next);
            }
            if here.walls.gap_and_rate(wall, &self.z, &mut here.field)?.1 < 0.0 {
                self.switch(of_motion, z, see)?;
            } else {
                Projected::project(&mut self.projector, self.side, &self.z, z)?; // touched, without a crossing
            }
            self.remember(&mut of_motion.pieces, z, false);
            (tau_left, left) = (tau_left - dtau, Some(wall));
        }
        Ok(())
    }

    /// True if z is not on the side whose mechanics it follows.
    fn is_across(&mut self) -> std::result::Result<bool, NoSolution> {
        let here = &mut self.sides[self.side];
        Ok(here.walls.gap_and_rate(0, &self.z, &mut here.field)?.0 < 0.0)
    }

    /// z goes over to the other side. Nothing jumps but P': p_z is the same, and p = P'⁻ᵀp_z is not. (7)
    ///
    /// λ follows from [p] = λ∇φ.
    fn switch(
        &mut self,
        of_motion: &mut Machine,
        plus: &mut Phase,
        see: &mut impl FnMut(&Hit, f64, &Phase),
    ) -> std::result::Result<(), NoSolution> {
        let Machine { hit, walls, .. } = of_motion;
        Projected::project(&mut self.projector, self.side, &self.z, &mut hit.minus)?;
        self.side = 1 - self.side;
        let n = self.z.q().len();
        self.projector.change_chart(&mut self.z.z[..n], self.side == 1);
        Projected::project(&mut self.projector, self.side, &self.z, plus)?;
        hit.wall = 0;
        walls.normal(0, &hit.minus, &mut hit.grad_phi);
        let along = |p: &[f64]| p.iter().zip(&hit.grad_phi).map(|(p, g)| p * g).sum::<f64>();
        let lambda = (along(plus.p()) - along(hit.minus.p())) / along(&hit.grad_phi);
        see(hit, lambda, plus);
        Ok(())
    }

    /// The state of the motion at time t on a piece of the last step.
    pub(super) fn state_on_piece(
        &mut self,
        piece: usize,
        t: f64,
        to: &mut Phase,
    ) -> std::result::Result<(), NoSolution> {
        let (begin, side) = (&self.pieces.list()[piece], self.piece_sides[piece]);
        if t <= begin.t {
            return Projected::project(&mut self.projector, side, begin, to);
        }
        self.sides[side].full.step(begin, t - begin.t, &mut self.next)?;
        Projected::project(&mut self.projector, side, &self.next, to)
    }
}

/// The machine of one side: its impact rule is never asked.
fn smooth(mechanics: &Mechanics, flow: &FlowKind, parameters: &[f64]) -> Result<Machine> {
    Machine::new(mechanics, parameters, flow, Built { rule: Box::new(Ctec::new(true)), partial: None })
}

/// Which hypotheses of the projected principle a model meets. Where that depends on where the motion goes, it is followed by
/// the default method up to the horizon.
pub fn study(model: &Model) -> Result<Study> {
    let start = model.start()?;
    Study::new(model, &start.q, |reduced| {
        let reach = reach(reduced, &start).unwrap_or_default();
        let free = reduced.system.free();
        let around = |i: usize| (start.q[i] - 1.0, start.q[i] + 1.0);
        free.iter().enumerate().map(|(k, &i)| reach.get(k).copied().unwrap_or(around(i))).collect()
    })
}

/// The least and greatest value of each free coordinate along the motion.
fn reach(model: &Model, start: &crate::model::Start) -> Result<Vec<(f64, f64)>> {
    struct Reach(Vec<(f64, f64)>);
    impl Watcher for Reach {
        fn node(&mut self, view: &mut View) {
            for (i, &q) in view.phase().q().iter().enumerate() {
                match self.0.get_mut(i) {
                    Some((low, high)) => (*low, *high) = (low.min(q), high.max(q)),
                    None => self.0.push((q, q)),
                }
            }
        }
    }
    let until = model.run.until.unwrap_or(HORIZON);
    let method = Method::named(crate::method::DEFAULT, None)?;
    let mut reach = Reach(Vec::new());
    Simulation::compile(model, start, &method, until / 400.0, until)?.run(&mut reach)?;
    Ok(reach.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// P is idempotent, not an involution: after an impact z stays behind the wall for the whole flight, and comes back at
    /// the impact that follows.
    #[test]
    fn the_path_changes_sides_at_impacts_only() {
        let text = crate::catalogue::find("wavy-floor").expect("it ships").text;
        let model = Model::from_text("wavy-floor", text, &[]).expect("it is right");
        let study = study(&model).expect("it can be studied");
        let (parameters, method) = (study.parameters(), Method::named("php", None).expect("it is registered"));
        let principle = Principle::new(&study).expect("the hypotheses hold");
        let mut motion = smooth(&principle.inside, &method.flow, &parameters).expect("it compiles");
        let mut path = Projected::new(principle, &method.flow, Switches::Located, &parameters).expect("it compiles");
        let start = model.start().expect("it is right");
        let mut z = Phase::new(0.0, &start.q, &start.p);
        let mut z1 = z.clone();
        path.begin(&z);
        let (mut impacts, mut steps_behind) = (0, 0);
        for k in 1..=1000 {
            path.advance(&mut motion, &mut z, 0.004, &mut z1, |_, _, _| impacts += 1).expect("it has a solution");
            z.copy_from(&z1);
            let behind = path.projector.phi(path.z.q()) < 0.0;
            assert_eq!(behind, impacts % 2 == 1, "after {impacts} impacts, step {k}");
            assert!(path.projector.phi(z.q()) > 0.0, "the motion is in front of the wall at step {k}");
            steps_behind += usize::from(behind);
        }
        assert!(impacts == 5 && steps_behind > 200, "{impacts} impacts, {steps_behind} steps behind the wall");
    }
}
