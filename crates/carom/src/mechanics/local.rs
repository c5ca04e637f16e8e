//! The Lagrangian, the constraints and the walls at one state, with their derivatives.

use std::sync::{Arc, OnceLock};

use super::function::Pace;
use super::{Function, Inputs, Mechanics, sum_of_terms};
use crate::error::{Diagnostic, Result};
use crate::expr::{Expr, any_depends_on, directional, grad, jacobian};
use crate::kernel::{Backend, Kernel, Tape};
use crate::system::{Enforce, ForceFunction, time};

/// The kernels for the motion on any set of walls. They are compiled once per model, for all flows.
///
/// All are functions of (parameters, t, q, v). With ṗ = L_q + F; a force that is a function is added to F after the kernels.
#[derive(Debug)]
pub struct LocalCode {
    pub(crate) n: usize,
    /// True if L_vv does not depend on v.
    pub(crate) is_quadratic: bool,
    /// True if L, a wall or a constraint depends on the time.
    pub(crate) depends_on_time: bool,
    /// True if neither L_vv nor ṗ − L_vq v − L_vt depends on the state: without constraints the acceleration is constant.
    is_uniform: bool,
    /// → L, L_t, L_v, ṗ
    motion: Kernel,
    /// → L_v, entries of L_vv
    inertia: Kernel,
    /// → ṗ − L_vq v − L_vt, entries of L_vv
    balance: Kernel,
    /// → L_v, ṗ, entries of L_vv, of L_vq, of ṗ_q, of ṗ_v
    slopes: Kernel,
    /// The (row, column) of each structurally nonzero entry of these four matrices. Entries that depend only on the parameters
    /// come first.
    pub(crate) entries: [Vec<(usize, usize)>; 4],
    /// The number of entries of each matrix that depend only on the parameters.
    pub(crate) constants: [usize; 4],
    /// The constraints, in the order of the model; then the walls.
    rows: Vec<RowCode>,
    /// Where each constraint is enforced: at one point or between two.
    pub(crate) enforce: Vec<Enforce>,
    /// A force that is a function.
    function: Option<ForceFunction>,
}

/// g(q, t) of a constraint or a wall.
#[derive(Debug)]
struct RowCode {
    /// The coordinates on which it depends.
    support: Vec<usize>,
    /// True if g is linear in q and t.
    is_straight: bool,
    /// → g, the sum of its absolute terms, g_t, d²g/dt² without acceleration, ∇g and ∇²g by rows, both on the support. Compiled
    /// on first use, because few of many walls ever hold the motion.
    kernel: OnceLock<Kernel>,
    tape: Tape,
    backend: Backend,
}

impl LocalCode {
    /// Compiles the kernels.
    pub fn new(mechanics: &Mechanics) -> Result<LocalCode> {
        let Mechanics { q, v, l, .. } = mechanics;
        let inputs = mechanics.state_symbols();
        let kernel = |outputs: &[&[Expr]]| mechanics.kernel(&inputs, &outputs.concat());
        let momenta = mechanics.momenta();
        let mut rates = grad(*l, q);
        if let Some(forces) = &mechanics.forces {
            rates.iter_mut().zip(forces).for_each(|(rate, &force)| *rate = *rate + force);
        }
        let seeds: Vec<(Expr, Expr)> =
            q.iter().copied().zip(v.iter().copied()).chain([(time(), Expr::constant(1.0))]).collect();
        let drift = directional(&momenta, &seeds);
        let balance: Vec<Expr> = rates.iter().zip(drift).map(|(&rate, drift)| rate - drift).collect();
        let (rates_by_q, rates_by_v) = (jacobian(&rates, q), jacobian(&rates, v));
        let matrices = [mechanics.mass(), jacobian(&momenta, q), rates_by_q.clone(), rates_by_v.clone()];
        let mass = matrices[0].concat();
        let mut sparse = matrices.map(|matrix| entries(&matrix, &inputs));
        let mut constants =
            sparse.each_ref().map(|(_, values)| values.iter().filter(|value| !value.depends_on(&inputs)).count());
        if mechanics.function.is_some() {
            for (matrix, which) in [&rates_by_q, &rates_by_v].into_iter().zip([2, 3]) {
                (sparse[which], constants[which]) = (all_entries(matrix), 0);
            }
        }
        let places = [&[time()][..], q].concat();
        let is_uniform = mechanics.function.is_none()
            && !any_depends_on(&[&rates[..], &mass].concat(), &inputs)
            && !any_depends_on(&momenta, &places);
        let values: Vec<Expr> = sparse.iter().flat_map(|(_, values)| values.iter().copied()).collect();
        let all = mechanics.constraints.iter().map(|c| c.g).chain(mechanics.walls.iter().copied());
        let depends_on_time = [&[*l][..], &rates, &all.clone().collect::<Vec<_>>()].concat();
        Ok(LocalCode {
            n: q.len(),
            is_quadratic: !any_depends_on(&mass, v),
            depends_on_time: mechanics.function.is_some() || any_depends_on(&depends_on_time, &[time()]),
            is_uniform,
            motion: kernel(&[&[*l, l.diff(time())], &momenta, &rates])?,
            inertia: kernel(&[&momenta, &sparse[0].1])?,
            balance: kernel(&[&balance, &sparse[0].1])?,
            slopes: kernel(&[&momenta, &rates, &values])?,
            constants,
            entries: sparse.map(|(places, _)| places),
            rows: all.map(|g| RowCode::new(mechanics, &inputs, &seeds, g)).collect::<Result<_>>()?,
            enforce: mechanics.constraints.iter().map(|c| c.enforce).collect(),
            function: mechanics.function.clone(),
        })
    }

