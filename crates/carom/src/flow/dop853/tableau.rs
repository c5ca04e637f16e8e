//! The coefficients of the Runge–Kutta pair 8(5,3) of Dormand and Prince. [Hairer, Nørsett & Wanner, Solving Ordinary Differential
//! Equations I, 2nd ed., II.5, II.10; Prince & Dormand 1981]
//!
//! A sum over stages is a list of (stage, weight) without the zeros.

use crate::kernel::{Sum, Tableau};

/// The number of stages.
pub(crate) const STAGES: usize = 12;

/// The pair.
pub(crate) const TABLEAU: Tableau = Tableau { c: &C, a: &A, b: B, error: E5, less_embedded: LESS_B3 };

/// c: the time of each stage as a fraction of the step.
#[rustfmt::skip]
pub(crate) const C: [f64; STAGES] = [
    0.0,
    0.05260015195876773,
    0.0789002279381516,
    0.1183503419072274,
    0.2816496580927726,
    0.3333333333333333,
    0.25,
    0.3076923076923077,
    0.6512820512820513,
    0.6,
    0.8571428571428571,
    1.0,
];

/// a: the sum of earlier stages for each stage.
#[rustfmt::skip]
pub(crate) const A: [Sum; STAGES] = [
    &[],
    &[(0, 0.05260015195876773)],
    &[(0, 0.0197250569845379), (1, 0.0591751709536137)],
    &[(0, 0.02958758547680685), (2, 0.08876275643042054)],
    &[(0, 0.2413651341592667), (2, -0.8845494793282861), (3, 0.924834003261792)],
    &[(0, 0.037037037037037035), (3, 0.17082860872947386), (4, 0.12546768756682242)],
    &[(0, 0.037109375), (3, 0.17025221101954405), (4, 0.06021653898045596), (5, -0.017578125)],
    &[(0, 0.03709200011850479), (3, 0.17038392571223998), (4, 0.10726203044637328), (5, -0.015319437748624402), (6, 0.008273789163814023)],
    &[(0, 0.6241109587160757), (3, -3.3608926294469414), (4, -0.868219346841726), (5, 27.59209969944671), (6, 20.154067550477894), (7, -43.48988418106996)],
    &[(0, 0.47766253643826434), (3, -2.4881146199716677), (4, -0.590290826836843), (5, 21.230051448181193), (6, 15.279233632882423), (7, -33.28821096898486), (8, -0.020331201708508627)],
    &[(0, -0.9371424300859873), (3, 5.186372428844064), (4, 1.0914373489967295), (5, -8.149787010746927), (6, -18.52006565999696), (7, 22.739487099350505), (8, 2.4936055526796523), (9, -3.0467644718982196)],
    &[(0, 2.273310147516538), (3, -10.53449546673725), (4, -2.0008720582248625), (5, -17.9589318631188), (6, 27.94888452941996), (7, -2.8589982771350235), (8, -8.87285693353063), (9, 12.360567175794303), (10, 0.6433927460157636)],
];

/// b: the sum for the end of the step, of order 8.
#[rustfmt::skip]
pub(crate) const B: Sum = &[(0, 0.054293734116568765), (5, 4.450312892752409), (6, 1.8915178993145003), (7, -5.801203960010585), (8, 0.3111643669578199), (9, -0.1521609496625161), (10, 0.20136540080403034), (11, 0.04471061572777259)];

/// b − b̂: the error of the embedded formula of order 5.
#[rustfmt::skip]
pub(crate) const E5: Sum = &[(0, 0.01312004499419488), (5, -1.2251564463762044), (6, -0.4957589496572502), (7, 1.6643771824549864), (8, -0.35032884874997366), (9, 0.3341791187130175), (10, 0.08192320648511571), (11, -0.022355307863886294)];

/// −b̂ of order 3.
#[rustfmt::skip]
pub(crate) const LESS_B3: Sum = &[(0, -0.2440944881889764), (8, -0.7338466882816119), (11, -0.022058823529411766)];

#[cfg(test)]
mod tests {
    use super::*;

    /// Calls `see` for every rooted tree with a number of nodes, given by the parent of each node: parents come first, and the root is
    /// its own. A tree occurs once for each order in which its nodes can be numbered.
    fn for_each_tree(nodes: usize, see: &mut impl FnMut(&[usize])) {
        fn grow(parents: &mut Vec<usize>, nodes: usize, see: &mut impl FnMut(&[usize])) {
            if parents.len() == nodes {
                return see(parents);
            }
            for parent in 0..parents.len() {
                parents.push(parent);
                grow(parents, nodes, see);
                parents.pop();
            }
        }
        grow(&mut vec![0], nodes, see);
    }

    /// The stages of a tree, Πᵢ over the branches of A times their own, and its density γ: the product of the sizes of all subtrees.
    /// [Hairer, Nørsett & Wanner, II.2]
    fn stages_and_density(parents: &[usize]) -> ([f64; STAGES], f64) {
        let nodes = parents.len();
        let (mut stages, mut sizes, mut density) = (vec![[1.0; STAGES]; nodes], vec![1.0; nodes], 1.0);
        for node in (0..nodes).rev() {
            density *= sizes[node];
            if node > 0 {
                let parent = parents[node];
                sizes[parent] += sizes[node];
                for i in 0..STAGES {
                    stages[parent][i] *= A[i].iter().map(|(j, a)| a * stages[node][*j]).sum::<f64>();
                }
            }
        }
        (stages[0], density)
    }

    /// Σ bᵢ Φᵢ(τ) = 1/γ(τ) for all 200 rooted trees τ with at most eight nodes, and not for all with nine. The embedded formulas have
    /// the orders 5 and 3.
    #[test]
    fn the_order_conditions_hold() {
        for (i, row) in A.iter().enumerate() {
            let sum: f64 = row.iter().map(|(_, a)| a).sum();
            assert!((sum - C[i]).abs() < 1e-14, "row {i}: {sum}, not {}", C[i]);
        }
        for nodes in 1..=9 {
            let mut worst = [0.0_f64; 3];
            for_each_tree(nodes, &mut |parents| {
                let (stages, density) = stages_and_density(parents);
                let total = |sum: Sum| sum.iter().map(|(i, weight)| weight * stages[*i]).sum::<f64>();
                let end = total(B);
                let all = [(end, 1.0 / density), (total(E5), 0.0), (end + total(LESS_B3), 0.0)];
                for (worst, (found, due)) in worst.iter_mut().zip(all) {
                    *worst = worst.max((found - due).abs());
                }
            });
            for (name, order, worst) in [("B", 8, worst[0]), ("E5", 5, worst[1]), ("B3", 3, worst[2])] {
                assert!(nodes > order || worst < 1e-14, "{name} with {nodes} nodes: {worst:e}");
                assert!(nodes != order + 1 || worst > 1e-6, "{name} has the order {nodes} too: {worst:e}");
            }
        }
    }
}
