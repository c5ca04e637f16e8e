//! Newton's method for a step, with holonomic constraints at the nodes by their Schur complement. [TPC eq. 6]
//!
//! ```text
//! p0 + D₁L_d − G0ᵀλ = 0,   g(q1, t1) = 0
//! [ J  −G0ᵀ ; G1  0 ] (δ; δλ) = −(r − G0ᵀλ ; g)
//! X = J⁻¹G0ᵀ,   δ⁰ = −J⁻¹(r − G0ᵀλ),   (G1 X) δλ = −g − G1 δ⁰,   δ = δ⁰ + X δλ
//! ```

use super::ball::Ball;
use super::progress::{Memory, Progress, Verdict};
use super::{Equations, Load, Over, move_by};
use crate::solve::{Lu, NoSolution, Solved};
use crate::tree::relations::dot;
use crate::tree::{Pose, RelationValues, Relations, Tree, Vec3};

/// Solves the equations of steps.
#[derive(Clone, Debug)]
pub struct Solver<E> {
    /// The equations.
    pub step: E,
    /// True if forces of the user act, which are not part of Newton's matrix.
    is_loaded: bool,
    freedoms: usize,
    /// G0 and G1, by rows.
    rows: [Vec<f64>; 2],
    /// X, by columns.
    x: Vec<f64>,
    g: Vec<f64>,
    g_t: Vec<f64>,
    schur: Vec<f64>,
    lu: Lu,
    demand: Vec<f64>,
    /// δλ
    change: Vec<f64>,
    pose: Pose,
    q1: Vec<f64>,
    rest: Vec<f64>,
    newton: Memory,
}

impl<E: Equations> Solver<E> {
    /// Memory for a tree with this number of constraints.
    pub fn new(step: E, tree: &Tree, count: usize) -> Solver<E> {
        let freedoms = tree.freedoms;
        Solver {
            step,
            is_loaded: true,
            freedoms,
            rows: [vec![0.0; count * freedoms], vec![0.0; count * freedoms]],
            x: vec![0.0; count * freedoms],
            g: vec![0.0; count],
            g_t: vec![0.0; count],
            schur: vec![0.0; count * count],
            lu: Lu::new(count),
            demand: vec![0.0; count],
            change: vec![0.0; count],
            pose: Pose::new(tree),
            q1: vec![0.0; tree.coordinates],
            rest: vec![0.0; freedoms],
            newton: Memory::new(tree, count),
        }
    }

    /// Tells whether forces of the user act. They do unless it is told.
    pub fn set_loaded(&mut self, is_loaded: bool) {
        self.is_loaded = is_loaded;
        self.step.set_loaded(is_loaded);
    }

    /// Solves for u and λ from the guesses in `u` and `lambda`. Returns the number of corrections.
    pub fn solve(
        &mut self,
        tree: &Tree,
        over: Over,
        relations: &mut dyn Relations,
        load: &mut Load,
        u: &mut [f64],
        lambda: &mut [f64],
    ) -> Solved<usize> {
        self.newton.set_units(tree, over.q, u);
        if !lambda.is_empty() {
            self.pose.place(tree, over.around[0], over.q, &self.rest);
            let values = RelationValues { g: &mut self.g, g_t: &mut self.g_t, rows: &mut self.rows[0] };
            relations.evaluate(tree, &self.pose, over.q, over.t, values);
        }
        let mut progress = Progress::new(!self.is_loaded, self.newton.noise);
        loop {
            self.step.residual(tree, over, load, u, &mut self.newton.r);
            if !lambda.is_empty() {
                self.look_at_end(tree, over, relations, u);
            }
            let size = self.newton.size(u);
            let is_renewed = progress.should_renew(size);
            if is_renewed {
                self.factor(tree, over, u)?;
                progress.renew();
            }
            self.correct(tree, lambda)?;
            let verdict = progress.judge(self.newton.size_of_correction(), size)?;
            match verdict {
                Verdict::TooFar => {
                    self.retreat(u, lambda);
                    continue;
                }
                Verdict::Slow if !is_renewed => {
                    self.factor(tree, over, u)?;
                    progress.renew();
                    self.correct(tree, lambda)?;
                }
                Verdict::Slow | Verdict::Fast | Verdict::Done => {}
            }
            let part = progress.part(self.newton.size_of_correction());
            self.advance(u, lambda, part);
            if let Verdict::Done = verdict {
                break;
            }
        }
        self.newton.noise = progress.noise;
        self.step.residual(tree, over, load, u, &mut self.newton.r);
        Ok(progress.count)
    }

