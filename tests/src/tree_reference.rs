//! The trees of `reference/mechanisms.json` and `reference/marionette.json`, and their steps.

use carom::lab::tree::{
    Body, BodyPoint, Equations, Joint, Mat3, Over, Pose, Quaternion, RelationValues, Relations, Solver, Surroundings,
    TangentSpace, Tree, Vec3, move_by, pull,
};
use serde_json::Value;

use crate::reference::{number, numbers};

fn vec3(value: &Value) -> Vec3 {
    let [x, y, z] = numbers(value).try_into().expect("three numbers");
    Vec3(x, y, z)
}

/// The index of a body by name; none for the ground.
pub fn find(bodies: &Value, name: &Value) -> Option<usize> {
    bodies.as_array().expect("bodies").iter().position(|body| body["name"] == *name)
}

/// The tree of a list of bodies.
pub fn tree(bodies: &Value) -> Tree {
    let of = |body: &Value| {
        let axis = vec3(&body["axis"]);
        let joint = if body["joint"] == "revolute" { Joint::Revolute(axis) } else { Joint::Prismatic(axis) };
        let inertia = numbers(&body["inertia"]).try_into().expect("six numbers");
        let optional = |key: &str| body.get(key).map_or(0.0, number);
        Body {
            at: vec3(&body["at"]),
            mass: number(&body["mass"]),
            com: vec3(&body["com"]),
            inertia: Mat3::symmetric(inertia),
            stiffness: optional("stiffness"),
            rest: optional("rest"),
            damping: optional("damping"),
            ..Body::new(find(bodies, &body["parent"]), joint)
        }
    };
    Tree::new(bodies.as_array().expect("bodies").iter().map(of).collect())
}

/// A point of the file: `{"body": …, "at": …}`.
pub fn point(bodies: &Value, value: &Value) -> BodyPoint {
    BodyPoint { body: find(bodies, &value["body"]), at: vec3(&value["at"]) }
}

/// start + amplitude·(1 − cos(omega·t))
#[derive(Clone, Copy)]
pub struct Driven {
    start: f64,
    amplitude: f64,
    omega: f64,
}

impl Driven {
    fn read(value: &Value) -> Driven {
        let [start, amplitude, omega] = ["start", "amplitude", "omega"].map(|key| number(&value[key]));
        Driven { start, amplitude, omega }
    }

    /// Its value and its rate.
    fn at(self, t: f64) -> (f64, f64) {
        let angle = self.omega * t;
        (self.start + self.amplitude * (1.0 - angle.cos()), self.amplitude * self.omega * angle.sin())
    }
}

/// A constraint of the files.
pub enum Tie {
    /// (A − B)·e
    Join([BodyPoint; 2], Vec3),
    /// (|A − end(t)|² − length(t)²)/2
    Cord(BodyPoint, [Driven; 3], Driven),
}

impl Tie {
    /// A string with a driven end; `hook` is the key of its point, `end` that of its upper end.
    pub fn cord(bodies: &Value, value: &Value, hook: &str, end: &str) -> Tie {
        let end = [0, 1, 2].map(|i| Driven::read(&value[end][i]));
        Tie::Cord(point(bodies, &value[hook]), end, Driven::read(&value["length"]))
    }
}

/// The constraints of a model.
pub struct Ties(pub Vec<Tie>);

impl Relations for Ties {
    fn count(&self) -> usize {
        self.0.len()
    }

    fn evaluate(&mut self, tree: &Tree, pose: &Pose, _q: &[f64], t: f64, values: RelationValues) {
        values.rows.fill(0.0);
        for (k, (tie, row)) in self.0.iter().zip(values.rows.chunks_exact_mut(tree.freedoms)).enumerate() {
            match tie {
                Tie::Join([a, b], axis) => {
                    (values.g[k], values.g_t[k]) = ((a.place(pose) - b.place(pose)).dot(*axis), 0.0);
                    pull(tree, pose, a.body, a.place(pose), *axis, row);
                    pull(tree, pose, b.body, b.place(pose), -*axis, row);
                }
                Tie::Cord(hook, end, length) => {
                    let [x, y, z] = end.map(|driven| driven.at(t));
                    let ((length, rate), place) = (length.at(t), hook.place(pose));
                    let way = place - Vec3(x.0, y.0, z.0);
                    values.g[k] = 0.5 * (way.dot(way) - length * length);
                    values.g_t[k] = -length * rate - way.dot(Vec3(x.1, y.1, z.1));
                    pull(tree, pose, hook.body, place, way, row);
                }
            }
        }
    }
}

