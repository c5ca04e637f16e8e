use super::measure::model_of_text;
use super::{Drawing, Entry, Finding, Mark, Number, Table, Tell, Verdict};
use carom::lab::catalogue;
use carom::lab::error::{Diagnostic, Result};
use carom::lab::expr::{Expr, eval};
use carom::lab::kernel::{Backend, Kernel};
use carom::lab::linkage::tree;
use carom::lab::mechanism::Attached;
use carom::lab::method::Method;
use carom::lab::model::Model;
use carom::lab::run::{Status, View, Watcher};
use carom::lab::simulation::Simulation;
use carom::lab::system::{End, Form, time};
use carom::lab::tree::{BodyPoint, Pose, RelationValues, Relations, Surroundings, TangentSpace, Tree, Vec3, pull};

pub(crate) const ENTRY: Entry = Entry {
    id: "tpc-fig2",
    document: "TPC",
    title: "The string marionette with steps of 0.1 s",
    claim: "The variational integrator is stable at steps of 0.1 s; ordinary solvers (Runge–Kutta with stabilised constraints) are \
            not.",
    compute,
};

/// The step of the paper, in seconds.
const STEP: f64 = 0.1;
/// How long the motion is followed, in seconds.
const UNTIL: f64 = 200.0;
/// α = β of Baumgarte's stabilisation, g̈ + 2α ġ + β² g = 0, in 1/s.
const BAUMGARTE: f64 = 10.0;
/// A motion whose fastest coordinate exceeds this rate, in m/s or rad/s, has blown up.
const TOO_FAST: f64 = 1e3;

/// How a motion went: the time and the energy of its nodes, and |g|.
struct Course {
    nodes: Vec<(f64, f64)>,
    largest_g: f64,
    /// When it was lost, if it was.
    lost: Option<f64>,
}

impl Course {
    fn table(&self, name: &str, panel: &str, label: &str) -> Table {
        let mut table = Table::new(name, &["t", "energy"]);
        self.nodes.iter().for_each(|(t, energy)| table.push(vec![*t, *energy]));
        table.drawn(Drawing::new(panel, "t", ["t [s]", "energy [J]"]).curve("energy", label, Mark::Line))
    }

    fn words(&self) -> String {
        match self.lost {
            Some(t) => format!("is lost at {t:.1} s"),
            None => format!("goes through, |g| ≤ {:.0e}", self.largest_g),
        }
    }
}

impl Watcher for Course {
    fn node(&mut self, view: &mut View) {
        self.nodes.push((view.node().t, view.energy()));
    }
}

fn model(damping: &str) -> Result<Model> {
    let text = catalogue::find("marionette").ok_or_else(|| Diagnostic::new("there is no `marionette`"))?.text;
    model_of_text("marionette", &text.replace("damping = 0.05", &format!("damping = {damping}")))
}

/// Steps of the midpoint rule.
fn variational(model: &Model) -> Result<Course> {
    let mut course = Course { nodes: Vec::new(), largest_g: 0.0, lost: None };
    let method = Method::named("midpoint", None)?;
    let outcome = Simulation::new(model, &method, STEP, UNTIL)?.watch(&mut course)?;
    course.largest_g = outcome.violation.map_or(0.0, |violated| violated.position);
    if let Status::Failed(failure) = &outcome.status {
        course.lost = Some(failure.t);
    }
    Ok(course)
}

/// A string: the point on a body, and what moves its other end and its length.
struct Cord {
    hook: BodyPoint,
    /// (parameters, t) → each of x, y, z of the end and the length, with two derivatives
    motion: Kernel,
}

/// The puppet for explicit methods: M q̈ = Q − c − Gᵀλ with g̈ + 2αġ + β²g = 0.
struct Explicit {
    tree: Tree,
    around: Surroundings,
    tangent: TangentSpace,
    pose: Pose,
    cords: Vec<Cord>,
    parameters: Vec<(Expr, f64)>,
    demand: Vec<f64>,
    lambda: Vec<f64>,
}

/// What moves a string at a time: its end and its length, each with two derivatives.
struct Moving {
    end: [Vec3; 3],
    length: [f64; 3],
}