    /// Forgets what the last steps have shown: the next solution is a function of its equations and its guess.
    pub fn forget(&mut self) {
        self.newton.noise = 0.0;
    }

    fn factor(&mut self, tree: &Tree, over: Over, u: &[f64]) -> Solved<()> {
        self.step.factor(tree, over, u)?;
        self.x.copy_from_slice(&self.rows[0]);
        self.x.chunks_exact_mut(self.freedoms).for_each(|column| self.step.apply_inverse(tree, column));
        Ok(())
    }

    /// Adds this part of the correction.
    fn advance(&mut self, u: &mut [f64], lambda: &mut [f64], part: f64) {
        let Memory { delta, taken, .. } = &mut self.newton;
        let corrections = delta.iter().chain(&self.change);
        for ((x, taken), correction) in u.iter_mut().chain(lambda).zip(taken).zip(corrections) {
            *taken = part * correction;
            *x += *taken;
        }
    }

    /// Takes half of the last correction back.
    fn retreat(&mut self, u: &mut [f64], lambda: &mut [f64]) {
        for (x, taken) in u.iter_mut().chain(lambda).zip(&mut self.newton.taken) {
            *taken *= 0.5;
            *x -= *taken;
        }
    }

    /// Computes g and G1 at the end of the step that moves by u.
    fn look_at_end(&mut self, tree: &Tree, over: Over, relations: &mut dyn Relations, u: &[f64]) {
        move_by(tree, over.q, u, &mut self.q1);
        self.pose.place(tree, over.around[2], &self.q1, &self.rest);
        let values = RelationValues { g: &mut self.g, g_t: &mut self.g_t, rows: &mut self.rows[1] };
        relations.evaluate(tree, &self.pose, &self.q1, over.t + over.h, values);
        for link in tree.links.iter().filter(|link| link.freedoms == 3) {
            let end = Ball::new(Vec3::read(&u[link.v..]), over.h).end();
            for row in self.rows[1].chunks_exact_mut(self.freedoms) {
                let turned = end.tr_mul(Vec3::read(&row[link.v..]));
                row[link.v..link.v + 3].copy_from_slice(&turned.array());
            }
        }
    }

    /// Computes δ and δλ.
    fn correct(&mut self, tree: &Tree, lambda: &[f64]) -> Solved<()> {
        let (n, count) = (self.freedoms, lambda.len());
        let delta = &mut self.newton.delta;
        delta.iter_mut().zip(&self.newton.r).for_each(|(delta, r)| *delta = -r);
        for (lambda, row) in lambda.iter().zip(self.rows[0].chunks_exact(n)) {
            delta.iter_mut().zip(row).for_each(|(delta, g)| *delta += lambda * g);
        }
        self.step.apply_inverse(tree, delta);
        for (a, row) in self.rows[1].chunks_exact(n).enumerate() {
            self.demand[a] = -self.g[a] - dot(row, delta);
            for (b, column) in self.x.chunks_exact(n).enumerate() {
                self.schur[a * count + b] = dot(row, column);
            }
        }
        if count > 0 && !self.lu.factor(&self.schur) {
            return Err(NoSolution::Singular);
        }
        self.lu.solve(&self.demand, &mut self.change);
        for (change, column) in self.change.iter().zip(self.x.chunks_exact(n)) {
            delta.iter_mut().zip(column).for_each(|(delta, x)| *delta += change * x);
        }
        Ok(())
    }

    /// How far two guesses for u are from each other, in radians or sizes of the mechanism.
    pub fn distance(&mut self, a: &[f64], b: &[f64]) -> f64 {
        self.newton.delta.iter_mut().zip(a.iter().zip(b)).for_each(|(d, (a, b))| *d = a - b);
        self.newton.size_of_correction()
    }

    /// Writes p1. Without constraints the last residual is handed on to the next step, which keeps the total momentum to
    /// roundoff.
    pub fn momenta(&self, tree: &Tree, h: f64, u: &[f64], p1: &mut [f64]) {
        let residual = if self.g.is_empty() { &self.newton.r } else { &self.rest };
        self.step.momenta(tree, h, u, residual, p1);
    }
}