    /// The rows of the one-point constraints.
    pub(crate) fn tangent_rows(&self) -> impl Iterator<Item = usize> {
        (0..self.enforce.len()).filter(|&row| self.enforce[row] == Enforce::OnePoint)
    }

    /// The rows of the one-point constraints and of these walls.
    pub(crate) fn rows_with(&self, walls: &[usize]) -> Vec<usize> {
        self.tangent_rows().chain(walls.iter().map(|&wall| self.row_of_wall(wall))).collect()
    }

    /// The row of a wall.
    pub(crate) fn row_of_wall(&self, wall: usize) -> usize {
        self.enforce.len() + wall
    }

    /// True if the acceleration is constant while these rows hold the motion, and so are their forces.
    pub(crate) fn is_uniform(&self, rows: &[usize]) -> bool {
        self.is_uniform && rows.iter().all(|&row| self.rows[row].is_straight)
    }

    /// True if L_vv, L_vq, ṗ_q and ṗ_v depend on the parameters only.
    pub(crate) fn are_matrices_constant(&self) -> bool {
        self.entries.iter().zip(&self.constants).all(|(entries, constants)| entries.len() == *constants)
    }

    /// The coordinates on which a row depends.
    pub(crate) fn support(&self, row: usize) -> &[usize] {
        &self.rows[row].support
    }
}

impl RowCode {
    fn new(mechanics: &Mechanics, inputs: &[Expr], seeds: &[(Expr, Expr)], g: Expr) -> Result<RowCode> {
        let q = &mechanics.q;
        let support: Vec<usize> = (0..q.len()).filter(|&i| g.depends_on(&q[i..=i])).collect();
        let coordinates: Vec<Expr> = support.iter().map(|&i| q[i]).collect();
        let slopes = grad(g, &coordinates);
        let bends = jacobian(&slopes, &coordinates).concat();
        let drift = directional(&directional(&[g], seeds), seeds)[0];
        let is_straight = !any_depends_on(&[&slopes[..], &[g.diff(time())]].concat(), inputs);
        let outputs = [vec![g, sum_of_terms(g), g.diff(time()), drift], slopes, bends].concat();
        let inputs = [&mechanics.parameters, inputs].concat();
        let tape = Tape::new(&inputs, &outputs).map_err(|e| Diagnostic::new(e.to_string()))?;
        Ok(RowCode { kernel: OnceLock::new(), tape, backend: mechanics.backend, support, is_straight })
    }

    fn kernel(&self) -> &Kernel {
        self.kernel.get_or_init(|| Kernel::of_tape(&self.tape, self.backend))
    }
}

/// The nonzero entries of a matrix: positions and values. Entries that do not depend on `inputs` come first.
fn entries(matrix: &[Vec<Expr>], inputs: &[Expr]) -> (Vec<(usize, usize)>, Vec<Expr>) {
    let rows = matrix.iter().enumerate();
    let all = rows.flat_map(|(i, row)| row.iter().enumerate().map(move |(j, &value)| ((i, j), value)));
    let mut all: Vec<_> = all.filter(|(_, value)| !value.is_zero()).collect();
    all.sort_by_key(|(_, value)| value.depends_on(inputs));
    all.into_iter().unzip()
}

/// All entries of a matrix, by rows: positions and values.
fn all_entries(matrix: &[Vec<Expr>]) -> (Vec<(usize, usize)>, Vec<Expr>) {
    let n = matrix.len();
    ((0..n * n).map(|at| (at / n, at % n)).collect(), matrix.concat())
}

/// Evaluates the kernels at a sequence of states.
#[derive(Clone, Debug)]
pub struct Local {
    pub(crate) code: Arc<LocalCode>,
    inputs: Inputs,
    values: Vec<f64>,
    row: Vec<f64>,
    /// A force that is a function, and its slopes by q and by v.
    function: Option<Box<(Function, Vec<f64>)>>,
}

/// The values of a row g = 0 at a state.
pub(crate) struct Row<'a> {
    /// The coordinates on which it depends.
    pub(crate) support: &'a [usize],
    /// g.
    pub(crate) g: f64,
    /// The sum of the absolute terms of g.
    pub(crate) size: f64,
    /// ∂g/∂t.
    pub(crate) g_t: f64,
    /// d²g/dt² without acceleration.
    pub(crate) drift: f64,
    /// ∇g on the support.
    pub(crate) grad: &'a [f64],
    /// ∇²g on the support, by rows.
    pub(crate) hessian: &'a [f64],
}