/// A motion by steps of a rule.
pub struct Motion<E> {
    /// The tree.
    pub tree: Tree,
    /// Gravity.
    pub around: Surroundings,
    /// The constraints.
    pub ties: Ties,
    /// The time.
    pub t: f64,
    /// The coordinates.
    pub q: Vec<f64>,
    /// The momenta, not projected.
    pub p: Vec<f64>,
    /// The multipliers of the last step.
    pub lambda: Vec<f64>,
    /// The corrections of all steps.
    pub iterations: usize,
    u: [Vec<f64>; 2],
    solver: Solver<E>,
}

impl<E: Equations> Motion<E> {
    /// A motion that starts at q with the rates v.
    pub fn new(rule: fn(&Tree) -> E, tree: Tree, gravity: Vec3, ties: Vec<Tie>, q: &[f64], v: &[f64]) -> Motion<E> {
        let around = Surroundings { gravity, drives: Vec::new() };
        let mut pose = Pose::new(&tree);
        pose.place(&tree, &around, q, v);
        let mut p = vec![0.0; tree.freedoms];
        pose.momenta(&tree, &mut vec![Default::default(); tree.links.len()], &mut p);
        let (mut solver, lambda) = (Solver::new(rule(&tree), &tree, ties.len()), vec![0.0; ties.len()]);
        solver.set_loaded(false);
        let u = [vec![0.0; tree.freedoms], Vec::new()];
        Motion { around, ties: Ties(ties), t: 0.0, q: q.to_vec(), p, lambda, iterations: 0, u, solver, tree }
    }

    /// Makes a step of length h from a guess that continues the last two.
    pub fn step(&mut self, h: f64) {
        let Motion { tree, around, ties, t, q, p, lambda, iterations, u, solver } = self;
        let [last, before] = u;
        let mut next = last.clone();
        if !before.is_empty() {
            next.iter_mut().zip(&*before).for_each(|(u, before)| *u += *u - before);
        }
        let over = Over { q, p, h, t: *t, around: [around, around, around] };
        let solved = solver.solve(tree, over, ties, &mut |_, _| {}, &mut next, lambda);
        *iterations += solved.expect("the step has a solution");
        let (mut q1, mut p1) = (q.clone(), p.clone());
        move_by(tree, q, &next, &mut q1);
        solver.momenta(tree, h, &next, &mut p1);
        (*q, *p, *t) = (q1, p1, *t + h);
        *before = std::mem::replace(last, next);
    }

    /// The next guess is that the motion goes back.
    pub fn turn_back(&mut self) {
        self.u[0].iter_mut().for_each(|u| *u = -*u);
        self.u[1].clear();
    }

    /// p, v and the largest |g| on the tangent space.
    pub fn projected(&mut self) -> (Vec<f64>, Vec<f64>, f64) {
        let Motion { tree, around, ties, t, q, p, .. } = self;
        let mut tangent = TangentSpace::new(tree, ties.count());
        tangent.set(tree, around, ties, q, *t).expect("the constraints are independent");
        let (mut p, mut v) = (p.clone(), vec![0.0; tree.freedoms]);
        tangent.project(tree, &mut p, &mut v);
        (p, v, tangent.g.iter().fold(0.0, |largest, g| g.abs().max(largest)))
    }

    /// The energy at the rates v.
    pub fn energy(&self, v: &[f64]) -> f64 {
        let mut pose = Pose::new(&self.tree);
        pose.place(&self.tree, &self.around, &self.q, v);
        pose.kinetic() + pose.potential(&self.tree, &self.around) + self.tree.spring_energy(&self.q)
    }

    /// The place of a point.
    pub fn place(&self, point: BodyPoint) -> Vec3 {
        let mut pose = Pose::new(&self.tree);
        pose.place(&self.tree, &self.around, &self.q, &vec![0.0; self.tree.freedoms]);
        point.place(&pose)
    }

    /// The rotations of the ball joints, row by row.
    pub fn rotations(&self) -> Vec<Vec<f64>> {
        let balls = self.tree.links.iter().filter(|link| link.freedoms == 3);
        balls.map(|link| Quaternion::read(&self.q[link.q..]).matrix().rows().map(Vec3::array).concat()).collect()
    }
}