impl Cord {
    fn new(hook: BodyPoint, end: [Expr; 3], length: Expr, parameters: &[(Expr, f64)]) -> Result<Cord> {
        let of = |f: Expr| [f, f.diff(time()), f.diff(time()).diff(time())];
        let outputs: Vec<Expr> = end.into_iter().chain([length]).flat_map(of).collect();
        let inputs: Vec<Expr> = parameters.iter().map(|(symbol, _)| *symbol).chain([time()]).collect();
        let motion = Kernel::with_backend(&inputs, &outputs, Backend::Interpreter);
        Ok(Cord { hook, motion: motion.map_err(|error| Diagnostic::new(error.to_string()))? })
    }

    fn at(&self, parameters: &[(Expr, f64)], t: f64) -> Moving {
        let inputs: Vec<f64> = parameters.iter().map(|(_, value)| *value).chain([t]).collect();
        let mut x = [0.0; 12];
        self.motion.eval(&inputs, &mut x);
        Moving { end: [0, 1, 2].map(|k| Vec3(x[k], x[3 + k], x[6 + k])), length: [x[9], x[10], x[11]] }
    }
}

struct Cords<'a>(&'a [Cord], &'a [(Expr, f64)]);

impl Relations for Cords<'_> {
    fn count(&self) -> usize {
        self.0.len()
    }

    fn evaluate(&mut self, tree: &Tree, pose: &Pose, _: &[f64], t: f64, values: RelationValues) {
        values.rows.fill(0.0);
        for (k, (cord, row)) in self.0.iter().zip(values.rows.chunks_exact_mut(tree.freedoms)).enumerate() {
            let (Moving { end, length }, place) = (cord.at(self.1, t), cord.hook.place(pose));
            let way = place - end[0];
            values.g[k] = 0.5 * (way.dot(way) - length[0] * length[0]);
            values.g_t[k] = -length[0] * length[1] - way.dot(end[1]);
            pull(tree, pose, cord.hook.body, place, way, row);
        }
    }
}

impl Explicit {
    fn new(model: &Model) -> Result<Explicit> {
        let system = &model.system;
        let none = || Diagnostic::new("the marionette has bodies");
        let mechanism = system.mechanism.as_deref().ok_or_else(none)?;
        let parameters = model.parameter_values();
        let tree = tree(system, mechanism, &parameters);
        let point = |Attached { link, at, .. }: &Attached| {
            let x = eval(at, &parameters);
            BodyPoint { body: *link, at: Vec3(x[0], x[1], x[2]) }
        };
        let cord = |form: Form| match form {
            Form::Distance { ends: [End::Attached(hook), End::At(end)], length } => {
                Some(Cord::new(point(&mechanism.points[hook]), end, length, &parameters))
            }
            _ => None,
        };
        let cords: Vec<Cord> =
            system.constraints.iter().filter_map(|constraint| cord(constraint.form)).collect::<Result<_>>()?;
        let g = eval(&mechanism.gravity, &parameters);
        Ok(Explicit {
            around: Surroundings { gravity: Vec3(g[0], g[1], g[2]), drives: Vec::new() },
            tangent: TangentSpace::new(&tree, cords.len()),
            pose: Pose::new(&tree),
            demand: vec![0.0; cords.len()],
            lambda: vec![0.0; cords.len()],
            cords,
            parameters,
            tree,
        })
    }

    /// The accelerations at (q, v); none where the equations are singular.
    fn accelerations(&mut self, t: f64, q: &[f64], v: &[f64]) -> Option<Vec<f64>> {
        let Explicit { tree, around, tangent, pose, cords, parameters, demand, lambda } = self;
        tangent.set(tree, around, &mut Cords(cords, parameters), q, t).ok()?;
        pose.place(tree, around, q, v);
        let (n, mut a) = (tree.freedoms, vec![0.0; tree.freedoms]);
        tangent.mass.accelerations(tree, pose, around, (q, v), &vec![0.0; n], &mut a);
        for (k, cord) in cords.iter().enumerate() {
            let (Moving { end, length }, place) = (cord.at(parameters, t), cord.hook.place(pose));
            let (way, rate) = (place - end[0], cord.hook.velocity(pose) - end[1]);
            // g̈ without the accelerations of the freedoms.
            let drift = cord
                .hook
                .body
                .map_or(Vec3::ZERO, |body| tangent.mass.point_accelerations(tree, pose, around, &[])(body, place));
            let free = rate.dot(rate) + way.dot(drift - end[2]) - length[1] * length[1] - length[0] * length[2];
            let (g, g_dot) = (tangent.g[k], way.dot(rate) - length[0] * length[1]);
            let row = &tangent.rows[k * n..][..n];
            demand[k] = free + dot(row, &a) + 2.0 * BAUMGARTE * g_dot + BAUMGARTE * BAUMGARTE * g;
        }
        tangent.solve(demand, lambda);
        for (lambda, column) in lambda.iter().zip(tangent.w.chunks_exact(n)) {
            a.iter_mut().zip(column).for_each(|(a, w)| *a -= lambda * w);
        }
        Some(a)
    }

