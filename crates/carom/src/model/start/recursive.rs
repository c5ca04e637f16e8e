//! The start of a large mechanism, by sweeps over its tree: L_vv is never written down.

use super::Check;
use super::bodies::NO_MASS;
use crate::expr::{Expr, eval, grad};
use crate::linkage;
use crate::solve::Solved;
use crate::system::{Constraint, System, time};
use crate::tree::{
    Articulated, Drive, Force, Pose, Quaternion, RelationValues, Relations, Surroundings, TangentSpace, Tree, Vec3,
    move_by,
};

/// The tree of a mechanism at t = 0. States have an entry for every coordinate, free or driven.
pub(super) struct Recursive {
    tree: Tree,
    around: Surroundings,
    /// The free coordinates and the driven ones among all.
    free: Vec<usize>,
    driven: Vec<usize>,
    /// What the user adds to the Lagrangian of the bodies.
    pub(super) added: Expr,
}

impl Recursive {
    /// Of a large mechanism; none of another system.
    pub(super) fn new(system: &System, parameters: &[(Expr, f64)]) -> Option<Recursive> {
        let (mechanism, added) = linkage::large(system)?;
        let known: Vec<(Expr, f64)> = parameters.iter().copied().chain([(time(), 0.0)]).collect();
        let gravity = eval(&mechanism.gravity, &known);
        let drive = |motion: Expr| {
            let rate = motion.diff(time());
            let numbers = eval(&[motion, rate, rate.diff(time())], &known);
            Drive { q: numbers[0], v: numbers[1], a: numbers[2] }
        };
        let driven = |i: &usize| system.coordinates[*i].prescribed.is_some();
        Some(Recursive {
            tree: linkage::tree(system, mechanism, parameters),
            around: Surroundings {
                gravity: Vec3(gravity[0], gravity[1], gravity[2]),
                drives: system.coordinates.iter().filter_map(|c| c.prescribed).map(drive).collect(),
            },
            free: system.free(),
            driven: (0..system.coordinates.len()).filter(driven).collect(),
            added,
        })
    }

    fn pick(&self, all: &[f64]) -> Vec<f64> {
        self.free.iter().map(|&i| all[i]).collect()
    }

    /// L_v at q and v.
    pub(super) fn momenta(&self, q: &[f64], v: &[f64]) -> Vec<f64> {
        let (tree, free_q) = (&self.tree, self.pick(q));
        let mut around = self.around.clone();
        around.drives.iter_mut().zip(&self.driven).for_each(|(drive, &i)| (drive.q, drive.v) = (q[i], v[i]));
        let (mut pose, mut sums) = (Pose::new(tree), vec![Force::default(); tree.links.len()]);
        let mut p = vec![0.0; tree.freedoms];
        pose.place(tree, &around, &free_q, &self.to_freedoms(&free_q, &self.pick(v), 2.0));
        pose.momenta(tree, &mut sums, &mut p);
        let mut all = vec![0.0; q.len()];
        self.free.iter().zip(self.to_coordinates(&free_q, &p, 2.0)).for_each(|(&i, p)| all[i] = p);
        let drives = tree.links.iter().enumerate().filter(|(_, link)| link.freedoms == 0);
        for ((i, link), &at) in drives.zip(&self.driven) {
            all[at] = pose.bodies[i].project(link.body.joint, sums[i]).0;
        }
        all
    }

    /// The diagonal of M at q.
    pub(super) fn masses(&self, q: &[f64]) -> Vec<f64> {
        Articulated::new(&self.tree).diagonal(&self.tree, &self.still(q))
    }

    fn still(&self, q: &[f64]) -> Pose {
        let mut pose = Pose::new(&self.tree);
        pose.place(&self.tree, &self.around, &self.pick(q), &vec![0.0; self.tree.freedoms]);
        pose
    }

    /// The gradient by the freedoms of a gradient by the free coordinates.
    pub(super) fn gradient(&self, q: &[f64], slopes: &[f64]) -> Vec<f64> {
        self.to_freedoms(&self.pick(q), slopes, 0.5)
    }

    /// The first coordinate of a joint that moves no mass, if any.
    pub(super) fn massless(&self, q: &[f64]) -> Option<usize> {
        let massless = Articulated::new(&self.tree).massless(&self.tree, &self.still(q), NO_MASS)?;
        let link = &self.tree.links[massless];
        Some(self.free[link.q])
    }

    /// v with L_v(q, v) = p; none if a joint moves no mass.
    pub(super) fn velocities(&self, q: &[f64], p: &[f64]) -> Option<Vec<f64>> {
        let q = self.pick(q);
        let (mut tangent, mut v) = (TangentSpace::new(&self.tree, 0), vec![0.0; self.tree.freedoms]);
        tangent.set(&self.tree, &self.around, &mut Rows { recursive: self, check: None }, &q, 0.0).ok()?;
        tangent.velocity(&self.tree, &self.to_freedoms(&q, &self.pick(p), 0.5), &mut v);
        Some(self.all_rates(&q, &v))
    }

