//! The modified Hamiltonian from iterates, without derivatives.

use super::finite;
use crate::phase::{Flow, Phase};
use crate::solve::NoSolution;

/// The shadow Hamiltonian of a variational map.
///
/// The flow of H̃ passes through the iterates z_k = Φ_h^k(z) exactly, and the discrete action A_k = Σ L_d is its action.
/// So H̃ = p·q̇ − Ȧ, with the derivatives of the polynomial through the iterates k = −m … m:
///
/// ```text
/// H̃(z₀) = (1/h) Σ_j w_j (p₀·q_j − A_j) + O(h^2m),   w_j = (−1)^(j+1) m!² / (j (m − j)! (m + j)!),   w_−j = −w_j
/// ```
///
/// If H̃ has spikes that a higher order does not remove, an average over the nodes k = −W … W removes them: the mean of the
/// values at z_k with the weights cos⁴(πk/(2W + 2)), which decrease smoothly to zero just outside the window.
#[derive(Clone, Debug)]
pub struct Shadow {
    m: usize,
    /// w_1 … w_m.
    weights: Vec<f64>,
    /// The weights of the nodes k = −W … W; their sum is 1.
    window: Vec<f64>,
    /// The iterates k = −(W + m) … W + m.
    iterates: Vec<Phase>,
    /// A_k for each iterate.
    actions: Vec<f64>,
}

impl Shadow {
    /// Order 2m with m ≥ 1, without averaging.
    pub fn new(m: usize) -> Shadow {
        Shadow::windowed(m, 0)
    }

    /// Order 2m, averaged over W nodes on each side.
    pub fn windowed(m: usize, w: usize) -> Shadow {
        let m = m.max(1);
        let angle = std::f64::consts::PI / (2 * w + 2) as f64;
        let window: Vec<f64> = (-(w as i64)..=w as i64).map(|k| (angle * k as f64).cos().powi(4)).collect();
        let sum: f64 = window.iter().sum();
        Shadow {
            m,
            weights: central_difference(m),
            window: window.into_iter().map(|weight| weight / sum).collect(),
            iterates: Vec::new(),
            actions: vec![0.0; 2 * (w + m) + 1],
        }
    }

    /// The order 2m.
    pub fn order(&self) -> usize {
        2 * self.m
    }

    /// The number of iterates needed on each side.
    pub fn reach(&self) -> usize {
        self.actions.len() / 2
    }

    /// H̃_h(z) of the map `flow`. Allocates only on first use, or if the size of the system changes.
    ///
    /// Returns `NoSolution::Diverged` also if the map is not variational.
    pub fn at(&mut self, flow: &mut dyn Flow, z: &Phase, h: f64) -> Result<f64, NoSolution> {
        let reach = self.reach();
        if self.iterates.first().is_none_or(|first| first.z.len() != z.z.len()) {
            self.iterates = vec![z.clone(); 2 * reach + 1];
        }
        self.iterates[reach].copy_from(z);
        self.actions[reach] = 0.0;
        for k in reach..2 * reach {
            let (known, next) = self.iterates.split_at_mut(k + 1);
            flow.step(&known[k], h, &mut next[0])?;
            let step = flow.discrete().ok_or(NoSolution::Diverged)?;
            self.actions[k + 1] = self.actions[k] + step.action;
        }
        for k in (0..reach).rev() {
            let (next, known) = self.iterates.split_at_mut(k + 1);
            flow.step_back(&known[0], h, &mut next[k])?;
            let step = flow.discrete().ok_or(NoSolution::Diverged)?;
            self.actions[k] = self.actions[k + 1] + step.action;
        }
        finite(self.average(h))
    }

    /// The average over the window.
    fn average(&self, h: f64) -> f64 {
        let nodes = self.m..self.m + self.window.len();
        nodes.zip(&self.window).map(|(k, weight)| weight * self.local(k, h)).sum()
    }

    /// The value at iterate k.
    fn local(&self, k: usize, h: f64) -> f64 {
        let p = self.iterates[k].p();
        let term = |(j, weight): (usize, &f64)| {
            let (ahead, behind) = (k + j + 1, k - j - 1);
            let (q1, q0) = (self.iterates[ahead].q(), self.iterates[behind].q());
            let swept: f64 = p.iter().zip(q1).zip(q0).map(|((p, q1), q0)| p * (q1 - q0)).sum();
            weight * (swept - (self.actions[ahead] - self.actions[behind]))
        };
        self.weights.iter().enumerate().map(term).sum::<f64>() / h
    }
}

/// w_1 … w_m of f′(0) ≈ (1/h) Σ w_j (f(jh) − f(−jh)): w_1 = m/(m + 1), w_{j+1} = −w_j · j (m − j)/((j + 1)(m + j + 1)).
fn central_difference(m: usize) -> Vec<f64> {
    let size = m as f64;
    let next = |&(j, w): &(f64, f64)| Some((j + 1.0, -w * j * (size - j) / ((j + 1.0) * (size + j + 1.0))));
    std::iter::successors(Some((1.0, size / (size + 1.0))), next).take(m).map(|(_, w)| w).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_weights_are_those_of_the_tables() {
        let close = |a: &[f64], b: &[f64]| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-15);
        assert!(close(&central_difference(1), &[0.5]));
        assert!(close(&central_difference(2), &[2.0 / 3.0, -1.0 / 12.0]));
        assert!(close(&central_difference(4), &[4.0 / 5.0, -1.0 / 5.0, 4.0 / 105.0, -1.0 / 280.0]));
    }
}