    /// Steps of the classical Runge–Kutta method.
    fn run(&mut self, q: &[f64], v: &[f64]) -> Course {
        let mut course = Course { nodes: Vec::new(), largest_g: 0.0, lost: None };
        let (n, mut x) = (q.len(), [q, v].concat());
        for k in 0..(UNTIL / STEP).round() as usize {
            let t = k as f64 * STEP;
            self.pose.place(&self.tree, &self.around, &x[..n], &x[n..]);
            let potential = self.pose.potential(&self.tree, &self.around) + self.tree.spring_energy(&x[..n]);
            course.nodes.push((t, self.pose.kinetic() + potential));
            let next = self.step(t, &x);
            let is_sane = |x: &Vec<f64>| x[n..].iter().all(|rate| rate.abs() < TOO_FAST);
            let Some(next) = next.filter(is_sane) else {
                course.lost = Some(t);
                return course;
            };
            course.largest_g = self.tangent.g.iter().fold(course.largest_g, |most, g| g.abs().max(most));
            x = next;
        }
        course
    }

    fn step(&mut self, t: f64, x: &[f64]) -> Option<Vec<f64>> {
        let n = x.len() / 2;
        let mut sum = vec![0.0; x.len()];
        let mut slope = vec![0.0; x.len()];
        for (c, weight) in [(0.0, 1.0), (0.5, 2.0), (0.5, 2.0), (1.0, 1.0)] {
            let at: Vec<f64> = x.iter().zip(&slope).map(|(x, k)| x + c * STEP * k).collect();
            let a = self.accelerations(t + c * STEP, &at[..n], &at[n..])?;
            slope = [&at[n..], &a].concat();
            sum.iter_mut().zip(&slope).for_each(|(sum, k)| *sum += weight * k);
        }
        Some(x.iter().zip(&sum).map(|(x, k)| x + STEP / 6.0 * k).collect())
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn compute(tell: Tell) -> Result<Finding> {
    let mut rows = Vec::new();
    for damping in ["0.05", "0"] {
        let model = model(damping)?;
        tell(&format!("damping {damping}: midpoint"));
        let midpoint = variational(&model)?;
        tell(&format!("damping {damping}: Runge–Kutta"));
        let start = model.start()?;
        let explicit = Explicit::new(&model)?.run(&start.q, &start.v);
        rows.push([midpoint, explicit]);
    }
    let [[damped, damped_rk4], [free, free_rk4]]: [[Course; 2]; 2] =
        rows.try_into().map_err(|_| Diagnostic::new("there are two cases"))?;
    let number = |what: &str, course: &Course| Number::new(what, course.lost.unwrap_or(UNTIL));
    let numbers = vec![
        number("midpoint with damped joints goes to t", &damped),
        Number::new("its largest |g|", damped.largest_g),
        number("RK4 with damped joints goes to t", &damped_rk4),
        number("midpoint without damping goes to t", &free),
        number("RK4 without damping goes to t", &free_rk4),
        Number::new("its largest |g| there", free_rk4.largest_g),
    ];
    let finding = format!(
        "The shipped marionette, h = {STEP} s, {UNTIL} s. With damped joints `midpoint` {}; classical Runge–Kutta with Baumgarte's \
         stabilisation (α = β = {BAUMGARTE}/s) {}: damped joints are stiff for an explicit method. Without damping, `midpoint` {} \
         and Runge–Kutta {}.",
        damped.words(),
        damped_rk4.words(),
        free.words(),
        free_rk4.words(),
    );
    let verdict = Verdict::of(&[damped.lost.is_none(), damped_rk4.lost.is_some(), free.lost.is_none()]);
    let panels = ["(a) damped joints", "(b) no damping"];
    let tables = vec![
        damped.table("damped-midpoint", panels[0], "midpoint"),
        damped_rk4.table("damped-rk4", panels[0], "RK4 + Baumgarte"),
        free.table("free-midpoint", panels[1], "midpoint"),
        free_rk4.table("free-rk4", panels[1], "RK4 + Baumgarte"),
    ];
    Ok(Finding { finding, verdict, numbers, tables })
}