    /// Moves q onto the constraints, or v onto their tangent space at q.
    pub(super) fn project(&self, check: &Check, q: &mut [f64], v: Option<&mut Vec<f64>>) -> Solved<()> {
        let mut free_q = self.pick(q);
        let mut tangent = TangentSpace::new(&self.tree, check.model.system.stated_constraints().len());
        let mut rows = Rows { recursive: self, check: Some(check) };
        let Some(v) = v else {
            // A start may be off the unit sphere of a quaternion, too.
            self.normalise(&mut free_q);
            tangent.settle(&self.tree, &self.around, &mut rows, &mut free_q, 0.0)?;
            self.free.iter().zip(&free_q).for_each(|(&i, x)| q[i] = *x);
            return Ok(());
        };
        tangent.set(&self.tree, &self.around, &mut rows, &free_q, 0.0)?;
        let mut p = self.to_freedoms(&free_q, &self.pick(&self.momenta(q, v)), 0.5);
        let mut rates = vec![0.0; self.tree.freedoms];
        tangent.project(&self.tree, &mut p, &mut rates);
        *v = self.all_rates(&free_q, &rates);
        Ok(())
    }

    /// q, moved by a step of the freedoms.
    pub(super) fn moved(&self, q: &[f64], step: &[f64]) -> Vec<f64> {
        let (start, mut all) = (self.pick(q), q.to_vec());
        let mut end = start.clone();
        move_by(&self.tree, &start, step, &mut end);
        self.free.iter().zip(&end).for_each(|(&i, x)| all[i] = *x);
        all
    }

    fn normalise(&self, free_q: &mut [f64]) {
        for link in self.tree.links.iter().filter(|link| link.freedoms == 3) {
            let unit = Quaternion::read(&free_q[link.q..]).normalised();
            free_q[link.q..link.q + 4].copy_from_slice(&unit.array());
        }
    }

    /// The rates of all coordinates.
    fn all_rates(&self, free_q: &[f64], v: &[f64]) -> Vec<f64> {
        let mut all = vec![0.0; self.free.len() + self.driven.len()];
        self.free.iter().zip(self.to_coordinates(free_q, v, 0.5)).for_each(|(&i, v)| all[i] = v);
        self.driven.iter().zip(&self.around.drives).for_each(|(&i, drive)| all[i] = drive.v);
        all
    }

    fn to_freedoms(&self, free_q: &[f64], tangent: &[f64], factor: f64) -> Vec<f64> {
        let mut freedoms = vec![0.0; self.tree.freedoms];
        self.tree.to_freedoms(free_q, tangent, factor, &mut freedoms);
        freedoms
    }

    fn to_coordinates(&self, free_q: &[f64], freedoms: &[f64], factor: f64) -> Vec<f64> {
        let mut tangent = vec![0.0; self.tree.coordinates];
        self.tree.to_coordinates(free_q, freedoms, factor, &mut tangent);
        tangent
    }
}

/// The stated constraints of a model, evaluated as expressions; without a check there are none.
struct Rows<'a> {
    recursive: &'a Recursive,
    check: Option<&'a Check<'a>>,
}

impl Rows<'_> {
    fn constraints(&self) -> &[Constraint] {
        self.check.map_or(&[], |check| check.model.system.stated_constraints())
    }
}

impl Relations for Rows<'_> {
    fn count(&self) -> usize {
        self.constraints().len()
    }

    fn evaluate(&mut self, tree: &Tree, _: &Pose, q: &[f64], _: f64, values: RelationValues) {
        let (Some(check), recursive) = (self.check, self.recursive) else { return };
        let system = &check.model.system;
        let mut all_q = vec![0.0; system.coordinates.len()];
        recursive.free.iter().zip(q).for_each(|(&i, x)| all_q[i] = *x);
        recursive.driven.iter().zip(&recursive.around.drives).for_each(|(&i, drive)| all_q[i] = drive.q);
        let symbols: Vec<Expr> = recursive.free.iter().map(|&i| system.coordinates[i].q).collect();
        for (k, constraint) in self.constraints().iter().enumerate() {
            let g = constraint.g;
            // What moves without the free coordinates: the time, and the drives.
            let moved = system.drive(&[g])[0].diff(time());
            let numbers = check.at(&[vec![g, moved], grad(g, &symbols)].concat(), &all_q, &all_q);
            (values.g[k], values.g_t[k]) = (numbers[0], numbers[1]);
            let row = tree.freedoms * k..tree.freedoms * (k + 1);
            tree.to_freedoms(q, &numbers[2..], 0.5, &mut values.rows[row]);
        }
    }
}
