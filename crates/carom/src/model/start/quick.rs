//! The start of a motion for other parameters, without reading the model again.

use super::Start;
use crate::expr::{Expr, Func, Op, any_depends_on, grad, jacobian, substitute};
use crate::kernel::{Backend, Instr, Kernel, Tape};
use crate::linkage;
use crate::mechanics::eliminate;
use crate::model::{InitialMotion, Model};
use crate::system::time;

/// Evaluates and checks plain starts: free coordinates without constraints, away from the walls. What is not clearly right is
/// left to [`Model::start`], which says what is wrong.
#[derive(Clone, Debug)]
pub(crate) struct QuickStart {
    n: usize,
    walls: usize,
    /// e may be less than 1.
    is_quadratic: bool,
    /// parameters → q, v, p; L_vv by rows; φ and e of each wall; what must be finite.
    kernel: Kernel,
    tape: Tape,
}

impl QuickStart {
    /// Of a model, if its start is a plain one.
    pub(crate) fn new(model: &Model) -> Option<QuickStart> {
        let (system, initial) = (&model.system, model.initial.as_ref()?);
        let is_plain =
            system.constraints.is_empty() && system.free().len() == system.coordinates.len() && !initial.project;
        if !is_plain || linkage::is_large(system) {
            return None;
        }
        let (q, v, n) = (system.q(), system.v(), system.coordinates.len());
        let momenta = grad(system.lagrangian.l, &v);
        let mass = jacobian(&momenta, &v);
        let is_quadratic = !any_depends_on(&mass.concat(), &v);
        let at = |fs: &[Expr], velocities: &[Expr]| {
            let from: Vec<Expr> = q.iter().chain(&v).copied().chain([time()]).collect();
            let to: Vec<Expr> = initial.q.iter().chain(velocities).copied().chain([Expr::constant(0.0)]).collect();
            substitute(fs, &from, &to)
        };
        let velocities = match &initial.motion {
            InitialMotion::Velocity(given) => given.clone(),
            InitialMotion::Momentum(given) if is_quadratic => {
                let at_rest = vec![Expr::constant(0.0); n];
                let offsets = at(&momenta, &at_rest);
                let matrix = at(&mass.concat(), &at_rest).chunks(n).map(<[Expr]>::to_vec).collect();
                eliminate(matrix, given.iter().zip(offsets).map(|(&p, offset)| p - offset).collect())
            }
            InitialMotion::Momentum(_) | InitialMotion::Next(_) => return None,
        };
        let phi: Vec<Expr> = system.walls.iter().map(|wall| wall.phi).collect();
        let restitution: Vec<Expr> = system.walls.iter().map(|wall| wall.restitution).collect();
        let slopes = grad(system.lagrangian.l, &q);
        let finite = [vec![system.lagrangian.l], slopes, system.forces.clone(), jacobian(&phi, &q).concat()].concat();
        let state = [initial.q.clone(), velocities.clone(), at(&momenta, &velocities)].concat();
        let outputs = [state, at(&[mass.concat(), phi, restitution, finite].concat(), &velocities)].concat();
        let parameters: Vec<Expr> = system.parameters.iter().map(|parameter| parameter.symbol).collect();
        // Asked once for each run: compiling would take longer than it saves.
        let tape = Tape::new(&parameters, &outputs).ok()?;
        let kernel = Kernel::of_tape(&tape, Backend::Interpreter);
        Some(QuickStart { n, walls: system.walls.len(), is_quadratic, kernel, tape })
    }

    /// For many starts. Functions stay interpreted: compiled ones may have other last bits.
    pub(crate) fn compiled(self) -> QuickStart {
        let is_exact = |instr: Instr| match instr {
            Instr::Unary(f, _) => matches!(f, Func::Neg | Func::Abs | Func::Sqrt),
            Instr::Binary(op, ..) => matches!(op, Op::Add | Op::Sub | Op::Mul | Op::Div),
            Instr::SinCos(_) => false,
        };
        let backend = if self.tape.instructions().all(|(_, instr)| is_exact(instr)) {
            Backend::Jit
        } else {
            Backend::Interpreter
        };
        QuickStart { kernel: Kernel::of_tape(&self.tape, backend), ..self }
    }

    /// The start for these parameters, if it is clearly right.
    pub(crate) fn start(&self, parameters: &[f64]) -> Option<Start> {
        let [q, v, p] = self.evaluate(parameters, &mut Vec::new())?.map(<[f64]>::to_vec);
        Some(Start { q, v, p, next: None, moved: None, warnings: Vec::new(), notes: Vec::new() })
    }

    /// q, v and p of this start. Allocates nothing if there is room for all numbers.
    pub(crate) fn evaluate<'a>(&self, parameters: &[f64], room: &'a mut Vec<f64>) -> Option<[&'a [f64]; 3]> {
        let n = self.n;
        room.resize(self.tape.outputs().len() + n, 0.0);
        let (values, diagonal) = room.split_at_mut(self.tape.outputs().len());
        self.kernel.eval(parameters, values);
        // A sum, in which no NaN gets lost.
        if !values.iter().sum::<f64>().is_finite() {
            return None;
        }
        let (state, rest) = values.split_at_mut(3 * n);
        let (mass, rest) = rest.split_at_mut(n * n);
        let (phi, rest) = rest.split_at(self.walls);
        let is_away = phi.iter().all(|gap| *gap > 0.0);
        let mut restitution = rest[..self.walls].iter();
        let is_lawful = restitution.all(|e| (0.0..=1.0).contains(e) && (*e == 1.0 || self.is_quadratic));
        let is_right = is_away && is_lawful && is_definite(mass, diagonal);
        let (q, rest) = state.split_at(n);
        let (v, p) = rest.split_at(n);
        is_right.then_some([q, v, p])
    }
}

/// True if a symmetric matrix by rows is clearly positive definite: each pivot of its elimination, which is made in place, is well above
/// the roundoff of the entry of the matrix that it is left of.
fn is_definite(a: &mut [f64], diagonal: &mut [f64]) -> bool {
    const CLEARLY: f64 = 1e-10;
    let n = diagonal.len();
    (0..n).for_each(|k| diagonal[k] = a[k * n + k]);
    for k in 0..n {
        let pivot = a[k * n + k];
        if pivot.partial_cmp(&(CLEARLY * diagonal[k])) != Some(std::cmp::Ordering::Greater) || pivot <= 0.0 {
            return false;
        }
        for i in k + 1..n {
            let factor = a[i * n + k] / pivot;
            for j in k..n {
                a[i * n + j] -= factor * a[k * n + j];
            }
        }
    }
    true
}