impl Row<'_> {
    /// ∇g·x.
    pub(crate) fn dot(&self, x: &[f64]) -> f64 {
        self.support.iter().zip(self.grad).map(|(&i, slope)| slope * x[i]).sum()
    }

    /// y ← y + factor·∇g.
    pub(crate) fn add_to(&self, factor: f64, y: &mut [f64]) {
        self.support.iter().zip(self.grad).for_each(|(&i, slope)| y[i] += factor * slope);
    }
}

impl Local {
    /// An evaluator with these parameter values.
    pub fn new(code: &Arc<LocalCode>, parameters: &[f64]) -> Local {
        let (n, entries) = (code.n, code.entries.iter().map(Vec::len).sum::<usize>());
        let row = code.rows.iter().map(|row| 4 + row.support.len() * (1 + row.support.len())).max();
        let (inputs, values) = (Inputs::new(parameters, n), vec![0.0; 2 + 2 * n + entries]);
        let function = code.function.as_ref().map(|law| Box::new((Function::new(law, n), vec![0.0; 2 * n * n])));
        Local { code: code.clone(), inputs, values, row: vec![0.0; row.unwrap_or(0)], function }
    }

    /// Sets the parameter values.
    pub fn set_parameters(&mut self, parameters: &[f64]) {
        self.inputs.set_parameters(parameters);
    }

    /// Sets the state (t, q, v).
    pub(crate) fn place(&mut self, t: f64, q: &[f64], v: &[f64]) {
        self.inputs.place(t, q, v);
    }

    /// Sets the time, and returns the coordinates and the velocities to be written.
    pub(crate) fn state_mut(&mut self, t: f64) -> (&mut [f64], &mut [f64]) {
        self.inputs.state_mut(t)
    }

    /// Evaluates L, L_t, L_v, ṗ.
    pub(crate) fn motion(&mut self) -> &[f64] {
        self.motion_and_velocity().0
    }

    /// Evaluates L, L_t, L_v, ṗ; also returns v.
    pub(crate) fn motion_and_velocity(&mut self) -> (&[f64], &[f64]) {
        let values = &mut self.values[..2 + 2 * self.code.n];
        self.code.motion.eval(self.inputs.all(), values);
        add_function(&mut self.function, &self.inputs, &mut values[2 + self.code.n..]);
        (values, self.inputs.v())
    }

    /// Evaluates L_v and the entries of L_vv.
    pub(crate) fn inertia(&mut self) -> &[f64] {
        let values = &mut self.values[..self.code.n + self.code.entries[0].len()];
        self.code.inertia.eval(self.inputs.all(), values);
        values
    }

    /// Evaluates ṗ − L_vq v − L_vt and the entries of L_vv.
    pub(crate) fn balance(&mut self) -> &[f64] {
        let values = &mut self.values[..self.code.n + self.code.entries[0].len()];
        self.code.balance.eval(self.inputs.all(), values);
        add_function(&mut self.function, &self.inputs, &mut values[..self.code.n]);
        values
    }

    /// Evaluates L_v, ṗ and the entries of L_vv, L_vq, ṗ_q, ṗ_v, for a step of length h.
    pub(crate) fn slopes(&mut self, h: f64) -> &[f64] {
        let values = &mut self.values[2..];
        self.code.slopes.eval(self.inputs.all(), values);
        if let Some(function) = &mut self.function {
            let (function, slopes) = &mut **function;
            let (n, entries) = (self.code.n, &self.code.entries[0]);
            let mass = (&entries[..], &values[2 * n..][..entries.len()]);
            let pace = Pace { h, rates: &values[n..2 * n], mass };
            let force = function.slopes(self.inputs.state(), &pace, slopes);
            add(&mut values[n..2 * n], force);
            let last = values.len() - slopes.len();
            add(&mut values[last..], slopes);
        }
        values
    }

    /// The entries of L_vv, L_vq, ṗ_q, ṗ_v of the last [`Local::slopes`].
    pub(crate) fn matrices(&self) -> &[f64] {
        &self.values[2 + 2 * self.code.n..]
    }

    /// Evaluates a row.
    pub(crate) fn row(&mut self, row: usize) -> Row<'_> {
        let code = &self.code.rows[row];
        let support = &code.support;
        let m = support.len();
        let values = &mut self.row[..4 + m + m * m];
        code.kernel().eval(self.inputs.all(), values);
        let (numbers, slopes) = values.split_at(4);
        let (grad, hessian) = slopes.split_at(m);
        Row { support, g: numbers[0], size: numbers[1], g_t: numbers[2], drift: numbers[3], grad, hessian }
    }
}

/// Adds a force that is a function, if there is one.
#[inline]
fn add_function(function: &mut Option<Box<(Function, Vec<f64>)>>, inputs: &Inputs, into: &mut [f64]) {
    if let Some(function) = function {
        let (t, q, v) = inputs.state();
        add(into, function.0.at(t, q, v));
    }
}

fn add(into: &mut [f64], terms: &[f64]) {
    into.iter_mut().zip(terms).for_each(|(sum, term)| *sum += term);
}
